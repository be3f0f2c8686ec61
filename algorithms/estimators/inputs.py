"""Checked input of an estimator: public bounds and ranges, classes, and records in public units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.problem import checked_bound
from dpbounds.errors import MISSING, InvalidValue
from dpbounds.expressions.exact import ExactLike

# Of features in [-1, 1], the norm that records are clipped to, in units of √(p+1): low, so that most get the same norm.
# A record keeps its direction, with its intercept, and so its side of every plane. Numbers that are predicted lose more
# by records that pull less, so that fewer are clipped.
OF_CLASSES, OF_NUMBERS = Fraction(7, 20), Fraction(1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Public ranges of numbers, mapped to [-1, 1]; other numbers are cut at their ends.

    Attributes:
        middle, half: Middle and half-width of each range, shape (p,) each.
    """

    middle: Array
    half: Array

    @classmethod
    def of(cls, ranges: ArrayLike | None, count: int, name: str, centred: bool = True) -> Units | None:
        """Return ranges (low, high) of each number, or one for all; None if there are none.

        Args:
            ranges: Shape (p, 2) or (2,).
            count: p.
            name: The name for errors.
            centred: Whether 0 is the middle; else numbers are only made short, by their largest size.
        """
        if ranges is None:
            return None
        ends = np.array(ranges, dtype=np.float64)
        if ends.shape not in ((2,), (count, 2)):
            raise InvalidValue(f"{name}.shape", ends.shape, f"({count}, 2), or (2,) for one range of all")
        low, high = np.broadcast_to(ends, (count, 2)).T
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(ends).all() and np.isfinite(high - low).all()
        if not (finite and (low < high).all()):
            raise InvalidValue(name, "a range that is empty or endless", "low < high, both finite")
        if not centred:
            return cls(np.zeros(count), np.maximum(np.abs(low), np.abs(high)))
        return cls(low / 2 + high / 2, high / 2 - low / 2)

    def apply(self, numbers: Array) -> Array:
        """Return the numbers in [-1, 1], each by itself; shape as given, (..., p)."""
        return np.clip((numbers - self.middle) / self.half, -1.0, 1.0)


ESTIMATE = "estimate"


def is_estimate(given: object) -> bool:
    """Return whether a bound is to be chosen privately."""
    return isinstance(given, str) and given == ESTIMATE


def norm_bound(
    feature_bound: ExactLike | None, in_units: bool, features: int, typical: Fraction = OF_CLASSES
) -> Fraction | None:
    """Return the norm to which records are clipped, or None where it is to be chosen privately.

    Args:
        feature_bound: A number, "estimate" or None.
        in_units: Whether features are in [-1, 1].
        features: p.
        typical: The norm of such features, in units of √(p+1).

    Raises:
        InvalidValue: Nothing public says how long records are.
    """
    if is_estimate(feature_bound):
        return None
    if feature_bound is not None:
        return checked_bound(feature_bound)
    if in_units:
        return typical * Fraction(float(np.sqrt(features + 1)))
    raise InvalidValue(
        "feature_bound",
        MISSING,
        "give a typical norm of a record, chosen without looking at the data (longer records are clipped), public "
        "feature_ranges=, or feature_ranges='estimate' to choose ranges privately (where features have one scale, "
        "feature_bound='estimate' is cheaper)",
        "noise is in proportion to it, and a norm read off the records would publish something about one of them",
    )


def checked_classes(labels: NDArray[Any], classes: Sequence[Any] | None, most: int | None) -> NDArray[Any]:
    """Return the classes, sorted: those given, or those that occur; at least two, and at most ``most``."""
    if classes is None:
        found: NDArray[Any] = np.unique(labels)
        if most is not None and len(found) > most:
            advice = f"Only binary classification is supported. The type of the target is {type_of_target(labels)}."
            raise InvalidValue("number of classes", len(found), str(most), advice)
        if len(found) < 2:
            raise InvalidValue("number of classes", len(found), "2 or more", "the labels show 1 class; give classes=")
        return found
    given: NDArray[Any] = np.unique(np.asarray(classes))
    if len(given) < 2 or len(classes) != len(given) or (most is not None and len(given) > most):
        raise InvalidValue("classes", list(classes), f"{'two' if most == 2 else 'two or more'} different labels")
    if not np.isin(labels, given).all():
        raise InvalidValue("labels", "one that is none of the classes", ", ".join(map(repr, given.tolist())))
    return given
