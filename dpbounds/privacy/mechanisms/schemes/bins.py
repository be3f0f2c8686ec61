"""Correlated noise where each record draws one group of steps in secret, and takes part in all of them.

Derived in ``matrices.md``, section 7. Every stride is sound; which one is taken is decided by estimates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz_mat, fmpz_poly
from numpy.typing import NDArray

from dpbounds.errors import UnsupportedMechanism
from dpbounds.limits import MATRIX_ROWS
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, Toeplitz
from dpbounds.privacy.pairs.pairs import Allocated, Combined, Direction, Pair, ShiftedGaussians
from dpbounds.privacy.pairs.step_bounds import StepBound
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.matrices import MatrixMechanism

Floats = NDArray[np.float64]

_DELTA, _HALVINGS = 1e-6, 24  # δ at which an estimate compares strides, and steps of its search
_POINTS = np.linspace(-8.0, 8.0, 97)
_WEIGHTS = np.exp(-(_POINTS**2) / 2) * (_POINTS[1] - _POINTS[0]) / math.sqrt(2 * math.pi)
_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(9)
_MASSES = _MASSES / _MASSES.sum()


@dataclass(frozen=True, slots=True)
class Bins:
    """The overlaps of the columns of the bins, exactly; c_j is |C| summed over the steps of bin j.

    Attributes:
        count: b, the number of bins.
        largest: The largest ‖c_j‖².
        overlaps: For each distance d from 1 to b - 1, the largest ⟨c_j, c_k⟩ over |j - k| = d.
        smallest: At most each ‖C 1_j‖², which vectors at right angles attain, one direction to a bin.
        shared: At most each ⟨c_j, c_k⟩, and 0 unless C >= 0: what vectors in one direction attain.
    """

    count: int
    largest: Fraction
    overlaps: tuple[Fraction, ...]
    smallest: Fraction
    shared: Fraction

    def at(self, stride: int) -> tuple[Fraction, Fraction]:
        """Return (ρ, v): if j mod stride is revealed, Gram entries are at most ρ off the diagonal, and ρ + v on it."""
        common = max(self.overlaps[stride - 1 :: stride], default=Fraction(0))
        assert common <= self.largest  # Cauchy and Schwarz
        return common, self.largest - common


def bins_steps(mechanism: MatrixMechanism, order: Order) -> tuple[tuple[StepBound, int], ...]:
    """Return the pairs that dominate, and those that are attained.

    Raises:
        UnsupportedMechanism: The matrix is too large for the exact work.
    """
    assert mechanism.separation is not None
    found = bins_of(mechanism.matrix, mechanism.separation)
    unit = 1 / mechanism.noise_multiplier**2
    direction = Direction.of(order)
    attacks = tuple(
        _mixture(common, found.smallest - common, found.count, unit, direction)
        for common in dict.fromkeys((found.shared, Fraction(0)))
        if found.smallest > 0
    )
    stride = _best_stride(found, float(unit), direction)
    return ((StepBound(_mixture(*found.at(stride), found.count // stride, unit, direction), attacks), 1),)


def _mixture(common: Fraction, own: Fraction, count: int, unit: Fraction, direction: Direction) -> Pair:
    """Return a Gaussian for the common part and one of ``count`` bins for the rest; both move twice if replaced."""
    ways = 4 if direction is Direction.REPLACE else 1
    if count == 1 or not own:
        return ShiftedGaussians(ways * unit * (common + own))
    bins = Allocated(direction, count, ((ShiftedGaussians(unit * own), count),))
    return Combined(((ShiftedGaussians(ways * unit * common), 1), (bins, 1))) if common else bins


def stride_of(mechanism: MatrixMechanism, relation: Relation) -> int:
    """Return the stride with which the pairs of a relation are made: a choice."""
    assert mechanism.separation is not None
    found = bins_of(mechanism.matrix, mechanism.separation)
    direction = Direction.REPLACE if relation is Relation.REPLACE_ONE else Direction.REMOVE
    return _best_stride(found, float(1 / mechanism.noise_multiplier**2), direction)


def _best_stride(found: Bins, unit: float, direction: Direction) -> int:
    """Return the divisor of b for which ε is least by an estimate; any divisor is sound."""
    strides = [stride for stride in range(1, found.count + 1) if found.count % stride == 0]
    replaced = direction is Direction.REPLACE
    return min(strides, key=lambda stride: _estimate(*found.at(stride), found.count // stride, unit, replaced))


def _estimate(common: Fraction, own: Fraction, count: int, unit: float, replaced: bool) -> float:
    """Return about ε at δ = 1e-6, in the order remove or replace.

    Removed, the loss is √ρ Y + ρ/2 + log of (e^(√v Z + v/2) + S) / b, Y and Z standard normal, S the sum of the other
    bins' factors, taken as log-normal. Replaced, ρ counts four times, and (e^(-√v Z - 3v/2) + S') / b divides, S' being
    S where all other noise has the other sign.
    """
    rho, v = (4 if replaced else 1) * float(common) * unit, float(own) * unit
    others, spread = float(count - 1), math.expm1(min(v, 500.0)) * (count - 1)
    width = math.sqrt(math.log1p(spread / others**2)) if others else 0.0
    rest = others * np.exp(width * _NODES - width**2 / 2) if others else np.zeros(1)
    shares = _MASSES if others else np.ones(1)
    logs = np.log(np.maximum(rest, 1e-300))
    bins = np.logaddexp(math.sqrt(v) * _POINTS[:, None] + v / 2, logs) - math.log(count)
    if replaced:
        bins -= np.logaddexp(-math.sqrt(v) * _POINTS[:, None] - 3 * v / 2, logs[::-1]) - math.log(count)
    losses = (bins[:, :, None] + math.sqrt(rho) * _POINTS + rho / 2).ravel()
    weights = (_WEIGHTS[:, None, None] * shares[:, None] * _WEIGHTS).ravel()
    low, high = 0.0, float(losses.max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        spent = float((weights * -np.expm1(np.minimum(middle - losses, 0.0))).sum())
        low, high = (middle, high) if spent > _DELTA else (low, middle)
    return high


# --- Exact overlaps ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def bins_of(matrix: Encoder, count: int) -> Bins:
    """Return the overlaps of the columns of the bins.

    Raises:
        UnsupportedMechanism: The matrix is too large.
    """
    if isinstance(matrix, Toeplitz) and count <= matrix.steps:
        return _of_toeplitz(matrix, count)
    _demand_few_rows(matrix, count)
    (absolute, signs), common = _summed(matrix, count)
    gram, signed = _gram(absolute), _gram(signs)
    overlaps = [max(gram[j][j + d] for j in range(count - d)) for d in range(1, count)]
    square = common**2
    nonnegative = absolute == signs
    return Bins(
        count,
        Fraction(max(gram[j][j] for j in range(count)), square),
        tuple(Fraction(value, square) for value in overlaps),
        Fraction(min(signed[j][j] for j in range(count)), square),
        Fraction(min(map(min, gram)), square) if nonnegative else Fraction(0),
    )


def _demand_few_rows(matrix: Encoder, count: int) -> None:
    rows = max(matrix.steps, count)
    if rows > MATRIX_ROWS:
        raise UnsupportedMechanism(
            f"balls in bins with a matrix of {rows} rows or bins: overlaps are worked out up to {MATRIX_ROWS}; take a "
            "Toeplitz matrix, or without amplification participation fixed-order"
        )


def summed_columns(matrix: Encoder, count: int) -> Floats:
    """Return c_j, the sums of the columns of |C| for each bin, in doubles, for sampling. Errors as for ``bins_of``."""
    _demand_few_rows(matrix, count)
    (absolute, _), common = _summed(matrix, count)
    return np.array([[float(Fraction(value, common)) for value in line] for line in absolute])


_Lines = list[list[int]]


def _gram(sums: _Lines) -> _Lines:
    full = fmpz_mat(sums)
    return [[int(value) for value in line] for line in (full.transpose() * full).tolist()]


def _summed(matrix: Encoder, count: int) -> tuple[tuple[_Lines, _Lines], int]:
    """Return the sums of the columns of |C| and of C for each bin, and their common denominator."""
    if isinstance(matrix, BinaryTree):
        nodes = []
        for level in range(matrix.steps.bit_length()):
            for block in range(matrix.steps >> level):
                line = [0] * count
                for step in range(block << level, (block + 1) << level):
                    line[step % count] += 1
                nodes.append(line)
        return (nodes, nodes), 1
    if isinstance(matrix, Toeplitz):
        numerators, common = _integers(matrix.coefficients)
        rows: Sequence[Sequence[int]] = [
            [numerators[row - column] if row - column < len(numerators) else 0 for column in range(row + 1)]
            for row in range(matrix.steps)
        ]
    else:
        rows, common = matrix.rows, matrix.denominator
    absolute, signed = [], []
    for row in rows:
        first, second = [0] * count, [0] * count
        for column, value in enumerate(row):
            first[column % count] += abs(value)
            second[column % count] += value
        absolute.append(first)
        signed.append(second)
    return (absolute, signed), common


def _integers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    common = math.lcm(*(value.denominator for value in values))
    return [int(value * common) for value in values], common


def _of_toeplitz(matrix: Toeplitz, count: int) -> Bins:
    """Return the overlaps for a Toeplitz matrix: c_j is c_0 moved down by j rows, so ⟨c_j, c_k⟩ is a partial sum."""
    numerators, common = _integers(matrix.coefficients)
    first, signed = (_pattern(values, matrix.steps, count) for values in ([abs(x) for x in numerators], numerators))
    steps, square = matrix.steps, common**2

    def products(length: int) -> list[int]:
        """Return Σ_{s < length} c_0[s] c_0[s + d] for d < count; rows beyond the last are 0."""
        turned = fmpz_poly(first[:length][::-1]) * fmpz_poly(first)
        found = [int(value) for value in turned.coeffs()]
        return [found[length - 1 + d] if length - 1 + d < len(found) else 0 for d in range(count)]

    # inner products of columns 0 and d, the largest at that distance: other pairs have fewer rows
    most = products(steps)
    least = products(steps - count + 1)  # inner products of the last two columns at that distance
    nonnegative = all(value >= 0 for value in numerators)
    shortest = sum(value * value for value in signed[: steps - count + 1])
    return Bins(
        count,
        Fraction(most[0], square),
        tuple(Fraction(value, square) for value in most[1:]),
        Fraction(shortest, square),
        Fraction(min(least), square) if nonnegative else Fraction(0),
    )


def _pattern(numerators: Sequence[int], steps: int, apart: int) -> list[int]:
    summed: list[int] = []
    for row in range(steps):
        own = numerators[row] if row < len(numerators) else 0
        summed.append(own + (summed[row - apart] if row >= apart else 0))
    return summed
