"""Theorem 5: no constant serves the printed range of ε. With constants: each step for the sigmoid link."""

import numpy as np
import pytest
from mpmath import binomial, ceil, erfc, exp, ln, log, loggamma, mpf, sqrt, workdps


def logarithm_of_choices(total, chosen):
    return loggamma(total + 1) - loggamma(chosen + 1) - loggamma(total - chosen + 1)


@pytest.mark.parametrize(("constant", "share", "steps"), [(8, "0.5", 12), (8, "0.05", 14), (200, "0.5", 16)])
def test_no_constant_serves_the_printed_range(constant, share, steps):
    # sigmoid link, C_σ = 1, B_σ = 1, d = 1; all x = 0 but one, x = ±1 with y = 1; w₁ = 0, γ = 1/√T; ε = share·T.
    # The record's gradient is at least 2(1 - σ(1))σ'(1) and pulls to ±1. Under x = 1 all v = 1 but with probability Tp,
    # and then w_R > 1/2 if R > m; under x = -1 each v = 1 has probability at most p, and w_R > 1/2 takes m of them.
    with workdps(60):
        steps = mpf(10) ** steps
        epsilon, top = mpf(share) * steps, 1 / (1 + exp(mpf(-1)))
        pull = 2 * (1 - top) * top * (1 - top)
        noise = 2 * sqrt(constant * steps * ln(mpf(10) ** 5)) / epsilon  # n σ
        wrong = erfc(pull / noise / sqrt(mpf(2))) / 2
        needed = ceil(ln(mpf(2)) / -log(1 - 1 / sqrt(steps)))
        logarithm = epsilon + logarithm_of_choices(steps, needed) + needed * ln(wrong)
        assert (1 - needed / steps) - steps * wrong - exp(logarithm) > mpf("0.99")
    assert binomial(5, 2) == 10
    assert exp(logarithm_of_choices(5, 2)) == pytest.approx(10)


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
