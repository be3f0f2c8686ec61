"""Closed forms of the privacy profile δ(ε) = H_{e^ε}(P ‖ Q) of a single pair, in ball arithmetic.

For Gaussian pairs (any number of full-batch releases, or a single one on a Poisson sample) the loss is monotone in the
observation x, so that the best test is a threshold on x (``pairs/gaussian_profiles.py``). For any other pair δ(ε) is
read off the distribution of its loss.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import brief
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.gaussian_profiles import upper_bound_of_epsilon
from dpbounds.privacy.pairs.losses import as_ball, ball, law_at, sum_of_losses
from dpbounds.privacy.pairs.pairs import Pair, Product, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.inversion import invert
from dpbounds.privacy.routes.searching import log_tail

__all__ = [
    "ball",
    "certainly_infinite",
    "closed_form_delta",
    "closed_form_epsilon",
    "has_closed_form",
    "losses_stay_below",
    "squared_shift_of",
]

_START_PRECISION = 96
_NEWTON_STEPS = 30
_LARGEST_PRECISION = 1 << 17
_NEGLIGIBLE = 1 << 20  # bits below 1 at which δ is small enough for any question: it counts as [0, 2^-bits]
# larger precisions count δ(ε) of a pair that is known by its distribution as 0 from below
_LARGEST_LAW_PRECISION = 1 << 11


def has_closed_form(product: Product) -> bool:
    """Return whether the product is a single pair with a known distribution; merged Gaussians count as one."""
    return len(product) == 1 and product[0][1] == 1 and product[0][0].has_distribution


def certainly_infinite(pair: Pair) -> arb:
    """Return P(L = ∞) as a ball at the working precision: δ(ε) is at least that for every ε."""
    return law_at(pair, working_bits()).infinite


def squared_shift_of(product: Product) -> Fraction:
    """Return the squared shift of all full-batch Gaussian releases taken together."""
    shifts = (pair.squared_shift * count for pair, count in product if isinstance(pair, ShiftedGaussians))
    return sum(shifts, Fraction(0))


def losses_stay_below(product: Product, epsilon: Fraction) -> bool:
    """Return whether it is proven that no outcome's total loss exceeds ε, so that δ(ε) = 0 exactly."""
    with working(_START_PRECISION):
        total = sum_of_losses((pair.largest_loss(), count) for pair, count in product)
        return (as_ball(total) <= ball(epsilon)) is True


def closed_form_delta(pair: Pair, epsilon: Fraction, accuracy_bits: int = 64) -> tuple[arb, int]:
    """Return a ball around δ(ε) and the precision it took.

    Args:
        pair: One dominating pair.
        epsilon: At least 0.
        accuracy_bits: Relative accuracy wanted; the precision is doubled until it is there, or δ(ε) is below 2^-2^20.

    Returns:
        The ball (exactly 0 where no outcome has a loss above ε) and the working precision in bits.

    Raises:
        NotCertified: The accuracy is not reached at 131 072 bits.

    Sources: Balle & Wang 2018 for shifted Gaussians; for one sampled release the threshold form is proven
    in ``pairs.md``.
    """
    precision = max(_START_PRECISION, 2 * accuracy_bits)
    while precision <= _LARGEST_PRECISION:
        with working(precision):
            value = pair.closed_delta(epsilon)
            if value is None:
                return _delta_by_law(pair, epsilon, accuracy_bits, precision)
            if value.is_finite():
                if value.is_zero() or (value > 0 and value.rel_accuracy_bits() >= accuracy_bits):
                    return value, precision
                if value < arb(2) ** -_NEGLIGIBLE:
                    return arb(0).union(value).max(arb(0)), precision
        precision *= 2
    raise NotCertified(f"δ({brief(epsilon)}) of {pair} needs more than {_LARGEST_PRECISION} bits of precision")


def _delta_by_law(pair: Pair, epsilon: Fraction, accuracy_bits: int, precision: int) -> tuple[arb, int]:
    while True:
        with working(precision):
            try:
                value = law_at(pair, precision).delta(ball(epsilon))
            except Declined as reason:  # a point of the distribution was not placed at this precision
                if precision >= _LARGEST_LAW_PRECISION:
                    raise NotCertified(f"δ({brief(epsilon)}): {reason}") from None
            else:
                accurate = value.is_zero() or (value > 0 and value.rel_accuracy_bits() >= accuracy_bits)
                if accurate or precision >= _LARGEST_LAW_PRECISION:
                    return value.max(arb(0)), precision
        precision *= 2


def closed_form_epsilon(pair: Pair, delta: Fraction, tolerance: float = 2.0**-52) -> tuple[Fraction, Fraction]:
    """Return lo <= ε(δ) <= hi for a pair whose loss is infinite with a probability below δ.

    Args:
        pair: One dominating pair.
        delta: In (0, 1).
        tolerance: Relative width aimed at.

    Raises:
        NotCertified: The two ends could not be proven.
    """
    bits = max(60, math.ceil(-math.log2(tolerance)) + 12)
    rest = 1 - delta
    near_one = max(0, rest.denominator.bit_length() - rest.numerator.bit_length())  # bits that are lost next to δ = 1
    with working(2 * bits + 40):
        target = ball(delta)
        guess, slope = _largest_epsilon(pair, delta), None
        if isinstance(pair, ShiftedGaussians):
            guess, slope = _from_above(pair, delta, guess)
        curve = lambda e: (closed_form_delta(pair, e, 2 * bits + near_one)[0],) * 2  # noqa: E731
        return invert(curve, target, guess, bits=bits, slope=slope)


def _from_above(pair: ShiftedGaussians, delta: Fraction, above: Fraction) -> tuple[Fraction, float | None]:
    """Estimate ε(δ) and -d log δ/dε there by Newton's method on log δ; return ``above`` where doubles fail."""
    try:
        mu, aim, epsilon = math.sqrt(pair.squared_shift), math.log(delta), float(above)
    except (OverflowError, ValueError):
        return above, None
    slope = None
    for _ in range(_NEWTON_STEPS):
        a = epsilon / mu - mu / 2 if mu else math.inf
        log_above = log_tail(a)
        log_rest = epsilon + log_tail(a + mu) - log_above  # δ = Q(a) (1 - e^{log_rest}), δ' = -Q(a) e^{log_rest}
        if not -700 < log_rest < -1e-6:
            return above, None
        excess, slope = log_above + math.log(-math.expm1(log_rest)) - aim, 1 / math.expm1(-log_rest)
        following = epsilon + excess / slope
        if not 0 < following < 2 * epsilon:
            return above, None
        if abs(following - epsilon) < 1e-9 * epsilon:
            return Fraction(following), slope
        epsilon = following
    return above, None


def _largest_epsilon(pair: Pair, delta: Fraction) -> Fraction:
    """Return a first guess: for Gaussian pairs the full batch's ε, an upper bound; else the largest loss."""
    if pair.dominating_shift is not None:
        return ball_end(upper_bound_of_epsilon(pair.dominating_shift, delta), "up")
    highest = law_at(pair, working_bits()).largest_loss()
    if highest is None:
        return Fraction(1)
    return ball_end(highest.min(arb(1)) if highest > 0 else arb(1), "up")
