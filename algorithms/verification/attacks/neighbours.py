"""Neighbouring datasets whose answers are as far apart as the public constants allow, for every query."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache, cached_property, partial, singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.estimators.scores import LinearScores
from dpbounds.algorithms.frank_wolfe.bounded_entries import BoundedEntries
from dpbounds.algorithms.problems.clipped import Clipped
from dpbounds.algorithms.problems.domain import hessian_rank
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.algorithms.problems.linear_model import LinearModel
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.algorithms.problems.shifted_records import ShiftedRecords
from dpbounds.errors import InvalidValue
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.relations import Relation

Shape = Literal["steep", "curved"]

_CENTRE = 0.99  # distance of the minimum of a curved canary from the start, in units of G/L
_RAW = 10  # length of a record that is to be clipped, in units of the bound
_SMALL = 1 / 8  # scale of a small record, likewise


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two problems that differ in record 0 and in nothing else.

    Attributes:
        first: The problem on one dataset.
        second: On its neighbour.
        relation: The neighbouring relation.
    """

    first: Any
    second: Any
    relation: Relation


def worst_pair(problem: Any, relation: str | Relation = Relation.REPLACE_ONE, shape: Shape = "steep") -> Pair:
    """Return a pair with the problem's public constants: a canary of the largest effect, and silent other records.

    The canary's gradient and Hessian are those that the accounting allows any record, not those of the problem's loss:

    - "steep": its loss is linear, so that its gradient is of norm G everywhere (on ``BoundedEntries``: of entries G₁),
      and its loss ranges over GD on a ball of diameter D. Its differences are 0.
    - "curved": its loss is Huber's, (L/2)‖x - c‖² up to where the slope is G, with c at 0.99 G/L from the start. Its
      differences are L‖x - y‖, its gradients 0.99 G, as long as iterates stay near the start.

    Its Hessian, for either, has as many eigenvalues L as a record's may have others than 0. Those of the other records
    are -L I, though their gradients are 0: a saddle that no walk leaves, where second-order methods ask all they may.

    Under replace-one the sign of all this is turned round, so that gradients are 2G/n apart; under add-or-remove-one (n
    public) the canary falls silent, for G/n.

    Such a pair is known for a ``Problem``, a ``LinearModel``, ``LinearScores`` with one output, ``Clipped`` (for these
    two no curvature is known, and so no curved canary) and sums with shifted records (a ``Landscape``).
    """
    asked = Relation(relation)
    if shape not in shapes_for(problem):
        raise InvalidValue("shape", repr(shape), "'steep' where entries of gradients are bounded")
    if isinstance(problem, Clipped):
        first, second = (Clipped(_Linear.like(problem, sign), problem.clip) for sign in (1.0, other_sign(asked)))
        return Pair(first, second, asked)
    row = _loudest(problem)
    kind: Any = type(problem)
    made = partial(_with_records, _canary(kind, shape), problem)
    return Pair(made(row), made(other_sign(asked) * row), asked)


def shapes_for(problem: object) -> tuple[Shape, ...]:
    """Return the kinds of canaries: a curved one needs an L, and would exceed a bound on every entry of a gradient."""
    return ("steep",) if isinstance(problem, BoundedEntries | LinearScores | Clipped) else ("steep", "curved")


def pairs_of_norms(problem: object, relation: str | Relation = Relation.REPLACE_ONE) -> Iterator[tuple[str, Pair]]:
    """Yield pairs with the problem's own loss, by name, that show which norm of a record is meant.

    - "clipped": the record is ten times too long, in no direction of an axis, and clipped by the library. A wrong norm
      lets more of it pass.
    - "large or small": the record is as large as may be, or an eighth of that: the others are silent, so that whatever
      is fitted to the largest record changes with it.

    There are none but for a ``Problem``, a ``LinearModel`` and ``LinearScores``.
    """
    asked = Relation(relation)
    if isinstance(problem, Problem | LinearModel | LinearScores):
        row = _loudest(problem)
        length, bound = np.linalg.norm(row), problem.feature_bound
        slanted = np.where(np.arange(row.size) % 2, -1.0, 1.0) * np.sqrt(1 / row.size) * length
        clipped = clip_rows(_RAW * slanted[None], bound)[0][0]
        if isinstance(problem, BoundedEntries):
            clipped = np.clip(clipped, -row.max(), row.max())
        for name, first, second in (
            ("clipped", clipped, other_sign(asked) * clipped),
            ("large or small", row, _SMALL * row),
        ):
            made = partial(_with_records, type(problem), problem)
            yield name, Pair(made(first), made(second), asked)


