"""The proximal step: the one place where regulariser and constraint set act."""

from __future__ import annotations

import numpy as np

from dpbounds.algorithms.problems.finite_sum import Array


def soft_threshold(points: Array, threshold: float) -> Array:
    """Move every coordinate towards 0 by ``threshold`` >= 0, stopping there: sign(v) max(|v| - t, 0)."""
    shrunk: Array = np.sign(points) * np.maximum(np.abs(points) - threshold, 0.0)
    return shrunk


def project_on_ball(points: Array, radius: float) -> Array:
    """Scale every row (last axis) whose l2 norm exceeds ``radius`` back to it; rows inside stay as they are."""
    norms = np.sqrt((points * points).sum(axis=-1, keepdims=True))
    projected: Array = points * np.minimum(1.0, radius / np.maximum(norms, radius))
    return projected


def proximal_l1(points: Array, threshold: float, radius: float | None) -> Array:
    """Return argmin over u in C of ½‖u - v‖² + t‖u‖₁ for every row v, where C is R^p or the l2 ball of that radius.

    For C = R^p this is the soft threshold s = S_t(v), for the ball its radial projection min(1, radius/‖s‖) s. Proof
    for the ball (radius r > 0): the problem is convex and u = 0 is strictly feasible, so u is optimal exactly when some
    multiplier m >= 0 of the constraint (‖u‖² - r²)/2 <= 0 satisfies

        0 ∈ u - v + t ∂‖u‖₁ + m u    and    m (‖u‖ - r) = 0.

    The first line says v - (1+m) u ∈ t ∂‖u‖₁. Because 1+m > 0 does not change signs, ∂‖u‖₁ = ∂‖(1+m)u‖₁, so that
    w = (1+m) u satisfies v - w ∈ t ∂‖w‖₁, of which the soft threshold is the only solution: (1+m) u = s. If ‖s‖ <= r,
    then m = 0 and u = s do; otherwise m = ‖s‖/r - 1 > 0 and u = r s/‖s‖ do. ∎ (A projection after a proximal map is
    not a proximal map in general; here it is because ∂‖·‖₁ is constant along rays.)

    Args:
        points: Rows v, shape (..., p).
        threshold: t >= 0.
        radius: Greater than 0, or None for R^p.

    Returns:
        The minimisers, in the shape of ``points``.

    >>> proximal_l1(np.array([[3.0, -0.5, -4.0]]), 1.0, None)
    array([[ 2., -0., -3.]])
    """
    shrunk = soft_threshold(points, threshold) if threshold else points
    return shrunk if radius is None else project_on_ball(shrunk, radius)
