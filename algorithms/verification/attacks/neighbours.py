"""Two neighbouring data sets whose answers are as far apart as the public constants allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from algorithms.problems.finite_sum import Array
from algorithms.problems.landscapes import Landscape
from algorithms.problems.linear_model import LinearModel
from algorithms.problems.problem import Problem
from dpbounds.errors import InvalidValue
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.relations import Relation

_GRID = 2001  # targets tried for the steepest slope


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two problems that differ in record 0 and in nothing else; all other records are equal to each other.

    Attributes:
        first: The problem on one data set.
        second: On its neighbour.
        relation: That makes them neighbours.
    """

    first: Any
    second: Any
    relation: Relation


def worst_pair(problem: object, relation: str | Relation = Relation.REPLACE_ONE) -> Pair:
    """The public constants of a problem with other records: one that pulls as hard as it may, the others silent.

    Under replace-one the record is turned round, so that gradients at x₁ are 2G/n apart; under add-or-remove-one (n
    public) it falls silent, for G/n. All other records have features 0 and hence no gradient (on a landscape: that of
    the landscape): what tells the sides apart is this record alone.

    Args:
        problem: A ``Problem``, a ``LinearModel`` or a ``Landscape``.
        relation: "replace-one" or "add-or-remove-one".

    Raises:
        InvalidValue: No such pair is known for this problem.
    """
    return _pair(problem, Relation(relation))


@singledispatch
def _pair(problem: object, relation: Relation) -> Pair:
    advice = "build the two problems yourself and audit them as a Pair"
    raise InvalidValue("problem", type(problem).__name__, "a Problem, a LinearModel or a Landscape", advice)


@_pair.register
def _(problem: Problem, relation: Relation) -> Pair:
    # the losses of a margin that there are have their steepest slope at margin 0, where every run starts
    rows = _only_first(problem.signed_features.shape, to_float(problem.feature_bound, "down"))
    return Pair(
        replace(problem, signed_features=rows), replace(problem, signed_features=_opposite(rows, relation)), relation
    )


@_pair.register
def _(problem: LinearModel, relation: Relation) -> Pair:
    rows = _only_first(problem.features.shape, to_float(problem.feature_bound, "down"))
    reach = to_float(problem.target_bound, "down")
    tried = np.linspace(-reach, reach, _GRID)
    targets = np.zeros(problem.records)
    targets[0] = tried[int(np.argmax(np.abs(problem.loss.derivatives(-tried)[1])))]
    targets.flags.writeable = False
    first = replace(problem, features=rows, targets=targets)
    return Pair(first, replace(first, features=_opposite(rows, relation)), relation)


@_pair.register
def _(problem: Landscape, relation: Relation) -> Pair:
    # the constants allow a record whose loss is <g, x> with ‖g‖ = G, everywhere: its range on the ball is 2RG
    pull = np.zeros(problem.dimension)
    pull[0] = evaluate(problem.lipschitz, {}).lower
    other = -pull if relation is Relation.REPLACE_ONE else 0 * pull
    flat = np.zeros(problem.shifts.shape)
    sides = [
        _Pulled(problem.profile, flat, problem.shift_bound, problem.radius, problem.start, each, problem.initial_gap)
        for each in (pull, other)
    ]
    return Pair(sides[0], sides[1], relation)


@dataclass(frozen=True, slots=True, eq=False)
class _Pulled(Landscape):
    """A landscape whose record 0 has the loss <g, x>, and all others that of the landscape without shifts.

    Attributes:
        pull: g, shape (p,); its norm is at most the landscape's G.
        public_gap: The landscape's ``initial_gap``: like all constants, the same on both sides.
    """

    pull: Array
    public_gap: sympy.Expr

    @property
    def initial_gap(self) -> sympy.Expr:
        return self.public_gap

    def objective(self, X: ArrayLike) -> Array:
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        return self.objective_and_gradient(X)[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        points = self._points(X)
        value, slope, _ = self.profile.derivatives(points)
        share = 1 / self.records
        return (1 - share) * value.sum(axis=1) + share * (points @ self.pull), (1 - share) * slope + share * self.pull

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        chosen, points = np.asarray(rows), self._points(X)
        share = (chosen == 0).mean(axis=1)[:, None]
        means: Array = (1 - share) * self.profile.derivatives(points)[1] + share * self.pull
        return means

    def hessian(self, X: ArrayLike) -> Array:
        found: Array = (1 - 1 / self.records) * Landscape.hessian(self, X)
        return found


def _only_first(shape: tuple[int, ...], bound: float) -> Array:
    rows = np.zeros(shape)
    rows[0, 0] = bound
    rows.flags.writeable = False
    return rows


def _opposite(rows: Array, relation: Relation) -> Array:
    others = -rows if relation is Relation.REPLACE_ONE else np.zeros(rows.shape)
    others.flags.writeable = False
    return others
