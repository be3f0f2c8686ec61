"""Bun & Steinke: the accountant, and Rényi divergences by themselves."""

from fractions import Fraction

import pytest
from mpmath import exp, inf, log, mpf, pi, quad, sqrt, workdps

from dpbounds.privacy.accountants.certified import epsilon as certified_epsilon
from dpbounds.privacy.mechanisms import ExponentialMechanism, Gaussian, PureDP
from dpbounds.privacy.notions.concentrated import zcdp_epsilon
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.reference_formulas import evaluated

pure = evaluated("cited/bun-steinke-2016/proposition-1.4")
gaussian = evaluated("cited/bun-steinke-2016/proposition-1.6")


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


def renyi(epsilon, order):
    """Of randomised response, which dominates every ε-private mechanism."""
    keep, flip = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    return log(keep**order * flip ** (1 - order) + flip**order * keep ** (1 - order)) / (order - 1)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", 2, 10])
def test_every_order_stays_below(epsilon):
    rho = pure(epsilon=epsilon).value
    with workdps(40):
        shares = [renyi(mpf(epsilon), 1 + mpf(2) ** power) / (1 + mpf(2) ** power) for power in range(-20, 12)]
        assert max(shares) <= mpf(rho.upper)
        if mpf(epsilon) < mpf("0.1"):
            assert max(shares) > 0.99 * mpf(rho.lower)  # the constant 1/2 is right for small ε


def test_the_accountant_charges_no_more():
    for epsilon in ("0.1", 3):
        rho = pure(epsilon=epsilon).value.exact_upper
        assert zcdp_rho(PureDP(epsilon, relation="replace-one"), Relation.REPLACE_ONE) <= rho
        chosen = zcdp_rho(ExponentialMechanism(epsilon, relation="replace-one"), Relation.REPLACE_ONE)
        assert chosen <= rho / 4


@pytest.mark.parametrize("relation", list(Relation))
def test_it_is_what_the_accountant_charges(relation):
    factor = 2 if relation is Relation.REPLACE_ONE else 1  # a replaced record moves the sum by up to twice its bound
    spent = zcdp_rho(Gaussian("1.7") ** 3, relation)
    found = gaussian(Delta=factor, sigma="1.7").value
    assert 3 * found.upper == pytest.approx(float(spent), rel=1e-12)


@pytest.mark.parametrize("order", [1.5, 3, 8])
def test_it_is_the_divergence(order):
    def density(x, mean):
        return exp(-((x - mean) ** 2) / (2 * mpf(2) ** 2)) / (2 * sqrt(2 * pi))

    integral = quad(lambda x: density(x, 3) ** order * density(x, 0) ** (1 - order), [-inf, 0, 3, 3 * order, inf])
    found = gaussian(Delta=3, sigma=2).value.lower
    assert float(log(integral) / (order - 1)) == pytest.approx(order * found)
