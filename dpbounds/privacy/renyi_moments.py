"""log E_P e^((λ-1)L) = (λ-1) D_λ(P ‖ Q) for every dominating pair, at every real order λ > 1.

For most pairs the ball holds the number itself. Where a mechanism is known by a guarantee only (a Rényi curve, several
releases on one sample), only its upper end means something; ``has_exact_moments`` tells the two apart. What a curve
D_λ <= ε(λ) gives under sampling is derived from the curve, not from the pair that the curve allows: that is smaller.
The derivations are in ``renyi.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from flint import arb, ctx

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.laws import ball, law_of
from dpbounds.privacy.pairs import (
    BoundedRange,
    Combined,
    DrawnGaussians,
    Draws,
    FourPoints,
    Order,
    Pair,
    Product,
    RenyiCurve,
    Responses,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    TwoGuarantees,
    TwoPoints,
    UniformBalls,
    enlarged,
)
from dpbounds.privacy.renyi_integrals import (
    INFINITY,
    draw_masses,
    drawn_at_all,
    drawn_gaussians,
    expectation,
    from_two_profiles,
    has_integral,
    power,
    replaced_gaussians,
    sampled_gaussians,
    up_to,
    visible_terms,
    worst_two_points,
)

AtInteger = Callable[[int], arb]  # n -> log E_Q r^n, or an upper bound

_SPARE_BITS = 28
_LARGEST_PRECISION = 4096
_MOST_TERMS = 2048  # of a binomial sum over a curve; beyond that order, what sampling gains is not used


def log_moment(pair: Pair, order: ExactLike, accuracy_bits: int = 50) -> arb:
    """Enclose log E_P e^((λ-1)L) = log E_Q (dP/dQ)^λ = (λ-1) D_λ(P ‖ Q).

    Args:
        pair: A dominating pair. A ``RenyiCurve`` stands for all pairs that keep its curve, a ``BoundedRange`` for all
            two-point pairs of that range, alone and under sampling: the value is the least upper bound that is proven.
        order: λ > 1, any exact number.
        accuracy_bits: Relative accuracy aimed at; precision is raised until it is there.

    Returns:
        A ball whose upper end is proven, and whose lower end is where ``has_exact_moments(pair)``; ∞ where P has mass
        at infinite loss, or the curve says nothing.

    Raises:
        InvalidValue: λ <= 1.
        NotCertified: The value is out of reach of the precision or the work allowed.
        UnsupportedMechanism: No bound is proven for such a pair.

    >>> from dpbounds.privacy.pairs import ShiftedGaussians
    >>> log_moment(ShiftedGaussians(Fraction(1, 4)), "2.5").overlaps(arb(15) / 32)
    True
    """
    number = exact(order, "order")
    if number <= 1:
        raise InvalidValue("order", order, "a number greater than 1")
    precision = accuracy_bits + _SPARE_BITS + _lost_bits(pair, number)
    best: arb | None = None
    while precision <= _LARGEST_PRECISION:
        with ctx.workprec(precision):
            value = _log_moment(pair, number)
        if not value.is_nan() and value == INFINITY:
            return INFINITY
        if value.is_finite():
            best = value
            accuracy = value.rel_accuracy_bits()
            if accuracy >= accuracy_bits or value.is_zero():
                return value
            precision += max(32, min(accuracy_bits - accuracy + 16, precision))
        else:
            precision *= 2
        if best is not None and precision > 8 * (accuracy_bits + _SPARE_BITS):
            return best
    if best is None:
        raise NotCertified(f"the Rényi divergence of {pair} at order {float(number):g} lost all accuracy")
    return best


def total_log_moment(product: Product, order: Fraction, accuracy_bits: int = 50) -> arb:
    """The sum over the pairs of a product, counted: what an adaptive composition spends (Mironov 2017)."""
    with ctx.workprec(accuracy_bits + 64):
        total = arb(0)
        for pair, count in product:
            value = log_moment(pair, order, accuracy_bits)
            if value == INFINITY:
                return INFINITY
            total = total + count * value
        return total


def _lost_bits(pair: Pair, order: Fraction) -> int:
    """How many bits 1 + (E - 1) hides, where that is known beforehand: a hint, which proves nothing."""
    rate, spread = Fraction(1), Fraction(1)
    match pair:
        case SampledGaussians(sample_rate=rate, variance=spread):
            pass
        case Sampled(draws=draws, base=base):
            rate = min(Fraction(1), draws.rate * draws.slots)
            match base:
                case ShiftedGaussians(squared_shift=squared):
                    spread = 1 / squared
                case RenyiCurve(rho=rho) if rho is not None:
                    spread = 1 / rho
    small = math.log2(min(1.0, float(order) * float(order - 1))) + 2 * math.log2(rate) - math.log2(max(1, spread))
    return max(0, -math.floor(small))


def has_exact_moments(pair: Pair) -> bool:
    """Whether ``log_moment`` encloses the number itself, rather than bound it above."""
    match pair:
        case RenyiCurve() | Combined() | TwoGuarantees():
            return False
        case Sampled(base=base):
            return has_integral(base)
    return True


def mirrored(pair: Pair) -> Pair:
    """The pair (Q, P), or one with the same profile."""
    swap = {Order.REMOVE: Order.ADD, Order.ADD: Order.REMOVE, Order.REPLACE: Order.REPLACE}
    match pair:
        case SampledGaussians(order=order, sample_rate=rate, variance=variance):
            return SampledGaussians(swap[order], rate, variance)
        case Sampled(order=order, draws=draws, base=base):
            return Sampled(swap[order], draws, base)
        case DrawnGaussians(order=order, draws=draws, squared_shift=squared):
            return DrawnGaussians(swap[order], draws, squared)
        case TwoPoints(high=high, span=span):
            return TwoPoints(span - high, span)
        case Combined(product=product):
            return Combined(tuple((mirrored(inner), count) for inner, count in product))
    return pair


def add_spends_less(product: Product) -> bool:
    """Whether no pair of an add product has a larger Rényi divergence than its mirror image, by the lemma on reversal.

    For a base with the same profile in both orders, D_λ(Q ‖ (1-η)Q + ηP) <= D_λ((1-η)Q + ηP ‖ Q) for every λ >= 1/2,
    and the same averaged over the number of draws (``renyi.md``).
    """

    def less(pair: Pair) -> bool:
        match pair:
            case SampledGaussians(order=Order.ADD):
                return True
            case Sampled(order=Order.ADD, base=base):
                return has_integral(base) and _is_symmetric_pair(base)
        return mirrored(pair) == pair

    return all(less(pair) for pair, _ in product)


# --- One pair, at the working precision -------------------------------------------------------------------------------


def _log_moment(pair: Pair, order: Fraction) -> arb:
    a = ball(order)
    match pair:
        case (
            ShiftedGaussians()
            | ShiftedLaplaces()
            | Responses()
            | TwoPoints()
            | FourPoints()
            | BoundedRange()
            | UniformBalls()
            | SampledBalls()
        ):
            return closed_form(pair, a)
        case RenyiCurve():
            return _from_curve(pair, order)
        case SampledGaussians(order=way, sample_rate=rate, variance=variance):
            return sampled_gaussians(way, ball(rate), ball(variance), a).log()
        case DrawnGaussians():
            return drawn_gaussians(pair, a).log()
        case Sampled(base=BoundedRange(), order=Order.REMOVE | Order.ADD):
            return _sampled_bounded_range(pair, a)
        case Sampled(order=Order.REPLACE, draws=draws, base=ShiftedGaussians(squared_shift=squared)):
            return _replaced_gaussians(draws, ball(squared), a)
        case Sampled(base=base) if has_integral(base):
            return _integrated(pair, a)
        case Sampled(order=way, draws=draws, base=base):
            return _sampled_guarantee(way, draws, base, order)
        case SampledLaplaces():
            return _integrated(pair, a)
        case TwoGuarantees():
            return _two_guarantees(pair, order)
        case Combined(product=product):
            return _sum((_log_moment(inner, order), count) for inner, count in product)
    raise UnsupportedMechanism(f"the Rényi divergence of {pair} is not known")


def _sum(parts: Iterable[tuple[arb, int]]) -> arb:
    total = arb(0)
    for value, count in parts:
        if not value.is_finite():
            return INFINITY if value == INFINITY else value
        total = total + count * value
    return total


def closed_form(pair: Pair, order: arb) -> arb:
    """Return log E_Q (dP/dQ)^λ where it is a formula.

    Raises:
        UnsupportedMechanism: It is not.
    """
    k = order - 1
    match pair:
        case ShiftedGaussians(squared_shift=squared):
            return order * k * ball(squared) / 2
        case ShiftedLaplaces(shift=shift):
            s = ball(shift)
            return ((order * (k * s).exp() + k * (-order * s).exp()) / (order + k)).log()
        case BoundedRange(span=span):
            # the largest value over all two-point pairs, attained at e^t = y (renyi.md)
            eta = ball(span)
            one, whole, part = (-eta).expm1(), (-order * eta).expm1(), (-k * eta).expm1()
            y = k * whole * eta.exp() / (order * part)
            return (whole / (order * one)).log() + k * y.log()
        case RenyiCurve(points=(), rho=rho) if rho is not None:
            return order * k * ball(rho)
        case UniformBalls() | SampledBalls() | FourPoints() | Responses() | TwoPoints():
            law = law_of(pair)
            if not law.infinite.is_zero():
                return INFINITY
            return sum((point.r * (order * point.loss).exp() for point in law.points), arb(0)).log()
    raise UnsupportedMechanism(f"{pair} has no closed form")


def _integrated(pair: Pair, order: arb) -> arb:
    value = expectation(pair, power(order), closed_form)
    return INFINITY if value == INFINITY else value.log()


def _sampled_bounded_range(pair: Sampled, order: arb) -> arb:
    """Each number of draws at its own worst two-point pair."""
    assert isinstance(pair.base, BoundedRange)
    eta = drawn_at_all(pair.draws)
    exponent = order if pair.order is Order.REMOVE else 1 - order
    total = arb(0)
    for k, mass in enumerate(draw_masses(pair.draws)[1:], start=1):
        total = total + mass / eta * worst_two_points(ball(k * pair.base.span), eta, exponent)
    return total.log1p()


def _replaced_gaussians(draws: Draws, squared: arb, order: arb) -> arb:
    """Σ_k p_k/η times the moment for k draws, between (η ‖r_k‖)^λ and (1-η + η ‖r_k‖)^λ + 2; the smallest bounded."""
    eta = drawn_at_all(draws)
    shares = [mass / eta for mass in draw_masses(draws)[1:]]
    norms = [((order - 1) * k * k * squared / 2).exp() for k in range(1, draws.slots + 1)]
    at_most = [
        share * ((order * (eta * (norm - 1)).log1p()).exp() + 2) for share, norm in zip(shares, norms, strict=True)
    ]
    scale = arb(1)
    for share, norm in zip(shares, norms, strict=True):
        scale = scale.max(share * (order * (eta * norm).log()).exp())
    seen, rest = visible_terms(at_most, arb(scale.lower()))
    parts = (shares[j] * replaced_gaussians(eta, (j + 1) ** 2 * squared, order) for j in seen)
    return (sum(parts, arb(0)) + up_to(rest)).log()


def _least(candidates: Iterable[arb]) -> arb:
    """The smallest proven upper bound; ∞ where there is none."""
    best = INFINITY
    for value in candidates:
        if value.is_finite():
            best = value.upper() if best == INFINITY else best.min(value.upper())
    return best


# --- From a curve -----------------------------------------------------------------------------------------------------


def _from_curve(curve: RenyiCurve, order: Fraction) -> arb:
    if curve.rho is not None:
        return closed_form(curve, ball(order))
    points: list[tuple[Fraction, Fraction]] = []
    for given, value in reversed(curve.points):  # D_λ increases with λ: larger orders bound smaller ones
        points.append((given, min([value] + [least for _, least in points[-1:]])))
    points.reverse()
    k = order - 1
    if order > points[-1][0]:
        return INFINITY
    if order <= points[0][0]:
        return ball(k * points[0][1])
    above = next(index for index, (given, _) in enumerate(points) if given >= order)
    (left, low), (right, high) = points[above - 1], points[above]
    if order == right:
        return ball(k * high)
    return _between(order, (left, ball((left - 1) * low)), (right, ball((right - 1) * high)))


def _between(order: Fraction, left: tuple[Fraction, arb], right: tuple[Fraction, arb]) -> arb:
    """An upper bound on K(λ) = log E_Q r^λ from upper bounds at two orders around λ.

    K is convex, and so is log of (e^K - 1)/(λ(λ-1)): both chords are upper bounds (``renyi.md``).
    """
    (below, low), (above, high) = left, right
    weight = ball((order - below) / (above - below))
    candidates = [(1 - weight) * low + weight * high]
    if low.is_finite() and high.is_finite() and low > 0 and high > 0:
        starts = [(value.expm1() / ball(n * (n - 1))).log() for n, value in (left, right)]
        chord = (1 - weight) * starts[0] + weight * starts[1]
        candidates.append((ball(order * (order - 1)) * chord.exp()).log1p())
    return _least(candidates)


def _at_integers(bound: AtInteger, order: Fraction) -> arb:
    """The bound at λ >= 2 from the integer orders around it; ∞ where there would be too many terms."""
    return _around(bound, order) if order <= _MOST_TERMS else INFINITY


def _around(bound: AtInteger, order: Fraction) -> arb:
    below = math.floor(order)
    if below == order:
        return _least([bound(below)])
    return _between(order, (Fraction(below), bound(below)), (Fraction(below + 1), bound(below + 1)))


# --- What a guarantee gives under sampling ----------------------------------------------------------------------------


def _sampled_guarantee(way: Order, draws: Draws, base: Pair, order: Fraction) -> arb:
    """Σ_k p_k/η times the bound for at most one draw at rate η, by joint convexity (k draws: the base enlarged)."""
    eta = drawn_at_all(draws)
    if draws.slots == 1:
        return _sampled_once(way, eta, base, order)
    excess = arb(0)
    for k, mass in enumerate(draw_masses(draws)[1:], start=1):
        value = _sampled_once(way, eta, enlarged(base, k), order)
        if not value.is_finite():
            return INFINITY
        excess = excess + mass / eta * value.expm1()
    return arb(excess.log1p().upper())


def _sampled_once(way: Order, q: arb, base: Pair, order: Fraction) -> arb:
    forward = _moments_of(base)
    match way:
        case Order.REMOVE:
            return _removed(q, base, order)
        case Order.ADD:
            candidates = [_added(q, forward, _log_moment(mirrored(base), order), order)]
            if _is_symmetric_pair(base):
                candidates.append(_removed(q, base, order))
            return _least(candidates)
        case Order.REPLACE:
            return _replaced(q, base, order)


def _moments_of(base: Pair) -> AtInteger:
    known: dict[int, arb] = {0: arb(0), 1: arb(0)}

    def at(n: int) -> arb:
        if n not in known:
            known[n] = _log_moment(base, Fraction(n))
        return known[n]

    return at


def _parts(base: Pair) -> Sequence[Pair]:
    return [pair for pair, _ in base.product] if isinstance(base, Combined) else [base]


def _is_known_pair(base: Pair) -> bool:
    """Whether the moments computed are those of the dominating pair itself, not of a class of pairs."""
    return all(has_integral(pair) and not _holds_range(pair) for pair in _parts(base))


def _is_symmetric_pair(base: Pair) -> bool:
    return _is_known_pair(base) and mirrored(base) == base


def _holds_range(pair: Pair) -> bool:
    return isinstance(pair, BoundedRange) or (isinstance(pair, Sampled) and _holds_range(pair.base))


def _unamplified(q: arb, value: arb) -> arb:
    """Joint convexity: E <= 1-q + q E', whatever the order."""
    return INFINITY if not value.is_finite() else (q * value.expm1()).log1p()


