"""Algorithm 1: its accounting step by step, and the certified accountant.

With constants: against runs on a non-convex problem.
"""

import math

import numpy as np
import pytest

from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.lowy_ullman_wright_2024.reference_formulas import algorithm_1_gaussian_cost
from tests.papers.lowy_ullman_wright_2024.walks import spider
from tests.papers.reference_formulas import evaluated

explicit = evaluated("lowy-ullman-wright-2024/algorithm-1/explicit")
gaussian_cost = algorithm_1_gaussian_cost
STATEMENT = theorem("lowy-ullman-wright-2024/algorithm-1")
evaluate = evaluated("lowy-ullman-wright-2024/algorithm-1")


VALUES = {
    "steps": 23,
    "anchor_period": 5,
    "lipschitz": 2,
    "smoothness": 3,
    "dataset_size": 100,
    "noise_stddev": "0.7",
    "difference_noise_stddev": "0.9",
    "noise_cap": "1.1",
}


def test_the_loop_costs_what_the_formula_says():
    total = 0.0
    for t in range(23):
        if t % 5 == 0:
            total += gaussian_cost(2 * 2 / 100, 0.7)
        else:
            distances = [10.0**exponent for exponent in range(-6, 7)] + [4 / 3, 1.1 / 0.9]
            total += max(gaussian_cost(2 / 100 * min(3 * x, 4), min(0.9 * x, 1.1)) for x in distances)
    assert float(evaluate("rho", **VALUES).value.lower) == pytest.approx(total)


def test_the_mechanism_is_the_formula():
    for relation, share in ((Relation.REPLACE_ONE, 1), (Relation.ADD_OR_REMOVE_ONE, 0.25)):
        found = spending(STATEMENT, {**VALUES, "epsilon": 1, "delta": "1e-5"}, relation)
        exact = float(evaluate("rho", **VALUES).value.lower) * share
        assert float(zcdp_rho(found.mechanism, relation)) == pytest.approx(exact)
        assert found.spent.upper <= exact + 2 * math.sqrt(exact * math.log(1e5))


def test_anchors_only_where_the_period_is_one():
    found = spending(STATEMENT, {**VALUES, "anchor_period": 1, "epsilon": 3, "delta": "1e-5"})
    assert len(found.mechanism.parts) == 1
    assert found.kept is True
    assert spending(STATEMENT, {**VALUES, "noise_stddev": "0.07", "epsilon": 3, "delta": "1e-5"}).kept is False


SMOOTHNESS = 2.0  # of z²/(1 + z²) in a unit direction; its slope is at most 3√3/8


def problem(size, dimension, seed=3):
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(size, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = features @ draw.normal(size=dimension) + draw.normal(size=size) / 2
    return features, labels


def loss(points, features, labels):
    z = points @ features.T - labels
    return (z**2 / (1 + z**2)).mean(axis=-1)


def gradient(points, features, labels):
    z = points @ features.T - labels
    return (2 * z / (1 + z**2) ** 2) @ features / len(labels)


@pytest.mark.parametrize(
    ("noise", "difference_noise", "period", "steps"), [(0.01, 0.6, 5, 60), (0.1, 0.3, 12, 40), (0.02, 2.0, 1, 30)]
)
def test_runs_stay_below_it(noise, difference_noise, period, steps):
    features, labels = problem(300, 4)
    gap = float(loss(np.zeros(4), features, labels))  # the infimum is at least 0
    values = {"Delta_F": gap, "eta": "0.25", "n": 300, "d": 4, "L": 2, "T": steps}
    found = explicit("bound", sigma=str(noise), sigma_2=str(difference_noise), q_a=period, **values)
    assert found.applies is True
    run = spider(
        lambda points: gradient(points, features, labels),
        np.zeros((100, 4)),
        np.random.default_rng(5),
        noise=noise, difference_noise=difference_noise, step=0.25, period=period, steps=steps,
    )  # fmt: skip
    assert 0.1 * found.value.lower < run < found.value.lower


def second_moments(*, dimension, smoothness, step, noise, difference_noise, period, steps, start):
    """The mean square of the gradient of L|w|²/2 along the run, exactly: a recursion for E|w|², E<w, e>, E|e|²."""
    square, mixed, error, total = start**2, 0.0, 0.0, 0.0
    shrink = 1 - step * smoothness
    for t in range(steps):
        if t % period == 0:
            mixed, error = 0.0, dimension * noise**2
        total += smoothness**2 * square
        estimate = smoothness**2 * square + 2 * smoothness * mixed + error
        square, mixed = (
            shrink**2 * square - 2 * step * shrink * mixed + step**2 * error,
            shrink * mixed - step * error,
        )
        error += dimension * (difference_noise * step) ** 2 * estimate
    return total / steps


@pytest.mark.parametrize(("difference_noise", "applies"), [(0.5, True), (2.0, True), (11.0, False)])
def test_exact_moments_on_a_quadratic(difference_noise, applies):
    """Under the condition the formula is kept, and it is not kept without it (the proof needs smoothness only)."""
    run = {"step": 0.05, "noise": 0.1, "period": 11, "steps": 22, "start": 1.0, "dimension": 5, "smoothness": 2}
    exact = second_moments(difference_noise=difference_noise, **run)
    found = explicit(Delta_F=1, eta="0.05", T=22, sigma="0.1", sigma_2=str(difference_noise), q_a=11, d=5, L=2)
    assert found.applies is applies
    if applies:
        assert exact**0.5 <= found.value.lower
    else:
        assert exact**0.5 > found.formula_value.upper
