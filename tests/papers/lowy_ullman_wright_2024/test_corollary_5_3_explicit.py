"""Corollary 5.3 with its constants: its pieces, and what both halves spend."""

import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/corollary-5.3/explicit")
RISK = {"G": 1, "D": 2, "q_c": "0.5", "d": 4, "n": 200, "rho": "0.1"}


def test_it_is_the_proposition_and_the_theorem():
    psi = evaluate("excess_risk", digits=40, **RISK).value
    half = {**RISK, "rho": "0.05"}
    assert psi.overlaps(evaluated("lowy-ullman-wright-2024/proposition-d.1/explicit")("tuned", **half).value)
    theirs = evaluated("lowy-ullman-wright-2024/theorem-3.2/explicit")(
        "bound", psi=psi, G=1, L=2, d=4, n=200, rho="0.05"
    )
    assert theirs.value.overlaps(evaluate("bound", L=2, **RISK).value)


def test_the_quasar_constant_enters_by_its_cube_root():
    values = {**RISK, "n": 10**7, "L": 1000}
    one, other = (evaluate("bound", **{**values, "quasar_convexity": q}).value.lower for q in ("0.8", "0.1"))
    assert other / one == pytest.approx(2, rel=0.1)
