"""The trade-off function: below the exact one of Gaussians, on the tests of randomised response, to 50 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from dpbounds.errors import InvalidValue
from dpbounds.privacy.accountants.trade_off import TradeOff, membership_advantage
from dpbounds.privacy.mechanisms import Gaussian, PoissonSampled, PureDP
from tests.privacy.small_laws import m

ERRORS = [Fraction(k, 40) for k in range(41)] + [Fraction(1, 10**k) for k in range(2, 9)]


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("noise", "relation", "shift"), [(1, "add-or-remove-one", 1), (5, "replace-one", 0.4)])
def test_it_is_below_the_gaussian_one_and_touches_it(noise, relation, shift) -> None:
    curve = TradeOff.of(Gaussian(noise), [Fraction(k, 20) for k in range(120)], relation)
    for a in ERRORS:
        exactly = stats.norm.cdf(stats.norm.isf(float(a)) - shift)  # Dong, Roth & Su 2022, equation 6
        assert float(curve(a)) <= exactly + 1e-14
        assert float(curve(a)) == pytest.approx(exactly, rel=3e-3, abs=1e-6)


@pytest.mark.seconds
@settings(max_examples=25)
@given(st.fractions(0, 8), st.fractions(0, 1))
def test_every_test_of_randomised_response_obeys_it(epsilon, weight) -> None:
    with mpmath.workdps(50):
        growth, w = mpmath.exp(m(epsilon)), m(weight)
        a, b = w / (1 + growth), 1 - w * growth / (1 + growth)  # accuse with probability w where the answer is "yes"
        bound = TradeOff([(epsilon, 0)])(Fraction(int(a * 2**150), 2**150))
        assert abs(m(bound) - b) < mpmath.mpf(10) ** -25 * growth  # attained


@pytest.mark.seconds
@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.fractions(0, 30), st.fractions(0, 1)), min_size=1, max_size=6),
    st.fractions(0, 1),
)
def test_to_fifty_digits_and_rounded_down(points, a) -> None:
    found = TradeOff(points)(a)
    with mpmath.workdps(60):
        x, best = m(a), mpmath.mpf(0)
        for epsilon, delta in points:
            growth, rest = mpmath.exp(m(epsilon)), 1 - m(delta)
            best = max(best, rest - growth * x, (rest - x) / growth)
        assert m(found) <= best + mpmath.mpf(10) ** -55
        assert m(found) >= best - mpmath.mpf(10) ** -25 * mpmath.exp(m(max(epsilon for epsilon, _ in points)))


@pytest.mark.one_in(4)
def test_it_is_symmetric_and_decreases() -> None:
    curve = TradeOff.of(PoissonSampled(Gaussian(1), "0.1") ** 20, [Fraction(k, 4) for k in range(12)])
    values = [curve(Fraction(k, 50)) for k in range(51)]
    assert values == sorted(values, reverse=True)
    assert values[0] <= 1
    assert values[-1] == 0
    for a in ERRORS[1:20]:  # b = f(a) is as good a test as a = f(b)
        b = curve(a)
        assert curve(b) <= a + Fraction(1, 10**9)


def test_the_advantage_is_the_total_variation() -> None:
    found = membership_advantage(Gaussian(2), "replace-one")
    assert found.upper == pytest.approx(stats.norm.cdf(0.5) - stats.norm.cdf(-0.5), rel=1e-12)
    curve = TradeOff([(0, found.exact_upper)])
    assert curve("1/4") == 1 - found.exact_upper - Fraction(1, 4)
    assert membership_advantage(PureDP(2, relation="replace-one"), "replace-one").upper == pytest.approx(0.76159415595)


@pytest.mark.parametrize(
    "call",
    [
        lambda: TradeOff([]),
        lambda: TradeOff([(-1, 0)]),
        lambda: TradeOff([(1, 2)]),
        lambda: TradeOff([(1, 0)])(2),
        lambda: TradeOff([(1, 0)])(-1),
    ],
)
def test_values_out_of_range_are_refused(call) -> None:
    with pytest.raises(InvalidValue):
        call()
