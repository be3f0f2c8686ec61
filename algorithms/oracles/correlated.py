"""The mean gradient of one batch after the other, under noise that a matrix correlates from step to step.

The oracle releases C x + Z row by row: x_t is the mean of step t's batch, Z_t fresh Gaussian noise. The oracle answers
with what that says of x_t, once the rows before it are known: x_t + N_t, C N = Z. C is lower triangular without a 0 on
its diagonal, so that answers and rows tell the same, step by step, and what adapts to the one adapts to the other
(``matrices.md``, sections 1 and 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles.batches import BatchAnswer, Rows, batch_means
from dpbounds.algorithms.oracles.perturbation import count_noise, demand_points, not_finite
from dpbounds.algorithms.oracles.visits import Visiting
from dpbounds.algorithms.sampling import Correlated
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, LowerTriangular, Toeplitz


class Encoding(Protocol):
    """Apply C to a stream, one row at a time."""

    def encoded(self, x: Array) -> Array:
        """Return (C x)_t, of the next x_t and those before it."""

    def decoded(self, z: Array) -> Array:
        """Return the next x_t for which (C x)_t = z."""


def encoding(matrix: Encoder) -> Encoding:
    """Return the encoding of a matrix; it keeps as many arrays as the matrix has bands, or log₂ for a tree."""
    return _Tree() if isinstance(matrix, BinaryTree) else _Banded(matrix)


class _Banded:
    """Toeplitz or any lower triangular matrix: the x_k are kept that later rows may need."""

    def __init__(self, matrix: Toeplitz | LowerTriangular) -> None:
        self._matrix, self._bands = matrix, matrix.bands
        self._past: list[Array] = []  # the last of the bands - 1 before this step
        self._step = 0
        self._column = [float(each) for each in matrix.coefficients] if isinstance(matrix, Toeplitz) else []

    def encoded(self, x: Array) -> Array:
        diagonal, before = self._before(x)
        self._keep(x)
        found: Array = diagonal * x + before
        return found

    def decoded(self, z: Array) -> Array:
        diagonal, before = self._before(z)
        x: Array = (z - before) / diagonal
        self._keep(x)
        return x

    def _before(self, like: Array) -> tuple[float, Array]:
        found = np.zeros_like(like)
        weights = self._weights()
        for weight, x in zip(weights[1:], reversed(self._past), strict=False):
            if weight:
                found += weight * x
        return weights[0], found

    def _weights(self) -> Sequence[float]:
        """Return C[t, t], C[t, t-1], ..."""
        if isinstance(self._matrix, Toeplitz):
            return self._column
        row, denominator = self._matrix.rows[self._step], self._matrix.denominator
        return [float(Fraction(entry, denominator)) for entry in row[::-1][: self._bands]]

    def _keep(self, x: Array) -> None:
        self._step += 1
        self._past.append(x)
        del self._past[: max(0, len(self._past) - (self._bands - 1))]


class _Tree:
    """A binary tree that releases the longest block ending at a step, which determines the sum so far.

    The shorter blocks that end there add no information on that sum, and are not drawn. Sums of the past are kept where
    the block of a later step may begin.
    """

    def __init__(self) -> None:
        self._step, self._sums = 0, dict[int, Array]()

    def encoded(self, x: Array) -> Array:
        total = x + self._sums[self._step] if self._step else x
        begin = self._advance()
        found: Array = total - self._sums[begin] if begin else total.copy()
        self._keep(total)
        return found

    def decoded(self, z: Array) -> Array:
        last = self._sums.get(self._step)
        begin = self._advance()
        total = z + self._sums[begin] if begin else z.copy()
        found: Array = total if last is None else total - last
        self._keep(total)
        return found

    def _advance(self) -> int:
        """Move to the next step, and return where its block begins."""
        self._step += 1
        return self._step & (self._step - 1)

    def _keep(self, total: Array) -> None:
        self._sums[self._step] = total
        needed = {0}
        place = self._step
        while place:
            needed.add(place)
            place &= place - 1
        self._sums = {place: each for place, each in self._sums.items() if place in needed}


def dense(matrix: Encoder) -> Array:
    """Return C as an array of doubles, shape (T, T); of a tree the longest block that ends at each step."""
    columns = encoding(matrix)
    return np.stack([columns.encoded(row) for row in np.eye(matrix.steps)])


def noise_of_sums(matrix: Encoder) -> Array:
    """Return the standard deviation of the noise in the sum of answers 1, ..., t in units of a row's; shape (T,)."""
    columns = encoding(matrix)
    total, found = np.zeros(matrix.steps), np.empty(matrix.steps)
    for t, row in enumerate(np.eye(matrix.steps)):
        total = total + columns.decoded(row)
        found[t] = np.linalg.norm(total)
    return found


def drawn(scheme: Correlated, records: int, place: int, group: Rows, generator: np.random.Generator) -> Rows:
    """Return the records of a step's batch, given every record's group."""
    members = np.flatnonzero(group == place)
    if scheme.sample_rate is None:
        return members
    return members[generator.random(len(members)) < float(scheme.sample_rate)]


@dataclass(frozen=True, eq=False)
class CorrelatedGradientOracle(Visiting):
    """Answers about group 1, 2, ..., m of the records, then 1 again: the mean gradient plus correlated noise.

    The entry of the ledger is the ``MatrixMechanism`` of all rows; after the last one no more answers are given.

    Attributes:
        scheme: ``Correlated``; what is drawn comes from the streams of the noise.

    Raises:
        InvalidValue: There are fewer records than groups, or the noise is not Gaussian.
        UnsupportedMechanism: Something else was written into the ledger between two answers, or the rows are used up.

    Source: Kairouz et al. 2021 (trees), Denisov et al. 2022 (matrices); ``matrices.md``.
    """

    scheme: Correlated
    _group: list[Rows] = field(init=False, default_factory=list)
    _drawn: Encoding = field(init=False)
    _reached: Encoding = field(init=False)

    def __post_init__(self) -> None:
        if self.noise != "gaussian":
            raise InvalidValue("noise", repr(self.noise), "'gaussian': other noise has no account under a matrix")
        super().__post_init__()
        for name in ("_drawn", "_reached"):
            object.__setattr__(self, name, encoding(self.scheme.matrix))

    def _answer(self, X: Array) -> BatchAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        n, m = self.problem.records, self.scheme.bins
        place = self._pen.steps % m
        if not self._group:
            apart = self.scheme.draws == "balls-in-bins"
            self._group[:] = [g.integers(0, m, size=n) if apart else np.arange(n) % m for g in self.generators]
        rows = tuple(
            drawn(self.scheme, n, place, group, generator)
            for group, generator in zip(self._group, self.generators, strict=True)
        )
        mean = batch_means(self.problem, X, rows, self.divisor)
        if not np.isfinite(mean).all():
            raise not_finite()
        fresh = noise.gaussian(
            self.generators,
            mean.shape[1],
            noise_stddev=self.noise_stddev,
            per_record_bound=self.per_record_bound,
            ledger=self._pen,
        )
        noisy = mean + self._drawn.decoded(fresh)
        reached = self._reached.encoded(noisy - mean)  # what rounding swallowed is missing here, too
        count_noise("gaussian", reached.copy(), self.noise_stddev, self._pen, self.noise_stddev)
        return BatchAnswer(noisy, closed(mean), closed(rows))
