"""Equation (5) and the two displays after it, a second time; small dimensions by school formulas and by integration."""

import pytest
from mpmath import acos, beta, betainc, exp, mpf, pi, quad, rgamma, sqrt, workdps

from dpbounds.theorems.registry import theorem


def ball(dimension):
    return pi ** (dimension / 2) * rgamma(1 + dimension / 2)


def share(x, p):
    """I_x(p, 1/2): where it is tiny by substituting s = x exp(-u/p), where mpmath's own function gives up."""
    half = mpf(1) / 2
    if p * (1 - x) < 30:
        return 1 - betainc(half, p, 0, 1 - x, regularized=True)
    integral = quad(lambda u: exp(-u) / sqrt(1 - x * exp(-u / p)), [0, 5, 20, 60, 150, 400])
    return x**p / p * integral / beta(p, half)


def cap(dimension, cap_distance):
    return ball(dimension) * share(1 - cap_distance**2, (dimension + 1) / 2) / 2


TWINS = {"ball": ball, "cap": cap, "overlap": lambda dimension, cap_distance: 2 * cap(dimension, cap_distance)}

STATEMENT = theorem("tholeti-kalyani-2020/equation-5")


def test_school_formulas():
    a = 0.3
    assert STATEMENT.evaluate("ball", dimension=3).value.lower == pytest.approx(4 / 3 * float(pi))
    segment = float(acos(a) - a * sqrt(1 - a**2))
    assert STATEMENT.evaluate("cap", dimension=2, cap_distance="0.3").value.lower == pytest.approx(segment)
    height = 1 - a
    dome = float(pi) * height**2 * (3 - height) / 3
    assert STATEMENT.evaluate("cap", dimension=3, cap_distance="0.3").value.lower == pytest.approx(dome)


@pytest.mark.parametrize("dimension", [2, 5, 12])
def test_a_cap_is_a_stack_of_smaller_balls(dimension):
    with workdps(25):
        stack = quad(lambda x: ball(mpf(dimension - 1)) * (1 - x**2) ** (mpf(dimension - 1) / 2), [mpf("0.4"), 1])
        assert STATEMENT.evaluate("cap", dimension=dimension, cap_distance="0.4").value.lower == pytest.approx(
            float(stack)
        )
