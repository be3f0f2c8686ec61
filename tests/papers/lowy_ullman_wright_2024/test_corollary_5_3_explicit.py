"""Corollary 5.3 with its constants: its pieces, and what both halves spend."""

import pytest

from dpbounds.theorems.registry import theorem

STATEMENT = theorem("lowy-ullman-wright-2024/corollary-5.3/explicit")
RISK = {"lipschitz": 1, "diameter": 2, "quasar_convexity": "0.5", "d": 4, "n": 200, "rho": "0.1"}


def test_it_is_the_proposition_and_the_theorem():
    psi = STATEMENT.evaluate("excess_risk", digits=40, **RISK).value
    half = {**RISK, "rho": "0.05"}
    assert psi.overlaps(theorem("lowy-ullman-wright-2024/proposition-d.1/explicit").evaluate("tuned", **half).value)
    theirs = theorem("lowy-ullman-wright-2024/theorem-3.2/explicit").evaluate(
        "bound", excess_risk=psi, lipschitz=1, smoothness=2, d=4, n=200, rho="0.05"
    )
    assert theirs.value.overlaps(STATEMENT.evaluate("bound", smoothness=2, **RISK).value)


def test_the_quasar_constant_enters_by_its_cube_root():
    values = {**RISK, "n": 10**7, "smoothness": 1000}
    one, other = (STATEMENT.evaluate("bound", **{**values, "quasar_convexity": q}).value.lower for q in ("0.8", "0.1"))
    assert other / one == pytest.approx(2, rel=0.1)
