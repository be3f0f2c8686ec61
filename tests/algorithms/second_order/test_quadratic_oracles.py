from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball, Simplex
from dpbounds.algorithms.second_order.quadratic_oracles import BallOracle, local_minimisers, oracle_for
from tests.algorithms.shared import refused


def value(u, hessian, point):
    return (u - point) @ hessian @ (u - point)


def case(rng, constraint):
    """A random quadratic, plane and point; often degenerate."""
    p = constraint.dimension
    matrix = rng.standard_normal((p, p))
    hessian = matrix + matrix.T
    if rng.random() < 0.2:
        hessian = np.diag(np.rint(np.diag(hessian)))  # repeated eigenvalues, zeros
    gradient = rng.standard_normal(p) * rng.choice([0, 0.1, 1, 3])
    slack = float(rng.choice([0, 0.01, 0.3]))
    point = constraint.project(rng.standard_normal((1, p)) * rng.choice([0, 0.5, 2]))[0]
    return hessian, gradient, point, slack


def lowest_of_many(rng, constraint, hessian, gradient, point, slack):
    """Random feasible points, pushed on the boundary and on the plane, then improved by random search."""
    p = constraint.dimension
    u = constraint.project(rng.standard_normal((4000, p)) * 1.5)
    best, best_value, width = point, 0.0, 1.0
    for _ in range(15):
        steps = u - point
        over = steps @ gradient > slack
        with np.errstate(all="ignore"):
            shrink = np.where(over, slack / (steps @ gradient), 1.0)  # towards w, until the plane is met
        steps *= shrink[:, None]
        values = np.einsum("ip,pq,iq->i", steps, hessian, steps)
        if values.min() < best_value:
            best, best_value = point + steps[values.argmin()], float(values.min())
        width /= 2
        u = constraint.project(best + width * rng.standard_normal((500, p)))
    return best_value


@pytest.mark.parametrize(
    ("constraint", "cases"),
    [
        *((L2Ball(*sizes), 30) for sizes in ((1, 1), (2, 1), (3, "1/2"), (5, 2))),
        *((box, 20) for box in (Box.cube(1), Box([-1, 0], [2, 1]), Box.cube(3, "1/2"))),
    ],
    ids=str,
)
def test_an_oracle_is_feasible_and_never_beaten(constraint, cases):
    rng, oracle = np.random.default_rng(constraint.dimension), oracle_for(constraint)
    for _ in range(cases):
        arguments = case(rng, constraint)
        hessian, gradient, point, slack = arguments
        u = oracle(*arguments)
        assert constraint.contains(u[None], tolerance=1e-12)[0]
        assert gradient @ (u - point) <= slack + 1e-11
        assert value(u, hessian, point) <= lowest_of_many(rng, constraint, *arguments) + 1e-9


def test_a_disc_in_all_angles():
    # every point of the circle, and every point of the chord: what is left is exact up to the grid
    rng, oracle = np.random.default_rng(5), BallOracle(L2Ball(2, 1))
    angles = np.linspace(0, 2 * np.pi, 10_001)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    local = 0
    for _ in range(120):
        hessian, gradient, point, slack = case(rng, L2Ball(2, 1))
        steps = circle - point
        values = np.einsum("ip,pq,iq->i", steps, hessian, steps)
        inside = steps @ gradient <= slack
        best = min(0.0, values[inside].min()) if inside.any() else 0.0
        found = value(oracle(hessian, gradient, point, slack), hessian, point)
        assert found <= best + 1e-9
        # a minimum on the arc that is not the circle's: the plane cuts off the better one
        arc = inside & (values < np.roll(values, 1)) & (values < np.roll(values, -1))
        local += bool(arc.any() and values[arc].min() == best and values.min() < best - 1e-3)
    assert local >= 1  # this rare kind was there


def test_hard_case_of_the_subproblem():
    # no linear part along the first eigenvector: both ends of it are minimisers
    found = local_minimisers(np.diag([-2.0, 1.0]), np.zeros(2), 1.5)
    assert {tuple(np.round(v, 12)) for v in found} >= {(1.5, 0.0), (-1.5, 0.0)}
    (inner,) = local_minimisers(np.diag([2.0, 1.0]), np.array([1.0, -0.5]), 2.0)
    assert inner == pytest.approx([-0.5, 0.5])


def test_a_flat_quadratic_stays():
    point = np.array([0.2, 0.1])
    assert (BallOracle(L2Ball(2, 1))(np.zeros((2, 2)), np.ones(2), point, 0.0) == point).all()


def test_sets_without_an_oracle_are_refused():
    assert oracle_for(L2Ball(3, 1)).ratio == oracle_for(Box.cube(2)).ratio == Fraction(1)
    for constraint in (L1Ball(3, 1), Simplex(3, 1), Box.cube(7)):
        refused("NP-hard", oracle_for, constraint)
