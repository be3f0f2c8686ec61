"""Bun & Steinke, Proposition 1.4: against the Rényi divergences of randomised response."""

import pytest
from mpmath import exp, log, mpf, workdps

from dpbounds.privacy.mechanisms import ExponentialMechanism, PureDP
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.twins import evaluated

evaluate = evaluated("cited/bun-steinke-2016/proposition-1.4")


def renyi(epsilon, order):
    """Of randomised response, which dominates every ε-private mechanism."""
    keep, flip = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    return log(keep**order * flip ** (1 - order) + flip**order * keep ** (1 - order)) / (order - 1)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", 2, 10])
def test_every_order_stays_below(epsilon):
    rho = evaluate(epsilon=epsilon).value
    with workdps(40):
        shares = [renyi(mpf(epsilon), 1 + mpf(2) ** power) / (1 + mpf(2) ** power) for power in range(-20, 12)]
        assert max(shares) <= mpf(rho.upper)
        if mpf(epsilon) < mpf("0.1"):
            assert max(shares) > 0.99 * mpf(rho.lower)  # the constant 1/2 is right for small ε


def test_the_accountant_charges_no_more():
    for epsilon in ("0.1", 3):
        rho = evaluate(epsilon=epsilon).value.exact_upper
        assert zcdp_rho(PureDP(epsilon, relation="replace-one"), Relation.REPLACE_ONE) <= rho
        chosen = zcdp_rho(ExponentialMechanism(epsilon, relation="replace-one"), Relation.REPLACE_ONE)
        assert chosen <= rho / 4
