"""Claim 4.4, a second time from the text (with G for its L)."""

from mpmath import ln, sqrt

TWINS = {
    "first": lambda lipschitz, dimension, first_batch, noise_stddev: (
        lipschitz * sqrt(ln(dimension)) / sqrt(first_batch) + sqrt(dimension) * noise_stddev
    ),
    "second": lambda smoothness, dimension, second_batch, difference_noise_stddev: (
        smoothness * sqrt(ln(dimension)) / sqrt(second_batch) + sqrt(dimension) * difference_noise_stddev
    ),
}
