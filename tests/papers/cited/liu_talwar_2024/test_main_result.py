"""Liu & Talwar: the order of the abstract, a second time; that of first-order points."""

from mpmath import cbrt, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dimension, dataset_size, epsilon: (
        1 / cbrt(dataset_size) + sqrt(sqrt(dimension)) / (sqrt(dataset_size) * sqrt(epsilon))
    ),
}


def test_second_order_points_cost_no_more_than_first_order_ones():
    for n, d in ((10**4, 10), (10**6, 10**4)):
        values = {"n": n, "d": d, "epsilon": "0.5"}
        own = theorem("cited/liu-talwar-2024/main-result").evaluate(**values).value
        assert own.overlaps(theorem("cited/arora-et-al-2023/population-rate").evaluate("rate", **values).value)
