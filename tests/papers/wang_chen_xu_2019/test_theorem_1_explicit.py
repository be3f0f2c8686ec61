"""Theorem 1 with constants: the budget is kept."""

import pytest
from mpmath import ln, mpf

from tests.papers.twins import evaluated, twin_of

twin = twin_of("wang-chen-xu-2019/theorem-1/explicit")

evaluate = evaluated("wang-chen-xu-2019/theorem-1/explicit")


def test_the_constant_at_both_ends():
    small = evaluate("step_constant", epsilon="1e-9", delta="1e-5").value.upper
    at_most = float(twin("step_constant", epsilon=ln(mpf(10) ** 5), delta=mpf(10) ** -5))
    assert small == pytest.approx(0.25)
    assert at_most == pytest.approx(3 - 2 * 2**0.5)