def other_sign(relation: Relation) -> float:
    """Return the factor of the differing record on the second side: its sign is changed, or it becomes 0."""
    return -1.0 if relation is Relation.REPLACE_ONE else 0.0


@singledispatch
def _loudest(problem: object) -> Array:
    """Return a record at the public bounds, as a row of features or as a shift."""
    advice = "build the two problems yourself and audit them as a Pair"
    raise InvalidValue("problem", type(problem).__name__, "a Problem, a LinearModel or a Landscape", advice)


@_loudest.register
def _(problem: Problem) -> Array:
    return _along_first(problem.dimension, to_float(problem.feature_bound, "down"))


@_loudest.register
def _(problem: LinearModel) -> Array:
    bound, entry = problem.feature_bound, problem.entry_bound if isinstance(problem, BoundedEntries) else None
    if entry is None:
        return _along_first(problem.dimension, to_float(bound, "down"))
    row: Array = clip_rows(np.full((1, problem.dimension), to_float(entry, "down")), bound)[0][0]
    return row


@_loudest.register
def _(problem: LinearScores) -> Array:
    if problem.outputs > 1:
        raise InvalidValue("problem", f"scores of {problem.outputs} outputs", "one with a single output")
    return _along_first(problem.dimension, to_float(problem.feature_bound, "down"))


@_loudest.register
def _(problem: ShiftedRecords) -> Array:
    return _along_first(problem.dimension, to_float(problem.shift_bound, "down") or 1.0)


def _along_first(dimension: int, length: float) -> Array:
    row = np.zeros(dimension)
    row[0] = length
    return row


@dataclass(frozen=True, slots=True, eq=False)
class _Linear:
    """Record 0 has one gradient everywhere, longer than is allowed, the others none: to be ``Clipped``."""

    records: int
    dimension: int
    initial_point: Array
    slope: float

    @classmethod
    def like(cls, problem: Clipped, sign: float) -> _Linear:
        return cls(problem.records, problem.dimension, problem.initial_point, sign * 2 * float(problem.lipschitz))

    def record_gradients(self, x: Array, rows: Indices) -> Array:
        found = np.zeros((len(rows), self.dimension))
        found[rows == 0, 0] = self.slope
        return found


_STEEPEST = np.linspace(-1, 1, 2001)  # targets tried for the steepest slope at the start, in units of their bound


def _with_records(kind: type, problem: Any, row: Array) -> Any:
    """Return the public constants of a problem with this record in front of silent ones; labels, if any, stay."""
    public = {each.name: getattr(problem, each.name) for each in fields(problem)}
    name = _name_of_rows(problem)
    rows = np.zeros(public[name].shape)
    rows[0] = row
    public[name] = _read_only(rows)
    if "target_bound" in public:
        tried = _STEEPEST * to_float(problem.target_bound, "down")
        targets = np.zeros(len(rows))
        targets[0] = tried[int(np.argmax(np.abs(problem.loss.derivatives(-tried)[1])))]
        public["targets"] = _read_only(targets)
    return kind(**public)


def _name_of_rows(problem: Any) -> str:
    return next(name for name in ("signed_features", "features", "shifts") if hasattr(problem, name))


class _Told(NamedTuple):
    """The parameters of a canary: its sign, u and ‖u‖, G and L (rounded down), and the minimum of a curved one.

    If steep, its gradient is ``slope``. Its loss is cut at ±``most``, half of the range by which scores are accounted.
    """

    sign: float
    u: Array
    strength: float
    steepest: float
    curvature: float
    centre: Array
    most: float
    slope: Array


