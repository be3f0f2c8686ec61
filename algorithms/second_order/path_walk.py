"""The walk with path noise, for any search for negative curvature where gradients are small, and for none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray

from dpbounds.algorithms.iterates import norms
from dpbounds.algorithms.method import Array, FiniteSum, OpenRun, Outcome
from dpbounds.algorithms.oracles.rows import Walk, asked, of_some
from dpbounds.algorithms.second_order.guarantees import CURVATURE, exact_hessians, smallest_eigenvectors, value_of
from dpbounds.algorithms.second_order.reserved import reserved
from dpbounds.expressions import symbols
from dpbounds.papers.ours import second_order_path_noise as theorem

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search, for the repetitions that took part.

    Attributes:
        turns: Whether it found a direction of negative curvature, shape (R,).
        ends: Whether it found that there is none, shape (R,). Neither: a cap ended it.
        directions: Directions of unit norm, where the walk turns, shape (R, p).
    """

    turns: Rows
    ends: Rows
    directions: Array


@dataclass(frozen=True, slots=True)
class Caps:
    """z of the whole path, and its caps: P, T moves and K searches."""

    gradient_multiplier: Fraction
    path_length: Fraction
    steps: int
    searches: int


@dataclass(frozen=True, slots=True)
class Walked:
    """The last points of walks.

    Attributes:
        points: Shape (R, p).
        ended: Whether a search found nothing there, shape (R,); False where a cap ended the walk.
        ended_at: Number of the point, shape (R,).
        path: Length of all moves, shape (R,).
    """

    points: Array
    ended: Rows
    ended_at: NDArray[np.int64]
    path: Array


def walked(
    problem: FiniteSum,
    run: OpenRun,
    caps: Caps,
    values: Mapping[sympy.Symbol, sympy.Expr],
    searching: Callable[[], Callable[[Rows, Array], Found]],
    start: Array | None = None,
) -> Outcome:
    """Walk to a second-order point, see ``along``, and measure how good it is."""
    length = value_of(theorem.curvature_move, values)
    made = along(problem, run, caps, values, searching, length, start)
    steepness, smallest = (
        norms(run.exact(made.points)[1]),
        smallest_eigenvectors(exact_hessians(problem, made.points))[0],
    )
    alpha, gamma = value_of(symbols.stationarity, values), value_of(CURVATURE, values)
    good = (steepness <= alpha) & (smallest >= -gamma)
    return Outcome(
        made.points,
        outputs={"found": made.ended},
        output_step=made.ended_at,
        measured={
            "failure": (~good).astype(np.float64),
            "gradient_norm": steepness,
            "curvature": smallest,
            "path": made.path,
        },
        parameters={
            "step_size": 1 / value_of(symbols.smoothness, values),
            "stationarity": alpha,
            "curvature_move": length,
        },
    )


def along(
    problem: FiniteSum,
    run: OpenRun,
    caps: Caps,
    values: Mapping[sympy.Symbol, sympy.Expr],
    searching: Callable[[], Callable[[Rows, Array], Found]],
    length: float,
    start: Array | None = None,
) -> Walked:
    """Walk from ``start``, shape (R, p), or the problem's own; see ``PathNoiseDescent`` for the pseudo-code.

    ``searching`` reserves what searches may release, after the path; it returns what makes one. A move along what it
    finds has that ``length``.
    """
    steep = value_of(theorem.gradient_threshold, values)
    step_size = 1 / value_of(symbols.smoothness, values)
    memory = Walk(problem)
    gradients = reserved(run.path_gradients(caps.gradient_multiplier, caps.path_length, memory), caps.steps + 1)
    search = searching()

    w = run.repeated(problem.initial_point) if start is None else start.copy()
    walking, ended = np.ones(len(w), dtype=bool), np.zeros(len(w), dtype=bool)
    tests, ended_at = np.zeros((2, len(w)), dtype=np.int64)
    path = np.zeros(len(w))
    memory.move(w)
    g = asked(gradients, walking, w)
    for k in run.steps(caps.steps + 1):
        ended_at[walking] = k
        flat = walking & (norms(g) <= steep)
        tests += flat
        walking &= tests <= caps.searches
        flat &= walking
        move = -step_size * g
        if flat.any():
            found = search(flat, w)
            turns, v = found.turns, found.directions
            uphill = np.einsum("rp,rp->r", g, v) > 0
            move[turns] = (np.where(uphill, -length, length)[:, None] * v)[turns]
            ended |= found.ends
            walking &= ~flat | turns
        walking &= k <= caps.steps
        if walking.any():
            y = w + move
            walking[walking] = of_some(gradients, walking).afforded(y[walking], w[walking])
        if not walking.any():
            break
        u = of_some(gradients, walking).clock(y[walking], w[walking])
        path[walking] += norms((y - w)[walking])
        before, w = w, np.where(walking[:, None], y, w)
        memory.move(w)
        g[walking] = np.exp(-u)[:, None] * g[walking] + asked(gradients, walking, w, before)
    return Walked(w, ended, ended_at, path)
