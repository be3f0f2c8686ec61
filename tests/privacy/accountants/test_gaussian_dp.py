"""The smallest μ of Gaussian differential privacy, against closed forms and the trade-off function at points."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

import dpbounds as dp
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.privacy.accountants.certified import delta_curve
from tests.privacy.small_laws import m

ADD, REPLACE = "add-or-remove-one", "replace-one"


def mu_of(a, b):
    return stats.norm.isf(a) + stats.norm.isf(b)


@pytest.mark.parametrize(
    ("mechanism", "relation", "mu"),
    [(dp.Gaussian(2) ** 4, ADD, 1), (dp.Gaussian(1), REPLACE, 2), (dp.Gaussian(4) ** 9 @ dp.Gaussian(1), ADD, 1.25)],
    ids=str,
)
def test_full_batches_have_the_root_of_their_squared_shift(mechanism, relation, mu):
    found = dp.gdp_parameter(mechanism, relation)
    assert found.exact_upper == Fraction(mu)
    assert found.lower > mu * (1 - 1e-8)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_pure_privacy_touches_at_one_point(epsilon):
    """At a = b = 1/(1 + e^ε)."""
    with mpmath.workdps(40):
        error = 1 / (1 + mpmath.exp(m(Fraction(epsilon))))
        exactly = 2 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * error)
        found = dp.gdp_parameter(dp.PureDP(epsilon, relation=ADD))
        assert m(found.exact_lower) - mpmath.mpf(10) ** -12 <= exactly <= m(found.exact_upper)
        assert found.width < 1e-9


@pytest.mark.seconds
def test_laplace_noise_by_its_trade_off_function():
    shift = math.exp(-1)

    def f(a):
        return 1 - a / shift if a < shift / 2 else shift / (4 * a) if a < 0.5 else shift * (1 - a)

    largest = max(mu_of(a, f(a)) for a in np.geomspace(1e-6, 0.5, 40_001))
    found = dp.gdp_parameter(dp.Laplace(1))
    assert found.lower - 1e-7 <= largest <= found.upper
    assert found.upper < largest * (1 + 1e-4)


@pytest.mark.seconds
@pytest.mark.parametrize("rate", ["1e-4", "1e-8"])
def test_of_training_it_is_the_largest_over_the_range(rate):
    training = dp.PoissonSampled(dp.Gaussian(1), "0.02") ** 100
    found = dp.gdp_parameter(training, least_rate=rate)
    least = float(Fraction(rate))
    for a in [least * 1.0001, *np.geomspace(least * 2, 0.4, 6)]:
        known = dp.trade_off(training, Fraction(a))
        assert known.upper >= stats.norm.sf(stats.norm.ppf(a) + found.upper) * (1 - 1e-12)
        assert mu_of(a, known.upper) <= found.upper
    assert found.upper < found.lower * (1 + 2e-4)
    assert mu_of(least * 1.0001, dp.trade_off(training, Fraction(least * 1.0001)).upper) > found.lower * 0.999


@pytest.mark.seconds
def test_it_grows_with_the_range_and_stays_below_the_full_batch():
    training = dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 4
    found = [dp.gdp_parameter(training, least_rate=rate) for rate in ("1e-2", "1e-4", "1e-8")]
    assert found[0].exact_upper < found[1].exact_lower
    assert found[1].exact_upper < found[2].exact_lower
    assert found[2].exact_upper < 2
    assert dp.gdp_parameter(training, least_rate="1e-60").exact_upper <= 2


@pytest.mark.seconds
def test_what_it_promises_of_delta_holds():
    """δ(ε) is at most that of μ-GDP wherever the line of slope -e^ε touches within the range."""
    mechanism = dp.Laplace(1) ** 2
    mu = dp.gdp_parameter(mechanism, least_rate="1e-3").upper
    for epsilon, spent in zip((0, 1, 2), delta_curve(mechanism, [0, 1, 2]), strict=True):
        allowed = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
        touches = stats.norm.sf(mu / 2 + epsilon / mu)
        if touches > 1e-3:
            assert spent.lower <= allowed * (1 + 1e-9)


def test_without_protection_no_parameter_follows():
    with pytest.raises(NotCertified, match="smaller least_rate"):
        dp.gdp_parameter(dp.Laplace("0.01"))
    found = dp.gdp_parameter(dp.Gaussian("0.1"))  # of no test in the range, but that of all tests is known
    assert (found.exact_lower, found.exact_upper) == (0, 10)
    with pytest.raises(InvalidValue, match="less than 1/2"):
        dp.gdp_parameter(dp.Gaussian(1), least_rate="0.5")
    assert dp.gdp_parameter(dp.Gaussian("0.1"), least_rate="1e-20").exact_upper == 10
    with pytest.raises(InvalidValue, match="least_rate"):
        dp.gdp_parameter(dp.Gaussian(1), least_rate=0)


def test_a_float_is_a_least_rate_no_larger_than_its_decimal():
    assert Fraction(1e-5) > Fraction("1e-5")
    typed, meant = (dp.gdp_parameter(dp.Laplace(1), least_rate=rate) for rate in (1e-5, "1e-5"))
    assert typed.exact_upper == meant.exact_upper


def test_no_epsilons_have_no_deltas():
    assert delta_curve(dp.Gaussian(1), []) == ()


@pytest.mark.seconds
def test_a_shift_of_one_part_bounds_nothing():
    found = dp.gdp_parameter(dp.Gaussian(1) @ dp.PureDP(1, relation=ADD), least_rate="1e-2")
    assert found.exact_lower > 1


@pytest.mark.parametrize("epsilon", ["1e-3", "1e-8"])
def test_the_parameter_of_little_loss_is_close(epsilon):
    """Of ε-DP it is 2Φ^-1(e^ε/(1+e^ε)), about ε sqrt(π/2): the profile is resolved near 0, however small ε is."""
    found = dp.gdp_parameter(dp.PureDP(epsilon, relation="replace-one"), "replace-one")
    exact = float(epsilon) * math.sqrt(math.pi / 2)
    assert found.lower * (1 - 1e-6) <= exact <= found.upper * (1 + 1e-6)
    assert found.upper < found.lower * (1 + 1e-4)
