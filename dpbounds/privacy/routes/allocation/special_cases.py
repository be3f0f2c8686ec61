"""Proofs for very little noise, which makes the record's step distinguishable, and for published bins.

``proof.md``, sections 9, 10 and 12.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from fractions import Fraction

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure, End
from dpbounds.privacy.pairs.gaussian import together
from dpbounds.privacy.pairs.pairs import Direction, Pair, Product, SecretSteps, is_attack
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation.choices import dyadic, miss, round_number
from dpbounds.privacy.routes.allocation.discrete_pairs import ROUTE, Grid, Prove, enclosed_by_pairs
from dpbounds.privacy.routes.allocation.low_noise import at_most, in_place, told_apart
from dpbounds.privacy.routes.allocation.rounding import PRECISION
from dpbounds.privacy.routes.allocation.tuning import TUNING


def proofs_if_told_apart(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof] | None:
    """Return proofs if the noise is so small that the record's step is distinguishable; None if that is not enough."""
    ends = told_apart(product, targets, for_epsilon, width, prove)
    if ends is None:
        return None
    secret = [pair for pair, _ in product if isinstance(pair, SecretSteps)]
    attacked = is_attack(product)
    added = secret[0].direction is Direction.ADD
    most: End = math.inf if for_epsilon else Fraction(1)
    found = [
        Proof(Enclosure(low, most if attacked else high, ROUTE, PRECISION), ROUTE, {"steps": "distinguished"})
        for low, high in ends
    ]
    if attacked or added or all(miss(each, for_epsilon, width) <= 1 for each in found):
        return found
    return None


def proofs_if_told_apart_in_place(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> dict[Fraction, Proof]:
    """Return the same under replace-one, by the other steps' ratios on one grid; empty if that is not enough."""
    bound = in_place(product, width, for_epsilon=for_epsilon)
    if bound is None or (for_epsilon and bound.rare >= min(targets)):
        return {}
    low, high = bound.shift
    negligible = round_number(TUNING.beyond_grid * (float(min(targets)) if for_epsilon else 1e-12))
    grid = Grid(dyadic(bound.spacing), negligible)

    def ends(at: Sequence[Fraction], which: int) -> list[Fraction]:
        proofs = enclosed_by_pairs(
            bound.product,
            at,
            for_epsilon,
            grid,
            lambda few, all_: prove(few, all_, TUNING.composition * width / TUNING.replace_one_width),
        )
        return [Fraction((each.enclosure.exact_lower, each.enclosure.exact_upper)[which]) for each in proofs]

    zero = Fraction(0)
    try:
        if for_epsilon:
            lows = [max(zero, end - high - bound.less) for end in ends([at + bound.rare for at in targets], 0)]
            highs = [max(zero, end - low + bound.more) for end in ends([at - bound.rare for at in targets], 1)]
        else:
            lows = [max(zero, end - bound.rare) for end in ends([at + high + bound.less for at in targets], 0)]
            highs = at_most(ends, [at + low - bound.more for at in targets], bound.rare)
    except (Declined, NotCertified):
        return {}
    return {
        at: Proof(Enclosure(min(a, b), b, ROUTE, PRECISION), ROUTE, {"steps": "distinguished"})
        for at, a, b in zip(targets, lows, highs, strict=True)
    }


def proofs_if_published(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof] | None:
    """Return the bound for a published bin, and the attack that sees one step (``proof.md``, 9).

    None where noise is not Gaussian, or where that is not proven either.
    """
    attacked = is_attack(product)
    seen, revealed = list[tuple[Pair, int]](), list[tuple[Pair, int]]()
    for pair, count in product:
        below_: Pair | None = pair
        above_: Pair | None = pair
        if isinstance(pair, SecretSteps):
            below_, above_ = pair.one_step_seen(), pair.bin_published()
        seen += [] if below_ is None else [(below_, count)]
        revealed += [] if above_ is None else [(above_, count)]
    if len(seen) < len(product) or (len(revealed) < len(product) and not attacked):
        return None
    lows: Sequence[End] = [Fraction(0)] * len(targets)
    highs: Sequence[End] = [math.inf if for_epsilon else Fraction(1)] * len(targets)
    with contextlib.suppress(Declined, NotCertified):
        lows = [each.enclosure.exact_lower for each in prove(together(seen), targets, width)]
    if not attacked:  # an attack has no proven upper bound
        try:
            highs = [each.enclosure.exact_upper for each in prove(together(revealed), targets, width)]
        except (Declined, NotCertified):
            return None
    return [
        Proof(Enclosure(min(low, high), high, ROUTE, PRECISION), ROUTE, {"bins": "published"})
        for low, high in zip(lows, highs, strict=True)
    ]
