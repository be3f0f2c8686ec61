"""Falling noise: the best schedule, and what it gains over equal noise."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/geometric-noise-under-pl")
POINT = {"L": 1, "mu": "0.2", "eta": "0.5", "T": 8, "d": 5, "G": 1, "n": 100, "rho": "0.1", "Delta_F": 1}


def risk(variances):
    """E F(w_T) - inf F on the recursion of the proof."""
    c, gap = 2 * 0.2 * 0.5 * 0.75, 1.0
    for variance in variances:
        gap = (1 - c) * gap + 0.5**2 * 5 / 2 * variance
    return gap


def shared(weights):
    """Variances with the budget split by these weights."""
    weights = np.abs(weights) / np.abs(weights).sum()
    return 2 / (100**2 * 0.1) / weights


def test_no_schedule_of_the_same_budget_is_better():
    best = minimize(
        lambda weights: risk(shared(weights)), np.ones(8), method="Nelder-Mead", options={"maxiter": 20_000}
    )
    stated = evaluate(**POINT).value.upper
    assert best.fun == pytest.approx(stated, rel=1e-5)
    assert best.fun >= stated * (1 - 1e-9)
    assert risk(shared(np.ones(8))) > 1.02 * (stated - risk(np.zeros(8))) + risk(np.zeros(8))


def test_the_simple_form_is_weaker():
    for steps in (1, 8, 300):
        exact, simple = (evaluate(part, **POINT | {"T": steps}).value.upper for part in ("bound", "simple"))
        assert exact <= simple
    assert simple / exact < 1.3


def test_no_logarithm_is_left():
    # at the T at which the first term is as small as the second, n² times the excess risk settles
    scaled = []
    for n in (10**4, 10**6, 10**8):
        found = evaluate(**POINT | {"n": n, "T": 400}).value.upper
        scaled.append(found * n**2)
    assert scaled[2] == pytest.approx(scaled[0], rel=1e-3)
