"""Table 1: gaps between its rows."""

import pytest

from dpbounds.theorems.registry import theorem

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
