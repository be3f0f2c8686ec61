"""Bun & Steinke, Proposition 1.6: against the accountant and the divergence itself."""

import pytest
from mpmath import exp, inf, log, mpf, pi, quad, sqrt

from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.twins import evaluated

evaluate = evaluated("cited/bun-steinke-2016/proposition-1.6")


@pytest.mark.parametrize("relation", list(Relation))
def test_it_is_what_the_accountant_charges(relation):
    factor = 2 if relation is Relation.REPLACE_ONE else 1  # a replaced record moves the sum by up to twice its bound
    spent = zcdp_rho(Gaussian("1.7") ** 3, relation)
    found = evaluate(Delta=factor, sigma="1.7").value
    assert 3 * found.upper == pytest.approx(float(spent), rel=1e-12)


@pytest.mark.parametrize("order", [1.5, 3, 8])
def test_it_is_the_divergence(order):
    def density(x, mean):
        return exp(-((x - mean) ** 2) / (2 * mpf(2) ** 2)) / (2 * sqrt(2 * pi))

    integral = quad(lambda x: density(x, 3) ** order * density(x, 0) ** (1 - order), [-inf, 0, 3, 3 * order, inf])
    found = evaluate(Delta=3, sigma=2).value.lower
    assert float(log(integral) / (order - 1)) == pytest.approx(order * found)
