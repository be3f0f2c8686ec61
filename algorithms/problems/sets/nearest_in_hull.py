"""The point of a convex hull nearest to given points: Wolfe's active-set method, for all rows at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.errors import NotCertified

Mask = NDArray[np.bool_]

_UNIT = 2.0**-52


def nearest_in_hull(vertices: Array, rows: Array) -> Array:
    """Minimise ‖Σ λ_i v_i - x‖² over weights λ on the simplex, for each row x.

    A row keeps a set S of active vertices and weights λ on it. A major step adds the vertex with the least <v, y - x>,
    y = Σ λ_i v_i; a minor step moves to the nearest point of the affine hull of S, or as far towards it as the weights
    stay >= 0, where it drops the vertices whose weights became 0. The distance decreases with every affine step, so no
    S comes twice and the method ends. It stops when <y - x, y - v> <= t for every vertex v, the optimality condition up
    to t = 2^-49 ‖y - x‖ max ‖v - x‖ (then ‖y - y*‖² <= t), or when the distance is 0 or no longer decreases: what is
    left is rounding error.

    Args:
        vertices: Shape (N, p).
        rows: Shape (R, p).

    Returns:
        The nearest points, shape (R, p).

    Raises:
        NotCertified: The method did not end within its limit of steps (rounding made it cycle).

    Source: Wolfe 1976.
    """
    count = len(vertices)
    offsets = vertices[None, :, :] - rows[:, None, :]
    squares = (offsets * offsets).sum(axis=2)
    first = squares.argmin(axis=1)
    weights = np.zeros((len(rows), count))
    weights[np.arange(len(rows)), first] = 1.0
    active = weights > 0
    scale = squares.max(axis=1)
    distances = np.full(len(rows), np.inf)
    minor, done = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    for _ in range(100 + 20 * count):
        _add_vertices(offsets, scale, weights, active, minor, done, distances)
        if done.all():
            projected: Array = weights @ vertices
            return projected
        turn = np.flatnonzero(minor)
        weights[turn], active[turn], finished = _affine_step(vertices, offsets[turn], weights[turn], active[turn])
        minor[turn[finished]] = False
    raise NotCertified(
        f"the projection on the hull of {count} points did not converge; remove vertices that nearly coincide"
    )


def _add_vertices(
    offsets: Array, scale: Array, weights: Array, active: Mask, minor: Mask, done: Mask, distances: Array
) -> None:
    """Make the major step, in place, for the rows that are neither done nor within minor steps."""
    turn = np.flatnonzero(~minor & ~done)
    residuals = np.einsum("rn,rnp->rp", weights[turn], offsets[turn])
    slopes = np.einsum("rnp,rp->rn", offsets[turn], residuals)
    best = slopes.argmin(axis=1)
    lengths = (residuals * residuals).sum(axis=1)
    gap = lengths - slopes[np.arange(len(turn)), best]
    # Neither a vertex that is active already nor a step that did not shorten the distance can help: rounding error.
    stuck = active[turn, best] | (lengths >= distances[turn]) | (lengths <= (8 * _UNIT) ** 2 * scale[turn])
    optimal = stuck | (gap <= 8 * _UNIT * np.sqrt(lengths * scale[turn]))
    distances[turn] = lengths
    done[turn[optimal]] = True
    minor[turn[~optimal]] = True
    active[turn[~optimal], best[~optimal]] = True


def _affine_step(vertices: Array, offsets: Array, weights: Array, active: Mask) -> tuple[Array, Mask, Mask]:
    """Return one minor step: new weights, active sets, and which rows have reached the affine minimum."""
    # Least squares in the differences from the heaviest vertex, each scaled to length 1: a Gram matrix would square the
    # condition number and could not distinguish vertices that nearly coincide.
    each = np.arange(len(offsets))
    base = weights.argmax(axis=1)
    edges = np.where(active[:, :, None], vertices[None, :, :] - vertices[base][:, None, :], 0.0)
    lengths = np.sqrt((edges * edges).sum(axis=2))
    lengths[lengths == 0] = 1.0
    inverse = np.linalg.pinv(edges / lengths[:, :, None], rcond=64 * _UNIT)
    target = -np.einsum("rpn,rp->rn", inverse, offsets[each, base]) / lengths
    target[each, base] = 0.0
    target[each, base] = 1.0 - target.sum(axis=1)
    blocked = active & (target <= 0)
    finished = ~blocked.any(axis=1)
    drop = np.where(blocked, weights - target, 1.0)
    ratios = np.where(blocked, weights / np.where(drop > 0, drop, 1.0), np.inf)
    step = np.minimum(ratios.min(axis=1), 1.0)[:, None]
    moved = np.where(finished[:, None], target, (1 - step) * weights + step * target)
    leaving = ~finished[:, None] & blocked & (ratios <= step)
    moved = np.where(leaving | ~active, 0.0, np.maximum(moved, 0.0))
    return moved / moved.sum(axis=1, keepdims=True), active & ~leaving, finished
