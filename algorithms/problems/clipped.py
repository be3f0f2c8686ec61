"""Gradients clipped to a public norm, record by record: for problems without proven constants."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike

from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum, HasRecordGradients, Indices, record_gradients
from dpbounds.algorithms.problems.points import checked_points, checked_rows
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.algorithms.problems.records import clip_rows
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike

_NUMBERS = 1 << 20  # in the gradients that are held at once
_EVERY = 50  # one query in this number, and the first two, test that gradients are those of single records


class CutGradients(FiniteSum):
    """A sum whose records have gradients of norm at most G, and no other known constants.

    Such gradients are those of no F: there are no other constants, ``bound`` refuses, objectives are not a number, and
    what chooses by the objective or asks for Hessians is refused. Steps need a size and a number.
    """

    __slots__ = ()

    clip: ExactLike

    @property
    def has_objective(self) -> bool:
        """Whether gradients are those of an objective."""
        return False

    @property
    def lipschitz(self) -> sympy.Expr:
        """G, enforced."""
        return sympy.Rational(Fraction(self.clip))

    smoothness = hessian_lipschitz = loss_range = initial_gap = property(
        lambda self: None, doc="None: nothing is known."
    )

    @abstractmethod
    def summed_gradients(self, x: Array, rows: Indices) -> Array:
        """Return the sum of some records' cut gradients at one point, shape (p,)."""

    def objective(self, X: ArrayLike) -> Array:
        """Raise ``InvalidValue``: there is none."""
        raise no_objective()

    def objective_at(self, points: ArrayLike) -> Array:
        """Raise ``InvalidValue``: there is none."""
        raise no_objective()

    def hessian(self, X: ArrayLike) -> Array:
        """Raise ``InvalidValue``: there is none."""
        raise no_objective()

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return NaN, shape (R,), and the mean of the clipped gradients, shape (R, p)."""
        points = checked_points(X, self.dimension)
        every = np.arange(self.records)
        return np.full(len(points), np.nan), np.stack([self._mean(x, every) for x in points])

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return the mean of the cut gradients of each repetition's own records, ``rows`` of shape (R, b)."""
        points = checked_points(X, self.dimension)
        chosen = checked_rows(rows, len(points), self.records)
        return np.array([self._mean(x, own) for x, own in zip(points, chosen, strict=True)])

    def _mean(self, x: Array, rows: Indices) -> Array:
        return self.summed_gradients(x, rows) / len(rows)


