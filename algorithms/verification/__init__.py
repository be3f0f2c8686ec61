"""Verification of theorems by runs."""

from dpbounds.algorithms.verification.judging.checks import (
    Check,
    Measured,
    Verdict,
    bound_check,
    noise_check,
    sensitivity_check,
    spent_check,
)

__all__ = ["Check", "Measured", "Verdict", "bound_check", "noise_check", "sensitivity_check", "spent_check"]
