"""Proposition 5.2 with its constants: a second time, runs on a quasar-convex risk, and what the noise spends."""

import numpy as np
import pytest
import sympy
from mpmath import ceil, ln, mpf, sqrt

from dpbounds.privacy.accountants import epsilon
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

TWINS = {
    "bound": lambda diameter, lipschitz, dimension, noise_stddev, quasar_convexity, steps: (
        diameter / quasar_convexity * sqrt((lipschitz**2 + dimension * noise_stddev**2) / steps)
    ),
    "zcdp": lambda diameter, lipschitz, dimension, quasar_convexity, steps, dataset_size, rho: (
        diameter
        / quasar_convexity
        * sqrt((lipschitz**2 + dimension * 2 * lipschitz**2 * steps / (dataset_size**2 * rho)) / steps)
    ),
    "tuned": lambda diameter, lipschitz, dimension, quasar_convexity, dataset_size, rho: (
        2 / quasar_convexity * lipschitz * diameter / dataset_size * sqrt(dimension / rho)
    ),
    "as_prescribed": lambda diameter, lipschitz, dimension, quasar_convexity, delta, epsilon, dataset_size: (
        lipschitz * diameter / quasar_convexity * sqrt(1001 * dimension * ln(1 / delta)) / (epsilon * dataset_size)
    ),
    "step_size": lambda diameter, lipschitz, dimension, noise_stddev, steps: (
        diameter / sqrt(steps) / sqrt(lipschitz**2 + dimension * noise_stddev**2)
    ),
    "steps": lambda dataset_size, rho, dimension: ceil(dataset_size**2 * rho / dimension / 2),
}

STATEMENT = theorem("lowy-ullman-wright-2024/proposition-5.2/explicit")


def test_the_step_size_balances_the_two_terms():
    eta, radius, second, q, steps = sympy.symbols("eta D V q T", positive=True)  # V = G² + dσ²
    sum_of_both = radius**2 / (2 * eta * q * steps) + eta * second / (2 * q)
    best = radius / sympy.sqrt(steps * second)
    assert sympy.simplify(sum_of_both.diff(eta).subs(eta, best)) == 0
    assert sympy.simplify(sum_of_both.subs(eta, best) - radius * sympy.sqrt(second) / (q * sympy.sqrt(steps))) == 0


@pytest.mark.parametrize(("power", "noise"), [(0.3, 0.05), (0.5, 0.3), (1.0, 0.02)])
def test_runs_stay_below_it(power, noise):
    """F(w) = (1 + |w|²)^{p/2}: with s = |w|², ps(1 + s)^{p/2-1} >= p((1 + s)^{p/2} - 1), so it is p-quasar-convex."""
    grid = np.linspace(1e-3, 50, 20_000)
    slope = power * grid * (1 + grid**2) ** (power / 2 - 1)
    assert (slope * grid >= power * ((1 + grid**2) ** (power / 2) - 1) * (1 - 1e-12)).all()
    lipschitz = 1.0 if power == 1 else float(slope.max()) * 1.0001
    dimension, steps, runs = 4, 200, 200
    given = {"lipschitz": str(lipschitz), "d": dimension, "diameter": 3, "steps": steps, "noise_stddev": str(noise)}
    promised = STATEMENT.evaluate("bound", quasar_convexity=str(power), **given).value.lower
    step = STATEMENT.evaluate("step_size", **given).value.lower
    draw = np.random.default_rng(11)
    here = np.zeros((runs, dimension))
    here[:, 0] = 3.0
    total = 0.0
    for _ in range(steps):
        square = (here**2).sum(axis=1, keepdims=True)
        total += float(((1 + square) ** (power / 2) - 1).mean())
        gradient = power * here * (1 + square) ** (power / 2 - 1)
        here = here - step * (gradient + noise * draw.normal(size=here.shape))
    assert 0.05 * promised < total / steps < promised


def test_the_budget_and_the_number_of_steps():
    values = {"n": 300, "d": 7, "rho": "0.2", "lipschitz": 2, "diameter": 3, "quasar_convexity": "0.4"}
    steps = int(STATEMENT.evaluate("steps", n=300, d=7, rho="0.2").value.lower)
    at_enough = STATEMENT.evaluate("zcdp", steps=steps, **values).value
    tuned = STATEMENT.evaluate("tuned", **values).value
    assert tuned.lower * 0.999 < at_enough.upper <= tuned.upper
    assert STATEMENT.evaluate("zcdp", steps=steps - 2, **values).value.lower > tuned.upper
    assert spending(STATEMENT, {"rho": "0.2", "steps": steps}).kept is True
    found = spending(STATEMENT, {"rho": "0.2", "steps": steps}, "add-or-remove-one")
    assert float(found.spent.upper) == pytest.approx(0.05)


def test_at_the_parameters_of_print():
    n, d, ell = 1000, 5, float(ln(mpf(10) ** 6))
    ratio = (d * ell) ** 0.5 / n
    steps = -int(-(1 / ratio**2) // 1)
    noise = (1000 * steps * ell) ** 0.5 / n
    given = {"lipschitz": 1, "diameter": 1, "d": d, "quasar_convexity": 1}
    general = STATEMENT.evaluate("bound", steps=steps, noise_stddev=str(noise), **given).value
    printed = STATEMENT.evaluate("as_prescribed", n=n, epsilon=1, delta="1e-6", **given).value
    assert 0.999 * printed.lower < general.upper <= printed.upper
    # the printed noise is 17 times what (1, 1e-6)-DP needs here: on the full batch it spends ε = 0.06
    spent = epsilon(Gaussian(str(noise * n)) ** steps, "1e-6", relation="replace-one")
    assert spent.lower == pytest.approx(0.0597, abs=5e-4)
