"""Algorithm 1: what the run spends. With constants: against an exact recursion, and against runs."""

import numpy as np
import pytest
from mpmath import gamma, mpf, pi, quad, workdps

from dpbounds.errors import UnsupportedMechanism
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

EXPLICIT = theorem("tholeti-kalyani-2020/algorithm-1/explicit")
explicit = evaluated("tholeti-kalyani-2020/algorithm-1/explicit")
STATEMENT = theorem("tholeti-kalyani-2020/algorithm-1")
evaluate = evaluated("tholeti-kalyani-2020/algorithm-1")


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_variance_of_one_coordinate_by_integration(dimension):
    with workdps(25):
        ball = pi ** (mpf(dimension) / 2) / gamma(1 + mpf(dimension) / 2)
        slice_ = pi ** (mpf(dimension - 1) / 2) / gamma(1 + mpf(dimension - 1) / 2)
        moment = quad(lambda x: x**2 * slice_ * (1 - x**2) ** (mpf(dimension - 1) / 2), [-1, 0, 1]) / ball
    value = evaluate("noise_variance", r_u=1, d=dimension).value
    assert value.lower == pytest.approx(float(moment), rel=1e-9)


def test_what_is_spent_is_the_explicit_theorem_and_below_the_printed_sum():
    values = {"radius": 1, "sensitivity": 1, "dimension": 1, "dataset_size": 10, "steps": 20}
    for relation in ("replace-one", "add-or-remove-one"):
        found = spending(STATEMENT, {**values, "delta": "0.65"}, relation)
        assert found.kept is True
        assert found.spent.upper == pytest.approx(1 - 0.95**20, rel=1e-6)
    exact = evaluated("tholeti-kalyani-2020/theorem-1/explicit")(**values).value
    assert spending(STATEMENT, {**values, "delta": "0.65"}).spent.overlaps(exact)
    assert evaluated("tholeti-kalyani-2020/theorem-1")(**values).value.lower == pytest.approx(1)
    assert spending(STATEMENT, {**values, "delta": "0.64"}).kept is False
    # two gradients are at most so far apart; how far from zero one may be, nobody said
    with pytest.raises(UnsupportedMechanism, match=r"zero-out-one: .* account for replace-one"):
        spending(STATEMENT, {**values, "delta": "0.65"}, "zero-out-one")


VALUES = {"initial_gap": 2, "smoothness": 3, "lipschitz": 1, "radius": "1.5", "d": 4}


def test_the_tuned_bound_is_the_first_one_at_its_best_step():
    step = explicit("step_size", T=200, **VALUES, digits=30).value.exact_lower
    first = explicit("bound", T=200, eta=step, **VALUES).value.lower
    assert first == pytest.approx(explicit("tuned", T=200, **VALUES).value.lower)
    for factor in (2, "0.5"):
        other = step * mpf(factor)
        assert explicit("bound", T=200, eta=str(other), **VALUES).value.lower > first


@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])  # of 1/L
@pytest.mark.parametrize("steps", [1, 10, 300])
def test_a_quadratic_exactly(share, steps):
    # one record, F = (L/2)|w|²: E|w|² follows a recursion, and there is no sampling variance
    smoothness, dimension, radius = 3.0, 4, 1.5
    step = share / smoothness
    square = start = 2 * 2.0 / smoothness  # |w₁|², for a gap of 2
    total = 0.0
    for _ in range(steps):
        total += smoothness**2 * square
        square = (1 - share) ** 2 * square + step**2 * radius**2 * dimension / (dimension + 2)
    assert start > 0
    values = {"initial_gap": 2, "smoothness": 3, "radius": "1.5", "dimension": 4, "sampling_stddev": 0}
    bound = explicit("sampling-variance", eta=step, T=steps, **values).value.upper
    assert (total / steps) ** 0.5 <= bound
    if steps == 300:
        assert (total / steps) ** 0.5 >= 0.65 * bound  # within 1/√2 of what a long run does


def run_cosines(step, steps, radius, runs=4000):
    """f(w; z) = a cos(w·u + φ_z) in R³: G = a, L = a; four phases. Root mean square gradient of the mean."""
    draw = np.random.default_rng(11)
    phases = np.array([0.0, 0.4, -0.4, 0.9])
    point = np.zeros((runs, 3))
    total = 0.0
    for _ in range(steps):
        mean = -np.sin(point[:, :1] + phases).mean(axis=1)
        total += float((mean**2).mean())
        chosen = -np.sin(point[:, 0] + phases[draw.integers(4, size=runs)])
        noise = draw.standard_normal((runs, 3))
        noise *= radius * (draw.uniform(size=runs) ** (1 / 3) / np.linalg.norm(noise, axis=1))[:, None]
        noise[:, 0] += chosen
        point -= step * noise
    return (total / steps) ** 0.5


@pytest.mark.parametrize(("step", "steps", "radius"), [(0.1, 60, 0.5), (0.5, 20, 2.0), (2.5, 10, 1.0)])
def test_runs_stay_below(step, steps, radius):
    values = {"initial_gap": 2, "smoothness": 1, "lipschitz": 1, "radius": str(radius), "dimension": 3}
    bound = explicit("bound", eta=str(step), T=steps, **values).value.lower
    measured = run_cosines(step, steps, radius)
    assert 0.1 * bound < measured < bound


def test_as_many_steps_as_delta_allows_are_private_and_keep_the_bound():
    values = {**VALUES, "dataset_size": 500, "delta": "0.05"}
    steps = int(explicit("steps", **values).value.lower)
    assert spending(EXPLICIT, {**values, "steps": steps}).kept is True
    assert spending(EXPLICIT, {**values, "steps": steps + 1}).kept is False
    private, tuned = (explicit(name, **{**values, "steps": steps}).value for name in ("private", "tuned"))
    assert tuned.upper <= private.lower
    assert explicit("private", **{**values, "delta": "0.001"}).applies is False
