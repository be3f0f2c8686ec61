"""Proposition 5.2 with constants: against runs on a quasar-convex loss that is not convex."""

import numpy as np
import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/proposition-5.2/explicit")


@pytest.mark.parametrize("power", [0.3, 0.8])
def test_runs_stay_below_the_bound(power):
    # F = (1 + |w|²)^{p/2}: <∇F, w> = p|w|²(1+|w|²)^{p/2-1} >= p(F - 1), and |∇F| <= p for p <= 1
    d, n, steps, runs, budget = 5, 1000, 400, 200, 0.1
    values = {"lipschitz": power, "diameter": 3, "quasar_convexity": power, "steps": steps, "dimension": d}
    values |= {"dataset_size": n, "rho": budget}
    sigma = evaluate("noise_stddev", **{k: values[k] for k in ("lipschitz", "dataset_size", "steps", "rho")})
    eta = evaluate("step_size", **{k: v for k, v in values.items() if k != "quasar_convexity"}).value.upper
    draw = np.random.default_rng(0)
    w = np.zeros((runs, d))
    w[:, 0] = 3
    gaps = []
    for _ in range(steps):
        square = (w**2).sum(1, keepdims=True)
        gaps.append(float(((1 + square) ** (power / 2) - 1).mean()))
        w = w - eta * (power * w * (1 + square) ** (power / 2 - 1) + draw.normal(0, sigma.value.upper, (runs, d)))
    bound = evaluate("bound", **values).value.lower
    assert 0.05 * bound < np.mean(gaps) <= bound


def test_too_few_runs_are_reported():
    values = {"lipschitz": 1, "diameter": 1, "quasar_convexity": 1, "steps": 9, "dimension": 2, "dataset_size": 100}
    values |= {"rho": 1, "step_epsilon": 1, "failure_probability": "0.1"}
    assert evaluate("selected", N=4, **values).applies is False
    assert evaluate("selected", N=5, **values).applies is True


@pytest.mark.parametrize("candidates", [2, 7])
def test_the_selection_is_as_private_as_claimed(candidates):
    # the largest change of a loss over points at distance at most 2D: h(i) between -2GD/n·... and +..., range 4GD/n
    draw = np.random.default_rng(candidates)
    lipschitz, diameter, n, loss = 1.5, 2.0, 50, 0.7
    scale = loss * n / (4 * lipschitz * diameter)
    worst = 0.0
    for _ in range(300):
        scores = draw.uniform(0, 3, candidates)
        change = draw.choice([0.0, 4 * lipschitz * diameter / n], candidates)
        first, second = (np.exp(-scale * (one - one.min())) for one in (scores, scores + change))
        shift = np.exp(-scale * (scores.min() - (scores + change).min()))
        assert shift > 0
        worst = max(worst, np.abs(np.log(first / first.sum()) - np.log(second / second.sum())).max())
    assert 0.5 * loss < worst <= loss * (1 + 1e-12)
