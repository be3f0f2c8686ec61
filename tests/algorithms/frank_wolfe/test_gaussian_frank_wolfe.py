import math

import numpy as np
import pytest

from dpbounds.algorithms import noise, problems
from dpbounds.algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe
from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball, Polytope, Simplex, SparseVectors
from dpbounds.errors import InvalidValue
from tests.algorithms.shared import holds, plain_sigmoid, refused, smooth

PROBLEM = smooth(1000)
SETS = {
    "l2": (L2Ball(4, 2), None),
    "l1": (L1Ball(4, "3/2"), None),
    "simplex": (Simplex(4), (1, 0, 0, 0)),
    "box": (Box([-1, -1, 0, -1], [1, 1, 2, 1]), (0, 0, 1, 0)),
    "polytope": (Polytope([[2, 0, 0, 0], [0, 2, 0, 0], [-1, -1, -1, -1], [0, 0, 1, 1]]), (0, 2, 0, 0)),
}


def _minimiser(name, g):
    if name == "l2":
        return -2 * g / np.linalg.norm(g)
    if name == "l1":
        j = np.argmax(np.abs(g))
        return -1.5 * np.sign(g[j]) * np.eye(4)[j]
    if name == "simplex":
        return np.eye(4)[np.argmin(g)]
    if name == "box":
        return np.where(g < 0, [1, 1, 2, 1], [-1, -1, 0, -1]).astype(float)
    vertices = SETS["polytope"][0].vertices
    return vertices[np.argmin(vertices @ g)]


@pytest.mark.parametrize("name", SETS)
def test_it_is_algorithm_2_step_by_step(name):
    constraint, start = SETS[name]
    problem = smooth(150)
    run = GaussianFrankWolfe(constraint, 3, 6, step_fraction=0.25, start=start).run(problem, seed=5, repetitions=2)
    sigma = 3 * float(problem.lipschitz) / 150
    for r, generator in enumerate(noise.streams(5, 2)):
        R = generator.integers(1, 6, endpoint=True)
        x, found = np.zeros(4) if start is None else np.array(start, float), []
        for k in range(1, 7):
            if k == R:
                assert run.output[r] == pytest.approx(x, abs=1e-12)
            gradient = plain_sigmoid(problem, x)[1]
            found.append(gradient @ (x - _minimiser(name, gradient)))
            towards = _minimiser(name, gradient + sigma * generator.standard_normal(4))
            x = x + 0.25 * (towards - x)
        assert run.output_step[r] == R
        assert run.trace.gap.per_repetition[r] == pytest.approx(np.mean(found), rel=1e-10)
        assert min(found) >= 0


@pytest.mark.parametrize("name", SETS)
def test_the_measured_gap_stays_below_the_bound(name):
    constraint, start = SETS[name]
    problem = smooth(250)
    method = GaussianFrankWolfe.calibrated(problem, constraint, start=start)
    bound = method.bound(problem)
    run = method.run(problem, seed=2, repetitions=8)
    assert holds(run.samples, bound)
    assert run.samples.mean() > 0.02 * bound.upper  # says something


def test_the_bound_in_plain_floats():
    method = GaussianFrankWolfe(L2Ball(4, 2), 30, 50, step_fraction=0.1)
    G, L, sigma = 1, 16 / (6 * math.sqrt(3)), 30 / 1000
    width = 2 * math.sqrt(2) * math.gamma(2.5) / math.gamma(2)
    expected = 0.5 * G / (0.1 * 50) + sigma * width + L * 0.1 * 16 / 2
    assert method.bound(PROBLEM).upper == pytest.approx(expected, rel=1e-9)


