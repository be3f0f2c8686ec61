"""Abadi et al., Theorem 1: where its constants are."""

import pytest
from mpmath import exp, log1p, mpf, ncdf, sqrt, workdps

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("cited/abadi-et-al-2016/theorem-1")
VALUES = {"epsilon": 1, "delta": "1e-6", "T": 10_000, "q": "0.01"}


def test_the_range_is_checked_where_its_constant_is_given():
    for constant, applies in (("1.01", True), ("0.99", False)):  # q²T = 1
        found = evaluate(**VALUES, c=2, range_constant=constant)
        assert found.applies is applies
    assert evaluate(**VALUES, c=2).applies is None


@pytest.mark.parametrize("constant", [1, 10, 100])
def test_no_constants_serve_every_failure_probability_near_1(constant):
    """A record whose gradient is the clipping norm: 'some coordinate exceeds 1/2' tells whether it ever took part."""
    steps, rate, epsilon = 400, mpf("0.1"), mpf(1)
    with workdps(60):
        spare = 2 * (1 - rate) ** steps  # 1 - δ
        noise = constant * rate * sqrt(-steps * log1p(-spare)) / epsilon
        beyond = ncdf(-1 / (2 * noise))  # of one step without the record
        seen = 1 - ((1 - rate) * (1 - beyond) + rate * beyond) ** steps
        assert seen - exp(epsilon) * steps * beyond > 1 - spare
    assert epsilon < 1 * rate**2 * steps  # within the range for c₁ = 1; smaller c₁ need more steps
