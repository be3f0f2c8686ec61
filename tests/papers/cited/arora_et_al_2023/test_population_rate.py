"""Arora et al., population rates, a second time; convexity helps wherever the rate says anything."""

from mpmath import cbrt, mpf, power, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dimension, dataset_size, epsilon: (
        1 / cbrt(dataset_size) + power(dimension, mpf(1) / 4) / sqrt(dataset_size * epsilon)
    ),
    "convex": lambda dimension, dataset_size, epsilon: (
        (sqrt(dataset_size) * epsilon + sqrt(dimension)) / dataset_size / epsilon
    ),
}


def test_convex_losses_are_easier_where_the_rate_is_below_1():
    statement = theorem("cited/arora-et-al-2023/population-rate")
    for n, d in ((100, 1), (10**4, 100), (10**6, 10**5)):
        values = {"n": n, "d": d, "epsilon": 1}
        assert statement.evaluate("convex", **values).value < statement.evaluate("rate", **values).value.lower