def test_the_best_fraction_and_steps_beat_their_neighbours():
    method = GaussianFrankWolfe.calibrated(PROBLEM, L2Ball(4))
    best, gamma = method.bound(PROBLEM).upper, method.step_fraction_for(PROBLEM)
    for share in (0.8 * gamma, 1.25 * gamma):
        other = GaussianFrankWolfe(L2Ball(4), method.noise_multiplier, method.steps, step_fraction=share)
        assert best < other.bound(PROBLEM).upper
    for steps in (method.steps // 2, method.steps * 2):
        assert best < GaussianFrankWolfe.calibrated(PROBLEM, L2Ball(4), steps=steps).bound(PROBLEM).upper


def test_another_start_has_its_own_initial_gap():
    near, far = (
        GaussianFrankWolfe(L2Ball(4, "1/10"), 30, 50, 0.1, start).bound(PROBLEM).upper
        for start in (None, (0.1, 0, 0, 0))
    )
    assert near == far  # G · 2r = 1/5 is less than φ(0) = 1/2
    near, far = (
        GaussianFrankWolfe(L2Ball(4, 3), 30, 50, 0.1, start).bound(PROBLEM).upper for start in (None, (3, 0, 0, 0))
    )
    assert far - near == pytest.approx(0.5 / (0.1 * 50))  # the range of the loss, 1, in place of φ(0)


@pytest.mark.minutes
def test_small_sets_have_a_larger_gap_than_printed():
    """Printed steps on [-r, r]^p: the prefactor ‖C‖ of the rate must be max(1, ‖C‖)."""
    ratios = []
    for radius in ("1/5", "1/50"):
        constraint = L2Ball(4, radius)
        problem = smooth(500, feature_bound=1)
        method = GaussianFrankWolfe.calibrated(problem, constraint, 1, "1e-6", variant="as-printed")
        width, r = float(constraint.gaussian_width), float(constraint.radius)
        rate = r * ((r**2 + width**2) * math.log(1e6)) ** 0.25 / math.sqrt(500)
        ratios.append(method.run(problem, repetitions=2).samples.mean() / rate)
    assert ratios[1] > 1.5 * ratios[0]


def test_printed_steps_that_would_leave_the_set_are_refused():
    with pytest.raises(InvalidValue, match="leaves the set"):
        GaussianFrankWolfe.calibrated(smooth(20), L2Ball(4, "1/100"), epsilon="1/100", variant="as-printed")


@pytest.mark.one_in(4)
def test_the_population_risk_of_the_sigmoid_link_stays_below_its_bound():
    rng = np.random.default_rng(3)
    truth = np.array([0.6, -0.8, 0])

    def draw(n):
        x = rng.standard_normal((n, 3))
        x /= np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))
        return x, 1 / (1 + np.exp(-x @ truth))

    x, chance = draw(5_000)
    problem = problems.squared_sigmoid_link(x, np.where(rng.random(5_000) < chance, 1, -1))
    method = GaussianFrankWolfe.calibrated(problem, L2Ball(3), steps=30)
    run = method.run(problem, repetitions=8)
    fresh, right = draw(5_000)
    excess = ((1 / (1 + np.exp(-run.output @ fresh.T)) - right) ** 2).mean(axis=1)
    assert excess.mean() < method.population_bound(problem).lower < 1
    for wrong in (PROBLEM, problems.squared_sigmoid_link(x, np.ones(5_000), feature_bound=2)):
        refused("sigmoid link", method.population_bound, wrong)


def test_long_steps_sets_that_are_not_convex_and_unknown_variants_are_refused():
    for make, message in (
        (lambda: GaussianFrankWolfe(L2Ball(4), 1, 1, step_fraction=1.5), "step_fraction must be .*, not 1.5"),
        (lambda: GaussianFrankWolfe(SparseVectors(4, 2), 1, 1), "convex"),
        (lambda: GaussianFrankWolfe.calibrated(PROBLEM, L2Ball(4), variant="fast"), "variant"),
    ):
        refused(message, make)


@pytest.mark.parametrize(
    ("problem", "constraint", "start", "message"),
    [
        (PROBLEM, L2Ball(4), (2, 0, 0, 0), "start"),
        (PROBLEM, L2Ball(4), (0, 0), "start.shape"),
        (PROBLEM, Simplex(4), None, "initial point"),
        (PROBLEM, L2Ball(3), None, "constraint.dimension"),
        (smooth(1000, l1="1/10"), L2Ball(4), None, "l1"),
        (smooth(1000, radius="1/2"), L2Ball(4), None, "ball of radius 0.5"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_anything_is_drawn(problem, constraint, start, message):
    method = GaussianFrankWolfe(constraint, 1, 2, step_fraction=0.5, start=start)
    for call in (method.run, method.bound, lambda p: GaussianFrankWolfe.calibrated(p, constraint, start=start)):
        refused(message, call, problem)
