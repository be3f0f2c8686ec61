"""The Rényi accountant: D_λ of a whole mechanism at every real order, and what it promises as (ε, δ).

Rényi divergences add up under adaptive composition, for each class of ordered neighbours and each order (Mironov 2017).
The conversion to (ε, δ) is that of Canonne, Kamath & Steinke 2020, at the best real order, which is searched for in
floating point and then proven in balls: no list of orders caps it. The derivations are in ``renyi.md``.

What is returned says how far the *Rényi* analysis reaches. It is sound, and looser than composing the loss itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flint import arb

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.expressions.working import working
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.domination import NeighbourClass, neighbour_classes
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Combined, Pair, Product, RenyiProfile, Sampled, TwoGuarantees
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.guarantees import mirrored
from dpbounds.privacy.renyi.moments import add_spends_less, has_exact_moments, total_log_moment

LogMoment = Callable[[Fraction, int], arb]  # (order, accuracy in bits) -> (λ-1) D_λ

_LEAST_EXCESS, _LARGEST_EXCESS = 1e-9, 1e9  # of the orders over 1 that are looked at
_STRIDE = math.log(8)
_FINE, _FINEST = 4e-3, 1e-11  # of log(λ-1), where the golden section may end, and where it ends
_FLAT = 1e-8  # relative, of values that a parabola may interpolate
_SEARCH_BITS, _PROOF_BITS = 40, 96
_APART = tuple(Fraction(1, 1 << bits) for bits in (14, 20, 26, 32))  # relative distances of the orders of a lower end
_CLOSE = 1e-6  # relative width with which a lower end is content
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
        """Return a proven upper bound on D_λ, the largest over the classes; ``inf`` where none is finite.

        Raises:
            InvalidValue: The order is not above 1.
            NotCertified: The value is out of reach.
        """
        number = exact(order, "order")
        worst: Fraction | float = Fraction(0)
        for neighbours in self.classes:
            moment = total_log_moment(neighbours.product, number)
            if not moment.is_finite():
                return math.inf
            with working(_ROUNDING_PRECISION):
                worst = max(worst, ball_end(moment / ball(number - 1), "up"))
        return worst


def renyi_curve(mechanism: Mechanism, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE) -> DivergenceCurve:
    """Return the Rényi divergences of a mechanism as a curve.

    Args:
        mechanism: What ran, or will run.
        relation: The neighbouring relation.

    Raises:
        InvalidValue: There is no such relation.
        UnsupportedMechanism: A part has no proven pair under this relation.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> renyi_curve(Gaussian(2) ** 8).upper("1.5")
    Fraction(3, 2)
    """
    classes = neighbour_classes(mechanism, as_relation(relation))
    products = {neighbours.product for neighbours in classes.every()}
    kept = [
        neighbours
        for neighbours in classes.every()
        if not (_swapped(neighbours.product) in products - {neighbours.product} and add_spends_less(neighbours.product))
    ]
    hints = {order for neighbours in kept for pair, _ in neighbours.product for order in _given_orders(pair)}
    return DivergenceCurve(tuple(kept), tuple(sorted(hints)))


def _swapped(product: Product) -> Product:
    return tuple((mirrored(pair), count) for pair, count in product)


def _given_orders(pair: Pair) -> tuple[Fraction, ...]:
    match pair:
        case RenyiProfile(points=points):
            return tuple(order for order, _ in points)
        case Sampled(base=base):
            return _given_orders(base)
        case TwoGuarantees(present=present, replaced=replaced):
            return _given_orders(present) + _given_orders(replaced)
        case Combined(product=product):
            return tuple(order for inner, _ in product for order in _given_orders(inner))
    return ()


# --- From the curve to (ε, δ) -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Converted:
    """What a Rényi curve promises at one δ (or ε).

    Attributes:
        given: Which of "delta" and "epsilon" was given; the enclosure holds the other.
        target: Its value.
        enclosure: The upper end is proven to suffice for the mechanism. Where ``two_sided``, the best that this
            conversion yields at any real order is proven to lie between the ends; otherwise the lower end is 0 and says
            nothing. It never says anything about what the mechanism really spends, which may be less.
        two_sided: See above.
        order: λ of the upper end; None where no order gives a finite one.
        neighbours: The class of ordered neighbours that spends most.
    """

    given: Literal["delta", "epsilon"]
    target: Fraction
    enclosure: Enclosure
    two_sided: bool
    order: Fraction | None
    neighbours: str


def renyi_epsilon(
    mechanism: Mechanism, delta: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Converted:
    """Return the ε that the mechanism's Rényi divergences promise at δ.

    ε = inf over λ > 1 of D_λ + log((λ-1)/λ) - (log δ + log λ)/(λ-1), at least 0: Canonne, Kamath & Steinke 2020,
    Proposition 12. ``inf`` where a likelihood ratio is unbounded with positive probability (uniform noise, δ > 0).

    Args:
        mechanism: What ran, or will run.
        delta: In (0, 1); text such as ``"1e-6"`` is exact.
        relation: The neighbouring relation.

    Raises:
        InvalidValue: δ or the relation is not allowed.
        UnsupportedMechanism: A part has no proven pair under this relation.
        NotCertified: The divergences are out of reach at every order tried.

    >>> from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled
    >>> found = renyi_epsilon(PoissonSampled(Gaussian(1), "0.01") ** 10_000, "1e-6")
    >>> "7.4137" < found.enclosure < "7.4138"
    True
    """
    target = valid_delta(delta)
    curve = renyi_curve(mechanism, relation)

    def convert(moment: LogMoment, exact_ends: bool) -> Found:
        return best_epsilon(moment, target, exact_ends, curve.orders_hint)

    def at(moment: LogMoment, excess: Fraction) -> arb:
        return _slope_numerator(moment, target, excess, _PROOF_BITS) / ball(excess)

    return _worst(curve, "delta", target, convert, at)


def renyi_delta(
    mechanism: Mechanism, epsilon: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Converted:
    """Return the δ that the mechanism's Rényi divergences promise at ε.

    δ = inf over λ > 1 of e^((λ-1)(D_λ - ε)) (1 - 1/λ)^λ / (λ-1), at most 1: Canonne, Kamath & Steinke 2020,
    Proposition 12. Arguments and errors as for :func:`renyi_epsilon`, with ε at least 0.
    """
    target = exact(epsilon, "epsilon")
    if target < 0:
        raise InvalidValue("epsilon", epsilon, "at least 0")
    curve = renyi_curve(mechanism, relation)

    def convert(moment: LogMoment, exact_ends: bool) -> Found:
        return _best_delta(moment, target, exact_ends, curve.orders_hint)

    def at(moment: LogMoment, excess: Fraction) -> arb:
        return _exponent(moment, target, excess, _PROOF_BITS).exp()

    return _worst(curve, "epsilon", target, convert, at)


def valid_delta(delta: ExactLike) -> Fraction:
    """Return δ as an exact number in (0, 1), or raise ``InvalidValue``."""
    number = exact(delta, "delta")
    if not 0 < number < 1:
        raise InvalidValue("delta", delta, "greater than 0 and less than 1")
    return number


Found = tuple[Enclosure, Fraction | None, bool]  # the ends, the order, whether both are proven


def _worst(
    curve: DivergenceCurve,
    given: Literal["delta", "epsilon"],
    target: Fraction,
    convert: Callable[[LogMoment, bool], Found],
    at: Callable[[LogMoment, Fraction], arb],
) -> Converted:
    """Convert each class by itself: the mechanism spends what the worst of them does.

    A class that spends no more than another at that one's best order needs no search of its own.
    """
    top: Found | None = None
    name = ""
    for neighbours in curve.classes:
        moment = _log_moments(neighbours.product)
        if top is not None and _spends_no_more(moment, top, at):
            continue
        exact_ends = all(has_exact_moments(pair) for pair, _ in neighbours.product)
        found = convert(moment, exact_ends)
        if top is None or found[0].exact_upper > top[0].exact_upper:
            top, name = found, neighbours.name
    assert top is not None
    enclosure, order, two_sided = top
    return Converted(given, target, enclosure, two_sided, order, name)


def _spends_no_more(moment: LogMoment, top: Found, at: Callable[[LogMoment, Fraction], arb]) -> bool:
    enclosure, order, _ = top
    if order is None:
        return True
    with working(_ROUNDING_PRECISION):
        try:
            value = at(moment, order - 1)
        except NotCertified:
            return False
        return value.is_finite() and ball_end(value, "up") <= enclosure.exact_upper


def _log_moments(product: Product) -> LogMoment:
    return lambda order, bits: total_log_moment(product, order, bits)


def best_epsilon(
    moment: LogMoment, delta: Fraction, exact_ends: bool = True, hints: tuple[Fraction, ...] = ()
) -> Found:
    """Enclose the least N(s)/s over s = λ-1 > 0, N(s) = (λ-1) D_λ + s log s - λ log λ - log δ convex with N(0) > 0.

    Args:
        moment: (λ-1) D_λ, enclosed, or bounded above.
        delta: In (0, 1).
        exact_ends: Whether the lower ends of ``moment`` mean something.
        hints: Orders to try in any case.
    """

    def objective(excess: Fraction) -> float:
        with working(_SEARCH_BITS + 64):
            return float((_slope_numerator(moment, delta, excess, _SEARCH_BITS) / ball(excess)).mid())

    excess = _best_excess(objective, hints)
    if excess is None:
        return Enclosure(Fraction(0), math.inf, "renyi", 0), None, False

    def proven(s: Fraction) -> arb:
        return _slope_numerator(moment, delta, s, _PROOF_BITS)

    with working(_ROUNDING_PRECISION):
        upper = proven(excess) / ball(excess)
        lower = _lower_end(_least_slope, proven, excess, upper) if exact_ends else None
        enclosure = _ends(lower, upper, arb("inf"))
    return enclosure, 1 + excess, lower is not None


def _best_delta(moment: LogMoment, epsilon: Fraction, exact_ends: bool, hints: tuple[Fraction, ...]) -> Found:
    """Enclose the least e^G(s) over s = λ-1 > 0, G(s) = (λ-1) D_λ - sε + s log s - λ log λ convex."""

    def objective(excess: Fraction) -> float:
        with working(_SEARCH_BITS + 64):
            return float(_exponent(moment, epsilon, excess, _SEARCH_BITS).mid())

    excess = _best_excess(objective, hints)
    if excess is None:
        return Enclosure(Fraction(0), Fraction(1), "renyi", 0), None, False

    def proven(s: Fraction) -> arb:
        return _exponent(moment, epsilon, s, _PROOF_BITS)

    with working(_ROUNDING_PRECISION):
        upper = proven(excess)
        lower = _lower_end(_least_value, proven, excess, upper) if exact_ends else None
        enclosure = _ends(None if lower is None else lower.exp(), upper.exp(), arb(1))
    return enclosure, 1 + excess, lower is not None


def _slope_numerator(moment: LogMoment, delta: Fraction, excess: Fraction, bits: int) -> arb:
    return moment(1 + excess, bits) + _entropy(excess) - ball(delta).log()


def _exponent(moment: LogMoment, epsilon: Fraction, excess: Fraction, bits: int) -> arb:
    return moment(1 + excess, bits) + _entropy(excess) - ball(excess * epsilon)


def _ends(lower: arb | None, upper: arb, largest: arb) -> Enclosure:
    """Both ends, cut off at 0 and at the largest value that makes sense; 0 below where nothing is proven."""
    least = arb(0) if lower is None else lower.max(arb(0)).min(largest)
    return Enclosure.from_balls(least, upper.max(arb(0)).min(largest), "renyi", _ROUNDING_PRECISION)


def _entropy(excess: Fraction) -> arb:
    """Return s log s - (1+s) log(1+s): convex in s, and 0 at s = 0."""
    s = ball(excess)
    return s * s.log() - (1 + s) * s.log1p()


# --- The best order: a search, which proves nothing -------------------------------------------------------------------


def _best_excess(objective: Callable[[Fraction], float], hints: tuple[Fraction, ...]) -> Fraction | None:
    """λ-1 at which the objective is about least: it falls, then rises. None where it is nowhere finite."""

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
    """Where the least value lies, with a parabola through the last points."""
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
    """Whether values differ by so little that a parabola finishes the search."""
    return max(values) - min(values) <= _FLAT * abs(min(values))


def _short(value: float) -> Fraction:
    """A nearby number with 40 significant bits."""
    mantissa, exponent = math.frexp(value)
    return Fraction(round(math.ldexp(mantissa, 40))) * Fraction(2) ** (exponent - 40)


# --- The lower ends: convexity ----------------------------------------------------------------------------------------


_Bound = Callable[[Callable[[Fraction], arb], Fraction, Fraction], arb | None]


def _lower_end(bound: _Bound, value: Callable[[Fraction], arb], middle: Fraction, upper: arb) -> arb | None:
    """The best lower bound from three points, which need to be the closer the sharper the bend."""
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
    """Three nearby points and the values there, and the slopes of the chords between them."""
    places = [middle * (1 - apart), middle, middle * (1 + apart)]
    s, n = [ball(place) for place in places], [value(place) for place in places]
    return s, n, (n[1] - n[0]) / (s[1] - s[0]), (n[2] - n[1]) / (s[2] - s[1])


def _least_slope(numerator: Callable[[Fraction], arb], middle: Fraction, apart: Fraction) -> arb | None:
    """A lower bound on N(s)/s over all s > 0, for convex N; None where the three points do not prove one."""
    s, n, before, after = _three(numerator, middle, apart)
    start_before, start_after = n[1] - before * s[1], n[1] - after * s[1]  # where the chords meet s = 0
    if not start_before > 0:
        return None
    # beyond a chord's ends N lies above it, and (start + slope s)/s is monotone
    candidates = [n[i] / s[i] for i in range(3)]
    candidates += [after, after + start_after / s[0], before + start_before / s[2]]
    return _smallest(candidates)


def _least_value(exponent: Callable[[Fraction], arb], middle: Fraction, apart: Fraction) -> arb | None:
    """A lower bound on G(s) over all s > 0, for convex G; None where the three points do not prove one."""
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
