"""Table 3, a second time from the text; its rows against Table 1."""

from mpmath import mpf, root, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "wang-chen-xu-2019": lambda dimension, dataset_size: root(dimension, 4) / sqrt(dataset_size),
    "wang-xu-2020": lambda dimension, dataset_size: (dimension / dataset_size) ** (mpf(4) / 7),
    "gao-wright-2023": lambda dimension, dataset_size: sqrt(sqrt(dimension)) / sqrt(dataset_size),
    "empirical": lambda dimension, dataset_size: root(dimension, 3) / dataset_size ** (mpf(2) / 3),
    "population": lambda dimension, dataset_size: (
        1 / root(dataset_size, 3) + root(dimension, 14) ** 3 / dataset_size ** (mpf(3) / 7)
    ),
}


def test_the_same_rates_as_in_table_1():
    first, third = (theorem(f"ganesh-liu-oh-thakurta-2023/table-{k}") for k in (1, 3))
    values = {"n": 3000, "d": 7}
    for name in ("empirical", "population"):
        one = first.evaluate(f"{name}-sosp", epsilon=1, **values).value
        assert one.overlaps(third.evaluate(name, **values).value)
