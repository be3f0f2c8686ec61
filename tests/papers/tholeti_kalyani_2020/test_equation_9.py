"""Equation (9): its increment, and its first polynomial."""

import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("tholeti-kalyani-2020/equation-9")
GENERAL = evaluated("tholeti-kalyani-2020/equation-6")


@pytest.mark.parametrize("dimension", [1, 2, 7, 40])  # even ones, too
def test_two_more_dimensions_add_the_increment(dimension):
    values = {"Delta_g": "0.7", "r_u": "0.8"}
    low, high = (GENERAL(d=d, digits=30, **values).value for d in (dimension, dimension + 2))
    gain = evaluate("increment", d=dimension, **values).value
    assert gain.lower > 0
    assert high.lower - low.lower == pytest.approx(gain.lower, rel=1e-9)


def test_the_value_of_a_uniform_law_on_an_interval():
    assert evaluate("dimension-1", Delta_g="0.6", r_u=1).value.lower == pytest.approx(0.3)
