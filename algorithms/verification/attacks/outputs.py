"""Likelihood ratios of the results of selections, and the pairs on which they leak the most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbounds.algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe
from dpbounds.algorithms.frank_wolfe.vertices import vertices_of
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.problems.landscapes import Landscape
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection
from dpbounds.algorithms.selection.above_threshold_attack import outcome_chances
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.selection.regularised_exponential_mechanism import RegularisedExponentialMechanism
from dpbounds.algorithms.verification.attacks.neighbours import Pair, other_sign
from dpbounds.algorithms.warm_starts.population_warm_start import PopulationWarmStart
from dpbounds.algorithms.warm_starts.warm_started_path_noise import WarmStartedWalk
from dpbounds.algorithms.warm_starts.warm_started_spider import WarmStartedSpider
from dpbounds.expressions.evaluation import evaluate
from dpbounds.privacy.relations import Relation


@singledispatch
def candidates_of(algorithm: object) -> Callable[[Any], Array] | None:
    """Return a function from a problem to the scores of an algorithm's candidates; None if they are unknown.

    On a steep canary, with all other records silent, gradients are the same everywhere: so are scores of vertices.
    """
    return None


@candidates_of.register
def _(algorithm: NetExponentialMechanism) -> Callable[[Any], Array]:
    return lambda problem: -problem.objective_at(algorithm.net.points)


@candidates_of.register
def _(algorithm: VertexFrankWolfe) -> Callable[[Any], Array]:
    return lambda problem: -vertices_of(algorithm.constraint).products(problem.gradient(problem.initial_point[None]))[0]


@candidates_of.register
def _(algorithm: WarmStartedSpider | WarmStartedWalk | PopulationWarmStart) -> Callable[[Any], Array] | None:
    return candidates_of(algorithm.start)


@singledispatch
def ratio_of_output(algorithm: object, pair: Pair, run: Run) -> Array | None:
    """Return the log-likelihood ratio of a run's result, up to a constant, shape (R,); None where it is not known."""
    return None


@ratio_of_output.register
def _(algorithm: AboveThresholdSelection, pair: Pair, run: Run) -> Array:
    first, second = (_chances(algorithm, side) for side in (pair.first, pair.second))
    ratios: Array = np.log(second) - np.log(first)
    found: Array = ratios[run.outputs["index"]]
    return found


@ratio_of_output.register
def _(algorithm: RegularisedExponentialMechanism, pair: Pair, run: Run) -> Array:
    apart = pair.second.objective(run.output) - pair.first.objective(run.output)
    ratios: Array = -float(algorithm.target(pair.first).inverse_temperature) * apart
    return ratios


@cache
def _chances(selection: AboveThresholdSelection, problem: Any) -> Array:
    return np.maximum(outcome_chances(selection, problem), 1e-300)


# --- Answers of a selection: a record may change the score of each point by what the accounting allows ---


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Known(Landscape):
    """A landscape known at given points only, with the stated losses, gradients and curvatures there.

    Attributes:
        points: Shape (N, p).
        losses: F there, shape (N,).
        slopes: ‖∇F‖ there, shape (N,).
        bends: -λ_min(∇²F) there, shape (N,).
    """

    points: Array
    losses: Array
    slopes: Array
    bends: Array

    def _index(self, X: ArrayLike) -> Any:
        # elsewhere (at the start) whatever it is at the first point
        return np.array([(self.points == x).all(axis=1).argmax() for x in np.asarray(X)])

    def objective(self, X: ArrayLike) -> Array:
        values: Array = self.losses[self._index(X)]
        return values

    def objective_at(self, points: ArrayLike) -> Array:
        return self.losses if points is self.points else self.objective(points)

    def gradient(self, X: ArrayLike) -> Array:
        slopes: Array = self.slopes[self._index(X), None] * np.eye(self.dimension)[:1]
        return slopes

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        return self.objective(X), self.gradient(X)

    def hessian(self, X: ArrayLike) -> Array:
        bends: Array = -self.bends[self._index(X), None, None] * np.eye(self.dimension)
        return bends


def pair_for(algorithm: object, problem: object, relation: Relation) -> Pair | None:
    """Return the worst pair for a selection among known points of a landscape; None if it has none of its own."""
    if isinstance(problem, Landscape):
        if isinstance(algorithm, AboveThresholdSelection):
            return _of_threshold(algorithm, problem, relation)
        if isinstance(algorithm, NetExponentialMechanism):
            return _of_net(algorithm, problem, relation)
    return None


def _of_net(algorithm: NetExponentialMechanism, problem: Landscape, relation: Relation) -> Pair:
    """Record 0 pulls an eighth of the net up and pushes the rest down, by half of the range GD of its loss; or not.

    To choose from so few changes its odds by e^ε, of which more is left in its probability than for a half of the net.
    """
    points = algorithm.net.points
    far = np.argsort(points[:, 0], kind="stable")[-max(1, len(points) // _PULLED) :]
    loss = np.full(len(points), -evaluate(problem.lipschitz, {}).lower * float(algorithm.net.radius) / problem.records)
    loss[far] *= -1
    nothing = np.zeros(len(points))

    def side(sign: float) -> _Known:
        return _Known(**_public(problem), points=points, losses=sign * loss, slopes=nothing, bends=nothing)

    return Pair(side(1.0), side(other_sign(relation)), relation)


def _public(problem: Landscape) -> dict[str, Any]:
    return {each.name: getattr(problem, each.name) for each in fields(problem)}


def _of_threshold(algorithm: AboveThresholdSelection, problem: Landscape, relation: Relation) -> Pair:
    """Return a pair in which record 0 moves all points but the last away from the thresholds, and the last to them.

    That one moves norms by G/n and curvatures by L/n is all that the accounting knows of a record: here it does so at
    every point. The others put the points so high that about one of them passes.
    """
    n = problem.records
    G, L, rho = (
        evaluate(getattr(problem, name), {}).lower for name in ("lipschitz", "smoothness", "hessian_lipschitz")
    )
    alpha = float(algorithm.stationarity)
    tests = 1 if algorithm.variant == "one-test" or not algorithm.second_order else 2
    level = np.full(algorithm.steps, _HEIGHT[tests] * np.log(algorithm.steps))
    level[-1] = _LAST
    away = np.where(np.arange(algorithm.steps) < algorithm.steps - 1, 1.0, -1.0)
    silent = np.zeros(algorithm.steps)

    def side(sign: float) -> _Known:
        beyond = (level * float(algorithm.threshold_noise) + algorithm.offset.upper + sign * away) / n
        slopes, bends = alpha + G * beyond, np.sqrt(rho * alpha) + L * beyond
        return _Known(**_public(problem), points=algorithm.points, losses=silent, slopes=slopes, bends=bends)

    return Pair(side(1.0), side(other_sign(relation)), relation)


_PULLED = 8
# in threshold scales, found by integrating probabilities: the others, times log N, by the number of tests; the last
_HEIGHT, _LAST = {1: 1.25, 2: 0.5}, -1.0
