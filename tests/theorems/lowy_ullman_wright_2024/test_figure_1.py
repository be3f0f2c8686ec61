"""Figure 1's rows, a second time, and against the corollaries."""

import pytest
from mpmath import cbrt, mpf, root, sqrt

from dpbounds.theorems.registry import theorem


def level(dimension, epsilon, dataset_size):
    return sqrt(dimension) / (epsilon * dataset_size)


def capped(dimension, epsilon, dataset_size):
    return min(mpf(1), dimension / (epsilon * dataset_size) + sqrt(dimension / dataset_size))


TWINS = {
    "empirical": lambda dimension, epsilon, dataset_size: min(
        cbrt(dimension) ** 2 / (epsilon * dataset_size), cbrt(level(dimension, epsilon, dataset_size)) ** 2
    ),
    "empirical-before": lambda dimension, epsilon, dataset_size: cbrt(level(dimension, epsilon, dataset_size) ** 2),
    "empirical-before-2022": lambda dimension, epsilon, dataset_size: root(dimension, 4) / sqrt(epsilon * dataset_size),
    "empirical-lower": level,
    "population": lambda dimension, epsilon, dataset_size: (
        cbrt(capped(dimension, epsilon, dataset_size)) / cbrt(dataset_size)
        + root((capped(dimension, epsilon, dataset_size) * level(dimension, epsilon, dataset_size)) ** 3, 7)
    ),
    "population-before": lambda dimension, epsilon, dataset_size: (
        1 / cbrt(dataset_size) + root(level(dimension, epsilon, dataset_size) ** 3, 7)
    ),
    "population-gradient-2020": lambda dimension, epsilon, dataset_size: (
        epsilon * sqrt(dimension) + sqrt(level(dimension, epsilon, dataset_size))
    ),
    "population-gradient-2023": lambda dimension, epsilon, dataset_size: (
        1 / cbrt(dataset_size) + sqrt(level(dimension, epsilon, dataset_size))
    ),
    "population-lower": lambda dimension, epsilon, dataset_size: (
        1 / sqrt(dataset_size) + level(dimension, epsilon, dataset_size)
    ),
    "linear-models": lambda rank, epsilon, dataset_size: (
        1 / sqrt(dataset_size)
        + min(cbrt(rank**2) / (epsilon * dataset_size), 1 / root((epsilon * dataset_size) ** 3, 7))
    ),
    "linear-models-before": lambda rank, epsilon, dataset_size: (
        1 / sqrt(dataset_size)
        + min(cbrt(rank) / cbrt(epsilon * dataset_size) ** 2, 1 / root((epsilon * dataset_size) ** 2, 5))
    ),
}

FIGURE = theorem("lowy-ullman-wright-2024/figure-1")


@pytest.mark.parametrize(
    ("row", "statement", "values"),
    [
        ("population", "corollary-7.1", {"n": 10_000, "d": 20, "epsilon": "0.5"}),
        ("linear-models", "corollary-8.2", {"n": 10_000, "rank": 20, "epsilon": "0.5"}),
    ],
)
def test_rows_agree_with_the_corollaries(row, statement, values):
    proved = theorem(f"lowy-ullman-wright-2024/{statement}").evaluate("rate", **values)
    assert FIGURE.evaluate(row, **values).value.overlaps(proved.value)


def test_no_row_is_below_its_lower_bound():
    for n in (10**2, 10**5, 10**8):
        for d in (1, 50, 10**4):
            for epsilon in ("0.01", "1"):
                values = {"n": n, "d": d, "epsilon": epsilon}
                read = {
                    part.name: min(1, FIGURE.evaluate(part.name, **values).value.upper)
                    for part in FIGURE.parts
                    if not part.name.startswith("linear")
                }
                for name, value in read.items():
                    assert value >= (1 - 1e-9) * read[name.split("-")[0] + "-lower"] / 2, (name, values)
