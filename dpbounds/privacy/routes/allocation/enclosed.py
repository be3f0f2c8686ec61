"""What secret allocation spends, enclosed between two discrete pairs in its place (``proof.md``)."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeVar

import numpy as np
from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure, End, ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.gaussian import together
from dpbounds.privacy.pairs.losses import LossDistribution, ball, law_at
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    Combined,
    Direction,
    Discrete,
    Pair,
    Product,
    SecretSteps,
    is_attack,
)
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation import above, below, replaced, shared, signed
from dpbounds.privacy.routes.allocation.apart import at_most, in_place, told_apart
from dpbounds.privacy.routes.allocation.rounding import UNIT, repeated
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.routes.lattice.steps import as_step

ROUTE = "allocation"
_PRECISION = 128
_LOOK = 64
_SCALE_BITS = 200
_NEAREST, _FARTHEST = 1e-9, 600.0  # of a loss, on which a grid is laid
_FINENESS = 1.4  # h squared, in units of the wanted width and of the relative variance of R, at first
_COARSEST = 0.04  # of the base loss's deviation
_SHARE = 0.25  # of the width, that the composition of what is found may take
_COARSENING = 1 / 4  # 1/2 would let all additions add the same variance to the whole, but a single ratio may decide
_DECISIVE = 10  # doublings, beyond which it cannot
_ROUNDS = 4
_ROUGH, _ROUGHLY_NEGLIGIBLE, _ROUGHLY_LEAST = 0.02, 1e-24, 1e-13  # of an estimate
_NEARLY = 2  # times as wide as wanted, which will do for some of many targets
_SUBTLE = 1e-7  # of δ: what may be given up beyond the grid
_VERY_MANY, _MILD = 3_000, 5  # bins, and a squared shift, for which no grid holds the sum
_HARDLY = 1e-5  # of δ: the same for thresholds under replace-one
_NOTHING = Fraction(0)
_LOUD = 2  # a squared shift, whose ratios span many scales
_MANY_SCALES = 0.7  # beyond the logarithm of the number of bins, for which so does their sum: one spacing shows few
_CROWDS = 30_000  # bins, for which a transform has twice as many points
_FAR = 3  # times as wide as wanted, which deserves more work where there are very many bins
_IN_PLACE = 2.5  # times as wide as wanted, which will do under replace-one, whose grids are dear
_NARROW = 7.5e-4  # at most as narrow as this
_LOSSES = 2.0  # per deviation and 1 / spacing, of thresholds on a signed grid
# under replace-one, by the width from which they do; the last for all that is narrower
_FINENESSES = (
    (5e-3, replaced.Fineness(cells=64, bits=16, losses=8)),
    (1e-3, replaced.Fineness(cells=96, bits=16, losses=16)),
    (0.0, replaced.Fineness(cells=128, bits=17, losses=28)),
)
_ROUGHLY_REPLACED = replaced.Fineness(cells=32, bits=12, losses=5)

# of a product without allocated pairs, at targets, to a width; one proof each
Prove = Callable[[Product, Sequence[Fraction], float], Sequence[Proof]]


@dataclass(frozen=True, slots=True)
class Grid:
    """Choices.

    Attributes:
        spacing: Where all ratios are added up.
        negligible: The mass that may be spread far away.
        fineness: How finely the profile is looked at under replace-one.
        least: The δ per epoch that may be given up there.
        by_threshold: Whether one of m Gaussian steps is looked at so under the other relations, too.
        signed: How finely under replace-one on a geometric grid; None where one spacing holds the sum.
    """

    spacing: Fraction
    negligible: float
    fineness: replaced.Fineness = _ROUGHLY_REPLACED
    least: float = 0.0
    by_threshold: bool = False
    signed: signed.Fineness | None = None

    def looks_at_thresholds(self, pair: SecretSteps) -> bool:
        """Whether a pair is enclosed at thresholds, not on this grid."""
        return isinstance(pair, Allocated) and (
            pair.direction is Direction.REPLACE or (self.by_threshold and bool(pair.shifts))
        )

    def for_terms(self, few: int, all_: int) -> Fraction:
        """The spacing for a sum of few ratios of all: what rounding adds to each of many independent sums averages out.

        All spacings are the finest one times a power of two.
        """
        doublings = math.log2(max(1, all_ // few))
        return self.spacing * (1 << int(_COARSENING * (doublings + max(0.0, doublings - _DECISIVE))))


def _is_crowded(pair: SecretSteps) -> bool:
    """Whether a grid for the sum would be too fine: very many bins, none of which decides alone."""
    return (
        isinstance(pair, Allocated)
        and pair.direction is not Direction.REPLACE
        and pair.bins >= _VERY_MANY
        and bool(pair.shifts)
        and all(squared <= _MILD for squared, _ in pair.shifts)
    )


def _loudest(pair: Allocated) -> Fraction:
    """The largest squared shift of a step with Gaussian noise."""
    return max((squared for squared, _ in pair.shifts), default=_NOTHING)


@dataclass(frozen=True, slots=True)
class Dominating:
    """A pair that dominates up to a factor: δ(ε) of T of them is at most ``factor``^T times that of T of ``pair``."""

    pair: Discrete
    factor: Fraction


_M = TypeVar("_M", above.Above, below.Below)


def _parts(base: Pair) -> Product:
    """The pairs that a step is made of."""
    return base.product if isinstance(base, Combined) else ((base, 1),)


# --- Choices of a grid ------------------------------------------------------------------------------------------------


def _ends(base: Pair, negligible: float) -> tuple[float, float]:
    """Losses between which all but next to nothing of the base lies: a choice."""
    with working(_LOOK):
        law = law_at(base, _LOOK)

        def below_(loss: float) -> bool:
            return bool(law.head(arb(loss))[1] < negligible)

        def above_(loss: float) -> bool:
            return bool(law.tail(arb(loss))[0] < negligible)

        points = [float(point.loss) for point in law.points]
        low, high = (min(points), max(points)) if points else (0.0, 0.0)
        if not law.discrete:
            low = min([low, _search(below_, -1.0)] if law.lowest is None else [low, float(law.lowest)])
            high = max([high, _search(above_, 1.0)] if law.highest is None else [high, float(law.highest)])
    return low, high


def _search(far_enough: Callable[[float], bool], sign: float) -> float:
    far = 1.0
    while not far_enough(sign * far):
        far *= 2
        if far > 2 * _FARTHEST:
            raise Declined("allocation: the losses of one step reach too far for a grid")
    while far > _NEAREST and far_enough(sign * far / 2):
        far /= 2
    near = far / 2
    for _ in range(6):
        middle = (near + far) / 2
        near, far = (near, middle) if far_enough(sign * middle) else (middle, far)
    return sign * far


def _marks(base: Pair, spacing: Fraction, negligible: float) -> tuple[int, int]:
    low, high = _ends(base, negligible)
    if not -_FARTHEST < low <= high < _FARTHEST:
        raise Declined("allocation: the losses of one step reach too far for a grid")
    first, last = math.floor(low / float(spacing)) - 2, math.ceil(high / float(spacing)) + 2
    if last - first > above.LARGEST_GRID:
        raise Declined(f"allocation: a grid of {last - first} points is beyond the work limit")
    return first, last


def first_spacing(pair: SecretSteps, width: float) -> float:
    """A spacing that should do: a choice."""
    found = []
    for base in pair.inside:
        square, mean_square, count = 0.0, 0.0, 0
        for inner, times in _parts(base):
            low, high = _ends(inner, 1e-12)
            with working(_LOOK):
                one, loss = _moments(law_at(inner, _LOOK), low, high)
            square, mean_square, count = square + times * math.log1p(one), mean_square + times * loss, count + times
        relative = math.expm1(min(square, 300.0)) / pair.places
        fine, coarse = math.sqrt(_FINENESS * width * min(relative, 1.0)), _COARSEST * math.sqrt(mean_square)
        found.append(min(fine, coarse) / math.sqrt(count))
    return min(found)


def _moments(law: LossDistribution, low: float, high: float) -> tuple[float, float]:
    """Roughly E_Q (X-1)² and E_Q L², in floats."""
    atoms = [(float(point.loss), float(point.r)) for point in law.points]
    if not law.discrete:
        edges = np.linspace(low, high, 400)
        tails = [float(law.tail(arb(float(edge)))[1]) for edge in edges]
        atoms += [((float(edges[i]) + float(edges[i + 1])) / 2, max(0.0, tails[i] - tails[i + 1])) for i in range(399)]
    square = sum((mass * math.expm1(min(loss, 300.0)) ** 2 for loss, mass in atoms), float(law.vanishing))
    return max(square, 1e-12), max(sum(mass * loss**2 for loss, mass in atoms), min(square, 1.0), 1e-12)


# --- The sum of the ratios --------------------------------------------------------------------------------------------


def _on_grid(
    grid: Grid, terms: int, refined: Callable[[_M, Fraction], _M], added: Callable[[_M, _M], _M]
) -> Callable[[_M, _M], _M]:
    """Adds two sums of some of all the ratios, on the grid that is meant for so many."""

    def both(one: _M, other: _M) -> _M:
        spacing = grid.for_terms(one.terms + other.terms, terms)
        first = refined(one, spacing)
        return added(first, first if other is one else refined(other, spacing)).trimmed(grid.negligible)

    return both


@lru_cache(maxsize=16)
def _step_above(base: Pair, spacing: Fraction, negligible: float) -> above.Above:
    def both(one: above.Above, other: above.Above) -> above.Above:
        return above.multiplied(one, other).trimmed(negligible)

    parts = (
        repeated(above.one_ratio(as_step(inner), spacing, _marks(inner, spacing, negligible)), times, both)
        for inner, times in resolved(_parts(base))
    )
    return reduce(both, parts)


@lru_cache(maxsize=16)
def _sum_above(shares: Product, bins: int, grid: Grid) -> above.Above:
    terms = sum(count for _, count in shares)
    both = _on_grid(grid, terms, above.refined, above.added)
    finest = grid.for_terms(1, terms)
    parts = [repeated(_step_above(base, finest, grid.negligible), count, both) for base, count in shares]
    idle = bins - terms
    return reduce(both, [*parts, above.constant(idle, grid.spacing)] if idle else parts)


@lru_cache(maxsize=16)
def _step_below(base: Pair, most: int, spacing: Fraction, negligible: float) -> below.Below:
    def both(one: below.Below, other: below.Below) -> below.Below:
        return below.multiplied(one, other).trimmed(negligible)

    parts = (
        repeated(below.one_step(inner, spacing, _marks(inner, spacing, negligible), most), times, both)
        for inner, times in resolved(_parts(base))
    )
    return reduce(both, parts)


@lru_cache(maxsize=16)
def _sum_below(shares: Product, most: int, grid: Grid) -> below.Below:
    terms = sum(count for _, count in shares)
    both = _on_grid(grid, terms, below.refined, below.added)
    finest = grid.for_terms(1, terms)
    return reduce(
        both,
        (repeated(_step_below(base, most, finest, grid.negligible), count, both) for base, count in shares),
    )


def dominating(pair: Allocated, grid: Grid) -> Dominating:
    """A discrete pair that dominates, up to a factor that is next to 1."""
    if grid.looks_at_thresholds(pair):
        return Dominating(_at_thresholds(pair, grid)[0], Fraction(1))
    found = _sum_above(pair.shares, pair.bins, grid)
    with working(_PRECISION):
        h, shift = ball(found.spacing), arb(pair.bins).log()
        removed = pair.direction is Direction.REMOVE
        offset = ball_end(-shift if removed else shift, "up")
        masses = {}
        for i in np.flatnonzero(found.masses):
            index, q = found.first + int(i), arb(float(found.masses[i]))
            if removed:
                masses[offset + index * found.spacing] = ball_end(q * (index * h).exp() / pair.bins, "up")
            else:
                masses[offset - index * found.spacing] = ball_end(q, "up")
        infinite = ball_end(arb(found.infinite) / pair.bins, "up") if removed else Fraction(found.zero)
    total = sum(masses.values(), infinite)
    if total > 2:  # what was cut off, or roundings: more mass than there is
        raise Declined("allocation: the grid does not hold the ratios")
    share = min(Fraction(1), Fraction(math.floor((1 << _SCALE_BITS) / total), 1 << _SCALE_BITS))
    points = tuple((loss, mass * share) for loss, mass in sorted(masses.items()))
    return Dominating(Discrete(points, 1 - sum((mass for _, mass in points), Fraction(0))), 1 / share)


def _at_thresholds(pair: Allocated, grid: Grid) -> tuple[Discrete, Discrete]:
    if _is_crowded(pair):
        return shared.between(pair, grid.least)
    if pair.direction is Direction.REPLACE and grid.signed is not None:
        return signed.between(pair, grid.signed, grid.least)
    return replaced.between(pair, grid.fineness, grid.least)


def attained(pair: SecretSteps, grid: Grid) -> Discrete:
    """What an observer of the attained run sees who tells outcomes apart coarsely; a few outcomes may be missing."""
    if isinstance(pair, Allocated) and grid.looks_at_thresholds(pair):
        return _at_thresholds(pair, grid)[1]
    most, choices = pair.times, math.comb(pair.places, pair.times)
    idle = pair.places - sum(count for _, count in pair.run)
    found = _sum_below(pair.run, most, grid)
    points: dict[Fraction, Fraction] = {}
    infinite = Fraction(0)
    with working(_PRECISION):
        slack = (arb(found.roundings + 1) * 2 * UNIT).exp()  # >= (1 - u)^-n
        if pair.direction is Direction.REMOVE:
            infinite += ball_end(arb(float(found.surely[most])) / choices / slack, "down")
        without = np.zeros((len(found.counts), 1))
        without[0] = found.gone
        for column in np.hstack([found.counts, without]).T:
            q, p = arb(float(column[0])), (arb(float(column[most])) + idle * arb(float(column[0]))) / choices
            if pair.direction is not Direction.REMOVE:
                p, q = q, p
            if not p > 0:
                continue
            mass = ball_end(p / slack, "down")
            if q > 0:
                where = ball_end((p / (q * slack * slack)).log(), "down")
                points[where] = points.get(where, Fraction(0)) + mass
            else:  # never seen under the other law
                infinite += mass
    return Discrete(tuple(sorted(points.items())), infinite)


# --- What is spent ----------------------------------------------------------------------------------------------------


def enclosed(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof]:
    """Enclose what a product spends by what two products with discrete pairs in place of the allocated ones spend.

    The two products know nothing of the targets: one dominates and the other is attained at every α >= 0 (``proof.md``,
    sections 1, 4 and 7), so both ends are proven at each target, however many share them. Targets decide which grid is
    chosen: one that is good enough for the worst of them.

    Args:
        product: Pairs with multiplicities.
        targets: Values of δ where ε is asked for, else of ε; one at least.
        for_epsilon: Which.
        width: Relative width of ε, or width of log δ over max(1, log 1/δ), that will do.
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
    told = told_apart(product, targets, for_epsilon, width, prove, however_low=True)  # which a grid may not see
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
    if (apart := _apart(product, targets, for_epsilon, width, prove)) is not None:
        return apart
    replaced_ones = [pair for pair, _ in product if isinstance(pair, Allocated) and pair.direction is Direction.REPLACE]
    loud = any(_loudest(pair) >= _LOUD for pair in replaced_ones)
    by_signs = any(_loudest(pair) >= max(_LOUD, _MANY_SCALES + math.log(pair.bins)) for pair in replaced_ones)
    aim = max(_IN_PLACE * width, _NARROW) if replaced_ones else width
    try:
        spacing = min(
            [first_spacing(pair, width) for pair in spaced]
            + [signed.first_spacing(pair, aim / _IN_PLACE, count) for pair in replaced_ones],
            default=1.0,
        )
    except Declined:
        shown = _published(product, targets, for_epsilon, width, prove)
        if shown is None:
            raise
        return shown
    fineness = next(each for least, each in _FINENESSES if width >= least)
    if max((pair.bins for pair in replaced_ones), default=0) >= _CROWDS:
        fineness = replace(fineness, bits=fineness.bits + 1)
    attacked = is_attack(product)
    small = float(min(targets)) if for_epsilon else 1e-12
    found = _apart_in_place(product, targets, for_epsilon, aim, prove) if loud else {}
    if found and all(_miss(proof, for_epsilon, aim) <= 1 for proof in found.values()):
        return [found[at] for at in targets]
    looked, coarser, worst = set[bool](), False, math.inf  # under replace-one: by which grids
    rest = list(dict.fromkeys(targets))  # whose proofs are not narrow enough yet
    by_threshold = bool(spaced) and all(map(_is_crowded, spaced))
    for _ in range(_ROUNDS):
        negligible = _round_number(small * _SUBTLE * min(1.0, width / 1e-3) / count)
        least = _round_number(small * _HARDLY / count)
        steps = signed.Fineness(_dyadic(spacing), _LOSSES / spacing) if by_signs else None
        grid = Grid(_dyadic(spacing), negligible, fineness, least, by_threshold, steps)
        looked.add(by_signs)
        try:
            proofs = _between(product, rest, for_epsilon, grid, lambda few, at: prove(few, at, _SHARE * width))
        except Declined:
            if by_signs and not coarser and worst > _FAR:
                coarser, spacing = True, 3 * spacing
                continue
            if replaced_ones and len(looked) == 1:  # the points of a grid would be too many
                by_signs = not by_signs
                continue
            if found:
                break
            if by_threshold or not any(isinstance(pair, Allocated) and pair.shifts for pair in spaced):
                shown = _published(product, targets, for_epsilon, width, prove)
                if shown is None:
                    raise
                return shown
            by_threshold = True
            continue
        _keep(found, rest, proofs)
        hidden = [] if attacked else [at for at in rest if _is_hidden(found[at], for_epsilon)]
        if hidden:  # δ is below all masses
            shown = _published(product, hidden, for_epsilon, width, prove)
            _keep(found, hidden, shown or ())
        if attacked or by_threshold:  # of thresholds the number is bounded
            break
        misses = {at: _miss(found[at], for_epsilon, aim) for at in rest if at not in hidden}
        rest = [at for at, miss in misses.items() if miss > (1 if len(targets) == 1 else _NEARLY)]
        if not rest:
            break
        if not for_epsilon:
            small = min([small, *(float(found[at].enclosure.exact_upper) for at in rest)])
        worst = max(misses.values())
        if replaced_ones and not by_signs:  # one spacing did not do
            if len(looked) > 1 or (worst <= _FAR and max(pair.bins for pair in replaced_ones) >= _VERY_MANY):
                break
            by_signs = True
            continue
        finer = 0.8 / math.sqrt(worst) if worst < math.inf else 0.5
        spacing *= min(0.8 if replaced_ones else 0.5, max(0.1, finer))
    unseen = [
        at for at in found if not attacked and found[at].enclosure.exact_lower <= 0 < found[at].enclosure.exact_upper
    ]
    if unseen:  # masses that doubles do not hold were left out from below
        _keep(found, unseen, _published(product, unseen, for_epsilon, width, prove) or ())
    return [found[at] for at in targets]


