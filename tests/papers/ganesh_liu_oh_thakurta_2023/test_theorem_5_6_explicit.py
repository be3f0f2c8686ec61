"""Theorem 5.6 with constants: its temperatures."""

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.6/explicit")


def test_how_far_the_temperatures_lie_apart():
    values = {"n": 10**6, "d": 2, "epsilon": "0.1", "G": 1, "D": 1}
    route = evaluate("log_sobolev_temperature", delta="1e-6", **values).value
    printed = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.6")(
        "inverse_temperature", delta="1e-6", temperature_constant=1, **values
    )
    assert printed.formula_value.lower == pytest.approx(0.39, abs=0.01)
    assert route.lower == pytest.approx(13.74, abs=0.01)
    assert evaluate("inverse_temperature", **values).value.lower == pytest.approx(
        (2e6 * (1.5 + np.log1p((10**6 / 2) ** 0.5))) ** 0.5  # privacy alone would allow nε/2 = 5e4
    )


def test_the_log_sobolev_temperature_is_private_up_to_epsilon_1():
    loss = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.1/explicit")
    budgets = {}
    for epsilon in ("0.1", 1, 3):
        found = evaluate("log_sobolev_temperature", n=100, d=4, epsilon=epsilon, delta="0.49", G=1, D=1)
        beta = found.formula_value.lower
        constant = np.exp(beta) / 4  # e^{βGD}D²/d
        budgets[epsilon] = (found.applies, loss("epsilon", n=100, delta="0.49", G=1, beta=beta, C_LS=constant).value)
    assert budgets["0.1"][0] is budgets[1][0] is True
    assert budgets["0.1"][1].upper <= 0.1
    assert 0.95 < budgets[1][1].upper <= 1
    assert budgets[3][0] is False
    assert budgets[3][1].lower > 3


def test_the_printed_temperature_says_nothing_for_long():
    found = evaluate(
        "printed_temperature", n=10**11, d=1, epsilon="0.4", delta="1e-5", temperature_constant="0.3", G=1, D=1
    )
    assert found.applies is True
    assert found.value.lower > 1  # more than GD
    assert evaluate("tuned", n=10**4, d=1, epsilon="0.4", G=1, D=1).value.upper < 0.08
