"""Theorem 5 with constants: each of its steps on the sigmoid link."""

import numpy as np
import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("wang-chen-xu-2019/theorem-5/explicit")


def sigmoid(s):
    return 1 / (1 + np.exp(-s))


def test_the_gap_dominates_the_excess():
    # C_σ = 1/4, c_σ = σ'(1) suffice for μ; the excess and the inner product of random points and distributions
    generator = np.random.default_rng(3)
    domination = 0.25 / (2 * sigmoid(1.0) * sigmoid(-1.0))
    worst = 0.0
    for _ in range(300):
        x = generator.normal(size=(4, 3))
        x /= np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))
        w, star = (v / max(1, np.linalg.norm(v)) for v in generator.normal(size=(2, 3)))
        s, t = sigmoid(x @ w), sigmoid(x @ star)
        excess = ((s - t) ** 2).mean()
        inner = (2 * (s - t) * s * (1 - s) * (x @ (w - star))).mean()
        worst = max(worst, excess / inner)
    assert 0.8 * domination < worst <= domination


@pytest.mark.parametrize("records", [50, 800])
def test_gradients_of_samples_are_close(records):
    # E Z <= 4(L + G)/√n for the sigmoid link, G <= 2 sup (1-σ)σ', L likewise; Z by a grid over the unit disc
    generator = np.random.default_rng(records)
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    points = np.concatenate([r * np.stack([np.cos(angles), np.sin(angles)], axis=1) for r in (0.1, 0.4, 0.7, 1.0)])
    star = np.array([0.6, -0.8])
    s = np.linspace(-1, 1, 2001)
    slope = sigmoid(s) * sigmoid(-s)
    first = max(np.abs(2 * (sigmoid(s) - y) * slope).max() for y in (0, 1))
    second = max(np.abs(2 * slope**2 + 2 * (sigmoid(s) - y) * slope * (1 - 2 * sigmoid(s))).max() for y in (0, 1))
    found = []
    for _ in range(40):
        x = generator.normal(size=(records, 2))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        y = generator.random(records) < sigmoid(x @ star)
        link = sigmoid(x @ points.T)
        weights = 2 * link * (1 - link)
        noise = (weights * (sigmoid(x @ star) - y)[:, None]).T @ x / records  # what labels add to the gradients
        found.append(np.linalg.norm(noise, axis=1).max())
    assert 0.02 < np.mean(found) * np.sqrt(records) / (4 * (first + second)) <= 1


def test_robust_regression_with_a_restoring_score():
    # biweight, c = 4, ξ = ±1, so Y = 2: h(s)/s >= κ on (0, 2]; excess E∫h <= C_ψ/(2κ) E h(u)u
    s = np.linspace(1e-3, 2, 2000)
    influence = lambda t: t * np.maximum(0, 1 - (t / 4) ** 2) ** 2  # noqa: E731
    score = (influence(s + 1) + influence(s - 1)) / 2
    slope = (score / s).min()
    assert slope > 0.05
    excess = np.concatenate([[0], np.cumsum((score[1:] + score[:-1]) / 2 * (s[1] - s[0]))])
    assert (excess <= 1 / (2 * slope) * score * s + 1e-9).all()


def test_runs_stay_below():
    # labels by the sigmoid link on 12 equally likely features of the unit sphere, so the population risk is a sum
    generator = np.random.default_rng(8)
    features = generator.normal(size=(12, 3))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    star, records, steps, chains = np.array([0.6, -0.8, 0.0]), 4_000, 60, 40
    first, second = 0.297, 0.18  # of the loss, for |s| <= 1
    sigma = evaluate("noise_stddev", G="0.297", n=records, T=steps, rho="0.05").value.upper
    gamma = evaluate("step_fraction", Delta_F=1, L="0.18", T=steps).value.upper
    s = np.linspace(-1, 1, 2001)
    slope = sigmoid(s) * sigmoid(-s)
    assert max(np.abs(2 * (sigmoid(s) - y) * slope).max() for y in (0, 1)) <= first
    assert (
        max(np.abs(2 * slope**2 + 2 * (sigmoid(s) - y) * slope * (1 - 2 * sigmoid(s))).max() for y in (0, 1)) <= second
    )
    truth, total = sigmoid(features @ star), 0.0
    for _ in range(chains):
        drawn = generator.multinomial(records, np.full(12, 1 / 12))
        positive = generator.binomial(drawn, truth)
        w = np.array([0.0, 0.0, 1.0])
        for _ in range(steps):
            link = sigmoid(features @ w)
            total += ((link - truth) ** 2).mean() / (steps * chains)
            gradient = (2 * link * (1 - link) * (drawn * link - positive)) @ features / records
            noisy = gradient + sigma * generator.normal(size=3)
            w = (1 - gamma) * w - gamma * noisy / np.linalg.norm(noisy)
    link = {"link_constant": 1, "link_slope": "0.1966"}  # C_σ >= 1 is assumed
    found = evaluate(
        Delta_F=1, step_fraction=gamma, T=steps, sigma=sigma, w_C="1.5958", L="0.18", G="0.297", n=records, **link
    )
    assert 1e-3 * found.value.upper < total <= found.value.upper
