"""Langevin dynamics under PL: against exact second moments of a quadratic."""

import pytest
from mpmath import log

from dpbounds.theorems.registry import theorem

STATEMENT = theorem("dpbounds/langevin-under-pl")


@pytest.mark.parametrize(("step", "steps"), [("0.05", 7), ("0.5", 3), ("1.5", 20)])
def test_a_quadratic_attains_it(step, steps):
    # F = |w|²/2 in two dimensions, L = μ = 1: E|w|² is a recursion
    eta, beta, square = float(step), 3.0, 5.0
    for _ in range(steps):
        square = (1 - eta) ** 2 * square + 2 * 2 * eta / beta
    values = {"initial_gap": "2.5", "pl_constant": 1, "smoothness": 1, "d": 2, "inverse_temperature": 3}
    found = STATEMENT.evaluate(step_size=step, steps=steps, **values)
    assert found.applies is True
    assert square / 2 <= found.value.upper * (1 + 1e-12)
    if steps == 20:
        assert square / 2 > 0.999 * found.value.lower


def test_unequal_curvatures_stay_below():
    eta, beta, squares, curvatures = 0.4, 2.0, [4.0, 1.0], [1.0, 0.1]
    for _ in range(30):
        squares = [(1 - eta * h) ** 2 * s + 2 * eta / beta for h, s in zip(curvatures, squares, strict=True)]
    excess = sum(h * s for h, s in zip(curvatures, squares, strict=True)) / 2
    values = {"initial_gap": "2.05", "pl_constant": "0.1", "smoothness": 1, "d": 2, "inverse_temperature": 2}
    assert excess <= STATEMENT.evaluate(step_size="0.4", steps=30, **values).value.upper


def test_the_tuned_bound_contains_the_bound_at_its_parameters():
    values = {"initial_gap": 1, "pl_constant": "0.2", "smoothness": 1, "d": 5}
    private = {"n": 1000, "rho": "0.1", "lipschitz": 1}
    beta = STATEMENT.evaluate("inverse_temperature", pl_constant="0.2", **private).value.upper
    eta = STATEMENT.evaluate("step_size", inverse_temperature=beta, steps=200, **private).value.upper
    at = STATEMENT.evaluate(step_size=eta, steps=200, inverse_temperature=beta, **values)
    best = STATEMENT.evaluate("tuned", steps=200, **values, **private)
    assert at.applies is True
    assert best.applies is True
    assert 0.5 * best.value.lower < at.value.upper <= best.value.upper * (1 + 1e-9)
    assert abs(eta * 200 - float(log(1000) / 0.2)) < 1e-6
