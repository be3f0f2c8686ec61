"""Theorem 2, a second time from the text."""

from mpmath import ln, root, sqrt

TWINS = {
    "rate": lambda dimension, delta, dataset_size, epsilon: (
        root(dimension * ln(1 / delta), 4) / sqrt(dataset_size * epsilon)
    ),
    "steps": lambda dataset_size, epsilon, dimension, delta: dataset_size * epsilon / sqrt(dimension * ln(1 / delta)),
    "step_size": lambda smoothness: 1 / smoothness / 2,
}
