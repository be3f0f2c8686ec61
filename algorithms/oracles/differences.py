"""Differences of the mean gradient between two points, with noise in proportion to their distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.batches import (
    HasBatchGradients,
    batch_means,
    demand_all_records,
    draw_rows,
)
from dpbounds.algorithms.oracles.constants import at_least, per_distance
from dpbounds.algorithms.oracles.gradients import Gradients, HasGradients
from dpbounds.algorithms.oracles.perturbation import (
    Answer,
    asked_at,
    count_noise,
    demand_kind,
    demand_points,
    not_finite,
)
from dpbounds.algorithms.oracles.secured import Rows, secured_means
from dpbounds.algorithms.sampling import Batch, Sampling, sampled
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import to_float

_ROUNDING = 1 + 2.0**-48  # more than the relative error of a handful of operations


class HasDifferences(HasGradients, HasBatchGradients, Protocol):
    """The requirements of the oracle of differences on a problem; every ``FiniteSum`` satisfies them."""

    @property
    def smoothness(self) -> sympy.Expr | None:
        """L: one record's gradient changes by at most this times the distance."""


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceAnswer(Answer):
    """Differences of mean gradients, shape (R, p).

    Attributes:
        noise_stddev: Standard deviation (or radius) of the noise, shape (R,): a function of the two points alone.
        rows: Each repetition's records, used at both points, ``Unreleased``; None where the answer is about all.
    """

    noise_stddev: Array
    rows: tuple[Rows, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GradientDifferenceOracle:
    """Answers with ∇F(x) - κ∇F(y), of all records or of one random batch, plus noise per distance; κ is 1 at first.

    Per-record bound. One record's part of the sum is ∇f(x, z) - ∇f(y, z), with norm at most L ‖x - y‖ by smoothness and
    at most 2G by the triangle inequality: C(x, y) = min(L ‖x - y‖, 2G). On a batch the *same* records are used at both
    points, so that this holds there, too. With κ it is (1 - κ)∇f(x, z) + κ(∇f(x, z) - ∇f(y, z)), and C(x, y) is
    (1 - κ)G + κ min(L ‖x - y‖, 2G). Noise is noise_multiplier · C(x, y) on the sum.

    Why the ledger may hold a Gaussian of fixed noise multiplier although the standard deviation varies: x and y are
    points of the algorithm's, functions of what was released before (and public numbers); given that, C(x, y) is the
    same number for both neighbours, and the release is a Gaussian mechanism whose noise in units of its per-record
    bound is noise_multiplier, a constant fixed in advance. Adaptive composition requires exactly that. It would fail
    for points that depend on the data in any other way.

    Where x = y and κ = 1, difference and noise are both exactly 0 (the entry is made all the same).

    Where the problem clips each record's difference (``difference_clip``, ``summed_differences``), L is what it clips
    at per distance; with κ the parts of (1 - κ) ∇F(x) and of κ times the difference are clipped one by one.

    Rounding. Distances are enlarged by (p + 16) 2^-53, relatively, which covers the error of the norm of p rounded
    differences. And two gradients of nearly equal points differ by less than their own rounding, which is not in
    proportion to the distance: noise that is would be drowned, and the low bits would tell the data. So C gets a floor.
    With u = 2^-53, a record's gradient at x is computed to within (p + 256) u (G + L ‖x‖) (its size is at most G; an
    error of the margin or of the point by (p + 2) u ‖x‖ moves it by L times that), and a mean of n of them, summed in
    any order, to within n u G more. Four such means enter (two points, two neighbours), so that
    4 (n + p + 256) u (G + L max(‖x‖, ‖y‖)) is added to the per-record bound of the mean. Relative to G/n that grows as
    4.5e-16 n², and relative to the bound of a short move it is more: for millions of records it is not of the order of
    rounding. Utility bounds leave it out all the same. What the noise cannot cover in this way is its own rounding, see
    ``dpbounds.algorithms.noise``.

    Attributes:
        sampling: A ``Batch``, ``Poisson``, or None for all records.
        gradients: A shared memory of exact gradients (see ``Gradients``); by default one of its own.
        kept: κ in [0, 1], exact.

    Source: DP-SPIDER, Arora et al. 2023, Algorithm 2, as used by Lowy, Ullman & Wright 2024: with its noise
    min(σ₂ ‖x - y‖, σ̂₂) and σ̂₂ = 2G σ₂/L this is σ₂ = noise_multiplier · L/n.
    """

    question: ClassVar[str] = "difference"

    problem: HasDifferences
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind = "gaussian"
    sampling: Sampling = None
    gradients: Gradients | None = field(default=None)
    kept: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        demand_kind(self.noise)
        if not 0 <= self.kept <= 1:
            raise InvalidValue("kept", self.kept, "at least 0 and at most 1")
        if self.sampling is not None:
            demand_all_records(self.sampling, self.problem.records)
        if self.gradients is None:
            object.__setattr__(self, "gradients", Gradients(self.problem))
        elif self.gradients.problem is not self.problem:
            raise InvalidValue("gradients", "another problem's", "a memory of the same problem")
        if self.noise == "secure" and enforced(self.problem):
            raise UnsupportedMechanism("no secure noise on differences that the problem clips: take noise 'gaussian'")

    def per_record_bounds(self, X: Array, previous: Array) -> Array:
        """Return C(x, y) over the divisor, rounded up, one per repetition: how far a record can move the answer."""
        G = at_least(self.problem.lipschitz, "lipschitz")
        L = to_float(per_distance(self.problem), "up")
        apart = distances(X, previous)
        bounds = np.minimum(apart * L, to_float(2 * G, "up"))
        if self.kept != 1:
            bounds = (bounds * to_float(self.kept, "up") + to_float((1 - self.kept) * G, "up")) * _ROUNDING
        by = self._divisor
        bounds *= to_float(1 / by, "up") * _ROUNDING
        # what is summed is at most n records, and a mean of few of them is as exact as one of all
        summed = self.sampling.size if isinstance(self.sampling, Batch) else self.problem.records
        ulps = 4.01 * (summed + X.shape[1] + 256) * 2.0**-53 * to_float(Fraction(summed) / by, "up")
        sizes = to_float(G, "up") + L * np.sqrt(np.maximum((X * X).sum(axis=1), (previous * previous).sum(axis=1)))
        floored: Array = np.where((apart > 0) | (self.kept != 1), bounds + ulps * sizes, 0.0)
        return floored

    def __call__(self, X: Array, previous: Array) -> DifferenceAnswer:
        """Answer ∇F at ``X`` minus ∇F at ``previous``, shape (R, p) each, row by row, and write one ledger entry."""
        return asked_at(self, self._answer, X, previous)

    def _answer(self, X: Array, previous: Array) -> DifferenceAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        demand_points(previous, self.generators, self.problem.dimension, "previous")
        rows = self._rows()
        difference = self._difference(X, previous, rows)
        with np.errstate(over="ignore"):
            bounds = self.per_record_bounds(X, previous)
        if not (np.isfinite(difference).all() and np.isfinite(bounds).all()):
            raise not_finite()
        still = (previous == X).all(axis=1) & (self.kept == 1)
        difference[still] = 0.0
        stddev = bounds * float(self.noise_multiplier)
        if self.noise == "secure":
            return DifferenceAnswer(self._secured(X, previous, bounds, rows), closed(difference), stddev, closed(rows))
        dimension = X.shape[1]
        drawn = noise.per_unit(
            self.noise,
            self.generators,
            dimension,
            noise_multiplier=self.noise_multiplier,
            described=sampled(noise.described(self.noise, self.noise_multiplier, dimension), self.sampling),
            ledger=self.ledger,
        )
        drawn *= bounds[:, None]
        noisy = difference + drawn
        if not still.all():
            level = -float(self.noise_multiplier)
            count_noise(self.noise, (noisy - difference)[~still], stddev[~still, None], self.ledger, level)
        return DifferenceAnswer(noisy, closed(difference), stddev, closed(rows))

    def _secured(self, X: Array, previous: Array, bounds: Array, rows: tuple[Rows, ...] | None) -> Array:
        by = self._divisor
        return secured_means(
            self.problem,
            (X, previous),
            rows,
            bounds=[Fraction(float(bound)) * by for bound in bounds],
            divisor=by,
            noise_multiplier=self.noise_multiplier,
            sampling=self.sampling,
            ledger=self.ledger,
            kept=self.kept,
        )

    @property
    def _divisor(self) -> Fraction:
        records = self.problem.records
        return Fraction(records) if self.sampling is None else self.sampling.divisor(records)

    def _rows(self) -> tuple[Rows, ...] | None:
        if self.sampling is None:
            return None
        records = self.problem.records
        return tuple(draw_rows(self.sampling, records, generator, self.noise) for generator in self.generators)

    def _difference(self, X: Array, previous: Array, rows: tuple[Rows, ...] | None) -> Array:
        if enforced(self.problem):
            return self._cut(X, previous, rows)
        if rows is None:
            assert self.gradients is not None
            before = self.gradients.known(previous)[1]
            return self.gradients.known(X)[1] - self._of(before)
        by = self._divisor
        return batch_means(self.problem, X, rows, by) - self._of(batch_means(self.problem, previous, rows, by))

    def _cut(self, X: Array, previous: Array, rows: tuple[Rows, ...] | None) -> Array:
        """Return (1 - κ) ∇F(x) + κ (∇F(x) - ∇F(y)), each of parts that the problem cut by itself."""
        problem: Any = self.problem
        own = [np.arange(problem.records)] * len(X) if rows is None else rows
        sums = [problem.summed_differences(*each) for each in zip(X, previous, own, strict=True)]
        if self.kept != 1:
            here = [problem.summed_gradients(x, each) for x, each in zip(X, own, strict=True)]
            kept, anew = float(self.kept), float(1 - self.kept)
            sums = [kept * change + anew * each for change, each in zip(sums, here, strict=True)]
        return np.stack(sums) / float(self._divisor)

    def _of(self, before: Array) -> Array:
        return before if self.kept == 1 else float(self.kept) * before


def changes(problem: Any, X: Array, previous: Array) -> Array:
    """Return ∇F(x) - ∇F(y) over all records, of parts that the problem cut by itself, shape (R, p)."""
    every = np.arange(problem.records)
    sums = [problem.summed_differences(*each, every) for each in zip(X, previous, strict=True)]
    found: Array = np.stack(sums) / problem.records
    return found


def enforced(problem: Any) -> bool:
    """Return whether the problem cuts each record's difference at a public norm per distance."""
    return getattr(problem, "difference_clip", None) is not None


def distances(X: Array, Y: Array) -> Array:
    """Return ‖x - y‖₂ for every row, rounded up; exactly 0 where x = y."""
    moved = np.abs(X - Y)
    largest = moved.max(axis=1)
    scaled = moved / np.where(largest > 0, largest, 1.0)[:, None]  # at most 1: no square vanishes that matters
    norms = largest * np.sqrt((scaled * scaled).sum(axis=1)) * (1 + (X.shape[1] + 16) * 2.0**-53)
    # far below any step that matters, a floor keeps products from underflow: more noise, never less
    rounded: Array = np.where(largest > 0, np.maximum(norms, 1e-200), 0.0)
    return rounded
