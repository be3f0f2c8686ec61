"""Table 1, a second time from the text, and its rows against the theorems."""

import pytest
from mpmath import ln, root, sqrt

from dpbounds.theorems.registry import theorem


def low(dimension, delta, dataset_size, epsilon):
    return root(dimension * ln(1 / delta), 4) / sqrt(dataset_size * epsilon)


def width(norm_bound, gaussian_width, delta, dataset_size, epsilon):
    return root((norm_bound**2 + gaussian_width**2) * ln(1 / delta), 4) / sqrt(dataset_size * epsilon)


TWINS = {
    "zhang-et-al-2017": lambda dimension, delta, epsilon, dataset_size: (
        root(dimension * ln(1 / delta) * ln(2 / epsilon), 4) / sqrt(dataset_size * epsilon)
    ),
    "wang-ye-xu-2017": low,
    "algorithm-1": low,
    "algorithm-2": width,
    "algorithm-3": width,
    "algorithm-4": lambda delta, dataset_size, dimension, epsilon: (
        root(ln(1 / delta), 4) * sqrt(ln(dataset_size * dimension)) / sqrt(dataset_size * epsilon)
    ),
}


@pytest.mark.parametrize(
    ("row", "statement"),
    [
        ("algorithm-1", "theorem-2"),
        ("algorithm-2", "theorem-4"),
        ("algorithm-3", "theorem-5"),
        ("algorithm-4", "corollary-1"),
    ],
)
def test_rows_agree_with_their_theorems_for_sets_of_norm_1(row, statement):
    values = {"n": 5000, "d": 20, "epsilon": "0.5", "delta": "1e-5", "norm_bound": 1, "gaussian_width": "2.5"}
    table, proved = (theorem(f"wang-xu-2019/{name}") for name in ("table-1", statement))
    assert table.evaluate(row, **values).value.overlaps(proved.evaluate("rate", **values).value)
