"""Theorem 2: longer steps than allowed are reported."""

from tests.papers.reference_formulas import evaluated


def test_longer_steps_than_allowed_are_reported():
    evaluate = evaluated("tholeti-kalyani-2020/theorem-2")
    values = {"zeta": "0.01", "step_threshold": "0.1"}
    assert evaluate("rate", eta="0.02", **values).applies is True
    assert evaluate("rate", eta="0.03", **values).applies is False
