"""Two neighbouring data sets whose answers are as far apart as the public constants allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.landscapes import Landscape
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.problems.problem import Problem
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

    Such a pair is known for a ``Problem``, a ``LinearModel`` and a ``Landscape``.
    """
    return _pair(problem, Relation(relation))


@singledispatch
def _pair(problem: object, relation: Relation) -> Pair:
    advice = "build the two problems yourself and audit them as a Pair"
    raise InvalidValue("problem", type(problem).__name__, "a Problem, a LinearModel or a Landscape", advice)


@_pair.register
def _(problem: Problem, relation: Relation) -> Pair:
    # every loss of a margin here is steepest at margin 0, where every run starts
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
    first = replace(problem, features=rows, targets=_read_only(targets))
    return Pair(first, replace(first, features=_opposite(rows, relation)), relation)


@_pair.register
def _(problem: Landscape, relation: Relation) -> Pair:
    public = {name: getattr(problem, name) for name in ("profile", "shift_bound", "radius", "start")}
    first = _Pulled(shifts=np.zeros(problem.shifts.shape), side=1.0, public_gap=problem.initial_gap, **public)
    return Pair(first, replace(first, side=-1.0 if relation is Relation.REPLACE_ONE else 0.0), relation)


_SLANT = 0.7  # the part of G that is constant slope; the rest is for curvature, which differences and Hessians see


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Pulled(Landscape):
    """A landscape whose record 0 has another loss than the others, which have that of the landscape, without shifts.

    It is ±(a x_1 + h(‖x - x₁‖)) with Huber's function h, of curvature L up to where its slope is G - a: G-Lipschitz and
    L-smooth, so that its range on the ball is at most 2RG. Its Hessian jumps there: no noise rests on that.

    Attributes:
        side: 1, -1, or 0 for a record that is silent.
        public_gap: The landscape's ``initial_gap``: like all constants, the same on both sides.
    """

    side: float
    public_gap: sympy.Expr

    @property
    def initial_gap(self) -> sympy.Expr:
        return self.public_gap

    def objective(self, X: ArrayLike) -> Array:
        return self.objective_and_gradient(X)[0]

    def gradient(self, X: ArrayLike) -> Array:
        return self.objective_and_gradient(X)[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        points, share = self._points(X), 1 / self.records
        value, slope, _ = self.profile.derivatives(points)
        own_value, own_slope, _ = self._of_record_0(points)
        return (1 - share) * value.sum(axis=1) + share * own_value, (1 - share) * slope + share * own_slope

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        points, share = self._points(X), (np.asarray(rows) == 0).mean(axis=1)[:, None]
        means: Array = (1 - share) * self.profile.derivatives(points)[1] + share * self._of_record_0(points)[1]
        return means

    def hessian(self, X: ArrayLike) -> Array:
        points, share = self._points(X), 1 / self.records
        mixed: Array = (1 - share) * Landscape.hessian(self, points) + share * self._of_record_0(points)[2]
        return mixed

    def _of_record_0(self, points: Array) -> tuple[Array, Array, Array]:
        """Its loss (R,), gradient (R, p) and Hessian (R, p, p)."""
        steepest, curvature = (evaluate(constant, {}).lower for constant in (self.lipschitz, self.smoothness))
        slant = _SLANT * steepest
        reach = (steepest - slant) / curvature
        away = points - self.start
        distance = np.linalg.norm(away, axis=1)
        within = distance <= reach
        pull = np.where(within, curvature, curvature * reach / np.where(within, 1.0, distance))
        value = np.where(within, distance**2 / 2, reach * distance - reach**2 / 2) * curvature + slant * points[:, 0]
        slope = pull[:, None] * away
        slope[:, 0] += slant
        direction = away / np.where(within, 1.0, distance)[:, None]
        bent = np.eye(points.shape[1]) - np.where(within, 0.0, 1.0)[:, None, None] * (
            direction[:, :, None] * direction[:, None, :]
        )
        return self.side * value, self.side * slope, self.side * pull[:, None, None] * bent


def _only_first(shape: tuple[int, ...], bound: float) -> Array:
    rows = np.zeros(shape)
    rows[0, 0] = bound
    return _read_only(rows)


def _opposite(rows: Array, relation: Relation) -> Array:
    return _read_only(-rows if relation is Relation.REPLACE_ONE else np.zeros(rows.shape))


def _read_only(values: Array) -> Array:
    values.flags.writeable = False
    return values
