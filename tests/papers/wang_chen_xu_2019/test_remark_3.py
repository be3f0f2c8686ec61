"""Remark 3."""

from dpbounds.theorems.registry import theorem


def test_the_printed_rate_is_enough_but_loose():
    statement = theorem("wang-chen-xu-2019/remark-3")
    for alpha in ("1", "0.1", "0.001"):
        printed, sharper = (
            statement.evaluate(name, d=100, epsilon=1, stationarity=alpha).value
            for name in ("sample_size", "sharper_sample_size")
        )
        assert sharper.lower <= printed.upper
    assert printed.lower > 9 * sharper.upper
