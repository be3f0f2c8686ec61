"""Functions of SciPy for searches in floating point, written here: importing SciPy takes longer than a first answer.

Nothing here is proven; what a search finds is proven elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FEW = 2000  # points, which take less than a millisecond by themselves
_FAR = 37.0  # larger values underflow in the tail, whose series is exact in doubles
_ROUNDS = 200


def log_tail(x: float) -> float:
    """Log P(Z > x) for a standard normal Z, to about fourteen digits.

    >>> round(log_tail(0.0), 12), round(log_tail(50.0), 9)
    (-0.69314718056, -1254.831361139)
    """
    if x < -1:
        return math.log1p(-math.erfc(-x / math.sqrt(2)) / 2)
    if x < _FAR:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    term, series = 1.0, 0.0
    for k in range(1, 8):  # 1/x - 1/x³ + 3/x⁵ - ..., times the density
        series, term = series + term, -term * (2 * k - 1) / (x * x)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log(series)


def log_tails(x: NDArray[Any]) -> NDArray[Any]:
    """Return the same of many points, of any shape; complex ones are SciPy's."""
    if x.size <= _FEW and not np.iscomplexobj(x):
        return np.fromiter(map(log_tail, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)
    from scipy.special import log_ndtr

    found: NDArray[Any] = np.asarray(log_ndtr(-x))
    return found


def crossing(function: Callable[[float], float], low: float, high: float, near: float, enough: float = 0.0) -> float:
    """Return a zero of a continuous function that changes sign between ``low`` and ``high``, to within ``near``.

    The search ends earlier where the function is found to be at most ``enough`` in absolute value.

    Regula falsi, in which an end that stays twice counts half (Illinois); every third point is the middle, so that the
    bracket shrinks whatever the function's shape.
    """
    at_low, at_high = function(low), function(high)
    moved = 0  # the end that was moved last
    for turn in range(_ROUNDS):
        if at_low == 0 or at_high == 0 or high - low <= near:
            break
        middle = (low + high) / 2
        if turn % 3 < 2 and math.isfinite(at_low) and math.isfinite(at_high):
            chord = low + (high - low) * at_low / (at_low - at_high)
            middle = min(max(chord, low + near / 2), high - near / 2)
        value = function(middle)
        if abs(value) <= enough:
            return middle
        if (value < 0) == (at_low < 0):
            at_high = at_high / 2 if moved == -1 else at_high
            low, at_low, moved = middle, value, -1
        else:
            at_low = at_low / 2 if moved == 1 else at_low
            high, at_high, moved = middle, value, 1
    return low if abs(at_low) < abs(at_high) else high
