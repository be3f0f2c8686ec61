"""log E_P e^((λ-1)L) = (λ-1) D_λ(P ‖ Q) for every dominating pair, at every real order λ > 1.

For most pairs the ball holds the number itself. Where a mechanism is known by a guarantee only (a Rényi curve, several
releases on one sample), only its upper end means something; ``has_exact_moments`` tells the two apart. What a curve
D_λ <= ε(λ) gives under sampling is derived from the curve, not from the pair that the curve allows: that is smaller.
The derivations are in ``renyi.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.losses import ball, law_of
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    BoundedRangeProfile,
    Combined,
    Diluted,
    Direction,
    DrawnGaussians,
    Draws,
    MixedGaussians,
    Pair,
    Product,
    RenyiProfile,
    ReplacedGaussians,
    ReplacedGroup,
    Sampled,
    SampledGaussians,
    SampledLaplaces,
    ShiftedDiscreteGaussians,
    ShiftedGaussians,
    ShiftedLaplaces,
    ShuffledBatches,
    Tagged,
    TaggedGaussians,
    TwoGuarantees,
    Zeroed,
    enlarged,
)
from dpbounds.privacy.renyi.gaussians import drawn_gaussians, replaced_gaussians, sampled_gaussians
from dpbounds.privacy.renyi.guarantees import (
    from_curve,
    is_symmetric_pair,
    sampled_guarantee,
    two_guarantees,
    worst_two_points,
    zeroed_guarantee,
)
from dpbounds.privacy.renyi.integrals import (
    INFINITY,
    Atomic,
    draw_masses,
    drawn_at_all,
    expectation,
    has_integral,
    power,
    up_to,
    visible_terms,
)
from dpbounds.privacy.values import above_one

_SPARE_BITS = 28
_CLOSED = Atomic | ShiftedGaussians | TaggedGaussians | ShiftedLaplaces | ShiftedDiscreteGaussians | BoundedRangeProfile
_LARGEST_PRECISION = 4096


def log_moment(pair: Pair, order: ExactLike, accuracy_bits: int = 50) -> arb:
    """Enclose log E_P e^((λ-1)L) = log E_Q (dP/dQ)^λ = (λ-1) D_λ(P ‖ Q).

    Args:
        pair: A dominating pair. A ``RenyiProfile`` stands for all pairs that keep its curve, a ``BoundedRangeProfile``
            for all two-point pairs of that range, alone and under sampling: the value is the least upper bound that is
            proven.
        order: λ > 1, any exact number.
        accuracy_bits: Relative accuracy aimed at; precision is raised until it is there.

    Returns:
        A ball whose upper end is proven, and whose lower end is where ``has_exact_moments(pair)``; ∞ where P has mass
        at infinite loss, or the curve says nothing.

    Raises:
        InvalidValue: λ <= 1.
        NotCertified: The value is out of reach of the precision or the work allowed.
        UnsupportedMechanism: No bound is proven for such a pair.

    >>> from dpbounds.privacy.pairs.pairs import ShiftedGaussians
    >>> log_moment(ShiftedGaussians(Fraction(1, 4)), "2.5").overlaps(arb(15) / 32)
    True
    """
    number = above_one(order)
    precision = accuracy_bits + _SPARE_BITS + pair.lost_bits(number)
    best: arb | None = None
    while precision <= _LARGEST_PRECISION:
        with working(precision):
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
    with working(accuracy_bits + 64):
        total = arb(0)
        for pair, count in product:
            value = log_moment(pair, order, accuracy_bits)
            if value == INFINITY:
                return INFINITY
            total = total + count * value
        return total


def has_exact_moments(pair: Pair) -> bool:
    """Whether ``log_moment`` encloses the number itself, rather than bound it above."""
    if isinstance(pair, Sampled):
        return has_integral(pair.base)
    if isinstance(pair, Tagged):
        return all(has_exact_moments(part) for _, part in pair.parts)
    if isinstance(pair, Diluted):
        return has_exact_moments(pair.base)
    return not isinstance(
        pair,
        RenyiProfile
        | Combined
        | TwoGuarantees
        | Zeroed
        | MixedGaussians
        | ShuffledBatches
        | ReplacedGaussians
        | ReplacedGroup,
    )


def has_moments_of_its_own(pair: Pair) -> bool:
    """Whether ``log_moment`` is that of the pair itself: converting it then never beats composing the pair.

    Not so where a class of pairs stands behind one profile, whose divergences can be smaller than the profile's.
    """
    if isinstance(pair, ShuffledBatches | ReplacedGaussians | ReplacedGroup):  # of a pair that spends no less
        return True
    if isinstance(pair, BoundedRangeProfile):
        return False
    if isinstance(pair, Sampled | Diluted) and not has_moments_of_its_own(pair.base):
        return False
    if isinstance(pair, Tagged):
        return all(has_moments_of_its_own(part) for _, part in pair.parts)
    return has_exact_moments(pair)


def add_spends_less(product: Product) -> bool:
    """Whether no pair of an add product has a larger Rényi divergence than its mirror image, by the lemma on reversal.

    For a base with the same profile in both orders, D_λ(Q ‖ (1-η)Q + ηP) <= D_λ((1-η)Q + ηP ‖ Q) for every λ >= 1/2,
    and the same averaged over the number of draws (``renyi.md``).
    """

    def less(pair: Pair) -> bool:
        match pair:
            case SampledGaussians(direction=Direction.ADD):
                return True
            case Sampled(direction=Direction.ADD, base=base):
                return has_integral(base) and is_symmetric_pair(base)
        return pair.mirrored() == pair

    return all(less(pair) for pair, _ in product)


# --- One pair, at the working precision -------------------------------------------------------------------------------


def _log_moment(pair: Pair, order: Fraction) -> arb:
    a = ball(order)
    match pair:
        case Sampled(direction=way, draws=Draws(rate=rate, slots=slots), base=base) if rate == 1:
            whole = enlarged(base, slots)
            return _log_moment(whole.mirrored() if way is Direction.ADD else whole, order)
        case DrawnGaussians(draws=Draws(rate=rate, slots=slots), squared_shift=squared) if rate == 1:
            return closed_form(ShiftedGaussians(slots**2 * squared), a)
        case _ if isinstance(pair, _CLOSED):
            return closed_form(pair, a)
        case RenyiProfile():
            return from_curve(pair, order)
        case SampledGaussians(direction=way, sample_rate=rate, variance=variance):
            return sampled_gaussians(way, ball(rate), ball(variance), a).log()
        case DrawnGaussians():
            return drawn_gaussians(pair, a).log()
        case Sampled(base=BoundedRangeProfile(), direction=Direction.REMOVE | Direction.ADD):
            return _sampled_bounded_range(pair, a)
        case Sampled(direction=Direction.REPLACE, draws=draws, base=ShiftedGaussians(squared_shift=squared)):
            return _replaced_gaussians(draws, ball(squared), a)
        case ReplacedGaussians(draws=draws, squared_shift=squared):  # the same, the number of draws revealed
            return _log_moment(Sampled(Direction.REPLACE, draws, ShiftedGaussians(squared)), order)
        case ReplacedGroup():
            return _log_moment(pair.tagged, order)
        case Sampled(base=base) if has_integral(base):
            return _integrated(pair, a)
        case Sampled(direction=way, draws=draws, base=base):
            return sampled_guarantee(_log_moment, way, draws, base, order)
        case SampledLaplaces():
            return _integrated(pair, a)
        case Zeroed():
            return zeroed_guarantee(_log_moment, pair, order)
        case ShuffledBatches(base=base):
            return _log_moment(base, order)
        case TwoGuarantees():
            return two_guarantees(_log_moment, pair, order)
        case Tagged(parts=parts):
            moments = [_log_moment(part, order) for _, part in parts]
            if not all(moment.is_finite() for moment in moments):
                return INFINITY
            if pair.others:  # Σ w^λ v^(1-λ) e^moment - Σ v, as all v add up to 1
                terms = [
                    ball(other) * (moment + a * (ball(weight) / ball(other)).log()).expm1()
                    for (weight, other, _), moment in zip(pair.weighed, moments, strict=True)
                ]
                return sum(terms, arb(0)).log1p()
            weighted = (ball(weight) * moment.expm1() for (weight, _), moment in zip(parts, moments, strict=True))
            return sum(weighted, arb(0)).log1p()
        case Diluted(rate=rate, base=base):
            inner = _log_moment(base, order)
            return (ball(rate) * inner.expm1()).log1p() if inner.is_finite() else inner
        case Combined(product=product):
            return _sum((_log_moment(inner, order), count) for inner, count in product)
        case Allocated() | AllocatedTo():
            raise UnsupportedMechanism(
                "no Rényi divergences are proven here for steps that are allocated in secret: ask for their certified "
                "ε or δ, which need none"
            )
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
        case TaggedGaussians(atoms=atoms):
            terms = (ball(weight) * (order * k * ball(squared) / 2).expm1() for squared, weight in atoms)
            return sum(terms, arb(0)).log1p()
        case ShiftedLaplaces(shift=shift):
            s = ball(shift)
            return ((order * (k * s).exp() + k * (-order * s).exp()) / (order + k)).log()
        case BoundedRangeProfile(span=span):
            # the largest value over all two-point pairs, attained at e^t = y (renyi.md)
            eta = ball(span)
            one, whole, part = (-eta).expm1(), (-order * eta).expm1(), (-k * eta).expm1()
            y = k * whole * eta.exp() / (order * part)
            return (whole / (order * one)).log() + k * y.log()
        case RenyiProfile(points=(), rho=rho) if rho is not None:
            return order * k * ball(rho)
        case ShiftedDiscreteGaussians(variance=variance, distance=distance):
            # shifted by λD, a whole number or not, the weights sum to Z(λD) (whole_numbers.md, section 4)
            return order * k * distance**2 / (2 * ball(variance)) + _log_theta(order * distance, ball(variance))
        case _ if isinstance(pair, Atomic):
            law = law_of(pair)
            if not law.infinite.is_zero():
                return INFINITY
            return sum((point.r * (order * point.loss).exp() for point in law.points), arb(0)).log()
    raise UnsupportedMechanism(f"{pair} has no closed form")


def _log_theta(shift: arb, variance: arb) -> arb:
    """Enclose log Z(s)/Z(0), Z(s) = Σ_x e^(-(x-s)²/2σ²): by Poisson's formula a ratio of series of cosines."""
    pi = arb.pi()
    base = (-2 * pi * pi * variance).exp()  # e^(-2π²σ²k²) cos(2πks), k = 1, 2, ...
    if variance < ball(Fraction(1, 8)):
        return (_weights_around(shift, variance) / _weights_around(arb(0), variance)).log()
    cosines, ones, term, ratio = arb(0), arb(0), base, base**3
    k = 1
    while not term < arb(2) ** (-2 * working_bits()):
        cosines, ones = cosines + term * (2 * pi * k * shift).cos(), ones + term
        term, ratio, k = term * ratio, ratio * base * base, k + 1
    rest = 2 * term  # the ratios fall, and are below 1/2
    return ((1 + 2 * (cosines + (-rest).union(rest))) / (1 + 2 * (ones + up_to(rest)))).log()


def _weights_around(shift: arb, variance: arb) -> arb:
    """Z(s) for small σ: the whole numbers within some distance of s, and a bound on the others."""
    middle = round(float(shift.mid()))
    reach = 4 + math.ceil(math.sqrt(2 * working_bits()))
    inside = sum(
        ((-((x - shift) ** 2) / (2 * variance)).exp() for x in range(middle - reach, middle + reach + 1)), arb(0)
    )
    rest = 4 * (-(arb(reach - 1) ** 2) / (2 * variance)).exp()
    return inside + up_to(rest)


def _integrated(pair: Pair, order: arb) -> arb:
    value = expectation(pair, power(order), closed_form)
    return INFINITY if value == INFINITY else value.log()


def _sampled_bounded_range(pair: Sampled, order: arb) -> arb:
    """Each number of draws at its own worst two-point pair."""
    assert isinstance(pair.base, BoundedRangeProfile)
    eta = drawn_at_all(pair.draws)
    exponent = order if pair.direction is Direction.REMOVE else 1 - order
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
