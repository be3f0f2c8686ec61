"""Algorithm 2, a second time from the text; what it spends under both relations."""

from mpmath import ln

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

TWINS = {
    "gradient-threshold-noise": lambda lipschitz, dataset_size, epsilon: 4 * lipschitz / (dataset_size * epsilon),
    "curvature-threshold-noise": lambda smoothness, dataset_size, epsilon: 4 * smoothness / (dataset_size * epsilon),
    "gradient-noise": lambda lipschitz, dataset_size, epsilon: 8 * lipschitz / (dataset_size * epsilon),
    "curvature-noise": lambda smoothness, dataset_size, epsilon: 8 * smoothness / (dataset_size * epsilon),
    "gradient-offset": lambda lipschitz, dataset_size, epsilon, candidates, failure_probability: (
        16 * ln(2 * candidates / failure_probability) * lipschitz / (dataset_size * epsilon)
    ),
    "curvature-offset": lambda smoothness, dataset_size, epsilon, candidates, failure_probability: (
        16 * ln(2 * candidates / failure_probability) * smoothness / (dataset_size * epsilon)
    ),
}


def test_it_keeps_its_promise_for_an_added_record_only():
    statement = theorem("ganesh-liu-oh-thakurta-2023/algorithm-2")
    assert spending(statement, {"epsilon": "0.5"}, "add-or-remove-one").kept is True
    replaced = spending(statement, {"epsilon": "0.5"}, "replace-one")
    assert replaced.kept is not True
    assert replaced.spent.upper == 1
