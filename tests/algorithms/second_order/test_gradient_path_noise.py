"""Path noise to a small gradient: step by step, its budget, its bound, and that it can fail."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from attrs import evolve

from dpbounds.algorithms import noise
from dpbounds.algorithms.second_order.gradient_path_noise import GradientPathNoise
from dpbounds.algorithms.verification.studies.second_order import double_well
from dpbounds.algorithms.warm_starts.warm_started_gradient_path_noise import WarmStartedGradientPathNoise
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.ours import population_path_noise as theorem, population_path_noise_warm_start as warm
from dpbounds.papers.ours.second_order_path_noise import path
from dpbounds.papers.ours.second_order_path_noise_warm_start import start
from dpbounds.privacy.accountants.certified import delta
from dpbounds.privacy.mechanisms import Gaussian, parts_of
from tests.algorithms.shared import refused


def begun(records, dimension=2, at=0.5):
    return replace(double_well(records, dimension), start=np.full(dimension, at))


FEW, MANY = begun(3000), begun(10**6)


def test_it_is_the_algorithm_step_by_step():
    """Against plain NumPy with the same streams; noise so large that walks end in every way."""
    n, alpha, omega, z, T, P = 3000, 0.3, 0.2, 40, 7, 0.5
    L, G = float(FEW.smoothness), float(FEW.lipschitz)
    method = GradientPathNoise(z, T, Fraction(1, 2), Fraction(3, 10), gradient_error=Fraction(1, 5))
    run = method.run(FEW, seed=2, repetitions=32)
    V = z**2 * (G * G + 2 * G * L * P) / n**2
    kinds = set()
    for r, draw in enumerate(noise.streams(2, 32)):
        w, used, found, k = np.full(2, 0.5), 0.0, False, 1
        left = 1 / z**2 - G**2 / (n**2 * V)
        g = w**3 - w + math.sqrt(V) * draw.standard_normal(2)
        while True:
            if np.linalg.norm(g) <= (1 - omega) * alpha:
                found = True
                kinds.add("small")
                break
            move = -g / L
            u, new = L * np.linalg.norm(move) / G, w + move
            kept = math.exp(-u)
            share = (G * (1 - kept + u * kept)) ** 2 / (n**2 * V * (1 - kept**2))  # a little less than by its length
            if k == T + 1 or share > left * (1 + 1e-6):
                kinds.add("no more moves" if k == T + 1 else "no more path")
                break
            left -= share
            g = kept * g + new**3 - new - kept * (w**3 - w) + math.sqrt(V * (1 - kept**2)) * draw.standard_normal(2)
            w, used, k = new, used + np.linalg.norm(move), k + 1
        assert run.output[r] == pytest.approx(w, abs=1e-6)
        assert (run.outputs["found"][r], run.output_step[r]) == (found, k)
        assert run.measured["path"][r] == pytest.approx(used, abs=1e-6)
        slope = np.linalg.norm(w**3 - w)
        assert run.measured["gradient_norm"][r] == pytest.approx(slope, abs=1e-6)
        assert run.samples[r] == (slope > alpha)
    assert kinds == {"small", "no more moves", "no more path"}
    assert run.samples.mean() > 0.1  # with so few records it can fail
    assert [(one.mechanism(), one.count) for one in run.ledger.releases] == [(Gaussian(z), 1)]


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_the_budget_is_kept_and_used(relation):
    method = GradientPathNoise.calibrated(FEW, 1, "1e-5", "1/5", relation=relation)
    run = method.run(FEW, repetitions=2, guarded=True)
    assert 1 - 1e-9 < run.spent.lower <= run.spent.exact_upper <= 1


def test_the_smallest_stationarity_is_found_and_what_is_smaller_than_the_theorem_s_is_refused():
    method = GradientPathNoise.calibrated(MANY)
    assert method.bound(MANY).contains(Fraction(1, 10))
    better = GradientPathNoise.calibrated(MANY, stationarity=method.stationarity * Fraction(63, 65))
    refused("records", better.bound, MANY)
    for name, change in (
        ("path_length", {"path_length": method.path_length * Fraction(999, 1000)}),
        ("steps", {"steps": method.steps - 1}),
        ("gradient_error", {"gradient_error": "0.26"}),
        ("path_length", {"initial_gap": 1}),
    ):
        refused(name, evolve(method, **change).bound, MANY)
    refused("at least", method.bound, begun(10**6 // 2))
    refused("gradient_error", GradientPathNoise.calibrated, MANY, gradient_error="0.3")


def test_the_records_needed_are_the_theorem_s_at_twice_its_failure_probability():
    """The theorem leaves half of ζ to the sample: a walk that fails with ζ/2 has the theorem's noise at ζ."""
    method = GradientPathNoise.calibrated(MANY, stationarity="1/50", failure_probability="1/10")
    values = {
        symbols.lipschitz: MANY.lipschitz, symbols.smoothness: MANY.smoothness, symbols.dimension: 2,
        symbols.stationarity: sympy.Rational(1, 50), symbols.failure_probability: sympy.Rational(1, 5),
        path: sympy.Rational(method.path_length), symbols.rho: 2 / sympy.Rational(method.gradient_multiplier) ** 2,
    }  # fmt: skip
    values |= {one: sympy.Rational(getattr(method, one_name)) for one, one_name in FREE.items()}
    whole = evaluate(sympy.sqrt(theorem.account / symbols.rho).subs(values), {}).upper
    assert method.records_needed(MANY).upper == pytest.approx(whole, rel=1e-6)


FREE = dict(zip(theorem.THEOREM.free[1:], ("gradient_error", "window"), strict=True))


@pytest.mark.seconds
def test_a_good_start_makes_a_smaller_gradient_within_one_budget():
    problem = begun(10**6, 1)
    cold = GradientPathNoise.calibrated(problem)
    made = WarmStartedGradientPathNoise.calibrated(problem, covering_radius="1/500")
    assert made.stationarity < cold.stationarity
    assert made.bound(problem).contains(Fraction(1, 10))
    assert 0.99e-6 < delta(made.planned, 1, relation="replace-one").upper <= 1e-6
    assert parts_of(made.planned)[0] == (made.start.planned, 1)
    worse = evolve(made, descent=evolve(made.descent, initial_gap=made.descent.initial_gap / 2))
    refused("descent.initial_gap", worse.bound, problem)
    run = made.run(problem, seed=1, repetitions=4)
    assert run.outputs["found"].all()
    assert not run.samples.any()
    # the statement's account at ψ and 2ζ is that of the walk that is run
    walk = made.descent
    values = {
        symbols.lipschitz: problem.lipschitz, symbols.smoothness: problem.smoothness, symbols.dimension: 1,
        symbols.stationarity: sympy.Rational(walk.stationarity), symbols.failure_probability: sympy.Rational(1, 5),
        path: sympy.Rational(walk.path_length), start: sympy.Rational(walk.initial_gap),
    }  # fmt: skip
    values |= {one: sympy.Rational(getattr(walk, name)) for one, name in FREE.items()}
    spent = 2 / float(walk.gradient_multiplier) ** 2
    needed = math.sqrt(evaluate(warm.account.subs(values), {}).upper / spent)
    assert walk.records_needed(problem).upper == pytest.approx(needed, rel=1e-6)