@dataclass(frozen=True, slots=True, eq=False)
class Clipped(CutGradients):
    """A problem whose records' gradients are clipped to l2 norm G: privacy depends on G alone.

    A record's gradient g is replaced by g min(1, G/‖g‖), rounded so that its exact norm is at most G (``clip_rows``);
    one that is not finite counts as 0. So a run is certified for any constants of the problem. The assumption is that
    ``record_gradients`` (or ``batch_gradient`` of one record) is a function of that record and the point. The first two
    calls and one in fifty test this: the gradient of one record is also computed alone, and must agree with the one
    computed in the batch, up to rounding. Differences of gradients are not supported.

    Args:
        problem: A ``FiniteSum``, or an object with ``HasRecordGradients``.
        clip: G > 0, public.
    """

    problem: FiniteSum | HasRecordGradients = field(repr=False)
    clip: ExactLike
    _asked: list[int] = field(init=False, repr=False, default_factory=lambda: [0])  # how many questions so far

    def __post_init__(self) -> None:
        object.__setattr__(self, "clip", checked_bound(self.clip, "clip"))

    @property
    def records(self) -> int:
        """n, public."""
        return self.problem.records

    @property
    def dimension(self) -> int:
        """The dimension p."""
        return self.problem.dimension

    @property
    def initial_point(self) -> Array:
        """x₁, shape (p,)."""
        return np.array(self.problem.initial_point, dtype=np.float64)

    @property
    def radius(self) -> Fraction | None:
        """Radius of the ball outside which the problem has no gradients, or None."""
        radius: Fraction | None = getattr(self.problem, "radius", None)
        return radius

    @property
    def l1(self) -> Fraction:
        """λ of a public term λ‖x‖₁ added to the sum."""
        weight: Fraction = getattr(self.problem, "l1", Fraction(0))
        return weight

    def record_gradients(self, x: Array, rows: Indices) -> Array:
        """Return the clipped gradients of some records at one point, shape (b, p)."""
        found = self._unclipped(x, rows)
        found[~np.isfinite(found).all(axis=1)] = 0.0
        return clip_rows(found, Fraction(self.clip))[0]

    def sums_within(self, x: Array, rows: Indices, clip: Fraction) -> tuple[Array, int]:
        """Return the sum of gradients clipped at another norm than G, and the number of unclipped gradients."""
        total, within = np.zeros(self.dimension), 0
        for start in range(0, len(rows), max(1, _NUMBERS // self.dimension)):
            own = rows[start : start + max(1, _NUMBERS // self.dimension)]
            found = self._unclipped(x, own)
            finite = np.isfinite(found).all(axis=1)
            found[~finite] = 0.0
            within += int((finite & ((found * found).sum(axis=1) <= float(clip) ** 2)).sum())
            total += clip_rows(found, clip)[0].sum(axis=0)
        return total, within

    def summed_gradients(self, x: Array, rows: Indices) -> Array:
        """Return the sum of some records' clipped gradients at one point, shape (p,)."""
        size, total = max(1, _NUMBERS // self.dimension), np.zeros(self.dimension)
        for start in range(0, len(rows), size):
            total += self.record_gradients(x, rows[start : start + size]).sum(axis=0)
        return total

    def _unclipped(self, x: Array, rows: Indices) -> Array:
        """Return the gradients of some records as the problem gives them, shape (b, p), a copy."""
        found = np.array(record_gradients(self.problem, x, rows), dtype=np.float64)
        if found.shape != (len(rows), self.dimension):
            raise InvalidValue("record_gradients.shape", found.shape, f"({len(rows)}, {self.dimension})")
        question = self._asked[0]
        self._asked[0] += 1
        if len(rows) > 1 and (question < 2 or question % _EVERY == 0):
            place = question // _EVERY * 7919 % len(rows) if question else len(rows) - 1
            alone = np.array(record_gradients(self.problem, x, rows[place : place + 1]), dtype=np.float64)
            if not _alike(found[place], alone.reshape(-1), found):
                raise InvalidValue(
                    "record_gradients",
                    f"one that differs for record {rows[place]} alone and among {len(rows)} records",
                    "a function of that record and the point",
                    "normalise by public numbers, not by statistics of the batch",
                )
        return found


def _alike(among: Array, alone: Array, batch: Array) -> bool:
    """Return whether two gradients agree up to single precision, where terms of a sum may have cancelled."""
    if among.shape != alone.shape:
        return False
    if not (np.isfinite(among).all() and np.isfinite(alone).all()):
        return not (np.isfinite(among).all() or np.isfinite(alone).all())  # both count as 0
    largest = np.abs(batch[np.isfinite(batch).all(axis=1)]).max()
    with np.errstate(over="ignore"):  # what is infinite is too far
        apart = np.abs(among - alone).max()
    return bool(apart <= 0.02 * np.abs(among).max() + 2.0**-20 * largest)


def no_objective() -> InvalidValue:
    """Return the error for queries other than gradients."""
    return InvalidValue(
        "problem", "Clipped", "one whose constants are known", "clipped gradients are those of no function"
    )


def smoothness_of_gradients(problem: FiniteSum) -> sympy.Expr | None:
    """Return a bound on the Lipschitz constant of a record's gradient, as it is summed; None if unknown.

    Scaling a gradient down to a norm is the projection to a ball, which moves no two of them apart: ``Clipped`` has the
    smoothness of the problem that it clips. (Its own ``smoothness`` is None: no difference is clipped.)
    """
    known: sympy.Expr | None = getattr(problem.problem if isinstance(problem, Clipped) else problem, "smoothness", None)
    return known
