"""The error of prefix sums of a stream with correlated noise, and the coefficients with the smallest error.

A library searches for the coefficients in floating point; they are rounded to decimals, for which privacy and error are
proven (``matrices.md``, section 6).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.signal import correlate, lfilter

from dpbounds.errors import InvalidValue, NotCertified, demand, demand_one_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import positive_integer
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.limits import MATRIX_STEPS
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.routes.closed_forms import ball

ErrorKind = Literal["mean", "largest"]
Floats = NDArray[np.float64]

_DECIMALS = 10  # decimals of the coefficients
_BITS, _GROWTH = 96, 100  # bits of the inverse that the proof starts from: after the binary point, and before it
_PRECISION = 160
_CALLS = 400  # largest number of evaluations of the search
_WORK = 20_000_000  # largest number of steps times bands, all of which an evaluation uses
_UNSTABLE = (
    "the inverse of the matrix cannot be worked out to enough digits: take coefficients that fall, or fewer steps"
)


def prefix_error(matrix: Toeplitz, error: ErrorKind = "mean") -> Enclosure:
    """Enclose the standard deviation of prefix sums x_1 + … + x_i, per unit of noise and coordinate.

    Args:
        matrix: C; the rows are Cx + noise, and C⁻¹ gives the sums back.
        error: "mean" for the root of the mean over i of the squares, "largest" for the last and largest.

    Returns:
        A certified interval, to be multiplied by the noise multiplier and the clipping norm.

    Raises:
        InvalidValue: There is no such kind of error, or this is not a Toeplitz matrix.
        NotCertified: The coefficients of C⁻¹ grow so fast that no digit of them is proven.

    >>> prefix_error(Toeplitz([1], steps=16), "largest").contains(4)
    True
    """
    demand("matrix", matrix, Toeplitz)
    demand_one_of("error", error, get_args(ErrorKind))
    inverse, radius = _inverse(matrix)
    unit = 1 << _BITS
    lowest = highest = total = 0
    count = matrix.steps
    for step, entry in enumerate(inverse):
        total += entry
        weight = count - step if error == "mean" else 1
        lowest += weight * max(0, abs(total) - radius) ** 2
        highest += weight * (abs(total) + radius) ** 2
    scale = unit**2 * (count if error == "mean" else 1)
    with working(_PRECISION):
        lower, upper = (ball(Fraction(end, scale)).sqrt() for end in (lowest, highest))
        return Enclosure.from_balls(lower, upper, "prefix sums", _PRECISION)


def _inverse(matrix: Toeplitz) -> tuple[list[int], int]:
    """Return the coefficients of C⁻¹ and how far their prefix sums may be off, both times 2^_BITS (rounded up)."""
    unit, count = 1 << _BITS, matrix.steps
    common = math.lcm(*(c.denominator for c in matrix.coefficients))
    numerators = fmpz_poly([int(c * common) for c in matrix.coefficients])
    near, length = fmpz_poly([round(unit / matrix.coefficients[0])]), 1
    for _ in range(count.bit_length() + 1):  # Newton's iteration, twice as many coefficients each time; the last cleans
        length = min(2 * length, count)
        left = _cut(fmpz_poly([common * unit]) - numerators * near, length)
        near += fmpz_poly([_nearest(int(c), common * unit) for c in _cut(near * left, length).coeffs()])
        if max(abs(int(c)) for c in near.coeffs()) > unit << _GROWTH:
            raise NotCertified(_UNSTABLE)
    size = sum(abs(int(c)) for c in near.coeffs())
    left = _cut(fmpz_poly([common * unit]) - numerators * near, count)
    share = Fraction(sum(abs(int(c)) for c in left.coeffs()), common * unit)
    if share >= Fraction(1, 2):
        raise NotCertified(_UNSTABLE)
    entries = [int(c) for c in near.coeffs()]
    entries += [0] * (count - len(entries))
    return entries, -int(-(size * share / (1 - share)) // 1)


def _cut(series: fmpz_poly, count: int) -> fmpz_poly:
    return fmpz_poly(series.coeffs()[:count])


def _nearest(value: int, unit: int) -> int:
    return (2 * value + unit) // (2 * unit)


def optimal_toeplitz(
    steps: int, bands: int, *, separation: int | None = None, error: ErrorKind = "mean", sampled: bool = False
) -> Toeplitz:
    """Return the coefficients with the smallest error of prefix sums at a given budget, by numerical search.

    The search minimises the product of the error and the sensitivity; the result need not be optimal. The coefficients
    have ten decimals, the first is 1.

    Args:
        steps: The number of rows.
        bands: The number of coefficients that are not 0; at most ``separation``.
        separation: The minimum separation of the steps of a record, which takes part as often as possible; None for one
            participation.
        error: As in :func:`prefix_error`.
        sampled: Whether the steps are drawn ("cyclic-poisson"): then the length of one column counts.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> optimal_toeplitz(64, 2).coefficients[1] > Fraction(1, 4)
    True
    """
    count = positive_integer(steps, "steps", MATRIX_STEPS)
    apart = count if separation is None else positive_integer(separation, "separation")
    most = positive_integer(bands, "bands")
    if separation is not None and most > apart:
        raise InvalidValue("bands", bands, f"at most the separation, {separation}")
    demand_one_of("error", error, get_args(ErrorKind))
    demand("sampled", sampled, bool)
    most = min(most, count)
    if most * count > _WORK:
        raise InvalidValue(
            "bands", bands, f"at most {_WORK // count} with {count} steps", "the search would take hours"
        )
    starts = 1 if sampled else -(-count // apart)
    # number of columns of a record that have this number of rows
    columns = np.array(
        [sum(count - start * apart > row for start in range(starts)) for row in range(most)], dtype=float
    )
    found = [1.0]
    for k in range(1, most):
        found.append(found[-1] * (2 * k - 1) / (2 * k))
    weights = (count - np.arange(count)) / count if error == "mean" else np.ones(count)
    best = minimize(
        _cost, np.array(found[1:]), (columns, weights), jac=True, method="L-BFGS-B", options={"maxiter": _CALLS}
    )
    return Toeplitz([1, *(f"{value:.{_DECIMALS}f}" for value in best.x)], count)


def _cost(free: Floats, columns: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return log(squared sensitivity × squared error), and its gradient in all coefficients but the first, 1."""
    checkpoint()
    coefficients = np.concatenate([[1.0], free])
    with np.errstate(over="ignore", invalid="ignore"):
        sums = lfilter([1.0], coefficients, np.ones(len(weights)))  # C⁻¹ of prefix sums
        turned = lfilter([1.0], coefficients, sums)
        squared = float((weights * sums**2).sum())
    if not np.isfinite(squared) or not np.isfinite(turned).all():
        return 1e6, np.zeros_like(free)
    length = float((columns * coefficients**2).sum())
    pulls = correlate(weights * sums, turned, mode="full", method="fft")[len(weights) - 1 :][: len(coefficients)]
    gradient = 2 * columns * coefficients / length - 2 * pulls / squared
    return float(np.log(length) + np.log(squared)), gradient[1:]
