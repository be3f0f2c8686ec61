"""Descent where PL holds near the start: walks on a loss with saddles and maxima outside of the ball."""

import math

import numpy as np

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/noisy-descent-local-pl")
D, T, ETA, SIGMA, ZETA, START, RADIUS, RUNS = 3, 40, 0.5, 0.02, 0.3, 0.1, 2.0, 20_000
GAP = D * (1 - math.cos(START))


def mu_within(radius):
    """Of F = Σ (1 - cos x_i), which has saddles and maxima: |∇F|² = Σ (1 + cos x_i)(1 - cos x_i)."""
    return (1 + math.cos(min(math.pi, START + radius))) / 2


def point(**changes):
    given = {"d": D, "T": T, "L": 1, "Delta_F": GAP, "mu": mu_within(RADIUS), "eta": ETA, "sigma": SIGMA, "zeta": ZETA,
             "pl_radius": RADIUS}  # fmt: skip
    return {name: str(value) for name, value in (given | changes).items()}


def walked():
    rng = np.random.default_rng(0)
    w = np.full((RUNS, D), START)
    far = np.zeros(RUNS)
    for _ in range(T):
        w = w - ETA * (np.sin(w) + SIGMA * rng.standard_normal(w.shape))
        far = np.maximum(far, np.linalg.norm(w - START, axis=1))
    return far, (1 - np.cos(w)).sum(axis=1)


def test_the_constant_is_that_of_the_ball():
    rng = np.random.default_rng(1)
    step = rng.standard_normal((5000, D))
    w = START + 2 * step / np.linalg.norm(step, axis=1)[:, None] * rng.random((5000, 1)) ** (1 / D)
    ratio = (np.sin(w) ** 2).sum(axis=1) / (2 * (1 - np.cos(w)).sum(axis=1))
    assert ratio.min() >= mu_within(2)


def test_walks_stay_and_end_as_low_as_is_said():
    far, gaps = walked()
    found, distance = evaluate(**point()), evaluate("distance", **point()).value.upper
    assert not found.failing
    assert evaluate(**point(pl_radius="1")).failing  # they may leave it, as far as is proven
    assert (far > distance).mean() <= ZETA < (far > distance / 12).mean()
    assert (gaps > found.value.upper).mean() <= ZETA < (gaps > found.value.upper / 30).mean()
