"""Algorithm 1: what is wrong with step 3."""

import pytest
from mpmath import log, sqrt

from dpbounds.papers.wang_xu_2019.algorithm_1 import budget, printed_variance
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

STATEMENT = theorem("wang-xu-2019/algorithm-1")
evaluate = evaluated("wang-xu-2019/algorithm-1")


def test_the_printed_noise_vanishes_for_linear_losses():
    smoothness = next(symbol for symbol in printed_variance.free_symbols if symbol.name == "smoothness")
    assert printed_variance.subs(smoothness, 0) == 0
    values = {"epsilon": 1, "delta": "1e-5", "steps": 100, "dataset_size": 10_000, "lipschitz": 1}
    assert spending(STATEMENT, {**values, "smoothness": "0.01"}).kept is False
    assert spending(STATEMENT, {**values, "smoothness": 1}).kept is True


@pytest.mark.parametrize(("failure", "edge"), [("1e-3", 6.2565), ("1e-5", 7.7862)])
def test_the_printed_power_overspends_for_large_budgets(failure, edge):
    assert edge == pytest.approx(1 + 2 * float(sqrt(log(1 / float(failure)))), abs=1e-3)
    for epsilon, is_kept in ((edge - 0.01, True), (edge + 0.01, False)):
        values = {"epsilon": epsilon, "delta": failure, "steps": 7, "dataset_size": 50, "lipschitz": 1, "smoothness": 1}
        found = spending(STATEMENT, values)
        spent = float(zcdp_rho(found.mechanism, Relation.REPLACE_ONE))
        allowed = evaluate("rho", epsilon=epsilon, delta=failure).value
        assert (spent <= allowed.upper) is is_kept
    assert spending(STATEMENT, {**values, "epsilon": 12}).kept is False  # also against the certified curve


def test_the_budget_solves_its_equation():
    for epsilon, failure in (("0.3", "1e-3"), (8, "1e-6")):
        rho = evaluate("rho", epsilon=epsilon, delta=failure).value.lower
        assert rho + 2 * (rho * float(log(1 / float(failure)))) ** 0.5 == pytest.approx(float(epsilon))
    assert budget.free_symbols
