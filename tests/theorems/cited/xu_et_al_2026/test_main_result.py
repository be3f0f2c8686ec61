"""Xu et al.: the two orders of the abstract, a second time; those of first-order points."""

import pytest
from mpmath import cbrt, power, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "population": lambda dimension, dataset_size, epsilon: (
        1 / cbrt(dataset_size) + power(dimension / (dataset_size * epsilon) ** 2, 0.25)
    ),
    "empirical": lambda dimension, dataset_size, epsilon: cbrt(dimension) * cbrt(1 / (dataset_size * epsilon)) ** 2,
}


@pytest.mark.parametrize(
    ("part", "other", "name"),
    [
        ("empirical", "cited/tran-cutkosky-2022/main-result", "rate"),
        ("population", "cited/arora-et-al-2023/population-rate", "rate"),
    ],
)
def test_both_are_the_orders_known_for_first_order_points(part, other, name):
    values = {"n": 10**5, "d": 100, "epsilon": "0.5"}
    own = theorem("cited/xu-et-al-2026/main-result").evaluate(part, **values).value
    assert own.overlaps(theorem(other).evaluate(name, **values).value)
    assert float(sqrt(own.lower)) > 0
