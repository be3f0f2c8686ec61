"""Remark 3, a second time from the text."""

from mpmath import sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "sample_size": lambda dimension, epsilon, stationarity: dimension / epsilon / stationarity**2,
    "sharper_sample_size": lambda dimension, epsilon, stationarity: (
        sqrt(dimension) / epsilon * max(1 / stationarity**2, sqrt(dimension / stationarity**3))
    ),
}


def test_the_printed_rate_is_enough_but_loose():
    statement = theorem("wang-chen-xu-2019/remark-3")
    for alpha in ("1", "0.1", "0.001"):
        printed, sharper = (
            statement.evaluate(name, d=100, epsilon=1, stationarity=alpha).value
            for name in ("sample_size", "sharper_sample_size")
        )
        assert sharper.lower <= printed.upper
    assert printed.lower > 9 * sharper.upper
