"""ε, δ and μ of Gaussian differential privacy, rounded to the safe side."""

from __future__ import annotations

from fractions import Fraction

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.exact import ExactLike
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta
from dpbounds.privacy.routes.inversion import invert
from dpbounds.privacy.values import at_least_zero, open_unit, positive

_PRECISION = 160


def gaussian_epsilon(squared_mu: ExactLike, delta: ExactLike) -> Fraction:
    """Return ε(δ) of μ-Gaussian differential privacy, rounded up, for μ² >= 0 and δ > 0; 0 from δ = 1 on.

    Source: Balle & Wang 2018; Dong, Roth & Su 2022.

    >>> float(gaussian_epsilon("1/25", "1e-5"))
    0.72552175085779...
    """
    squared, target = at_least_zero(squared_mu, "squared_mu"), positive(delta, "delta")
    if squared == 0 or target >= 1:
        return Fraction(0)
    pair = ShiftedGaussians(squared)
    with working(_PRECISION):
        return invert(lambda epsilon: (closed_form_delta(pair, epsilon, 120)[0],) * 2, ball(target), 1.0)[1]


def gaussian_delta(squared_mu: ExactLike, epsilon: ExactLike) -> Fraction:
    """Return δ(ε) of μ-Gaussian differential privacy, rounded up, for μ² >= 0 and ε >= 0; source as above."""
    squared, target = at_least_zero(squared_mu, "squared_mu"), at_least_zero(epsilon)
    if squared == 0:
        return Fraction(0)
    value, precision = closed_form_delta(ShiftedGaussians(squared), target)
    with working(precision):
        return min(Fraction(1), ball_end(value, "up"))


def gaussian_budget(epsilon: ExactLike, delta: ExactLike) -> Fraction:
    """Return the largest μ for which μ-Gaussian DP gives (ε, δ), rounded down in about the 60th bit, 0 < δ < 1."""
    target, allowed = at_least_zero(epsilon), open_unit(delta)
    high = Fraction(1)
    while gaussian_delta(high**2, target) <= allowed:
        high *= 2
    low = high / 2
    while gaussian_delta(low**2, target) > allowed:
        low, high = low / 2, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle**2, target) <= allowed else (low, middle)
    return low
