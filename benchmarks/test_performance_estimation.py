"""The worst problem for noisy gradient descent, found by a solver: performance estimation (Drori & Teboulle 2014).

    pytest benchmarks/test_performance_estimation.py -m minutes -n 0 -s

needs PEPit, which brings CVXPY. Over all L-smooth functions, in any dimension, a semidefinite programme maximises the
mean square of the returned gradient. The noise takes two values in each step, ±ξ, so that its mean is 0; its directions
are for the solver to choose. What it finds is attained, and ``dpbounds/noisy-descent-exact`` says that no more is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpbounds.theorems.registry import theorem

pytestmark = pytest.mark.minutes

L, GAP, DIMENSION = Fraction(1), Fraction(1), 2  # of the noise; the solver chooses that of the space
SOLVED = 1e-4  # relative: how exactly the programme is solved


def bound(steps: int, step_size: Fraction, stddev: Fraction) -> float:
    """The statement's, squared."""
    values = {"smoothness": L, "initial_gap": GAP, "step_size": step_size, "steps": steps, "dimension": DIMENSION}
    return theorem("dpbounds/noisy-descent-exact").evaluate("bound", **values, noise_stddev=stddev).value.upper ** 2


def worst(steps: int, step_size: Fraction, stddev: Fraction) -> float:
    """The largest mean square of the gradient at w_R."""
    PEPit = pytest.importorskip("PEPit")  # here: a module that skips as a whole would be a skipped test of every run
    functions = pytest.importorskip("PEPit.functions")
    problem = PEPit.PEP()
    risk = problem.declare_function(functions.SmoothFunction, L=float(L))
    infimum, eta = PEPit.Expression(), float(step_size)
    weight = eta * (1 - float(L) * eta / 2)
    first: Any = problem.set_initial_point()
    level, total = [first], PEPit.Expression(is_leaf=False, decomposition_dict={})
    for step in range(steps + 1):
        following = []
        for w in level:
            gradient, value = risk.oracle(w)
            problem.add_constraint(value - infimum >= gradient**2 / (2 * float(L)))  # of a smooth function
            if w is first:
                problem.add_constraint(value - infimum <= float(GAP))
            total += gradient**2 * ((weight if step < steps else 1 / (2 * float(L))) / len(level))
            if step < steps:
                noise = PEPit.Point()
                problem.add_constraint(noise**2 <= float(DIMENSION * stddev**2))
                following += [w - eta * (gradient + sign * noise) for sign in (1, -1)]
        level = following
    problem.set_performance_metric(total)
    return float(problem.solve(verbose=0)) / (steps * weight + 1 / (2 * float(L)))


@pytest.mark.parametrize("step_size", ["1/4", "1", "7/4"])
@pytest.mark.parametrize(("steps", "stddev"), [(1, "0"), (3, "0"), (1, "1/2"), (2, "1/2"), (2, "5/4")])
def test_a_solver_finds_the_bound(steps: int, stddev: str, step_size: str) -> None:
    at = steps, Fraction(step_size), Fraction(stddev)
    found, promised = worst(*at), bound(*at)
    print(f"\n{steps} steps of {step_size}, noise {stddev}: {found:.6f} of {promised:.6f}")
    assert found == pytest.approx(promised, rel=SOLVED)
