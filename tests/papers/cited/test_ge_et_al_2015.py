"""Ge et al., Theorem 6: what its two orders say together."""

import pytest

from tests.papers.reference_formulas import evaluated


def test_half_the_distance_takes_sixteen_times_the_steps():
    evaluate = evaluated("cited/ge-et-al-2015/theorem-6")
    values = [{"step_size": size, "failure_probability": "0.01"} for size in ("0.04", "0.01")]
    far, near = (evaluate("distance", **one).value.lower for one in values)
    few, many = (evaluate("steps", **one).value.lower for one in values)
    assert far / near == pytest.approx(2)
    assert many / few == pytest.approx(16)
