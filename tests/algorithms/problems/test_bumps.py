"""Disjoint bumps: the hard cases of the lower bounds for population risk."""

import math

import numpy as np
import pytest
import sympy

from dpbounds.algorithms.problems import bumps
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import theorem_5_11_explicit

RNG = np.random.default_rng(2)
PROBLEM = bumps.coins(50, 3, slope=2, radius="3/2", seed=4)


def near_bumps(problem, count):
    """Points within and around the bumps, kept in the ball."""
    centres = problem.centres[RNG.integers(problem.candidates, size=count)]
    X = centres + float(problem.radius) / 4 * RNG.uniform(-1, 1, centres.shape)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X * np.minimum(1, float(problem.radius) / norms)


@pytest.mark.parametrize("p", [1, 2, 4, 9, 15])
def test_bumps_are_disjoint_and_in_the_ball(p):
    problem = bumps.Bumps(np.zeros((1, 2**p), dtype=np.uint8), slope=1, radius=bumps.positive(2, "radius"))
    centres = problem.centre(RNG.integers(2**p, size=40))
    assert np.linalg.norm(centres, axis=1) == pytest.approx(2)
    # the nearest two differ in one coordinate
    pair = problem.centre([0, 1])
    assert np.linalg.norm(pair[0] - pair[1]) == pytest.approx(2 * 2 / math.sqrt(p))
    assert np.linalg.norm(pair[0] - pair[1]) > 2 * float(problem.radius) / 4
    assert (problem.nearest(centres) == problem.nearest(0.9 * centres)).all()
    index = RNG.integers(2**p, size=20)
    assert (problem.nearest(problem.centre(index)) == index).all()


def test_the_nearest_bump_is_the_only_one_that_counts():
    X = near_bumps(PROBLEM, 300)
    distance = np.linalg.norm(X[:, None] - PROBLEM.centres, axis=2)
    heights = np.maximum(0, 3 / 8 - distance)
    expected = -2 * (PROBLEM.weights.mean(axis=0) * heights).sum(axis=1)
    assert PROBLEM.objective(X) == pytest.approx(expected, abs=1e-14)
    assert PROBLEM.objective_at(X) == pytest.approx(expected, abs=1e-14)
    assert PROBLEM.heights(X) == pytest.approx(heights.max(axis=1), abs=1e-14)


def test_constants_are_attained_and_never_exceeded():
    X = near_bumps(PROBLEM, 2000)
    rows = RNG.integers(0, 50, size=(2000, 1))
    norms = np.linalg.norm(PROBLEM.batch_gradient(X, rows), axis=1)
    assert norms.max() == pytest.approx(float(PROBLEM.lipschitz), rel=1e-12)
    one = bumps.marked(1, 3, mark=5, probability=1, slope=2, radius="3/2")
    values = one.objective(np.vstack([X, one.centre([5]), np.zeros((1, 3))]))
    assert values.max() - values.min() == pytest.approx(float(one.loss_range), rel=1e-12)
    assert -values.min() <= float(one.initial_gap) * (1 + 1e-12)
    assert (one.gradient(one.initial_point[None]) == 0).all()
    assert one.smoothness is one.hessian_lipschitz is None
    # G-Lipschitz also between two points on different sides of a rim
    Y = near_bumps(PROBLEM, 2000)
    change = np.abs(PROBLEM.objective(X) - PROBLEM.objective(Y))
    assert (change <= 2 * np.linalg.norm(X - Y, axis=1) * (1 + 1e-12)).all()


def test_hard_coins_are_those_of_the_proof():
    chances = bumps.hard_coins(1000, 5, special=7)
    gap = math.sqrt(3) / 8 * math.sqrt(math.log(32) / 1000)
    assert chances[7] - 0.5 == pytest.approx(gap, rel=1e-12)
    assert np.delete(chances, 7).tolist() == [0.5] * 31
    assert bumps.hard_coins(1, 5, 0)[0] == pytest.approx(0.75)
    # a wrong choice costs γ/4 (unit ball, G = 1), a point outside all bumps far more
    problem = bumps.coins(10, 5, chances)
    X = np.vstack([problem.centre([7, 0]), np.zeros((1, 5))])
    assert problem.population_risk(X, chances) == pytest.approx([0, gap / 4, (0.5 + gap) / 4])


def test_choosing_the_most_frequent_coin_obeys_the_lower_bound():
    """The best choice there is without privacy stays above the bound on average, and within a factor of some."""
    n, p, k = 200, 4, 16
    values = {symbols.lipschitz: 1, symbols.diameter: 2, symbols.dimension: p, symbols.dataset_size: n}
    below = evaluate(theorem_5_11_explicit.sampling.subs({s: sympy.Integer(v) for s, v in values.items()}), {}).lower
    risks, hard = [], [bumps.hard_coins(n, p, special) for special in range(k)]
    for seed in range(200):
        chances = hard[seed % k]
        problem = bumps.coins(n, p, chances, seed=seed)
        choice = int(problem.weights.sum(axis=0).argmax())
        risks.append(problem.population_risk(problem.centre([choice]), chances)[0])
    assert below <= np.mean(risks) <= 8 * below


def test_hard_probability_is_that_of_the_proof():
    n, p = 500, 10
    pure = (p - 1) * math.log(2) / (n * (math.e - 1))
    assert bumps.hard_probability(n, p, 1, 0) == pytest.approx(pure, rel=1e-12)
    level = min((p - 2) * math.log(2), math.log((math.e - 1) / 4e-2))
    assert bumps.hard_probability(n, p, 1, "1e-2") == pytest.approx(level / (n * (math.e - 1)), rel=1e-12)
    assert bumps.hard_probability(1, 15, "1/100", 0) == pytest.approx(1)
    assert bumps.hard_probability(n, p, 1, 0.9) == 0
    problem = bumps.marked(n, p, mark=3, probability=0.2, seed=1)
    assert 60 < problem.weights.sum() < 140  # 6.7 standard deviations either way
    assert problem.weights[:, 3].sum() == problem.weights.sum()
