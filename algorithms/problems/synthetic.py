"""Seeded synthetic data: designs whose truth is known, with every record within a public bound."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import sympy

from dpbounds.algorithms.problems.datasets import Dataset
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.points import positive
from dpbounds.algorithms.problems.problem import MarginLoss, Problem, checked_bound
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.algorithms.problems.sigmoid import SIGMOID
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer

_MOST_NUMBERS = 10**8  # in a matrix of records: 0.8 GB
_BELOW = 1 - 2.0**-40  # covers the rounding of a few doubles


def wang_xu_design(records: int = 10_000, dimension: int = 100, seed: int = 0, feature_bound: ExactLike = 1) -> Dataset:
    """Return the synthetic design of Wang & Xu 2019: y_i = 1 if 1/(1 + exp(-<θ*, x_i>)) > 1/2, and -1 otherwise.

    The paper leaves the distributions of θ* and x_i open and defines y_i by a formula that contains y_i. Here θ* and
    x_i are standard normal, y_i is the sign of <θ*, x_i>, and records are then scaled by B/√(2p) and clipped to norm B:
    scaling by a public number and clipping one by one, where the paper says "normalize". (‖x_i‖²/(2p) exceeds 1 with
    probability P(χ²_p > 2p), 1e-9 for p = 100, so that nearly nothing is clipped.) ``feature_bound`` 4 makes the
    sigmoid loss 1-Lipschitz, as in their experiments.

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


def with_constants(
    records: int,
    dimension: int,
    lipschitz: ExactLike = 1,
    smoothness: ExactLike = 1,
    initial_gap: ExactLike = 1,
    loss_range: ExactLike | None = None,
    hessian_lipschitz: ExactLike | None = None,
    seed: int = 0,
) -> Problem:
    """Return a problem on public, synthetic records with these constants, on which a plan for abstract numbers can run.

    The records are those of ``wang_xu_design`` with B = 1, the loss is φ(m) = c/(1 + e^(sm)) with the largest c and
    then s for which no constant is above what is asked for: φ(0) = c/2 <= Δ_F, sup φ = c, and the suprema of its three
    derivatives are cs/4, cs²√3/18 and cs³/8, as in ``sigmoid_loss``. The problem declares the requested constants.

    Args:
        records: n.
        dimension: p.
        lipschitz: G > 0.
        smoothness: L > 0.
        initial_gap: Δ_F >= 0.
        loss_range: Sup f - inf f, or None for 2Δ_F.
        hessian_lipschitz: Lipschitz constant of one record's Hessian, or None for that of the loss.
        seed: The seed of the records.

    Raises:
        InvalidValue: A number is not allowed, or there are more than 1e8 of them in the records.
    """
    n, p = positive_integer(records, "records"), positive_integer(dimension, "dimension")
    if n * p > _MOST_NUMBERS:
        raise InvalidValue("records, dimension", (n, p), "at most 1e8 numbers", "fewer records can be run")
    G, L, gap = positive(lipschitz, "lipschitz"), positive(smoothness, "smoothness"), exact(initial_gap, "initial_gap")
    if gap < 0:
        raise InvalidValue("initial_gap", initial_gap, "at least 0")
    reach = 2 * gap if loss_range is None else positive(loss_range, "loss_range")
    third = None if hessian_lipschitz is None else positive(hessian_lipschitz, "hessian_lipschitz")
    c, s = float(min(2 * gap, reach)) * _BELOW, 0.0
    if c > 0:
        steepest = [4 * float(G) / c, (18 * float(L) / (3**0.5 * c)) ** 0.5]
        steepest += [] if third is None else [(8 * float(third) / c) ** (1 / 3)]
        s = min(steepest) * _BELOW
    loss = MarginLoss(
        name="scaled sigmoid loss",
        value_and_slope=partial(_scaled, c, s),
        largest_slope=sympy.Rational(G),
        largest_curvature=sympy.Rational(L),
        value_at_zero=sympy.Rational(gap),
        curvature=partial(_scaled_curvature, c, s),
        largest_third_derivative=sympy.Rational(Fraction(c) * Fraction(s) ** 3 / 8 if third is None else third),
        supremum=sympy.Rational(reach),
    )
    design = wang_xu_design(n, p, seed)
    notes = ("synthetic records, public", *design.notes)
    return Problem(loss, design.features * design.labels[:, None], Fraction(1), Fraction(0), None, notes)


def _scaled(c: float, s: float, margins: Array) -> tuple[Array, Array]:
    value, slope = SIGMOID.value_and_slope(s * margins)
    return c * value, c * s * slope


def _scaled_curvature(c: float, s: float, margins: Array) -> Array:
    return c * s * s * SIGMOID.curvature(s * margins)