def _removed(q: arb, base: Pair, order: Fraction) -> arb:
    """E (1-q + qr)^λ <= Σ_k C(λ,k) (1-q)^(λ-k) q^k e^((k-1) ε(k)) at integers."""
    moments = _moments_of(base)
    candidates = [_unamplified(q, _log_moment(base, order))]
    if order <= 2:
        # Taylor: (1+x)^λ <= 1 + λx + C(λ,2) (1-q)^(λ-2) x² for x >= -q
        curvature = ball(order * (order - 1) / 2) * ((ball(order) - 2) * (-q).log1p()).exp()
        candidates.append((curvature * q * q * moments(2).expm1()).log1p())
        return _least(candidates)
    if isinstance(base, RenyiCurve) and base.rho is not None:
        # e^(k(k-1)ρ) are the moments of a pair of Gaussians: the sum is theirs
        variance = 1 / (2 * ball(base.rho))
        candidates.append(_around(lambda n: sampled_gaussians(Order.REMOVE, q, variance, arb(n)).log(), order))
    else:
        candidates.append(_at_integers(lambda n: _binomial_sum(q, moments, n), order))
    return _least(candidates)


def _binomial_sum(q: arb, moments: AtInteger, n: int) -> arb:
    excess, odds = arb(0), q / (1 - q)
    weight = (n * (-q).log1p()).exp()
    for k in range(n + 1):
        value = moments(k)
        if not value.is_finite():
            return INFINITY
        excess = excess + weight * value.expm1()
        weight = weight * odds * (n - k) / (k + 1)
    return excess.log1p()


