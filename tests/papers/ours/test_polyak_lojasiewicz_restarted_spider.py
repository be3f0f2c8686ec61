"""Restarted DP-SPIDER: what it spends, and runs on two losses."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

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
    sigma = evaluate("noise_stddev", G=lipschitz, n=n, stages=stages, rho=rho).value.upper
    difference = 2 * smoothness / n * math.sqrt((steps - 1) * stages / rho)
    draw = np.random.default_rng(1)
    w = np.full((runs, d), float(start))
    for _ in range(stages):
        chosen = draw.integers(0, steps, runs)
        estimate = loss(w)[1] + draw.normal(0, sigma, (runs, d))
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


shares = evaluated("dpbounds/polyak-lojasiewicz-restarted-spider/stage-shares")
GIVEN = {"G": 1, "L": 1, "mu": 1, "Delta_F": 1, "d": 10, "n": 10**6, "rho": 1, "T": 4}


@pytest.mark.parametrize(("stages", "gain"), [(5, 2.53), (10, 3.67), (20, 6.87)])
def test_what_shares_gain_in_excess_risk(stages, gain):
    # where the start is forgotten, and the differences cost next to nothing
    values = GIVEN | {"Delta_F": 0, "stages": stages}
    equal, falling = (one("excess_risk", **values).value.upper for one in (evaluate, shares))
    assert equal / falling == pytest.approx(gain, rel=0.01)


def test_no_other_shares_are_better():
    """Of the sum of the variances with the weights that later stages leave of them, at one cost."""
    J, rng = 6, np.random.default_rng(0)
    weights = 0.5 ** np.arange(J)[::-1]
    best = (shares("excess_risk", **GIVEN | {"Delta_F": 0, "stages": J}).value.upper) * 1e12 / 10
    left = 1 - J * 10 * 9 / 1e12
    for _ in range(200):
        costs = rng.dirichlet(np.ones(J)) * left
        assert (weights * 2 / costs).sum() / 2 >= best * (1 - 1e-9)


def test_it_holds_in_runs_that_forget_their_start():
    """On |w|²/2 + <z, w>, where the risk after the last stage is the noise's alone, within a small factor."""
    d, n, stages, steps, runs, rng = 4, 200, 4, 4, 4000, np.random.default_rng(2)
    left = 1 - stages * d * 9 / n**2
    total = sum(2 ** (-i / 2) for i in range(stages))
    w = np.zeros((runs, d))
    for j in range(stages):
        first = math.sqrt(2 / n**2 / left * total * 2 ** ((stages - 1 - j) / 2))
        chosen, v, output = rng.integers(0, steps, runs), w + first * rng.standard_normal((runs, d)), w
        for t in range(steps):
            output = np.where((chosen == t)[:, None], w, output)
            moved = -v / 2
            length = np.linalg.norm(moved, axis=1, keepdims=True)
            v = v + moved + math.sqrt(2 / (d * 3)) * length * rng.standard_normal((runs, d))
            w = w + moved
        w = output
    found = float((w * w).sum(axis=1).mean()) / 2
    bound = shares("excess_risk", **GIVEN | {"Delta_F": 0, "stages": stages, "d": d, "n": n})
    assert bound.applies
    assert 0.1 * bound.value.upper < found < bound.value.upper
