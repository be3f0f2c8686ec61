"""Every set against independent solvers (scipy's SLSQP, linprog, nnls), optimality conditions and brute force."""

import itertools
import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball, Polytope, Simplex, SparseVectors, support
from dpbounds.errors import InvalidValue

HEXAGON = np.array([[2, 0, 1], [-1, 1.5, 0], [0.5, -1, 2], [1, 1, 1], [0, 0, -1.5]])
CROSS = np.concatenate([HEXAGON[:4], -HEXAGON[:4]])
CONVEX = {
    "l2": L2Ball(3, "3/2"),
    "l1": L1Ball(3, "3/2"),
    "simplex": Simplex(3, "1/2"),
    "box": Box([-1, 0, "1/3"], [2, "1/2", 5]),
    "cube": Box.cube(3, "0.7"),
    "polytope": Polytope(HEXAGON),
    "symmetric polytope": Polytope(CROSS),
    "flat polytope": Polytope([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], [0.5, 0.5, 1]]),
}
SETS = CONVEX | {"sparse": SparseVectors(3, 2, "3/2")}
SYMMETRIC = [name for name, each in SETS.items() if each.symmetric]


def rows(count=60, seed=0, scale=2.0, dimension=3):
    return scale * np.random.default_rng(seed).standard_normal((count, dimension))


def samples(each, count=400):
    """Points of the set that do not come from its own methods where it has vertices."""
    rng = np.random.default_rng(3)
    if each.vertices is not None:
        return rng.dirichlet(np.full(len(each.vertices), 0.3), size=count) @ each.vertices
    inside = rng.standard_normal((count, 3))
    if isinstance(each, SparseVectors):
        inside[np.arange(count), rng.integers(3, size=count)] = 0
    return float(each.radius) * inside / np.maximum(np.linalg.norm(inside, axis=1, keepdims=True), 1)


