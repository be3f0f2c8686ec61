"""Table 2, a second time from the text."""

from mpmath import root, sqrt


def quarter(dimension, dataset_size):
    return root(dimension, 4) / sqrt(dataset_size)


def two_thirds(dimension, dataset_size):
    return root(sqrt(dimension) / dataset_size, 3) ** 2


TWINS = {
    "wang-ye-xu-2017": quarter,
    "wang-xu-2019": quarter,
    "wang-xu-2019-population": lambda dimension, dataset_size: sqrt(dimension / dataset_size),
    "wang-et-al-2019": two_thirds,
    "zhou-et-al-2020": quarter,
    "zhou-et-al-2020-population": quarter,
    "tran-cutkosky-2022": lambda dimension, dataset_size: 1 / sqrt(dataset_size) + two_thirds(dimension, dataset_size),
    "arora-et-al-2023": two_thirds,
    "arora-et-al-2023-population": lambda dimension, dataset_size: (
        1 / root(dataset_size, 3) + quarter(dimension, dataset_size)
    ),
}
