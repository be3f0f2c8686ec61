"""Algorithm 1: its accounting step by step, and the certified accountant."""

import math

import pytest

from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.lowy_ullman_wright_2024.twins import algorithm_1_gaussian_cost
from tests.papers.twins import evaluated

gaussian_cost = algorithm_1_gaussian_cost
STATEMENT = theorem("lowy-ullman-wright-2024/algorithm-1")
evaluate = evaluated("lowy-ullman-wright-2024/algorithm-1")


VALUES = {
    "steps": 23,
    "anchor_period": 5,
    "lipschitz": 2,
    "smoothness": 3,
    "dataset_size": 100,
    "noise_stddev": "0.7",
    "difference_noise_stddev": "0.9",
    "noise_cap": "1.1",
}


def test_the_loop_costs_what_the_formula_says():
    total = 0.0
    for t in range(23):
        if t % 5 == 0:
            total += gaussian_cost(2 * 2 / 100, 0.7)
        else:
            distances = [10.0**exponent for exponent in range(-6, 7)] + [4 / 3, 1.1 / 0.9]
            total += max(gaussian_cost(2 / 100 * min(3 * x, 4), min(0.9 * x, 1.1)) for x in distances)
    assert float(evaluate("rho", **VALUES).value.lower) == pytest.approx(total)


def test_the_mechanism_is_the_formula():
    for relation, share in ((Relation.REPLACE_ONE, 1), (Relation.ADD_OR_REMOVE_ONE, 0.25)):
        found = spending(STATEMENT, {**VALUES, "epsilon": 1, "delta": "1e-5"}, relation)
        exact = float(evaluate("rho", **VALUES).value.lower) * share
        assert float(zcdp_rho(found.mechanism, relation)) == pytest.approx(exact)
        assert found.spent.upper <= exact + 2 * math.sqrt(exact * math.log(1e5))


def test_anchors_only_where_the_period_is_one():
    found = spending(STATEMENT, {**VALUES, "anchor_period": 1, "epsilon": 3, "delta": "1e-5"})
    assert len(found.mechanism.parts) == 1
    assert found.kept is True
    assert spending(STATEMENT, {**VALUES, "noise_stddev": "0.07", "epsilon": 3, "delta": "1e-5"}).kept is False