def _added(q: arb, forward: AtInteger, backward: arb, order: Fraction) -> arb:
    """E (1-q + qr)^(1-λ): by Taylor, by its largest value, by joint convexity."""
    k, rest = ball(order - 1), (-q).log1p()
    curvature = ball(order * (order - 1) / 2) * (-(ball(order) + 1) * rest).exp()
    candidates = [-k * rest, _unamplified(q, backward)]
    if forward(2).is_finite():
        candidates.append((curvature * q * q * forward(2).expm1()).log1p())
    return _least(candidates)


def _replaced(q: arb, base: Pair, order: Fraction) -> arb:
    """Fixed-size samples under replace-one."""
    moments = _moments_of(base)
    candidates = [_unamplified(q, _log_moment(base, order))]
    if _is_known_pair(base):
        # the dominating pair: 1 + E[(1+y)^λ + (1+y)^(1-λ) - 2 - y; y > 0], y = q(r-1)
        candidates.append(_from_positive_part(q, moments, order))
    else:
        candidates.append(_at_integers_from_one(lambda n: _ternary_sum(q, moments, moments, n), order))
    return _least(candidates)


def _from_positive_part(q: arb, moments: AtInteger, order: Fraction) -> arb:
    def bound(n: Fraction) -> arb:
        pairs = ball(n * (n - 1) / 2)
        total = 2 * pairs * q * q * moments(2).expm1()
        weight = pairs * q * q
        for j in range(3, int(n) + 1):
            weight = weight * q * (int(n) - j + 1) / j
            total = total + weight * moments(j).exp()
        return total.log1p()

    if not moments(2).is_finite():
        return INFINITY
    return _least([bound(order)]) if order <= 2 else _at_integers(lambda n: bound(Fraction(n)), order)


