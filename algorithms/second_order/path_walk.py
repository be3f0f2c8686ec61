"""The walk with path noise, for any search for negative curvature where gradients are small."""

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


def walked(
    problem: FiniteSum,
    run: OpenRun,
    caps: Caps,
    values: Mapping[sympy.Symbol, sympy.Expr],
    searching: Callable[[], Callable[[Rows, Array], Found]],
    start: Array | None = None,
) -> Outcome:
    """Walk from ``start``, shape (R, p), or the problem's own; see ``PathNoiseDescent`` for the pseudo-code.

    ``searching`` reserves what searches may release, after the path; it returns what makes one.
    """
    steep, length = (value_of(each, values) for each in (theorem.gradient_threshold, theorem.curvature_move))
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
    steepness, smallest = norms(run.exact(w)[1]), smallest_eigenvectors(exact_hessians(problem, w))[0]
    alpha, gamma = value_of(symbols.stationarity, values), value_of(CURVATURE, values)
    good = (steepness <= alpha) & (smallest >= -gamma)
    return Outcome(
        w,
        outputs={"found": ended},
        output_step=ended_at,
        measured={
            "failure": (~good).astype(np.float64),
            "gradient_norm": steepness,
            "curvature": smallest,
            "path": path,
        },
        parameters={"step_size": step_size, "stationarity": alpha, "curvature_move": length},
    )
