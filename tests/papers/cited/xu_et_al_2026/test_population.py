"""Xu et al.: the population order of the abstract, a second time; that of first-order points."""

from mpmath import cbrt, power

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dimension, dataset_size, epsilon: (
        1 / cbrt(dataset_size) + power(dimension / (dataset_size * epsilon) ** 2, 0.25)
    ),
}


def test_it_is_the_order_known_for_first_order_points():
    values = {"n": 10**5, "d": 100, "epsilon": "0.5"}
    own = theorem("cited/xu-et-al-2026/population").evaluate(**values).value
    assert own.overlaps(theorem("cited/arora-et-al-2023/population-rate").evaluate("rate", **values).value)
