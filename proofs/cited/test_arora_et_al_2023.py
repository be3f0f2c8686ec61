"""Arora et al.: projections of generalised linear models, the exponential choice of a point, and one dimension."""

import numpy as np
from mpmath import ln, mpf, sqrt


def test_a_projection_and_its_lift_are_far_from_the_identity_and_the_bound_holds_nevertheless():
    generator = np.random.default_rng(3)
    n, d, k = 400, 200, 50
    features = generator.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    projection = generator.standard_normal((k, d)) / np.sqrt(k)
    assert np.linalg.norm(np.eye(d) - np.eye(d, k) @ projection, 2) >= 1
    for _ in range(50):
        weights = generator.choice([-1.0, 1.0], size=n)  # derivatives of the losses, at most G = 1
        gradient = features.T @ weights / n
        assert np.linalg.norm(gradient) <= 2 * np.linalg.norm(projection @ gradient) + 1 / np.sqrt(k)


def test_the_exponential_choice_of_a_point_is_as_good_as_that():
    # ten records on a line, a grid of 201 points: the mean of |F'|, against best + (4G/(nε))(ln N + 1)
    generator = np.random.default_rng(8)
    grid = np.linspace(-1, 1, 201)
    for epsilon in (0.5, 5.0):
        centres = generator.uniform(-1, 1, 10)
        slopes = np.abs(np.clip(grid[:, None] - centres, -1, 1).mean(axis=1))
        weights = np.exp(-epsilon * 10 * (slopes - slopes.min()) / 4)
        mean = float((weights * slopes).sum() / weights.sum())
        assert slopes.min() <= 1 / 201
        assert mean <= slopes.min() + 4 / (10 * epsilon) * (np.log(201) + 1)


def test_one_dimension_needs_no_logarithm_of_delta():
    """Theorem 4.3 without a condition on d: at d = 1 and δ = 2^-n it is above what an ε-DP choice reaches.

    Huber losses of points in [-1, 1]: the mean's derivative rises, and vanishes somewhere in between; of N points of a
    grid one has a derivative of at most L/N, and each derivative changes by at most 2G/n with one record.
    """
    lipschitz, smoothness, epsilon = mpf(1), mpf(1), mpf(1)
    ratios = []
    for n in (10**6, 10**9, 10**12):
        reached = smoothness / n + 4 * lipschitz / (n * epsilon) * (ln(n) + 1)  # exponential mechanism, N = n
        printed = lipschitz * min(mpf(1), sqrt(n * ln(2)) / (n * epsilon))
        ratios.append(reached / printed)
    assert ratios[0] < mpf("0.1")
    assert ratios[2] < ratios[1] / 10 < ratios[0] / 100  # so no constant saves it
