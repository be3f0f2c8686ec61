"""Restarted DP-SPIDER: what it spends, and runs on two losses."""

import math

import numpy as np
import pytest

from tests.papers.twins import evaluated, twin_of

twin = twin_of("dpbounds/polyak-lojasiewicz-restarted-spider")

evaluate = evaluated("dpbounds/polyak-lojasiewicz-restarted-spider")


def squares(w):
    return (w**2).sum(-1) / 2, w


def wavy(w):
    return (w**2 + 3 * np.sin(w) ** 2).sum(-1), 2 * w + 3 * np.sin(2 * w)


@pytest.mark.parametrize(
    ("loss", "smoothness", "pl", "start", "n", "share"), [(squares, 1, 1, 3, 300, 0.1), (wavy, 8, 1 / 32, 2, 40_000, 0)]
)
def test_runs_stay_below_the_bounds(loss, smoothness, pl, start, n, share):
    d, runs, stages, rho, lipschitz = 4, 60, 4, 1.0, 30.0
    steps = math.ceil(4 * smoothness / pl)
    values = {"G": lipschitz, "d": d, "n": n, "rho": rho, "stages": stages}
    values |= {"mu": pl, "Delta_F": float(loss(np.full(d, start))[0])}
    sigma = twin("noise_stddev", G=lipschitz, n=n, stages=stages, rho=rho)
    difference = 2 * smoothness / n * math.sqrt((steps - 1) * stages / rho)
    draw = np.random.default_rng(1)
    w = np.full((runs, d), float(start))
    for _ in range(stages):
        chosen = draw.integers(0, steps, runs)
        estimate = loss(w)[1] + draw.normal(0, float(sigma), (runs, d))
        output = w.copy()
        for t in range(steps):
            output[chosen == t] = w[chosen == t]
            new = w - estimate / (2 * smoothness)
            noise = difference * np.linalg.norm(new - w, axis=1, keepdims=True) * draw.normal(size=(runs, d))
            estimate = estimate + loss(new)[1] - loss(w)[1] + noise
            w = new
        w = output
    value, slope = loss(w)
    bound = evaluate("bound", **values, T=steps, L=smoothness)
    assert bound.applies is True
    assert share * bound.value.lower <= np.sqrt((slope**2).sum(1).mean()) <= bound.value.lower
    assert value.mean() <= evaluate("excess_risk", **values).value.lower


def test_the_wavy_loss_is_as_assumed():
    w = np.linspace(-20, 20, 400_001)
    value, slope = wavy(w[:, None])
    assert (slope[:, 0] ** 2 >= 2 / 32 * value).all()
    assert np.abs(np.gradient(slope[:, 0], w)).max() <= 8 + 1e-6


def test_a_left_out_record_may_move_the_gradient_by_any_amount():
    """Records f = |w|²/2 ± w, which lie within 1 of the field w: replaced, they move the mean by 2/n everywhere."""
    far, n = 1e6, 10
    gradients = [far + sign for sign in (1, -1) * (n // 2)]
    mean = sum(gradients) / n
    replaced = (sum(gradients[1:]) + far - 1) / n
    removed = sum(gradients[1:]) / n
    assert abs(mean - replaced) <= 2 / n * (1 + 1e-6)
    assert abs(mean - removed) > 1000


def test_too_few_records_are_reported():
    values = {"G": 1, "d": 10, "rho": 1, "stages": 2, "mu": 1, "Delta_F": 1}
    for n, applies in ((25, True), (18, False)):
        found = evaluate("bound", **values, n=n, T=4, L=1)
        assert found.applies is applies
