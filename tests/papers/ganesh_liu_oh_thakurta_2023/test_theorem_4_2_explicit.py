"""Theorem 4.2 with constants, first order: its tuning, its budget, and runs."""

import math

import numpy as np
import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit")


def tune(**problem):
    """Parameters and bounds as the record says."""
    value = evaluate("accuracy", **problem)
    common = {name: problem[name] for name in ("L", "B")}
    level = value.value.upper
    steps = math.ceil(evaluate("steps", accuracy=level, **common).value.upper)
    lengths = {"G": problem["G"], "L": problem["L"]}
    kappa = evaluate("drift_threshold", accuracy=level, **lengths).value.upper
    fresh = evaluate("fresh_estimates", accuracy=level, T=steps, kappa=kappa, **common)
    cap = math.ceil(fresh.value.upper)
    budget = {"n": problem["n"], "rho": problem["rho"]}
    return {
        "applies": value.applies,
        "steps": steps,
        "drift_threshold": kappa,
        "fresh_estimates": cap,
        "noise_stddev": evaluate("noise_stddev", G=problem["G"], fresh_estimates=cap, **budget).value.upper,
        "difference_noise_stddev": evaluate("difference_noise_stddev", L=problem["L"], T=steps, **budget).value.upper,
    }


@pytest.mark.parametrize(("n", "dimension", "lipschitz"), [(10**3, 5, 1), (10**5, 100, "0.3"), (10**7, 10, 4)])
def test_the_tuned_bound_is_kept_at_its_parameters(n, dimension, lipschitz):
    problem = {"n": n, "d": dimension, "rho": "0.5", "G": lipschitz, "L": 2, "B": 3, "zeta": "0.05"}
    chosen = tune(**problem)
    assert chosen.pop("applies") is True
    reached = evaluate("bound", d=dimension, L=2, B=3, zeta="0.05", **chosen)
    tuned = evaluate("tuned", **problem).value
    assert reached.applies is True
    assert 0.7 * tuned.lower < reached.value.upper <= tuned.upper


def test_runs_on_a_well_stay_below():
    # F = 1 - exp(-|x|²/2) for every record: G = exp(-1/2) < 0.61, M = B = 1; it starts where it is steepest
    generator = np.random.default_rng(11)
    dimension = 5
    problem = {"n": 1500, "d": dimension, "rho": "0.25", "G": "0.61", "L": 1, "B": 1, "zeta": "0.1"}
    chosen = tune(**problem)
    bound = evaluate("tuned", **problem)
    assert bound.applies is True

    def slope(x):
        return x * np.exp(-(x @ x) / 2)

    smallest, asked = [], []
    for _ in range(40):
        x, before, drift, fresh, norms = np.eye(dimension)[0], None, np.inf, 0, []
        for _ in range(chosen["steps"]):
            noise = generator.normal(size=dimension)
            if drift >= chosen["drift_threshold"]:
                fresh, drift = fresh + 1, 0.0
                estimate = slope(x) + chosen["noise_stddev"] * noise
            else:
                scale = chosen["difference_noise_stddev"] * np.linalg.norm(x - before)
                estimate = estimate + slope(x) - slope(before) + scale * noise
            norms.append(np.linalg.norm(slope(x)))
            before, x = x, x - estimate
            drift += estimate @ estimate
        smallest.append(min(norms))
        asked.append(fresh)
    assert max(asked) <= chosen["fresh_estimates"]
    assert np.mean(np.array(smallest) > bound.value.upper) <= 0.1
    assert bound.value.upper < 0.6  # and says something: the steepest slope is 0.606
