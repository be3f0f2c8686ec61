"""Ge et al., Theorem 6, a second time from where it is quoted; what its two orders say together."""

import pytest
from mpmath import ln, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {
    "distance": lambda step_size, failure_probability: sqrt(step_size) * sqrt(-ln(failure_probability)),
    "steps": lambda failure_probability, step_size: -ln(failure_probability) * (1 / step_size) ** 2,
}


def test_half_the_distance_takes_sixteen_times_the_steps():
    statement = theorem("cited/ge-et-al-2015/theorem-6")
    values = [{"step_size": size, "failure_probability": "0.01"} for size in ("0.04", "0.01")]
    far, near = (statement.evaluate("distance", **one).value.lower for one in values)
    few, many = (statement.evaluate("steps", **one).value.lower for one in values)
    assert far / near == pytest.approx(2)
    assert many / few == pytest.approx(16)
