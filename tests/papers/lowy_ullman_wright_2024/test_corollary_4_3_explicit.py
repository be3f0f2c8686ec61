"""Corollary 4.3 with its constants: the warm start enumerated on an interval, and what both halves
spend.
"""

from math import ceil, exp, sin

import pytest

from dpbounds.theorems.registry import theorem

STATEMENT = theorem("lowy-ullman-wright-2024/corollary-4.3/explicit")
VALUES = {"lipschitz": 1, "diameter": 1, "d": 1, "n": 400, "rho": "0.5", "smoothness": 2}


@pytest.mark.parametrize("size", [30, 400])
def test_the_warm_start_on_an_interval(size):
    """W = [0, 1], the risk sin(10 w)/10: the exact mean of the mechanism over a net of the prescribed radius."""
    budget = float(STATEMENT.evaluate("epsilon", rho="0.5").value.lower)
    count = ceil(budget * size / 2)  # intervals of twice the radius 1/(ε n)
    risk = [sin(10 * (j + 0.5) / count) / 10 for j in range(count)]
    weights = [exp(-budget * size / 2 * r) for r in risk]
    mean = sum(w * r for w, r in zip(weights, risk, strict=True)) / sum(weights) + 0.1
    promised = STATEMENT.evaluate("excess_risk", lipschitz=1, diameter=1, d=1, n=size, rho="0.5").value.lower
    assert 0.03 * promised < mean < promised


def test_it_is_the_theorem_with_that_risk_and_half_of_the_budget():
    psi = STATEMENT.evaluate("excess_risk", digits=40, lipschitz=1, diameter=1, d=1, n=400, rho="0.5").value
    theirs = theorem("lowy-ullman-wright-2024/theorem-3.2/explicit").evaluate(
        "bound", excess_risk=psi, lipschitz=1, smoothness=2, d=1, n=400, rho="0.25"
    )
    assert theirs.value.overlaps(STATEMENT.evaluate("bound", **VALUES).value)


def test_the_order_of_growth():
    """d^{2/3}/n: 1000 times the records, 1000 times less up to a logarithm; DP-SPIDER alone gains a factor 100."""
    values = {"lipschitz": 1, "diameter": 1, "smoothness": 1, "rho": "0.5"}
    at = [STATEMENT.evaluate("bound", d=8, n=n, **values).value.lower for n in (10**5, 10**8)]
    assert 500 < at[0] / at[1] < 1000
    wide = STATEMENT.evaluate("bound", d=64, n=10**8, **values).value.lower
    assert wide / at[1] == pytest.approx(8 ** (2 / 3), rel=0.1)
