"""Closed forms of the privacy profile δ(ε) = H_{e^ε}(P ‖ Q) of a single pair, in ball arithmetic.

For Gaussian pairs (any number of full-batch releases, or a single one on a Poisson sample) the loss is monotone in the
observation x, so that the best test is a threshold on x. For any other pair δ(ε) is read off the law of its loss.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.laws import ball, law_at
from dpbounds.privacy.pairs import (
    Combined,
    Order,
    Pair,
    Product,
    Sampled,
    SampledGaussians,
    ShiftedGaussians,
    TwoGuarantees,
)
from dpbounds.privacy.proofs import Declined

__all__ = ["ball", "certainly_infinite", "closed_form_delta", "has_closed_form", "losses_stay_below", "shifted_delta"]

_START_PRECISION = 96
_LARGEST_PRECISION = 1 << 22
_LARGEST_LAW_PRECISION = 1 << 11  # beyond that δ(ε) of a pair that is known by its law counts as 0 from below


def has_closed_form(product: Product) -> bool:
    """Whether the product is a single pair taken once (merged Gaussians count as one) and its law is known."""
    return len(product) == 1 and product[0][1] == 1 and not _holds_combination(product[0][0])


def _holds_combination(pair: Pair) -> bool:
    match pair:
        case Combined():
            return True
        case Sampled(base=base):
            return _holds_combination(base)
        case TwoGuarantees(present=present, replaced=replaced):
            return _holds_combination(present) or _holds_combination(replaced)
    return False


def certainly_infinite(pair: Pair) -> arb:
    """P(L = ∞) as a ball at the working precision: δ(ε) is at least that for every ε."""
    return arb(0) if isinstance(pair, ShiftedGaussians | SampledGaussians) else law_at(pair, working_bits()).infinite


def losses_stay_below(product: Product, epsilon: Fraction) -> bool:
    """Whether it is proven that no outcome's total loss exceeds ε, so that δ(ε) = 0 exactly.

    Only the add order has bounded losses: each is below -log(1-q). False means "not proven".
    """
    if not all(isinstance(pair, SampledGaussians) and pair.order is Order.ADD for pair, _ in product):
        return False
    with working(_START_PRECISION):
        total = arb(0)
        for pair, count in product:
            assert isinstance(pair, SampledGaussians)
            total = total - count * (-ball(pair.sample_rate)).log1p()
        return (total <= ball(epsilon)) is True


def closed_form_delta(pair: Pair, epsilon: Fraction, accuracy_bits: int = 64) -> tuple[arb, int]:
    """Return a ball around δ(ε) and the precision it took.

    Args:
        pair: One dominating pair.
        epsilon: At least 0.
        accuracy_bits: Relative accuracy wanted; the precision is doubled until it is there.

    Returns:
        The ball (exactly 0 where no outcome has a loss above ε) and the working precision in bits.

    Raises:
        NotCertified: The accuracy is not reached at four million bits.

    Sources: Balle & Wang 2018 for shifted Gaussians; for one sampled release the threshold form is proven
    in ``pairs.md``.
    """
    precision = max(_START_PRECISION, 2 * accuracy_bits)
    if not isinstance(pair, ShiftedGaussians | SampledGaussians):
        return _delta_by_law(pair, epsilon, accuracy_bits, precision)
    while precision <= _LARGEST_PRECISION:
        with working(precision):
            argument = ball(epsilon)
            value = shifted_delta(pair, argument) if isinstance(pair, ShiftedGaussians) else _sampled(pair, argument)
            accurate = value.rel_accuracy_bits() >= accuracy_bits and value > 0
            if value.is_finite() and (value.is_zero() or accurate):
                return value, precision
        precision *= 2
    raise NotCertified(f"δ({float(epsilon):g}) of {pair} needs more than {_LARGEST_PRECISION} bits of precision")


def _delta_by_law(pair: Pair, epsilon: Fraction, accuracy_bits: int, precision: int) -> tuple[arb, int]:
    while True:
        with working(precision):
            try:
                value = law_at(pair, precision).delta(ball(epsilon))
            except Declined as reason:  # a point of the law was not placed at this precision
                if precision >= _LARGEST_LAW_PRECISION:
                    raise NotCertified(f"δ({float(epsilon):g}): {reason}") from None
            else:
                accurate = value.is_zero() or (value > 0 and value.rel_accuracy_bits() >= accuracy_bits)
                if accurate or precision >= _LARGEST_LAW_PRECISION:
                    return value.max(arb(0)), precision
        precision *= 2


def _upper_tail(x: arb) -> arb:
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def shifted_delta(pair: ShiftedGaussians, epsilon: arb) -> arb:
    """H at α = e^ε of shifted Gaussians, for any real ε: Q(ε/μ - μ/2) - e^ε Q(ε/μ + μ/2) (Balle & Wang 2018)."""
    mu = ball(pair.squared_shift).sqrt()
    return _upper_tail(epsilon / mu - mu / 2) - epsilon.exp() * _upper_tail(epsilon / mu + mu / 2)


def _remove(pair: SampledGaussians, epsilon: arb) -> arb:
    # log(1 - q + q e^{(2x-1)/2v}) > ε  <=>  x > v log((e^ε - 1 + q)/q) + 1/2
    q, v = ball(pair.sample_rate), ball(pair.variance)
    z = v.sqrt()
    threshold = v * ((epsilon.expm1() + q) / q).log() + arb(1) / 2
    without, moved = _upper_tail(threshold / z), _upper_tail((threshold - 1) / z)
    return q * moved - (epsilon.expm1() + q) * without


def _add(pair: SampledGaussians, epsilon: arb) -> arb:
    # -log(1 - q + q e^{(2x-1)/2v}) > ε  <=>  x < v log((e^{-ε} - 1 + q)/q) + 1/2, impossible once e^{-ε} <= 1 - q
    q, v = ball(pair.sample_rate), ball(pair.variance)
    z = v.sqrt()
    room = (-epsilon).expm1() + q
    if room <= 0:
        return arb(0)
    if not room > 0:
        return arb.nan()  # undecided at this precision
    threshold = v * (room / q).log() + arb(1) / 2
    without, moved = _upper_tail(-threshold / z), _upper_tail((1 - threshold) / z)
    return -epsilon.expm1() * without - epsilon.exp() * q * (moved - without)


def _replace(pair: SampledGaussians, epsilon: arb) -> arb:
    # With y = e^{x/v}: (1-q + b y) = e^ε (1-q + b/y), b = q e^{-1/2v}; the positive root of b y² - c y - b e^ε = 0.
    q, v = ball(pair.sample_rate), ball(pair.variance)
    z = v.sqrt()
    b = q * (-1 / (2 * v)).exp()
    c = (1 - q) * epsilon.expm1()
    root = (c + (c * c + 4 * b * b * epsilon.exp()).sqrt()) / (2 * b)
    threshold = v * root.log()
    without = _upper_tail(threshold / z)
    up, down = _upper_tail((threshold - 1) / z), _upper_tail((threshold + 1) / z)
    return q * (up - epsilon.exp() * down) - (1 - q) * epsilon.expm1() * without


def _sampled(pair: SampledGaussians, epsilon: arb) -> arb:
    match pair.order:
        case Order.REMOVE:
            return _remove(pair, epsilon)
        case Order.ADD:
            return _add(pair, epsilon)
        case Order.REPLACE:
            return _replace(pair, epsilon)
