"""Equation (5) and the two displays after it: small dimensions by school formulas and by integration."""

import pytest
from mpmath import acos, mpf, pi, quad, sqrt, workdps

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("tholeti-kalyani-2020/equation-5")


def test_school_formulas():
    a = 0.3
    assert evaluate("ball", d=3).value.lower == pytest.approx(4 / 3 * float(pi))
    segment = float(acos(a) - a * sqrt(1 - a**2))
    assert evaluate("cap", d=2, cap_distance="0.3").value.lower == pytest.approx(segment)
    height = 1 - a
    dome = float(pi) * height**2 * (3 - height) / 3
    assert evaluate("cap", d=3, cap_distance="0.3").value.lower == pytest.approx(dome)


@pytest.mark.parametrize("dimension", [2, 5, 12])
def test_a_cap_is_a_stack_of_smaller_balls(dimension):
    ball = evaluate("ball", d=dimension - 1).value.lower
    with workdps(25):
        stack = quad(lambda x: ball * (1 - x**2) ** (mpf(dimension - 1) / 2), [mpf("0.4"), 1])
        assert evaluate("cap", d=dimension, cap_distance="0.4").value.lower == pytest.approx(float(stack))
