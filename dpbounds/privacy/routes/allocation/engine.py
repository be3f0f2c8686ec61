"""Control of random allocation: the first grid, the next one, and the bounds if none suffices (``proof.md``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.pairs.gaussian import together
from dpbounds.privacy.pairs.pairs import Allocated, Direction, Pair, Product, SecretSteps, is_attack
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation import signed_grid
from dpbounds.privacy.routes.allocation.choices import dyadic, first_spacing, miss, round_number
from dpbounds.privacy.routes.allocation.discrete_pairs import (
    Grid,
    Prove,
    attained,
    dominating,
    enclosed_by_pairs,
    has_many_bins,
)
from dpbounds.privacy.routes.allocation.low_noise import told_apart
from dpbounds.privacy.routes.allocation.special_cases import (
    proofs_if_published,
    proofs_if_told_apart,
    proofs_if_told_apart_in_place,
)
from dpbounds.privacy.routes.allocation.tuning import ESTIMATE, REPLACE_ONE, TUNING

_ESTIMATED_WIDTH = 0.02  # relative width of an estimate


def enclosed(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof]:
    """Enclose a product's loss by two products with discrete pairs in place of the allocated ones.

    The two products do not depend on the targets: one dominates and the other is attained at every α >= 0
    (``proof.md``, sections 1, 4 and 7), so both bounds are proven at each of any number of targets. The targets only
    decide which grid is chosen: one that is good enough for the worst of them.

    Args:
        product: Pairs with multiplicities.
        targets: Values of δ if ε is the unknown, else of ε; at least one.
        for_epsilon: Whether ε is the unknown.
        width: Sufficient relative width of ε, or width of log δ over max(1, log 1/δ).
        prove: Proves what a product without allocated pairs spends at targets.

    Returns:
        A proof per target.

    Raises:
        Declined: The losses reach too far for a grid, or doubles do not hold the masses; of Gaussian noise what holds
            where bins are published is returned then.
    """
    found = _enclosed(product, targets, for_epsilon, width, prove)
    if not is_attack(product):
        return found
    told = told_apart(product, targets, for_epsilon, width, prove, however_low=True)  # proofs that the grid may miss
    ends = [low for low, _ in told] if told else [Fraction(0)] * len(found)
    return [
        replace(proof, enclosure=replace(proof.enclosure, exact_lower=max(proof.enclosure.exact_lower, low)))
        for proof, low in zip(found, ends, strict=True)
    ]


def _enclosed(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof]:
    allocated = [pair for pair, _ in product if isinstance(pair, SecretSteps)]
    count = sum(count for _, count in product)
    spaced = [pair for pair in allocated if pair.direction is not Direction.REPLACE]
    if (apart := proofs_if_told_apart(product, targets, for_epsilon, width, prove)) is not None:
        return apart
    replaced_ones = [pair for pair, _ in product if isinstance(pair, Allocated) and pair.direction is Direction.REPLACE]
    loud = any(_loudest(pair) >= TUNING.signed_grid_shift for pair in replaced_ones)
    by_signs = any(
        _loudest(pair) >= max(TUNING.signed_grid_shift, TUNING.signed_grid_margin + math.log(pair.bins))
        for pair in replaced_ones
    )
    aim = max(TUNING.replace_one_width * width, TUNING.replace_one_least) if replaced_ones else width
    try:
        spacing = min(
            [first_spacing(pair, width) for pair in spaced]
            + [signed_grid.first_spacing(pair, aim / TUNING.replace_one_width, count) for pair in replaced_ones],
            default=1.0,
        )
    except Declined:
        shown = proofs_if_published(product, targets, for_epsilon, width, prove)
        if shown is None:
            raise
        return shown
    fineness = next(each for least, each in REPLACE_ONE if width >= least)
    if max((pair.bins for pair in replaced_ones), default=0) >= TUNING.large_transform:
        fineness = replace(fineness, bits=fineness.bits + 1)
    attacked = is_attack(product)
    small = float(min(targets)) if for_epsilon else 1e-12
    found = proofs_if_told_apart_in_place(product, targets, for_epsilon, aim, prove) if loud else {}
    if found and all(miss(proof, for_epsilon, aim) <= 1 for proof in found.values()):
        return [found[at] for at in targets]
    looked, coarser, worst = set[bool](), False, math.inf  # under replace-one: by which grids
    rest = list(dict.fromkeys(targets))  # targets whose proofs are not narrow enough yet
    by_threshold = bool(spaced) and all(map(has_many_bins, spaced))
    for _ in range(TUNING.rounds):
        negligible = round_number(small * TUNING.beyond_grid * min(1.0, width / 1e-3) / count)
        least = round_number(small * TUNING.given_up / count)
        steps = signed_grid.Fineness(dyadic(spacing), TUNING.signed.losses / spacing) if by_signs else None
        grid = Grid(dyadic(spacing), negligible, fineness, least, by_threshold, steps)
        looked.add(by_signs)
        try:
            proofs = enclosed_by_pairs(
                product, rest, for_epsilon, grid, lambda few, at: prove(few, at, TUNING.composition * width)
            )
        except Declined:
            if by_signs and not coarser and worst > TUNING.retry_if_wider:
                coarser, spacing = True, 3 * spacing
                continue
            if replaced_ones and len(looked) == 1:  # the points of a grid would be too many
                by_signs = not by_signs
                continue
            if found:
                break
            if by_threshold or not any(isinstance(pair, Allocated) and pair.shifts for pair in spaced):
                shown = proofs_if_published(product, targets, for_epsilon, width, prove)
                if shown is None:
                    raise
                return shown
            by_threshold = True
            continue
        _keep(found, rest, proofs)
        hidden = [] if attacked else [at for at in rest if _is_hidden(found[at], for_epsilon)]
        if hidden:  # δ is below all masses
            shown = proofs_if_published(product, hidden, for_epsilon, width, prove)
            _keep(found, hidden, shown or ())
        if attacked or by_threshold:  # number of thresholds is bounded
            break
        misses = {at: miss(found[at], for_epsilon, aim) for at in rest if at not in hidden}
        rest = [at for at, miss in misses.items() if miss > (1 if len(targets) == 1 else TUNING.curve_width)]
        if not rest:
            break
        if not for_epsilon:
            small = min([small, *(float(found[at].enclosure.exact_upper) for at in rest)])
        worst = max(misses.values())
        if replaced_ones and not by_signs:  # one spacing did not suffice
            if len(looked) > 1 or (
                worst <= TUNING.retry_if_wider and max(pair.bins for pair in replaced_ones) >= TUNING.many_bins
            ):
                break
            by_signs = True
            continue
        finer = 0.8 / math.sqrt(worst) if worst < math.inf else 0.5
        spacing *= min(0.8 if replaced_ones else 0.5, max(0.1, finer))
    unseen = [
        at for at in found if not attacked and found[at].enclosure.exact_lower <= 0 < found[at].enclosure.exact_upper
    ]
    if unseen:  # masses that doubles do not hold were left out from below
        _keep(found, unseen, proofs_if_published(product, unseen, for_epsilon, width, prove) or ())
    return [found[at] for at in targets]


def _loudest(pair: Allocated) -> Fraction:
    """Return the largest squared shift of a step with Gaussian noise."""
    return max((squared for squared, _ in pair.shifts), default=Fraction(0))


def _keep(found: dict[Fraction, Proof], targets: Sequence[Fraction], proofs: Sequence[Proof]) -> None:
    """Add proofs to the known bounds at these targets."""
    for at, proof in zip(targets, proofs, strict=False):
        found[at] = _narrower(found[at], proof) if at in found else proof


def _is_hidden(proof: Proof, for_epsilon: bool) -> bool:
    return proof.enclosure.exact_upper >= (math.inf if for_epsilon else 1)


def _narrower(one: Proof, other: Proof) -> Proof:
    low = max(one.enclosure.exact_lower, other.enclosure.exact_lower)
    high = min(one.enclosure.exact_upper, other.enclosure.exact_upper)
    return replace(other, enclosure=Enclosure(low, high, other.enclosure.method, other.enclosure.precision))


def rough(product: Product) -> Product:
    """Return a product with discrete pairs in place of the allocated ones, for estimates: it proves nothing."""
    found: list[tuple[Pair, int]] = []
    for pair, count in product:
        if isinstance(pair, SecretSteps):
            try:
                found.append((_roughly(pair), count))
            except Declined:
                shown = pair.bin_published() or pair.one_step_seen()
                if shown is None:
                    raise
                found.append((shown, count))
        else:
            found.append((pair, count))
    return together(found)


def _roughly(pair: SecretSteps) -> Pair:
    known = pair.direction is Direction.REPLACE
    spacing = Fraction(1) if known else dyadic(first_spacing(pair, _ESTIMATED_WIDTH))
    grid = Grid(spacing, negligible=1e-24, fineness=ESTIMATE, least=1e-13)
    return dominating(pair, grid).pair if isinstance(pair, Allocated) else attained(pair, grid)
