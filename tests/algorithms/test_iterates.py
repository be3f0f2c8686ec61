"""What walks share: which steps have a bound."""

from fractions import Fraction

import pytest
import sympy

from dpbounds.algorithms.iterates import demand_short_step
from dpbounds.errors import InvalidValue


@pytest.mark.parametrize("smoothness", [sympy.Rational(3, 2), sympy.sqrt(3)])
def test_only_steps_below_two_over_the_smoothness_have_a_bound(smoothness):
    limit = Fraction(str(sympy.N(2 / smoothness, 30)))
    demand_short_step(limit * (1 - Fraction(1, 10**9)), smoothness)
    for wrong in (limit * (1 + Fraction(1, 10**9)), 0, -1):
        with pytest.raises(InvalidValue, match="step_size must be greater than 0 and less than 2/L"):
            demand_short_step(wrong, smoothness)
    with pytest.raises(InvalidValue, match="less than 2/L"):
        demand_short_step(Fraction(4, 3), sympy.Rational(3, 2))  # exactly there
