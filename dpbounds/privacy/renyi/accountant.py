"""The Rényi accountant: D_λ of a whole mechanism at every real order, and its conversion to (ε, δ).

Rényi divergences add up under adaptive composition, for each class of ordered neighbours and each order (Mironov 2017).
The conversion to (ε, δ) is that of Canonne, Kamath & Steinke 2020, at the best real order, which is searched for in
floating point and then proven in balls: no list of orders caps it. The derivations are in ``renyi.md``.

The result is the limit of the *Rényi* analysis. It is sound, and looser than composing the loss itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working
from dpbounds.privacy.domination.composition import NeighbourClass, NeighbourClasses, neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import (
    Moments,
    Product,
)
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.moments import add_spends_less, total_log_moment
from dpbounds.privacy.values import Given, Target, above_one, promised_delta, promised_epsilon

LogMoment = Callable[[Fraction, int], arb]  # (order, accuracy in bits) -> (λ-1) D_λ

_LEAST_EXCESS, _LARGEST_EXCESS = 1e-9, 1e9  # range of λ - 1 that is searched
_STRIDE = math.log(8)
_FINE, _FINEST = 4e-3, 1e-11  # widths in log(λ-1) at which the golden section may end, and must end
_FLAT = 1e-8  # relative differences of values that a parabola may interpolate
_SEARCH_BITS, _PROOF_BITS = 40, 96
_APART = tuple(Fraction(1, 1 << bits) for bits in (14, 20, 26, 32))  # relative distances of the orders of a lower bound
_CLOSE = 1e-6  # relative width at which the search for a lower bound ends
_ROUNDING_PRECISION = 160


# --- The curve of a mechanism -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DivergenceCurve:
    """D_λ of a whole mechanism, bounded at every real order λ > 1.

    Attributes:
        classes: One per class of ordered neighbours, with the product of pairs whose divergences are added; a class
            that is proven to spend no more than another at any order is left out.
        orders_hint: Orders at which a guarantee was given, where the best order may lie exactly.
    """

    classes: tuple[NeighbourClass, ...]
    orders_hint: tuple[Fraction, ...]

    def upper(self, order: ExactLike) -> Fraction | float:
        """Return a proven upper bound on D_λ, the largest over the classes; ``inf`` if none is finite.

        Raises:
            InvalidValue: The order is not above 1.
            NotCertified: The value is out of reach.
        """
        number, worst = above_one(order), Fraction(0)
        for neighbours in self.classes:
            moment = total_log_moment(neighbours.product, number)
            if not moment.is_finite():
                return math.inf
            with working(_ROUNDING_PRECISION):
                worst = max(worst, ball_end(moment / ball(number - 1), "up"))
        return worst


def renyi_curve(mechanism: Mechanism, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE) -> DivergenceCurve:
    """Return the Rényi divergences of a mechanism as a curve; errors as for :func:`renyi_epsilon`.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> renyi_curve(Gaussian(2) ** 8).upper("1.5")
    Fraction(3, 2)
    """
    return _curve_of(neighbour_classes(mechanism, as_relation(relation)))


def _curve_of(classes: NeighbourClasses) -> DivergenceCurve:
    every = tuple(classes.every())
    products = {neighbours.product for neighbours in every}

    def is_left_out(product: Product) -> bool:
        mirror = tuple((pair.mirrored(), count) for pair, count in product)
        return mirror != product and mirror in products and add_spends_less(product)

    kept = tuple(neighbours for neighbours in every if not is_left_out(neighbours.product))
    pairs = [inner for neighbours in kept for pair, _ in neighbours.product for inner in pair.nested()]
    hints = {order for pair in pairs for order in pair.given_orders}
    return DivergenceCurve(kept, tuple(sorted(hints)))


# --- From the curve to (ε, δ) -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Converted:
    """The bound of a Rényi curve at one δ (or ε).

    Attributes:
        given: The given one of "delta" and "epsilon"; the enclosure holds the other.
        target: Its value.
        enclosure: The upper bound is proven to suffice for the mechanism. Where ``two_sided``, the best that this
            conversion yields at any real order is proven to lie between the ends; otherwise the lower bound is 0. It is
            never a lower bound on what the mechanism itself spends, which may be less.
        two_sided: See above.
        order: λ of the upper bound; None where no order gives a finite one.
        neighbours: The class of ordered neighbours that spends most.
    """

    given: Given
    target: Fraction
    enclosure: Enclosure
    two_sided: bool
    order: Fraction | None
    neighbours: str


def renyi_epsilon(
    mechanism: Mechanism, delta: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Converted:
    """Return the ε that follows from the mechanism's Rényi divergences at δ in (0, 1).

    ε = inf over λ > 1 of D_λ + log((λ-1)/λ) - (log δ + log λ)/(λ-1), at least 0: Canonne, Kamath & Steinke 2020,
    Proposition 12. ``inf`` where a likelihood ratio is unbounded with positive probability (uniform noise, δ > 0).

    Raises:
        InvalidValue: δ or the relation is not allowed.
        UnsupportedMechanism: A part has no proven pair under this relation.
        NotCertified: The divergences are out of reach at every order tried.

    >>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
    >>> found = renyi_epsilon(PoissonSampled(Gaussian(1), "0.01") ** 10_000, "1e-6")
    >>> "7.4137" < found.enclosure < "7.4138"
    True
    """
    return converted(mechanism, Target("delta", promised_delta(delta)), as_relation(relation))


def renyi_delta(
    mechanism: Mechanism, epsilon: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Converted:
    """Return the δ that follows from the mechanism's Rényi divergences at ε >= 0; errors as for :func:`renyi_epsilon`.

    δ = inf over λ > 1 of e^((λ-1)(D_λ - ε)) (1 - 1/λ)^λ / (λ-1), at most 1: Canonne, Kamath & Steinke 2020, Prop. 12.
    """
    return converted(mechanism, Target("epsilon", promised_epsilon(epsilon)), as_relation(relation))


def converted(mechanism: Mechanism, target: Target, relation: Relation) -> Converted:
    """Convert the divergences of a mechanism, for checked values."""
    return converted_of(neighbour_classes(mechanism, relation), target)


def converted_of(classes: NeighbourClasses, target: Target) -> Converted:
    """Convert each class separately, for checked values: the mechanism spends as much as the worst class.

    A class that spends no more than another at that one's best order needs no search of its own.
    """
    curve = _curve_of(classes)
    top: Found | None = None
    name = ""
    for neighbours in curve.classes:
        conversion = _Conversion(target, partial(total_log_moment, neighbours.product))
        if top is not None and conversion.gives_no_more(top):
            continue
        exact_ends = all(Moments.EXACT in pair.moments for pair, _ in neighbours.product)
        found = conversion.best(exact_ends, curve.orders_hint)
        if top is None or found[0].exact_upper > top[0].exact_upper:
            top, name = found, neighbours.name
    assert top is not None
    enclosure, order, two_sided = top
    return Converted(target.given, target.value, enclosure, two_sided, order, name)


def best_epsilon(moment: LogMoment, delta: Fraction) -> Enclosure:
    """Enclose the least ε(δ) that (λ-1) D_λ gives at any real order λ."""
    return _Conversion(Target("delta", delta), moment).best()[0]


def spent_at_most(product: Product, target: Target) -> Fraction | float:
    """Return an upper bound by the divergences of one product of pairs at a target; ``inf`` if none is finite.

    Raises:
        NotCertified: The divergences are out of reach at every order tried.
    """
    return _Conversion(target, partial(total_log_moment, product)).best(exact_ends=False)[0].exact_upper


Found = tuple[Enclosure, Fraction | None, bool]  # the bounds, the order, whether both are proven


@dataclass(frozen=True, slots=True)
class _Conversion:
    """The least value over s = λ-1 > 0 of N(s)/s, which is ε, or of e^G(s), which is δ; N(0) > 0, N and G are convex.

    N(s) = (λ-1) D_λ + s log s - λ log λ - log δ, and G(s) = (λ-1) D_λ + s log s - λ log λ - sε.

    Attributes:
        target: δ or ε.
        moment: (λ-1) D_λ, enclosed, or bounded above.
    """

    target: Target
    moment: LogMoment

    def convex(self, s: Fraction, bits: int = _PROOF_BITS) -> arb:
        """Return N(s) or G(s)."""
        target = self.target.value
        last = ball(target).log() if self.target.for_epsilon else ball(s * target)
        x = ball(s)
        entropy = x * x.log() - (1 + x) * x.log1p()  # convex in s, and 0 at s = 0
        return self.moment(1 + s, bits) + entropy - last

    def value(self, s: Fraction, bits: int = _PROOF_BITS) -> arb:
        """Return the objective: N(s)/s or G(s)."""
        return self.convex(s, bits) / ball(s) if self.target.for_epsilon else self.convex(s, bits)

    def best(self, exact_ends: bool = True, hints: tuple[Fraction, ...] = ()) -> Found:
        """Enclose the least.

        Args:
            exact_ends: Whether the lower bounds of ``moment`` are proven.
            hints: Orders to try in any case.
        """
        for_epsilon = self.target.for_epsilon

        def objective(s: Fraction) -> float:
            with working(_SEARCH_BITS + 64):
                return float(self.value(s, _SEARCH_BITS).mid())

        s = _best_excess(objective, hints)
        if s is None:
            return Enclosure(Fraction(0), math.inf if for_epsilon else Fraction(1), "renyi", 0), None, False
        with working(_ROUNDING_PRECISION):
            upper = self.value(s)
            lower: arb | None = None
            if exact_ends:
                lower = _lower_end(_least_slope if for_epsilon else _least_value, self.convex, s, upper)
            if not for_epsilon:
                lower, upper = None if lower is None else lower.exp(), upper.exp()
            largest = arb("inf") if for_epsilon else arb(1)
            least = arb(0) if lower is None else lower.max(arb(0)).min(largest)
            most = upper.max(arb(0)).min(largest)
            return Enclosure.from_balls(least, most, "renyi", _ROUNDING_PRECISION), 1 + s, lower is not None

    def gives_no_more(self, top: Found) -> bool:
        """Return whether it is proven, at the best order found for another class, that this one spends no more."""
        enclosure, order, _ = top
        if order is None:
            return True
        with working(_ROUNDING_PRECISION):
            try:
                value = self.value(order - 1)
            except NotCertified:
                return False
            if not self.target.for_epsilon:
                value = value.exp()
            return value.is_finite() and ball_end(value, "up") <= enclosure.exact_upper


# --- The best order: a search, which proves nothing -------------------------------------------------------------------


def _best_excess(objective: Callable[[Fraction], float], hints: tuple[Fraction, ...]) -> Fraction | None:
    """Return λ-1 at which the objective is about least: it falls, then rises. None where it is nowhere finite."""

    def value_at(excess: Fraction) -> float:
        try:
            value = objective(excess)
        except NotCertified:
            return math.inf
        return value if math.isfinite(value) else math.inf

    def at(x: float) -> float:
        return value_at(_short(math.exp(x)))

    candidates = [_short(math.exp(_golden_section(at, *_bracket(at)))), *(order - 1 for order in hints)]
    values = {excess: value_at(excess) for excess in candidates}
    best = min(values, key=values.__getitem__)
    return best if math.isfinite(values[best]) else None


def _bracket(at: Callable[[float], float]) -> tuple[float, float]:
    """Log(λ-1) left and right of the least value, from λ = 2 on, as far as it takes."""
    least, largest = math.log(_LEAST_EXCESS), math.log(_LARGEST_EXCESS)
    x, value = 0.0, at(0.0)
    for stride in (_STRIDE, -_STRIDE):
        moved = False
        while least < x < largest or x == 0.0:
            following = min(max(x + stride, least), largest)
            ahead = at(following)
            if not (ahead < value or (math.isinf(value) and stride < 0)):
                break
            x, value, moved = following, ahead, True
        if moved:
            break
    return max(x - _STRIDE, least), min(x + _STRIDE, largest)


def _golden_section(at: Callable[[float], float], low: float, high: float) -> float:
    """Return the place of the least value, with a parabola through the last points."""
    share = (math.sqrt(5) - 1) / 2
    left, right = high - share * (high - low), low + share * (high - low)
    found = {x: at(x) for x in (low, left, right, high)}
    while high - low > _FINEST and (high - low > _FINE or not _is_flat(found[low], found[left], found[high])):
        if found[left] < found[right] or math.isinf(found[right]):
            high, right = right, left
            left = high - share * (high - low)
            found[left] = at(left)
        else:
            low, left = left, right
            right = low + share * (high - low)
            found[right] = at(right)
    middle, step = min((left, right), key=found.__getitem__), high - low
    first, second, third = (found.setdefault(x, at(x)) for x in (middle - step, middle, middle + step))
    bend = first - 2 * second + third
    if math.isfinite(bend) and bend > 0:
        vertex = middle + step * max(-2.0, min(2.0, (first - third) / (2 * bend)))
        found[vertex] = at(vertex)
    return min(found, key=found.__getitem__)


def _is_flat(*values: float) -> bool:
    """Return whether values differ by so little that a parabola finishes the search."""
    return max(values) - min(values) <= _FLAT * abs(min(values))


def _short(value: float) -> Fraction:
    """Return a nearby number with 40 significant bits."""
    mantissa, exponent = math.frexp(value)
    return Fraction(round(math.ldexp(mantissa, 40))) * Fraction(2) ** (exponent - 40)


# --- Lower bounds: convexity ----------------------------------------------------------------------------------------


_Bound = Callable[[Callable[[Fraction], arb], Fraction, Fraction], arb | None]


def _lower_end(bound: _Bound, value: Callable[[Fraction], arb], middle: Fraction, upper: arb) -> arb | None:
    """Return the best lower bound from three points, which need to be the closer the sharper the bend."""
    best: arb | None = None
    for apart in _APART:
        found = bound(value, middle, apart)
        if found is not None:
            best = found if best is None else best.max(found)
            if best > upper - _CLOSE * abs(upper):
                break
    return best


def _three(
    value: Callable[[Fraction], arb], middle: Fraction, apart: Fraction
) -> tuple[list[arb], list[arb], arb, arb]:
    """Return three nearby points, the values there, and the slopes of the chords between them."""
    places = [middle * (1 - apart), middle, middle * (1 + apart)]
    s, n = [ball(place) for place in places], [value(place) for place in places]
    return s, n, (n[1] - n[0]) / (s[1] - s[0]), (n[2] - n[1]) / (s[2] - s[1])


def _least_slope(numerator: Callable[[Fraction], arb], middle: Fraction, apart: Fraction) -> arb | None:
    """Return a lower bound on N(s)/s over all s > 0, for convex N; None where the three points do not prove one."""
    s, n, before, after = _three(numerator, middle, apart)
    start_before, start_after = n[1] - before * s[1], n[1] - after * s[1]  # where the chords meet s = 0
    if not start_before > 0:
        return None
    # beyond a chord's ends N lies above it, and (start + slope s)/s is monotone
    candidates = [n[i] / s[i] for i in range(3)]
    candidates += [after, after + start_after / s[0], before + start_before / s[2]]
    return _smallest(candidates)


def _least_value(exponent: Callable[[Fraction], arb], middle: Fraction, apart: Fraction) -> arb | None:
    """Return a lower bound on G(s) over all s > 0, for convex G; None where the three points do not prove one."""
    s, n, before, after = _three(exponent, middle, apart)
    if not (before < 0 and after > 0):
        return None
    return _smallest([*n, n[1] + after * (s[0] - s[1]), n[1] + before * (s[2] - s[1])])


def _smallest(values: list[arb]) -> arb | None:
    if not all(value.is_finite() for value in values):
        return None
    least = arb(values[0].lower())
    for value in values[1:]:
        least = least.min(arb(value.lower()))
    return least
