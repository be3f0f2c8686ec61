"""Theorem 5, a second time from the text (with the fourth root, see the record's note)."""

from mpmath import ln, root, sqrt

TWINS = {
    "rate": lambda norm_bound, gaussian_width, delta, dataset_size, epsilon: (
        norm_bound
        * sqrt(norm_bound)
        * root((norm_bound**2 + gaussian_width**2) * ln(1 / delta), 4)
        / sqrt(dataset_size * epsilon)
    ),
    "steps": lambda dataset_size, epsilon, norm_bound, gaussian_width, delta: (
        dataset_size * epsilon * norm_bound / sqrt((norm_bound**2 + gaussian_width**2) * ln(1 / delta))
    ),
    "step_size": lambda smoothness, norm_bound: 1 / (2 * smoothness * norm_bound**2),
}
