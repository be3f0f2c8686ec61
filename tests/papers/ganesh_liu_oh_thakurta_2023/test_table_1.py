"""Table 1, a second time from the text; gaps between its rows."""

import pytest
from mpmath import ln, mpf, root, sqrt

from dpbounds.theorems.registry import theorem


def both(dimension, dataset_size, epsilon):
    return dimension / dataset_size / epsilon + sqrt(dimension) / sqrt(dataset_size)


TWINS = {
    "empirical-sosp-before": lambda dimension, dataset_size, epsilon: min(
        root(dimension, 4) / (sqrt(dataset_size) * sqrt(epsilon)),
        (dimension / dataset_size / epsilon) ** (mpf(4) / 7),
    ),
    "empirical-sosp": lambda dimension, dataset_size, epsilon: (
        root(dimension, 3) / (dataset_size * epsilon) ** (mpf(2) / 3)
    ),
    "empirical-lower": lambda dimension, dataset_size, epsilon: sqrt(dimension) / dataset_size / epsilon,
    "population-sosp": lambda dimension, dataset_size, epsilon: (
        1 / root(dataset_size, 3) + root(sqrt(dimension) / (dataset_size * epsilon), 7) ** 3
    ),
    "population-lower": lambda dimension, dataset_size, epsilon: (
        1 / sqrt(dataset_size) + sqrt(dimension) / dataset_size / epsilon
    ),
    "polynomial-before": lambda dimension, epsilon, dataset_size: dimension / epsilon / epsilon / ln(dataset_size),
    "polynomial": lambda dimension, dataset_size, epsilon: (
        dimension * ln(ln(dataset_size)) / epsilon / ln(dataset_size)
    ),
    "exponential": both,
    "excess-lower": both,
}

STATEMENT = theorem("ganesh-liu-oh-thakurta-2023/table-1")


def value(part, **values):
    return STATEMENT.evaluate(part, **values).value.lower


def test_the_gap_to_the_lower_bound():
    for records in (10**3, 10**6):
        values = {"n": records, "d": 16, "epsilon": 1}
        share = 4 / records
        gap = value("empirical-sosp", **values) / value("empirical-lower", **values)
        assert gap == pytest.approx(share ** (-1 / 3))
        assert gap > 2 * share ** (-1 / 6)


def test_better_than_before_where_it_means_anything():
    for dimension in (1, 100, 10**6):
        for records in (10**3, 10**6):
            values = {"n": records, "d": dimension, "epsilon": 1}
            assert value("empirical-sosp", **values) <= value("empirical-sosp-before", **values) * (1 + 1e-12)
    outside = {"n": 10, "d": 10**6, "epsilon": 1}  # d > n²ε²
    assert value("empirical-sosp", **outside) > value("empirical-sosp-before", **outside)


def test_lower_bounds_are_lower():
    for dimension in (1, 100):
        values = {"n": 10**6, "d": dimension, "epsilon": 1}
        assert value("empirical-lower", **values) <= value("empirical-sosp", **values)
        assert value("population-lower", **values) <= value("population-sosp", **values)
