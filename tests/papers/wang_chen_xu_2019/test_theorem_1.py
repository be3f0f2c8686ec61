"""Theorem 1 with constants: the budget is kept."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

explicit = evaluated("wang-chen-xu-2019/theorem-1/explicit")
STATEMENT = theorem("wang-chen-xu-2019/theorem-1")


def test_the_budget_is_kept_where_the_constant_is_large_enough():
    values = {"epsilon": 20, "delta": "1e-5", "steps": 300, "noise_constant": "2.8284271247461900976"}
    assert spending(STATEMENT, values).kept is True


def test_the_constant_at_both_ends():
    small = explicit("step_constant", epsilon="1e-9", delta="1e-5").value.upper
    at_most = explicit("step_constant", epsilon="11.512925464970229", delta="1e-5").value.upper  # ln(1/δ)
    assert small == pytest.approx(0.25)
    assert at_most == pytest.approx(3 - 2 * 2**0.5)
