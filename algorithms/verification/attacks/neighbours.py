"""Two neighbouring data sets whose answers are as far apart as the public constants allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from algorithms.problems.finite_sum import Array
from algorithms.problems.landscapes import Landscape
from algorithms.problems.linear_model import LinearModel
from algorithms.problems.problem import Problem
from dpbounds.errors import InvalidValue
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
    public) it falls silent, for G/n. All other records have features 0 and hence no gradient: what an answer says is
    said by this record alone.

    Args:
        problem: A ``Problem``, a ``LinearModel`` or a ``Landscape`` (replace-one only).
        relation: "replace-one" or "add-or-remove-one".

    Raises:
        InvalidValue: No such pair is known for this problem or this relation.
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
    if relation is not Relation.REPLACE_ONE:
        advice = "a record that leaves takes its share of the landscape with it"
        raise InvalidValue("relation", relation, "replace-one, for a landscape", advice)
    shifts = _only_first(problem.shifts.shape, to_float(problem.shift_bound, "down"))
    sides = [
        _Tilted(problem.profile, each, problem.shift_bound, problem.radius, problem.start)
        for each in (shifts, _opposite(shifts, relation))
    ]
    return Pair(sides[0], sides[1], relation)


class _Tilted(Landscape):
    """A landscape whose shifts do not cancel."""

    def objective(self, X: ArrayLike) -> Array:
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        return self.objective_and_gradient(X)[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        points, tilt = self._points(X), self.shifts.mean(axis=0)
        value, slope, _ = self.profile.derivatives(points)
        return value.sum(axis=1) + points @ tilt, slope + tilt

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        # the parent adds the batch's own shifts to its gradient, which has those of all records here
        means: Array = super().batch_gradient(X, rows) - self.shifts.mean(axis=0)
        return means


def _only_first(shape: tuple[int, ...], bound: float) -> Array:
    rows = np.zeros(shape)
    rows[0, 0] = bound
    rows.flags.writeable = False
    return rows


def _opposite(rows: Array, relation: Relation) -> Array:
    others = -rows if relation is Relation.REPLACE_ONE else np.zeros(rows.shape)
    others.flags.writeable = False
    return others
