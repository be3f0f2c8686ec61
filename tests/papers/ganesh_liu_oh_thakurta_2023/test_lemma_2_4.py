"""Lemma 2.4, a second time from the text."""

from mpmath import ln, sqrt

TWINS = {
    "bound": lambda universal_constant, squared_errors, dimension, failure_probability: (
        universal_constant * sqrt(squared_errors) * sqrt(ln(2) + ln(dimension) - ln(failure_probability))
    )
}
