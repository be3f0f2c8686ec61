"""Talwar, Thakurta & Zhang: the order in n, and how it compares with the non-convex one."""

from mpmath import cbrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dataset_size: 1 / cbrt(dataset_size) ** 2,
    "lower": lambda dataset_size: 1 / cbrt(dataset_size**2),
}


def test_eight_times_the_records_are_a_quarter_of_the_risk():
    statement = theorem("cited/talwar-thakurta-zhang-2015/main-result")
    first, second = (statement.evaluate(n=n).value.lower for n in (1000, 8000))
    assert abs(first / second - 4) < 1e-9
