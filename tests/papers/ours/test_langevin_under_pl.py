"""Langevin dynamics under PL: against exact second moments of a quadratic."""

import pytest
from mpmath import log

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/langevin-under-pl")


@pytest.mark.parametrize(("step", "steps"), [("0.05", 7), ("0.5", 3), ("1.5", 20)])
def test_a_quadratic_attains_it(step, steps):
    # F = |w|²/2 in two dimensions, L = μ = 1: E|w|² is a recursion
    eta, beta, square = float(step), 3.0, 5.0
    for _ in range(steps):
        square = (1 - eta) ** 2 * square + 2 * 2 * eta / beta
    values = {"Delta_F": "2.5", "mu": 1, "L": 1, "d": 2, "beta": 3}
    found = evaluate(eta=step, T=steps, **values)
    assert found.applies is True
    assert square / 2 <= found.value.upper * (1 + 1e-12)
    if steps == 20:
        assert square / 2 > 0.999 * found.value.lower


def test_unequal_curvatures_stay_below():
    eta, beta, squares, curvatures = 0.4, 2.0, [4.0, 1.0], [1.0, 0.1]
    for _ in range(30):
        squares = [(1 - eta * h) ** 2 * s + 2 * eta / beta for h, s in zip(curvatures, squares, strict=True)]
    excess = sum(h * s for h, s in zip(curvatures, squares, strict=True)) / 2
    values = {"Delta_F": "2.05", "mu": "0.1", "L": 1, "d": 2, "beta": 2}
    assert excess <= evaluate(eta="0.4", T=30, **values).value.upper


def test_the_tuned_bound_contains_the_bound_at_its_parameters():
    values = {"Delta_F": 1, "mu": "0.2", "L": 1, "d": 5}
    private = {"n": 1000, "rho": "0.1", "G": 1}
    beta = evaluate("inverse_temperature", mu="0.2", **private).value.upper
    eta = evaluate("step_size", beta=beta, T=200, **private).value.upper
    at = evaluate(eta=eta, T=200, beta=beta, **values)
    best = evaluate("tuned", T=200, **values, **private)
    assert at.applies is True
    assert best.applies is True
    assert 0.5 * best.value.lower < at.value.upper <= best.value.upper * (1 + 1e-9)
    assert abs(eta * 200 - float(log(1000) / 0.2)) < 1e-6
