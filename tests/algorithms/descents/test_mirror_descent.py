import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.descents.mirror_descent import MirrorDescent
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.iterates import best_count, gap_at
from dpbounds.algorithms.problems.mirrors import EntropyMirror, EuclideanMirror, PNormMirror
from dpbounds.algorithms.problems.sets import L1Ball, L2Ball, Simplex
from dpbounds.expressions.enclosure import Enclosure
from tests.algorithms.shared import plain_sigmoid, refused, smooth

PROBLEM = smooth()
MIRRORS = {
    "l2 ball": EuclideanMirror.of_ball(L2Ball(4, 2)),
    "l2 norm on the l1 ball": EuclideanMirror(L1Ball(4, 2)),
    "q-norm": PNormMirror.of_ball(L1Ball(4, 2)),
    "entropy": EntropyMirror(Simplex(4, 2)),
}


def plain_l2_ball(x, g, gamma):
    v = x - gamma * 4 * g
    return v * min(1, 2 / np.linalg.norm(v))


def plain_entropy(x, g, gamma):
    weights = x * np.exp(-gamma * 2 * g)
    return 2 * weights / weights.sum()


def plain_q_norm(x, g, gamma):
    """c‖u‖_q²/2 on the l1 ball of radius 2, by bisection on the multiplier of the constraint."""
    q = float(MIRRORS["q-norm"].exponent)
    c = 4 ** (2 * (1 - 1 / q)) / ((q - 1) * 4)

    def half_square_slope(v, exponent):
        length = (np.abs(v) ** exponent).sum() ** (1 / exponent)
        return length ** (2 - exponent) * np.sign(v) * np.abs(v) ** (exponent - 1) if length else 0 * v

    theta = c * half_square_slope(x, q) - gamma * g

    def at(m):
        return half_square_slope(np.sign(theta) * np.maximum(np.abs(theta) - m, 0), q / (q - 1)) / c

    low, high = 0.0, np.abs(theta).max()
    if np.abs(at(0.0)).sum() <= 2:
        return at(0.0)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.abs(at(middle)).sum() > 2 else (low, middle)
    return at(high)


PLAIN = {
    "l2 ball": (plain_l2_ball, np.zeros(4), lambda v: np.linalg.norm(v) / 2),
    "q-norm": (plain_q_norm, np.zeros(4), lambda v: np.abs(v).sum() / 2),
    "entropy": (plain_entropy, np.full(4, 0.5), lambda v: np.abs(v).sum() / 2),
}


@pytest.mark.parametrize("name", PLAIN)
def test_it_is_algorithm_3_step_by_step(name):
    problem, (step, start, norm) = smooth(n=200), PLAIN[name]
    run = MirrorDescent(MIRRORS[name], noise_multiplier=3, steps=6).run(problem, seed=5, repetitions=3)
    gamma = 1 / (2 * 4 * float(problem.smoothness))  # L̃ = 4L: a set of l2 radius 2
    sigma = 3 * float(problem.lipschitz) / 200
    assert run.step_size == pytest.approx(gamma, rel=1e-15)
    for r, generator in enumerate(noise.streams(5, 3)):
        R = generator.integers(1, 6, endpoint=True)
        x, noisy, exact = start, [], []
        for k in range(1, 7):
            if k == R:
                assert run.output[r] == pytest.approx(x, abs=1e-10)
            gradient = plain_sigmoid(problem, x)[1]
            following = step(x, gradient + sigma * generator.standard_normal(4), gamma)
            noisy.append((norm(x - following) / gamma) ** 2)
            exact.append((norm(x - step(x, gradient, gamma)) / gamma) ** 2)
            x = following
        assert run.output_step[r] == R
        assert run.trace.noisy.per_repetition[r] == pytest.approx(np.mean(noisy), rel=1e-8)
        assert run.trace.exact.per_repetition[r] == pytest.approx(np.mean(exact), rel=1e-8)


