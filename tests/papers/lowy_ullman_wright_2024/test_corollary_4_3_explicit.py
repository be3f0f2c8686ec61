"""Corollary 4.3 with its constants: the warm start enumerated on an interval, and what both halves
spend.
"""

from math import ceil, exp, sin

import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/corollary-4.3/explicit")
VALUES = {"G": 1, "D": 1, "d": 1, "n": 400, "rho": "0.5", "L": 2}


@pytest.mark.parametrize("size", [30, 400])
def test_the_warm_start_on_an_interval(size):
    """W = [0, 1], the risk sin(10 w)/10: the exact mean of the mechanism over a net of the prescribed radius."""
    budget = float(evaluate("epsilon", rho="0.5").value.lower)
    count = ceil(budget * size / 2)  # intervals of twice the radius 1/(ε n)
    risk = [sin(10 * (j + 0.5) / count) / 10 for j in range(count)]
    weights = [exp(-budget * size / 2 * r) for r in risk]
    mean = sum(w * r for w, r in zip(weights, risk, strict=True)) / sum(weights) + 0.1
    promised = evaluate("excess_risk", G=1, D=1, d=1, n=size, rho="0.5").value.lower
    assert 0.03 * promised < mean < promised


def test_it_is_the_theorem_with_that_risk_and_half_of_the_budget():
    psi = evaluate("excess_risk", digits=40, G=1, D=1, d=1, n=400, rho="0.5").value
    theirs = evaluated("lowy-ullman-wright-2024/theorem-3.2/explicit")(
        "bound", psi=psi, G=1, L=2, d=1, n=400, rho="0.25"
    )
    assert theirs.value.overlaps(evaluate("bound", **VALUES).value)


def test_the_order_of_growth():
    """d^{2/3}/n: 1000 times the records, 1000 times less up to a logarithm; DP-SPIDER alone gains a factor 100."""
    values = {"G": 1, "D": 1, "L": 1, "rho": "0.5"}
    at = [evaluate("bound", d=8, n=n, **values).value.lower for n in (10**5, 10**8)]
    assert 500 < at[0] / at[1] < 1000
    wide = evaluate("bound", d=64, n=10**8, **values).value.lower
    assert wide / at[1] == pytest.approx(8 ** (2 / 3), rel=0.1)
