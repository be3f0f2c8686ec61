"""Algorithm 1, a second time from the text; its accounting step by step, and the certified accountant."""

import math

import pytest
from mpmath import ceil

from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

STATEMENT = theorem("lowy-ullman-wright-2024/algorithm-1")


def gaussian_cost(sensitivity, stddev):
    return (sensitivity / stddev) ** 2 / 2


def rho(steps, anchor_period, lipschitz, smoothness, dataset_size, noise_stddev, difference_noise_stddev, noise_cap):
    # the ratio of min(σ₂x, σ̂₂) to min(Lx, 2G) is smallest for x near 0 or x large
    anchored = ceil(steps / anchor_period)
    near = gaussian_cost(2 * smoothness / dataset_size, difference_noise_stddev)
    far = gaussian_cost(4 * lipschitz / dataset_size, noise_cap)
    return anchored * gaussian_cost(2 * lipschitz / dataset_size, noise_stddev) + (steps - anchored) * max(near, far)


TWINS = {
    "rho": rho,
    "anchors": lambda steps, anchor_period: ceil(steps / anchor_period),
    "differences": lambda steps, anchor_period: steps - ceil(steps / anchor_period),
}

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
    assert float(STATEMENT.evaluate("rho", **VALUES).value.lower) == pytest.approx(total)


def test_the_mechanism_is_the_formula():
    for relation, share in ((Relation.REPLACE_ONE, 1), (Relation.ADD_OR_REMOVE_ONE, 0.25)):
        found = spending(STATEMENT, {**VALUES, "epsilon": 1, "delta": "1e-5"}, relation)
        exact = float(STATEMENT.evaluate("rho", **VALUES).value.lower) * share
        assert float(zcdp_rho(found.mechanism, relation)) == pytest.approx(exact)
        assert found.spent.upper <= exact + 2 * math.sqrt(exact * math.log(1e5))


def test_anchors_only_where_the_period_is_one():
    found = spending(STATEMENT, {**VALUES, "anchor_period": 1, "epsilon": 3, "delta": "1e-5"})
    assert len(found.mechanism.parts) == 1
    assert found.kept is True
    assert spending(STATEMENT, {**VALUES, "noise_stddev": "0.07", "epsilon": 3, "delta": "1e-5"}).kept is False