def _apart(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof] | None:
    """Where so little noise is added that the record's step is told from the others; None if that is not enough."""
    ends = told_apart(product, targets, for_epsilon, width, prove)
    if ends is None:
        return None
    secret = [pair for pair, _ in product if isinstance(pair, SecretSteps)]
    attacked = is_attack(product)
    added = secret[0].direction is Direction.ADD
    most: End = math.inf if for_epsilon else Fraction(1)
    found = [
        Proof(Enclosure(low, most if attacked else high, ROUTE, _PRECISION), ROUTE, {"steps": "told apart"})
        for low, high in ends
    ]
    if attacked or added or all(_miss(each, for_epsilon, width) <= 1 for each in found):
        return found
    return None


def _apart_in_place(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> dict[Fraction, Proof]:
    """The same under replace-one, by the law of the other steps' ratios on one grid; empty if that is not enough."""
    bound = in_place(product, width, for_epsilon=for_epsilon)
    if bound is None or (for_epsilon and bound.rare >= min(targets)):
        return {}
    low, high = bound.shift
    negligible = _round_number(_SUBTLE * (float(min(targets)) if for_epsilon else 1e-12))
    grid = Grid(_dyadic(bound.spacing), negligible)

    def ends(at: Sequence[Fraction], which: int) -> list[Fraction]:
        proofs = _between(
            bound.product, at, for_epsilon, grid, lambda few, all_: prove(few, all_, _SHARE * width / _IN_PLACE)
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
        at: Proof(Enclosure(min(a, b), b, ROUTE, _PRECISION), ROUTE, {"steps": "told apart"})
        for at, a, b in zip(targets, lows, highs, strict=True)
    }


def _keep(found: dict[Fraction, Proof], targets: Sequence[Fraction], proofs: Sequence[Proof]) -> None:
    """Add proofs to what is known at these targets."""
    for at, proof in zip(targets, proofs, strict=False):
        found[at] = _narrower(found[at], proof) if at in found else proof


def _is_hidden(proof: Proof, for_epsilon: bool) -> bool:
    return proof.enclosure.exact_upper >= (math.inf if for_epsilon else 1)


def _miss(proof: Proof, for_epsilon: bool, width: float) -> float:
    """How many times as wide as wanted a proof is; infinite where it tells nothing of the size."""
    low, high = proof.enclosure.exact_lower, proof.enclosure.exact_upper
    if high == 0 or low == math.inf:
        return 0.0
    gap = math.inf if high == math.inf else float((high - low) / high)
    enough = width if for_epsilon else width * max(1.0, -_log(high))
    return gap / enough if gap < 1 or gap <= enough else math.inf


def _published(
    product: Product, targets: Sequence[Fraction], for_epsilon: bool, width: float, prove: Prove
) -> list[Proof] | None:
    """What holds where the bin of a record is published, and what whoever sees one step attains (``proof.md``, 9).

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
    if not attacked:  # of an attack nothing is proven from above
        try:
            highs = [each.enclosure.exact_upper for each in prove(together(revealed), targets, width)]
        except (Declined, NotCertified):
            return None
    return [
        Proof(Enclosure(min(low, high), high, ROUTE, _PRECISION), ROUTE, {"bins": "published"})
        for low, high in zip(lows, highs, strict=True)
    ]


def _log(number: Fraction | float) -> float:
    """Roughly the logarithm of a positive number."""
    number = Fraction(number)
    return math.log(number.numerator) - math.log(number.denominator)


def _round_number(negligible: float) -> float:
    """A power of 1000, at most so much: one that serves several questions."""
    return math.pow(10.0, max(-120, 3 * math.floor(math.log10(max(negligible, 1e-300)) / 3)))


def _dyadic(spacing: float) -> Fraction:
    mantissa, exponent = math.frexp(spacing)
    return Fraction(math.floor(math.ldexp(mantissa, 4))) * Fraction(2) ** (exponent - 4)


def _narrower(one: Proof, other: Proof) -> Proof:
    low = max(one.enclosure.exact_lower, other.enclosure.exact_lower)
    high = min(one.enclosure.exact_upper, other.enclosure.exact_upper)
    return replace(other, enclosure=Enclosure(low, high, other.enclosure.method, other.enclosure.precision))


def _between(
    product: Product,
    targets: Sequence[Fraction],
    for_epsilon: bool,
    grid: Grid,
    prove: Callable[[Product, Sequence[Fraction]], Sequence[Proof]],
) -> list[Proof]:
    parameters = {"spacing": float(grid.spacing), "beyond the grid": grid.negligible}
    lower = tuple((attained(pair, grid) if isinstance(pair, SecretSteps) else pair, count) for pair, count in product)
    lows = [each.enclosure.exact_lower for each in prove(lower, targets)]
    if is_attack(product):  # an attack: nothing is proven from above
        end: End = math.inf if for_epsilon else Fraction(1)
        return [Proof(Enclosure(low, end, ROUTE, _PRECISION), ROUTE, parameters) for low in lows]
    exponent, upper = arb(0), list[tuple[Pair, int]]()
    for pair, count in product:
        if isinstance(pair, Allocated):
            found = dominating(pair, grid)
            with working(_PRECISION):
                exponent = exponent + count * ball(found.factor).log()
            upper.append((found.pair, count))
        else:
            upper.append((pair, count))
    with working(_PRECISION):
        factor = ball_end(exponent.exp(), "up")
    asked = [_rounded_down(at / factor) for at in targets] if for_epsilon else targets
    highs = [each.enclosure.exact_upper for each in prove(tuple(upper), asked)]
    if not for_epsilon:
        highs = [min(Fraction(1), high * factor) for high in highs]
    return [
        Proof(Enclosure(min(low, high), high, ROUTE, _PRECISION), ROUTE, parameters)
        for low, high in zip(lows, highs, strict=True)
    ]


def _rounded_down(number: Fraction) -> Fraction:
    """A positive number not above it, of few digits."""
    bits = number.denominator.bit_length() - number.numerator.bit_length() + _SCALE_BITS
    return Fraction(math.floor(number * (1 << max(bits, 0))), 1 << max(bits, 0))


def rough(product: Product) -> Product:
    """A product with discrete pairs in place of the allocated ones, for estimates: it proves nothing."""
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
    spacing = Fraction(1) if known else _dyadic(first_spacing(pair, _ROUGH))
    grid = Grid(spacing, _ROUGHLY_NEGLIGIBLE, _ROUGHLY_REPLACED, _ROUGHLY_LEAST)
    return dominating(pair, grid).pair if isinstance(pair, Allocated) else attained(pair, grid)