@pytest.mark.parametrize("name", SETS)
def test_sizes_are_suprema(name):
    each = SETS[name]
    points = samples(each, 1500)
    extreme = points if each.vertices is None else np.concatenate([points[:200], each.vertices])
    if each.vertices is None:  # symmetric under signs: the extremes of all four sizes are among these
        size = 2 if isinstance(each, SparseVectors) else 3
        spread = np.array([1.0] * size + [0.0] * (3 - size)) * float(each.radius) / math.sqrt(size)
        extreme = np.concatenate([points[:200], [spread, -spread]])
    pairs = extreme[:, None] - extreme[None, :]
    for found, norms in (
        (each.diameter, np.linalg.norm(pairs, axis=2)),
        (each.l1_diameter, np.abs(pairs).sum(axis=2)),
        (each.norm_bound, np.linalg.norm(extreme, axis=1)),
        (each.l1_norm_bound, np.abs(extreme).sum(axis=1)),
    ):
        assert isinstance(found, sympy.Expr)
        assert not found.has(sympy.Float)
        assert float(norms.max()) == pytest.approx(float(found), rel=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_projection_satisfies_the_variational_inequality(name):
    """<x - Px, v - Px> <= 0 for all v of the set, which is what makes Px the nearest point."""
    each, X = CONVEX[name], rows()
    projected = each.project(X)
    assert each.contains(projected, 1e-12).all()
    assert (support(each, X - projected) - ((X - projected) * projected).sum(axis=1)).max() <= 1e-12 * 50
    assert each.project(projected) == pytest.approx(projected, abs=1e-12)


def test_projection_on_larger_polytopes_agrees_with_the_closed_forms_of_the_same_sets():
    X = rows(200, seed=8, dimension=8)
    assert Polytope(L1Ball(8, 2).vertices).project(X) == pytest.approx(L1Ball(8, 2).project(X), abs=1e-12)
    assert Polytope(Simplex(8, 2).vertices).project(X) == pytest.approx(Simplex(8, 2).project(X), abs=1e-12)
    small = X[:40, :5]
    assert Polytope(Box.cube(5).vertices).project(small) == pytest.approx(Box.cube(5).project(small), abs=1e-12)


@pytest.mark.parametrize("kind", ["whole numbers", "flat", "nearly coinciding", "on a line", "small and far"])
def test_projection_on_degenerate_polytopes_is_optimal(kind):
    rng = np.random.default_rng(12)
    for trial in range(12):
        count, dimension = int(rng.integers(2, 20)), int(rng.integers(1, 9))
        vertices = rng.standard_normal((count, dimension))
        if kind == "whole numbers":
            vertices = np.round(vertices)
        elif kind == "flat":
            vertices[:, -1] = 1
        elif kind == "nearly coinciding":
            vertices[1] = vertices[0] + 1e-7 * rng.standard_normal(dimension)
        elif kind == "on a line":
            vertices = np.outer(vertices[:, 0], rng.standard_normal(dimension))
        else:
            vertices = 1 + 1e-3 * vertices
        vertices = np.unique(vertices, axis=0)
        X = rng.standard_normal((20, dimension)) * 10.0 ** (trial % 5 - 2)
        projected = Polytope(vertices).project(X)
        residual = X - projected
        gap = (residual @ vertices.T).max(axis=1) - (residual * projected).sum(axis=1)
        farthest = ((X[:, None] - vertices) ** 2).sum(axis=2).max(axis=1)
        assert (gap <= 1e-13 * farthest).all()


@pytest.mark.parametrize("name", SETS)
def test_linear_minimiser_is_in_the_set_and_least(name):
    each, G = SETS[name], rows(50, seed=2)
    found = each.linear_minimiser(G)
    assert each.contains(found, 1e-12).all()
    assert ((G * found).sum(axis=1)[:, None] <= G @ samples(each).T + 1e-12).all()
    if each.vertices is not None:
        weights = len(each.vertices)
        for g, v in zip(G[:8], found, strict=False):
            best = linprog(each.vertices @ g, A_eq=np.ones((1, weights)), b_eq=[1]).fun
            assert g @ v == pytest.approx(best, abs=1e-9)
    assert support(each, G) == pytest.approx((G * each.linear_minimiser(-G)).sum(axis=1))
    if isinstance(each, L2Ball):
        assert support(each, G) == pytest.approx(1.5 * np.linalg.norm(G, axis=1))
    assert each.contains(each.linear_minimiser(np.zeros((1, 3))), 1e-12).all()


@pytest.mark.parametrize("name", SYMMETRIC)
def test_minkowski_norm_against_bisection(name):
    each, X = SETS[name], rows(15, seed=4)
    found = each.minkowski_norm(X)
    low, high = np.zeros(15), np.full(15, 100.0)
    for _ in range(50):
        middle = (low + high) / 2
        inside = each.contains(X / middle[:, None], 1e-12)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    assert found == pytest.approx(high, rel=1e-7)
    assert each.minkowski_norm(np.zeros((1, 3))) == [0.0]


def test_minkowski_norm_is_refused_where_there_is_none_and_infinite_outside_the_span():
    for each in (Simplex(3), SETS["box"], SETS["polytope"], SETS["sparse"]):
        with pytest.raises(InvalidValue, match="symmetric"):
            each.minkowski_norm(rows(2))
    segment = Polytope([[1, 1, 0], [-1, -1, 0]])
    assert segment.minkowski_norm([[2, 2, 0], [1, 0, 0]]) == pytest.approx([2, math.inf])
    assert Polytope([[0, 0, 0]]).minkowski_norm([[0, 0, 0], [1, 0, 0]]).tolist() == [0, math.inf]


def test_sparse_projection_is_the_best_over_all_supports():
    X, each = rows(60, seed=9, dimension=5), SparseVectors(5, 2, "3/2")
    found = np.linalg.norm(X - each.project(X), axis=1)
    best = np.full(60, math.inf)
    for kept in itertools.combinations(range(5), 2):
        mask = np.isin(np.arange(5), kept)
        candidate = L2Ball(5, "3/2").project(X * mask)
        best = np.minimum(best, np.linalg.norm(X - candidate, axis=1))
    assert found == pytest.approx(best, rel=1e-13)


entries = st.floats(-1e6, 1e6, allow_subnormal=False)


@pytest.mark.seconds
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(entries, min_size=4, max_size=4), min_size=1, max_size=5), st.sampled_from([1e-3, 1.0, 50.0]))
def test_projections_are_optimal_for_any_input(points, radius):
    X = np.array(points)
    for each in (L2Ball(4, radius), L1Ball(4, radius), Simplex(4, radius), Box.cube(4, radius)):
        projected = each.project(X)
        slack = 1e-13 * radius
        assert each.contains(projected, 10 * slack).all()
        residual = X - projected
        best = (residual * each.linear_minimiser(-residual)).sum(axis=1)  # the largest <x - Px, v> over the set
        size = np.abs(residual).sum(axis=1) * radius
        assert (best - (residual * projected).sum(axis=1) <= 1e-13 * size + 1e-300).all()


def test_rows_do_not_depend_on_their_neighbours():
    for each in (L2Ball(3), L1Ball(3), Simplex(3), SETS["box"], SETS["sparse"]):
        X = rows(9)
        assert (each.project(X)[4] == each.project(X[4:5])[0]).all()


def test_far_and_tiny_points():
    far = np.array([[1e300, -1e300, 3e299]])
    assert L2Ball(3).project(far)[0] == pytest.approx(np.array([1, -1, 0.3]) / math.sqrt(2.09), rel=1e-14)
    assert L1Ball(3).project(far)[0] == pytest.approx([0.5, -0.5, 0], abs=1e-15)
    assert Simplex(3).project(far)[0].tolist() == [1, 0, 0]
    assert L2Ball(3).minkowski_norm([[1e-200, 0, 0]]) == pytest.approx([1e-200], rel=1e-14)
    assert L2Ball(3).linear_minimiser([[0, 1e-300, 0]]).tolist() == [[0, -1, 0]]


@pytest.mark.parametrize("name", SETS)
def test_wrong_points_are_named(name):
    each = SETS[name]
    with pytest.raises(InvalidValue, match=r"x\[None, :\]"):
        each.project(np.zeros(3))
    with pytest.raises(InvalidValue, match=r"\(R, 3\)"):
        each.linear_minimiser(np.zeros((2, 4)))
    with pytest.raises(InvalidValue, match=r"points\[1, 2\] must be .*, not nan"):
        each.project([[0, 0, 0], [0, 0, math.nan]])
    with pytest.raises(InvalidValue, match="tolerance"):
        each.contains(np.zeros((1, 3)), -1)