def _ternary_sum(q: arb, present: AtInteger, replaced: AtInteger, n: int) -> arb:
    """Wang, Balle & Kasiviswanathan 2019, Theorem 9, with the two kinds of third law told apart."""
    absent, total = 1 - q, arb(0)
    weight = arb(1)
    for j in range(1, n + 1):
        weight = weight * q * (n - j + 1) / j
        if j == 1:
            continue
        here, there = present(j), replaced(j)
        if not (here.is_finite() and there.is_finite()):
            return INFINITY
        if j == 2:
            apart = (4 * here.expm1()).min(2 * here.exp())
            total = total + weight * (absent * apart + q * there.expm1())
        else:
            total = total + weight * (2 * absent * here.exp() + q * there.exp())
    return total.log1p()


def _at_integers_from_one(bound: AtInteger, order: Fraction) -> arb:
    """As ``_at_integers``, and below 2 by D_λ <= D_2."""
    return _least([ball(order - 1) * bound(2)]) if order <= 2 else _at_integers(bound, order)


def _two_guarantees(pair: TwoGuarantees, order: Fraction) -> arb:
    q = ball(pair.sample_rate)
    candidates = [_unamplified(q, _log_moment(pair.replaced, order))]
    bases = (pair.present, pair.replaced)
    bounded = all(isinstance(base, ShiftedLaplaces | Responses | BoundedRange) for base in bases)
    if bounded or all(isinstance(base, ShiftedGaussians) for base in bases):
        candidates.append(from_two_profiles(pair, ball(order)))
    else:
        present, replaced = _moments_of(pair.present), _moments_of(pair.replaced)
        candidates.append(_at_integers_from_one(lambda n: _ternary_sum(q, present, replaced, n), order))
    return _least(candidates)