class _Canary:
    """Wrapper of a problem whose record i has, with u = row_i over the bound, the loss of the canary along u.

    Only row 0 may differ from 0, so that parts of the records and projections of their features are what they should
    be: the canary is in the part that has it, and its strength goes with the length of the row.
    """

    _shape: Shape
    _base: type

    def __post_init__(self: Any) -> None:
        if not isinstance(self, ShiftedRecords | LinearScores):  # records are pairs ±z there, and here a mark
            self._base.__post_init__(self)

    @cached_property
    def _told(self: Any) -> _Told:
        row = getattr(self, _name_of_rows(self))[0]
        bound = (self.shift_bound or 1) if isinstance(self, ShiftedRecords) else self.feature_bound
        sign = float(np.sign(row[np.abs(row).argmax()]))
        u = sign * row / float(bound)
        steepest, curvature = (
            math.inf if constant is None else evaluate(constant, {}).lower
            for constant in (self.lipschitz, self.smoothness)
        )
        strength = float(np.linalg.norm(u))
        centre = self.initial_point - _CENTRE * steepest / curvature * u / (strength or 1.0)
        reach = self.loss_range
        most = math.inf if reach is None or not reach.is_finite else evaluate(reach, {}).lower / 2
        return _Told(sign, u, strength, steepest, curvature, centre, most, sign * steepest * u)

    def _of_record(self: Any, X: ArrayLike) -> tuple[Array, Array]:
        """Return loss (R,) and gradient (R, p) of record 0."""
        points, told = np.asarray(X, dtype=np.float64), self._told
        if self._shape == "steep":
            slopes = np.empty(points.shape)
            slopes[:] = told.slope
            return np.clip((points - self.initial_point) @ slopes[0], -told.most, told.most), slopes
        away, reach = points - told.centre, told.steepest / told.curvature
        distance = np.sqrt((away * away).sum(axis=1))
        slope = np.minimum(told.curvature, told.steepest / np.maximum(distance, reach / 2))
        value = (
            np.where(distance <= reach, told.curvature * distance**2 / 2, told.steepest * (distance - reach / 2))
            - told.curvature * (_CENTRE * reach) ** 2 / 2
        )
        size = told.sign * told.strength
        return np.clip(size * value, -told.most, told.most), size * slope[:, None] * away

    def objective_and_gradient(self: Any, X: ArrayLike) -> tuple[Array, Array]:
        value, slope = self._of_record(X)
        weight = np.abs(np.asarray(X)).sum(axis=1) * float(getattr(self, "l1", 0))
        return value / self.records + weight, slope / self.records

    def objective(self: Any, X: ArrayLike) -> Array:
        values: Array = self.objective_and_gradient(X)[0]
        return values

    objective_at = objective

    def gradient(self: Any, X: ArrayLike) -> Array:
        slopes: Array = self.objective_and_gradient(X)[1]
        return slopes

    def batch_gradient(self: Any, X: ArrayLike, rows: ArrayLike) -> Array:
        chosen, told = np.asarray(rows), self._told
        share = (chosen == 0).sum(axis=1)[:, None] / chosen.shape[1]
        slopes = told.slope if self._shape == "steep" else self._of_record(X)[1]
        means: Array = share * slopes
        return means

    def hessian(self: Any, X: ArrayLike) -> Array:
        told = self._told
        rank = hessian_rank(self)
        bent = np.diag(np.arange(self.dimension) < (self.dimension if rank is None else rank))
        own = told.sign * told.strength**2 * bent
        others = (1 - self.records) * np.eye(self.dimension)
        mean: Array = told.curvature / self.records * (own + others)
        return np.tile(mean, (len(np.asarray(X)), 1, 1))

    @property
    def initial_gap(self: Any) -> sympy.Expr:
        """The initial gap of the problem whose constants these are, the same on both sides."""
        base = self._base
        public = {each.name: getattr(self, each.name) for each in fields(self)}
        if "shifts" in public:
            public["shifts"] = np.zeros_like(public["shifts"])
        gap: sympy.Expr = base(**public).initial_gap
        return gap


@cache
def _canary(base: Any, shape: Shape) -> Any:
    return type(f"{shape.capitalize()}{base.__name__}", (_Canary, base), {"_shape": shape, "_base": base})


def _read_only(values: Array) -> Array:
    values.flags.writeable = False
    return values
