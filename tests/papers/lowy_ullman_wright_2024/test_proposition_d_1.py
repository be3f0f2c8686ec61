"""Proposition D.1: where they come from.

With constants: runs on a quasar-convex risk, and what the noise spends.
"""

import numpy as np
import pytest
from mpmath import ln, mpf
from sympy import diff, simplify, solve

from dpbounds.expressions.symbols import step_size
from dpbounds.papers.lowy_ullman_wright_2024.proposition_d_1 import at_the_prescribed_step, telescoped
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

EXPLICIT = theorem("lowy-ullman-wright-2024/proposition-d.1/explicit")
explicit = evaluated("lowy-ullman-wright-2024/proposition-d.1/explicit")


def test_the_prescribed_step_is_the_best_one():
    (best,) = solve(diff(telescoped, step_size), step_size)
    assert simplify(telescoped.subs(step_size, best) - at_the_prescribed_step) == 0


@pytest.mark.parametrize(("power", "noise"), [(0.3, 0.05), (0.5, 0.3), (1.0, 0.02)])
def test_runs_stay_below_it(power, noise):
    """F(w) = (1 + |w|²)^{p/2}: with s = |w|², ps(1 + s)^{p/2-1} >= p((1 + s)^{p/2} - 1), so it is p-quasar-convex."""
    grid = np.linspace(1e-3, 50, 20_000)
    slope = power * grid * (1 + grid**2) ** (power / 2 - 1)
    assert (slope * grid >= power * ((1 + grid**2) ** (power / 2) - 1) * (1 - 1e-12)).all()
    lipschitz = 1.0 if power == 1 else float(slope.max()) * 1.0001
    dimension, steps, runs = 4, 200, 200
    given = {"G": str(lipschitz), "d": dimension, "D": 3, "T": steps, "sigma": str(noise)}
    promised = explicit("any-noise", q_c=str(power), **given).value.lower
    step = explicit("step_size", **given).value.lower
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


def test_the_tuned_bound():
    n, d, rho = 300, 7, 0.2
    given = {"G": 2, "D": 3, "q_c": "0.4", "d": d}
    tuned = explicit("tuned", n=n, rho="0.2", **given).value
    steps = int(explicit("enough_steps", n=n, d=d, rho="0.2").value.lower)
    for count, is_enough in ((steps, True), (steps - 2, False)):
        noise = 2 / n * (2 * count / rho) ** 0.5
        general = explicit("any-noise", T=count, sigma=str(noise), **given).value
        assert (general.lower <= tuned.upper * (1 + 1e-12)) is is_enough
        assert general.lower == pytest.approx(tuned.lower, rel=1e-3)


def test_at_the_parameters_of_print():
    n, d, ell = 1000, 5, float(ln(mpf(10) ** 6))
    steps = int(explicit("steps", n=n, d=d, epsilon=1, delta="1e-6").value.lower)
    noise = (1000 * steps * ell) ** 0.5 / n
    given = {"G": 1, "D": 1, "d": d, "q_c": 1}
    general = explicit("any-noise", T=steps, sigma=str(noise), **given).value
    printed = explicit("bound", n=n, epsilon=1, delta="1e-6", **given).value
    assert 0.999 * printed.lower < general.upper <= printed.upper


def test_what_the_printed_noise_spends():
    values = {"epsilon": 1, "delta": "1e-6", "n": 1000, "d": 5}
    found = spending(EXPLICIT, values)
    assert found.kept is True
    assert found.spent.lower == pytest.approx(0.0597, abs=5e-4)
    (_, steps), *_ = found.mechanism.parts
    rho = float(zcdp_rho(found.mechanism, found.relation))
    assert rho == pytest.approx(1 / (500 * float(ln(mpf(10) ** 6))))
    least = 5.17  # in place of 1000
    budget = epsilon(
        Gaussian(str((least * steps * float(ln(mpf(10) ** 6))) ** 0.5)) ** steps, "1e-6", relation="replace-one"
    )
    assert budget.lower == pytest.approx(1, abs=5e-3)
