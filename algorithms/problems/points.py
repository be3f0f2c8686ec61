"""Checks that problems share: points, indices of records, and the ball on which constants hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact

# Relative; points that were projected on the ball in floating point lie this little outside at most.
_ROUNDING = Fraction(1, 10**9)


def reach(radius: Fraction) -> sympy.Expr:
    """Return R(1 + 1e-9): constants on this ball hold at every point that ``checked_points`` accepts."""
    return sympy.Rational(radius * (1 + _ROUNDING))


def numbers(values: ArrayLike, name: str, allowed: str) -> Array:
    """Return a copy of the values as doubles, or raise ``InvalidValue`` with the allowed form."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue(name, type(values).__name__, allowed) from None


def demand_finite(array: Array, name: str, advice: str = "") -> None:
    """Raise ``InvalidValue`` where an entry is not finite, with its place."""
    finite = np.isfinite(array)
    if not finite.all():
        place = tuple(np.argwhere(~finite)[0])
        raise InvalidValue(f"{name}[{', '.join(map(str, place))}]", array[place], "a finite number", advice)


def checked_points(X: ArrayLike, dimension: int, radius: Fraction | None = None, name: str = "X") -> Array:
    """Return one point per row as an (R, p) array, or raise ``InvalidValue``.

    Args:
        X: Points, shape (R, p).
        dimension: p.
        radius: Radius of the ball outside which the constants, by which noise is calibrated, do not hold: points there
            raise an error (and so do values that are not numbers). None: they hold everywhere.
        name: The name for errors.
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != dimension:
        raise InvalidValue(f"{name}.shape", points.shape, f"(repetitions, {dimension})")
    if radius is not None and not (np.linalg.norm(points, axis=1) <= float(radius) * (1 + float(_ROUNDING) / 2)).all():
        allowed = f"points in the ball of radius {radius}"
        raise InvalidValue(name, "a point outside the ball", allowed, "the constants hold there only: project first")
    return points


def checked_rows(rows: ArrayLike, repetitions: int, records: int) -> NDArray[np.int64]:
    """Return indices of records, shape (R, b) with b >= 1, or raise ``InvalidValue``."""
    chosen = np.asarray(rows)
    if chosen.ndim != 2 or chosen.shape[0] != repetitions or chosen.shape[1] < 1 or chosen.dtype.kind not in "iu":
        raise InvalidValue("rows.shape", chosen.shape, f"integers of shape ({repetitions}, b) with b >= 1")
    if repetitions and not (chosen.min() >= 0 and chosen.max() < records):
        raise InvalidValue("rows", f"{chosen.min()} .. {chosen.max()}", f"indices from 0 to {records - 1}")
    return chosen


def checked_start(start: ArrayLike, radius: Fraction | None, name: str = "start") -> Array:
    """Return x₁ as a read-only copy of shape (p,), in the ball by exact arithmetic, or raise ``InvalidValue``."""
    first = numbers(start, name, "finite numbers of shape (p,)")
    if first.ndim != 1 or not first.size or not np.isfinite(first).all():
        raise InvalidValue(name, start, "finite numbers of shape (p,)")
    if radius is not None and sum((Fraction(float(entry)) ** 2 for entry in first), Fraction(0)) > radius**2:
        raise InvalidValue(name, start, f"a point in the ball of radius {radius}")
    first.flags.writeable = False
    return first


def positive(value: ExactLike, name: str) -> Fraction:
    """Return an exact number greater than 0, or raise ``InvalidValue``."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidValue(name, value, "greater than 0")
    return number
