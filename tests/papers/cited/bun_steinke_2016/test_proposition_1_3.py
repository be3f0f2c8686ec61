"""Bun & Steinke, Proposition 1.3: against the accountant and the Gaussian's exact curve."""

from fractions import Fraction

import pytest

from dpbounds.privacy.accountants.certified import epsilon as certified_epsilon
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.notions.concentrated import zcdp_epsilon
from tests.papers.twins import evaluated


@pytest.mark.parametrize("rho", ["1e-4", "0.02", 1, 20])
@pytest.mark.parametrize("delta", ["0.3", "1e-6", "1e-12"])
def test_the_accountant_says_the_same_and_the_tight_conversion_no_more(rho, delta):
    value = evaluated("cited/bun-steinke-2016/proposition-1.3")(rho=rho, delta=delta).value
    classical = zcdp_epsilon(rho, delta, "classical")
    assert value.exact_lower <= classical <= value.exact_upper * (1 + Fraction(1, 10**12))
    assert zcdp_epsilon(rho, delta) <= value.exact_upper


def test_the_gaussian_with_this_budget_spends_less():
    value = evaluated("cited/bun-steinke-2016/proposition-1.3")(rho="0.5", delta="1e-5").value
    spent = certified_epsilon(Gaussian(1), "1e-5")  # μ = 1: ρ = 1/2
    assert 0.7 * value.lower < spent.upper < value.lower
