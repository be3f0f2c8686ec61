"""Rates of earlier work, a second time from the text, in the order in which they improve."""

from mpmath import cbrt, ln, mpf, root, sqrt

from dpbounds.theorems.registry import theorem


def ratio(dimension, delta, epsilon, dataset_size):
    return sqrt(dimension * ln(1 / delta)) / (epsilon * dataset_size)


TWINS = {
    "arora-empirical": lambda dimension, delta, epsilon, dataset_size: (
        cbrt(ratio(dimension, delta, epsilon, dataset_size)) ** 2
    ),
    "before-2022": lambda dimension, delta, epsilon, dataset_size: sqrt(ratio(dimension, delta, epsilon, dataset_size)),
    "lower-empirical": lambda dimension, epsilon, dataset_size: sqrt(dimension) / epsilon / dataset_size,
    "zhou-population": lambda dimension, epsilon, dataset_size: (
        epsilon * sqrt(dimension) + root(dimension, 4) / sqrt(epsilon * dataset_size)
    ),
    "arora-population": lambda dimension, epsilon, dataset_size: (
        1 / cbrt(dataset_size) + root(dimension, 4) / sqrt(epsilon * dataset_size)
    ),
    "lower-population": lambda dimension, epsilon, dataset_size: (
        dataset_size ** mpf("-0.5") + sqrt(dimension) / (epsilon * dataset_size)
    ),
    "arora-glm": lambda rank, epsilon, dataset_size: (
        dataset_size ** mpf("-0.5")
        + (
            cbrt(rank) / cbrt(epsilon * dataset_size) ** 2
            if rank**5 <= (epsilon * dataset_size) ** 4
            else root(epsilon * dataset_size, 5) ** -2
        )
    ),
}


def test_upper_bounds_are_above_lower_bounds_where_they_say_something():
    statement = theorem("lowy-ullman-wright-2024/appendix-a")
    for d, n in ((10, 1000), (1000, 10**6), (10, 10**9)):
        values = {"d": d, "n": n, "epsilon": 1}
        lower, spider, descent = (
            statement.evaluate(part, **values, **({} if part == "lower-empirical" else {"delta": "1e-6"})).value
            for part in ("lower-empirical", "arora-empirical", "before-2022")
        )
        assert lower.upper < spider.lower < descent.lower
        low, high = (statement.evaluate(part, **values).value for part in ("lower-population", "arora-population"))
        assert low.upper < high.lower
