"""Mirror maps against finite differences, general solvers and their strong convexity at random points."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpbounds.algorithms.problems.mirrors import EntropyMirror, EuclideanMirror, PNormMirror
from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball, Simplex, SparseVectors
from dpbounds.errors import InvalidValue

MIRRORS = {
    "ball": EuclideanMirror.of_ball(L2Ball(4, "3/2")),
    "box": EuclideanMirror(Box([-1, 0, -2, 1], [1, 2, 0, 3])),
    "p-norm": PNormMirror.of_ball(L1Ball(4, "3/2")),
    "p-norm, 1.1": PNormMirror.of_ball(L1Ball(4, 2), "1.1"),
    "p-norm, 2": PNormMirror.of_ball(L1Ball(4, 2), 2),
    "entropy": EntropyMirror(Simplex(4, "3/2")),
}


def points(mirror, count=40, seed=0):
    """Points of the set, some of them on its boundary."""
    rng = np.random.default_rng(seed)
    if isinstance(mirror, EntropyMirror):
        return float(mirror.constraint.radius) * rng.dirichlet(np.full(4, 0.7), size=count)
    return mirror.constraint.project(rng.standard_normal((count, 4)) * 0.8)


@pytest.mark.parametrize("name", MIRRORS)
def test_strongly_convex_with_the_stated_modulus(name):
    mirror = MIRRORS[name]
    x, z = points(mirror, 4000), points(mirror, 4000, seed=1)
    products = ((mirror.gradient(x) - mirror.gradient(z)) * (x - z)).sum(axis=1)
    modulus = float(mirror.modulus)
    assert modulus >= 1
    assert (products >= modulus * mirror.norm(x - z) ** 2 * (1 - 1e-10)).all()
    assert (mirror.divergence(x, z) >= modulus / 2 * mirror.norm(x - z) ** 2 * (1 - 1e-9) - 1e-14).all()


def test_the_modulus_is_not_twice_as_large():
    """Where the inequalities are tight: the l2 norm everywhere; near equal entries for the l1 norms."""
    signs, h = np.array([[1.0, -1.0, 1.0, -1.0]]), 1e-3
    for name in ("ball", "p-norm, 2", "entropy"):
        mirror = MIRRORS[name]
        centre = np.full((1, 4), float(getattr(mirror.constraint, "radius", 1)) / 4 if name == "entropy" else 0.0)
        x, z = centre + h * signs, centre - h * signs
        products = ((mirror.gradient(x) - mirror.gradient(z)) * (x - z)).sum(axis=1)
        assert products == pytest.approx(mirror.norm(x - z) ** 2, rel=1e-4)


@pytest.mark.parametrize("name", MIRRORS)
def test_gradient_matches_finite_differences(name):
    mirror, h = MIRRORS[name], 1e-6
    x = points(mirror)
    x = x[np.abs(x).min(axis=1) > 1e-2]
    assert len(x) >= 4
    direction = np.random.default_rng(5).standard_normal(x.shape)
    direction -= direction.mean(axis=1, keepdims=True)  # within the simplex's plane
    slopes = (mirror.value(x + h * direction) - mirror.value(x - h * direction)) / (2 * h)
    assert (mirror.gradient(x) * direction).sum(axis=1) == pytest.approx(slopes, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", MIRRORS)
def test_divergence_is_its_definition(name):
    mirror = MIRRORS[name]
    x, z = points(mirror), points(mirror, seed=2)
    expected = mirror.value(x) - mirror.value(z) - (mirror.gradient(z) * (x - z)).sum(axis=1)
    assert mirror.divergence(x, z) == pytest.approx(expected, abs=1e-10)
    assert mirror.divergence(x, x) == pytest.approx(np.zeros(len(x)), abs=1e-13)


@pytest.mark.parametrize("name", MIRRORS)
@pytest.mark.parametrize("step_size", [0.05, 3.0])
def test_step_satisfies_the_variational_inequality(name, step_size):
    mirror = MIRRORS[name]
    x, g = points(mirror), np.random.default_rng(4).standard_normal((40, 4))
    u = mirror.step(x, g, step_size)
    assert mirror.constraint.contains(u, 1e-12).all()
    slope = g + (mirror.gradient(u) - mirror.gradient(x)) / step_size
    least = (slope * mirror.constraint.linear_minimiser(slope)).sum(axis=1)
    assert ((slope * u).sum(axis=1) - least <= 1e-8 * (1 + 1 / step_size)).all()


def test_euclidean_steps_are_projected_gradient_steps():
    plain = EuclideanMirror(L2Ball(3, 1))
    x, g = np.array([[0.5, 0.0, 0.0]]), np.array([[1.0, 2.0, 2.0]])
    assert plain.step(x, g, 0.1) == pytest.approx(x - 0.1 * g)
    scaled = EuclideanMirror.of_ball(L2Ball(3, 2))  # steps are in units of the set: r² times as long
    assert scaled.step(x, g, 0.1) == pytest.approx(x - 0.4 * g)


def test_entropy_step_is_a_reweighting_and_keeps_zeros():
    mirror = EntropyMirror(Simplex(3))
    u = mirror.step([[0.5, 0.5, 0.0]], [[math.log(3), 0.0, -900.0]], 1.0)
    assert u == pytest.approx(np.array([[0.25, 0.75, 0.0]]), rel=1e-14)
    assert mirror.divergence([[0.5, 0.0, 0.5]], [[0.5, 0.5, 0.0]]).tolist() == [math.inf]
    assert mirror.step([[0.5, 0.25, 0.25]], [[1e5, 0.0, 0.0]], 1.0)[0] == pytest.approx([0, 0.5, 0.5])


@pytest.mark.parametrize("name", MIRRORS)
def test_dual_norm_is_the_supremum(name):
    mirror = MIRRORS[name]
    g = np.random.default_rng(2).standard_normal((30, 4))
    unit = np.random.default_rng(3).standard_normal((3000, 4))
    unit = np.concatenate([unit, np.eye(4), -np.eye(4), g])
    products = g @ (unit / mirror.norm(unit)[:, None]).T
    assert products.max(axis=1) == pytest.approx(mirror.dual_norm(g), rel=1e-12)


@pytest.mark.seconds
@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1e4, 1e4), min_size=4, max_size=4),
    st.sampled_from(["1.01", "1.3", "2"]),
    st.sampled_from([1e-4, 1.0, 1e3]),
)
def test_p_norm_steps_stay_in_the_ball_and_never_lose(direction, exponent, step_size):
    mirror = PNormMirror.of_ball(L1Ball(4, "1/2"), exponent)
    x, g = points(mirror, 3), np.tile(direction, (3, 1))
    u = mirror.step(x, g, step_size)
    assert (np.abs(u).sum(axis=1) <= 0.5 * (1 + 1e-14)).all()
    gain = step_size * (g * (u - x)).sum(axis=1) + mirror.divergence(u, x)
    assert (gain <= 1e-9 * (1 + step_size * np.abs(g).max())).all()


@pytest.mark.parametrize(("dimension", "exponent"), [(3, None), (200, None), (200, "1.01"), (200, 2)])
def test_p_norm_steps_that_leave_the_ball_are_optimal(dimension, exponent):
    """The gradient of the step's cost is -m sign(u) on the support of u and at most m in magnitude elsewhere."""
    mirror = PNormMirror.of_ball(L1Ball(dimension, 2), exponent)
    rng = np.random.default_rng(1)
    x = mirror.constraint.project(rng.standard_normal((20, dimension)))
    g = rng.standard_normal((20, dimension)) * 10.0 ** rng.integers(0, 5, size=(20, 1))
    u = mirror.step(x, g, 30.0)
    assert np.abs(u).sum(axis=1) == pytest.approx(np.full(20, 2.0), rel=1e-13)
    pull = mirror.gradient(x) - 30.0 * g - mirror.gradient(u)  # m sign(u)
    scale = np.abs(mirror.gradient(x) - 30.0 * g).max(axis=1)
    multiplier = np.abs(pull).max(axis=1)
    visible = np.abs(u) > 1e-6
    wrong = np.where(visible, np.abs(pull - multiplier[:, None] * np.sign(u)), 0).max(axis=1)
    assert (wrong <= 1e-10 * scale).all()


def test_wrong_input_is_named():
    with pytest.raises(InvalidValue, match="exponent"):
        PNormMirror(L1Ball(3), Fraction(1))
    with pytest.raises(InvalidValue, match="scale"):
        EuclideanMirror(L2Ball(3), Fraction(0))
    for mirror in MIRRORS.values():
        with pytest.raises(InvalidValue, match="step_size"):
            mirror.step(points(mirror, 1), np.zeros((1, 4)), 0)
        with pytest.raises(InvalidValue, match=r"directions\[0, 1\]"):
            mirror.step(points(mirror, 1), [[0, math.nan, 0, 0]], 1)
    entropy = MIRRORS["entropy"]
    with pytest.raises(InvalidValue, match=r"points\[0\].*sum 3/2"):
        entropy.step([[1, 1, 1, 1]], np.zeros((1, 4)), 1)
    with pytest.raises(InvalidValue, match="boundary"):
        entropy.gradient([[1.5, 0, 0, 0]])


def test_sets_that_are_not_convex_are_refused():
    with pytest.raises(InvalidValue, match="convex"):
        EuclideanMirror(SparseVectors(3, 1))
