"""Seeded synthetic data: designs whose truth is known, with every record within a public bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpbounds.algorithms.problems.datasets import Dataset
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, positive_integer


def wang_xu_design(records: int = 10_000, dimension: int = 100, seed: int = 0, feature_bound: ExactLike = 1) -> Dataset:
    """Return the synthetic design of Wang & Xu 2019: y_i = 1 if 1/(1 + exp(-<θ*, x_i>)) > 1/2, and -1 otherwise.

    Print leaves the laws of θ* and x_i open and defines y_i by a formula that contains y_i. Here θ* and x_i are
    standard normal, y_i is the sign of <θ*, x_i>, and records are then scaled by B/√(2p) and clipped to norm B: scaling
    by a public number and clipping one by one, where print says "normalize". (‖x_i‖²/(2p) exceeds 1 with probability
    P(χ²_p > 2p), 1e-9 for p = 100, so that nearly nothing is clipped.) ``feature_bound`` 4 makes the sigmoid loss
    1-Lipschitz, as in their experiments.

    Source: Wang & Xu 2019, section "Experiment Settings" (bib key wang-xu-2019).
    """
    n, p = positive_integer(records, "records"), positive_integer(dimension, "dimension")
    bound = checked_bound(feature_bound)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number at least 0")
    generator = np.random.default_rng(seed)
    direction = generator.standard_normal(p)
    raw = generator.standard_normal((n, p))
    labels = np.where(raw @ direction > 0, 1.0, -1.0)
    clipped = clip_rows(raw * (float(bound) / np.sqrt(2 * p)), bound)[0]
    for array in (clipped, labels):
        array.flags.writeable = False
    names = tuple(f"x{j + 1}" for j in range(p))
    notes = (f"standard normal features times {bound}/√{2 * p}, clipped one by one to l2 norm {bound}",)
    return Dataset(f"Wang & Xu's design (seed {seed})", clipped, labels, names, bound, "<θ*, x> > 0", notes)


def realisable_targets(features: Array, feature_bound: ExactLike, solution: Array) -> tuple[Array, Array, Fraction]:
    """Return clipped features, the targets <a_i, x*>, and a bound on them, so that all residuals at x* are zero.

    Features, shape (n, p), get norm at most B; x*, shape (p,), is public here (the data are synthetic). The bound is
    B‖x*‖ rounded up: nothing is clipped with it.
    """
    bound = checked_bound(feature_bound)
    clipped, _ = clip_rows(np.array(features, dtype=np.float64), bound)
    length = Fraction(float(np.linalg.norm(solution))) * (1 + Fraction(1, 10**6)) + Fraction(1, 10**300)
    return clipped, clipped @ solution, bound * length
