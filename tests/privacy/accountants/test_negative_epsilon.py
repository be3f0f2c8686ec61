"""δ at negative ε, against outcomes that are listed, the closed form of Gaussian noise, and integrals."""

from fractions import Fraction

import mpmath
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import Gaussian, Laplace, PoissonSampled, RandomizedResponse


def holds(found: dp.Enclosure, value: mpmath.mpf, width: float = 1e-12) -> bool:
    return bool(found.exact_lower <= Fraction(str(value)) + Fraction(1, 10**40) and found.width <= width) and bool(
        Fraction(str(value)) - Fraction(1, 10**40) <= found.exact_upper
    )


@pytest.mark.parametrize("epsilon", ["-1/10", "-1", "-3", "-40"])
def test_gaussian_noise(epsilon: str) -> None:
    """Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) holds for negative ε, too."""
    with mpmath.workdps(50):
        e, mu = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator, mpmath.mpf(1) / 2
        value = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
        assert holds(dp.delta(Gaussian(2), epsilon=epsilon), value)


@pytest.mark.parametrize("epsilon", ["-1/10", "-1", "-3"])
@pytest.mark.parametrize("count", [1, 3])
def test_randomised_responses_listed(epsilon: str, count: int) -> None:
    with mpmath.workdps(50):
        e = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        true = mpmath.exp(1) / (1 + mpmath.exp(1))
        value = mpmath.fsum(
            mpmath.binomial(count, k)
            * max(
                mpmath.mpf(0),
                true**k * (1 - true) ** (count - k) - mpmath.exp(e) * (1 - true) ** k * true ** (count - k),
            )
            for k in range(count + 1)
        )
        found = dp.delta(RandomizedResponse(1) ** count, epsilon=epsilon, relation="replace-one")
        assert holds(found, value)


def test_the_worse_order_of_a_sample() -> None:
    """A Poisson sample is not symmetric: δ is the larger one of two integrals."""
    with mpmath.workdps(30):
        rate = mpmath.mpf(1) / 4

        def sampled(x):
            return (1 - rate) * mpmath.npdf(x) + rate * mpmath.npdf(x, 1)

        def integral(first, second):
            places = [-12, -3, -1, 0, 1, 2, 3, 5, 13]
            return mpmath.quad(lambda x: max(0, first(x) - mpmath.exp(-0.25) * second(x)), places)

        both = integral(sampled, mpmath.npdf), integral(mpmath.npdf, sampled)
    found = dp.delta(PoissonSampled(Gaussian(1), "1/4"), epsilon="-1/4")
    assert found.upper == pytest.approx(float(max(both)), abs=1e-5)
    assert abs(both[0] - both[1]) > 1e-3


def test_it_continues_the_curve_and_ends_at_one() -> None:
    near = dp.delta(Laplace(1), epsilon="-1e-9")
    assert near.upper == pytest.approx(dp.delta(Laplace(1), epsilon=0).upper)
    values = [dp.delta(Laplace(1), epsilon=e).upper for e in (-60, -2, -1, -0.5, 0)]
    assert values == sorted(values, reverse=True)
    assert values[0] <= 1


def test_floats_are_taken_at_the_safe_side() -> None:
    """-0.1 as a float is below the decimal; the smaller one has the larger δ."""
    assert dp.delta(Gaussian(2), epsilon=-0.1).exact_upper >= dp.delta(Gaussian(2), epsilon="-0.1").exact_upper
    with pytest.raises(InvalidValue):
        dp.account(Gaussian(2), epsilon=-1)
