"""Xu et al.: the empirical order of the abstract, a second time; that of first-order points."""

from mpmath import cbrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dimension, dataset_size, epsilon: cbrt(dimension) * cbrt(1 / (dataset_size * epsilon)) ** 2,
}


def test_it_is_the_order_known_for_first_order_points():
    values = {"n": 10**5, "d": 100, "epsilon": "0.5"}
    own = theorem("cited/xu-et-al-2026/main-result").evaluate(**values).value
    assert own.overlaps(theorem("cited/tran-cutkosky-2022/main-result").evaluate("rate", **values).value)
