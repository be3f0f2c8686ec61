"""Corollary 1, a second time from the text (with the fourth root)."""

from mpmath import ln, root, sqrt

TWINS = {
    "rate": lambda delta, dataset_size, dimension, epsilon: (
        root(ln(1 / delta), 4) * sqrt(ln(dataset_size * dimension)) / sqrt(dataset_size * epsilon)
    )
}
