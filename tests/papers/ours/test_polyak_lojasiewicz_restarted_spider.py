"""Restarted DP-SPIDER: what shares of the budget gain."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("dpbounds/polyak-lojasiewicz-restarted-spider")


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
