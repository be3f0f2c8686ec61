"""Projections by sorting, for all rows at once."""

from __future__ import annotations

import numpy as np

from dpbounds.algorithms.problems.finite_sum import Array


def project_on_simplex(rows: Array, total: float) -> Array:
    """Return the nearest point with entries >= 0 and sum ``total`` > 0, for each row.

    The optimality conditions are u = max(v - θ, 0) with Σ u = r: with v sorted downwards, the support is the largest k
    with v_k > (v_1 + ... + v_k - r)/k, and θ is that fraction. O(p log p) per row. Adding a constant to v changes
    nothing, so the largest entry is first moved to 0, which keeps the sums small; entries below -r then are 0 anyway
    (θ >= -r), and are cut there so that far points do not swamp the sums.

    Source: Held, Wolfe & Crowder 1974; Duchi et al. 2008.
    """
    with np.errstate(over="ignore"):  # an infinite distance is cut like any other
        moved = np.maximum(rows - rows.max(axis=1, keepdims=True), -total)
    ordered = -np.sort(-moved, axis=1)
    thresholds = (np.cumsum(ordered, axis=1) - total) / np.arange(1, rows.shape[1] + 1)
    sizes = np.count_nonzero(ordered > thresholds, axis=1)
    threshold = np.take_along_axis(thresholds, sizes[:, None] - 1, axis=1)
    projected: Array = np.maximum(moved - threshold, 0.0)
    return projected


def project_on_l1_ball(rows: Array, radius: float) -> Array:
    """Return the nearest point with l1 norm at most ``radius`` > 0, for each row; rows inside stay as they are.

    Outside, the nearest point has the signs of v, so |v| is projected on the simplex: its nearest point in the solid
    simplex lies on the face Σ u = r because Σ|v| > r.
    """
    magnitudes = np.abs(rows)
    with np.errstate(over="ignore"):  # an infinite sum is over the radius, which is all that is asked here
        inside = magnitudes.sum(axis=1, keepdims=True) <= radius
    return np.where(inside, rows, np.copysign(project_on_simplex(magnitudes, radius), rows))