def test_on_an_l2_ball_it_is_projected_descent_with_a_scaled_step():
    ball = smooth(radius=2)
    ours = MirrorDescent(MIRRORS["l2 ball"], 10, 9, step_size=0.1).run(PROBLEM, seed=3, repetitions=4)
    theirs = ProjectedGradientDescent(10, 9, step_size=0.4).run(ball, seed=3, repetitions=4)
    assert ours.output == pytest.approx(theirs.output, abs=1e-13)
    # P in units of the set: ‖x - x⁺‖/(rγ), and γr² is the other one's step
    assert ours.trace.noisy.per_repetition == pytest.approx(4 * theirs.trace.noisy.per_repetition, rel=1e-10)


def test_the_bound_in_plain_floats():
    method = MirrorDescent(MIRRORS["l2 ball"], 30, 50)
    smoothness, sigma, width = 4 * 16 / (6 * math.sqrt(3)), 30 / 300, 4 * 4
    noisy = 8 * smoothness * 0.5 / (3 * 50) + 4 / 3 * width * sigma**2
    assert method.bound(PROBLEM).upper == pytest.approx(noisy, rel=1e-12)
    assert method.bound(PROBLEM, "exact").upper == pytest.approx((noisy**0.5 + sigma * width**0.5) ** 2, rel=1e-12)


@pytest.mark.parametrize("name", MIRRORS)
def test_what_the_bound_asks_of_a_norm(name):
    """‖x‖₂² <= c N(x)², <g, x> <= N*(g) N(x), and E N*(b)² at most what is claimed; all nearly attained somewhere."""
    w, draw = MIRRORS[name], np.random.default_rng(0)
    square = float(w.euclidean_square)
    points = np.concatenate([draw.standard_normal((200, 4)), np.eye(4)])
    ratios = (points**2).sum(axis=1) / w.norm(points) ** 2
    assert square * (1 - 1e-12) <= ratios.max() <= square * (1 + 1e-12)
    noise_squares = w.dual_norm(draw.standard_normal((40_000, 4))) ** 2
    moment = w.dual_second_moment
    claimed = moment.upper if isinstance(moment, Enclosure) else float(moment)
    error = 5 * noise_squares.std() / 200  # 5 standard errors: 3e-7
    assert claimed / 1.6 < noise_squares.mean() < claimed + error


def test_the_best_number_of_steps_minimises_the_bound():
    found = MirrorDescent.calibrated(PROBLEM, MIRRORS["q-norm"], 2, "1e-5")
    near = [
        MirrorDescent.calibrated(PROBLEM, MIRRORS["q-norm"], 2, "1e-5", steps=found.steps + by) for by in (-1, 0, 1)
    ]
    bounds = [one.bound(PROBLEM).upper for one in near]
    assert bounds[1] <= min(bounds) * (1 + 1e-9)
    assert [best_count(Fraction(ratio)) for ratio in (0, 1, 2, 3, 6, 7)] == [1, 1, 1, 2, 2, 3]


def test_a_start_elsewhere_enlarges_the_gap_by_what_it_may():
    assert gap_at(PROBLEM, np.zeros(4)) == Fraction(1, 2)
    near = gap_at(PROBLEM, np.array([0.3, 0, 0, 0]))
    assert near == pytest.approx(0.5 + 0.3, rel=1e-9)
    assert near >= Fraction(1, 2) + Fraction(0.3)
    assert gap_at(PROBLEM, np.full(4, 10.0)) == 1  # the sigmoid's range


def test_bad_starts_are_refused():
    for start, message in (
        ((1.0, 1.0, 0.0), "4 finite numbers"),
        ((1.0, 0.0, 0.0, 0.0), "a point of the mirror's set"),
        ((2.0, 0.0, 0.0, 0.0), "positive entries"),
    ):
        refused(message, MirrorDescent, MIRRORS["entropy"], 1, 1, start=start)


def test_a_long_step_may_run_but_gets_no_bound():
    long = MirrorDescent(MIRRORS["l2 ball"], 20, 3, step_size=10.0)
    assert long.run(PROBLEM, repetitions=1).output.shape == (1, 4)
    refused(r"step_size must be .*less than 2/L.*, not 10.0", long.bound, PROBLEM)
