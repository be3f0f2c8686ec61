"""The mean gradient clipped at an adaptive norm, and the share of unclipped gradients: one release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.batches import BatchAnswer, demand_all_records, draw_rows
from dpbounds.algorithms.oracles.perturbation import Perturbing, asked_at, demand_points
from dpbounds.algorithms.sampling import Sampling
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import to_float

_GRID = 1 << 50


@dataclass(frozen=True, eq=False)
class QuantileClippedOracle(Perturbing):
    """Answers at points x and norms C with one noisy vector, which ``gradients`` and ``fractions`` read.

    A record that is drawn adds the p + 1 numbers (√(1 - s) g/C, √s (2b - 1)): g its gradient, clipped to C, and b
    whether that changed nothing. Their norm is at most √(1 - s + s) = 1, wherever C is: so noise of standard deviation
    z on the sum is a Gaussian mechanism of multiplier z on that sample, and *one* entry of the ledger pays for the
    gradient and for the quantile. (Two entries would be wrong on samples: both answers are about the same one.) The
    gradient's noise is that of a multiplier z/√(1 - s).

    C is the algorithm's, a function of what was released before, as x is.

    Rounding. √s and √(1 - s) are rounded down, √s by 16(n + 8)2^-53 more, which is more than the two roundings of a
    whole number of at most n and the division by n can move a difference of two; the gradient's part is
    ``clipped_sums.md``'s for ``differentiable``, and for ``Clipped`` as exact as sums are taken to be.

    Attributes:
        sampling: A ``Batch``, ``Poisson``, or None for all records.
        noise_multiplier: z, of both together.
        share: s in (0, 1), of 1/z², spent on the quantile.

    Raises:
        InvalidValue: The share is not in (0, 1), or a batch is drawn from another number of records.
        UnsupportedMechanism: The problem does not clip gradients, or the noise is not Gaussian.

    Source: Andrew, Thakkar, McMahan & Ramaswamy 2021, who release two answers; that they are one is their Theorem 1.
    """

    question: ClassVar[str] = "quantile"

    problem: Any
    sampling: Sampling
    noise_multiplier: Fraction
    share: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind = "gaussian"

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InvalidValue("share", self.share, "greater than 0 and less than 1")
        if not hasattr(self.problem, "sums_within"):
            raise UnsupportedMechanism("only clipped gradients are clipped at a quantile: Clipped or differentiable")
        if self.noise != "gaussian":
            raise UnsupportedMechanism("secure noise does not support clipping at a quantile: use noise 'gaussian'")
        if self.sampling is not None:
            demand_all_records(self.sampling, self.problem.records)

    @property
    def divisor(self) -> Fraction:
        """n, b or q n: public."""
        records = self.problem.records
        return Fraction(records) if self.sampling is None else self.sampling.divisor(records)

    @property
    def per_record_bound(self) -> Fraction:
        """1 over the divisor."""
        return 1 / self.divisor

    def __call__(self, X: Array, clips: Array) -> BatchAnswer:
        """Answer at every row of ``X``, (R, p), and norm of ``clips``, (R, 1): shape (R, p + 1), one ledger entry."""
        return asked_at(self, self._answer, X, clips)

    def gradients(self, answer: Array, clips: Array) -> Array:
        """Return the noisy mean gradients in an answer, shape (R, p)."""
        found: Array = answer[:, :-1] * (clips / self._roots[0])
        return found

    def fractions(self, answer: Array) -> Array:
        """Return the noisy shares of gradients that were no longer than the norm, shape (R,): near [0, 1]."""
        found: Array = (answer[:, -1] / self._roots[1] + 1) / 2
        return found

    def unit_sum(self, x: Array, rows: Any, clip: float) -> Array:
        """Return the sum of the contributions of these rows, shape (p + 1,): not released."""
        total, within = self.problem.sums_within(x, rows, Fraction(clip))
        first, last = self._roots
        by = math.nextafter(first / clip, 0.0)
        return np.append(total * by, (2 * within - len(rows)) * last)

    @property
    def _roots(self) -> tuple[float, float]:
        """√(1 - s) and √s, rounded down."""
        first, last = (
            Fraction(math.isqrt(math.floor(part * _GRID**2)), _GRID) for part in (1 - self.share, self.share)
        )
        rounding = Fraction(16 * (self.problem.records + 8), 2**53)
        return to_float(first * (1 - Fraction(1, 2**50)), "down"), to_float(last * (1 - rounding), "down")

    def _answer(self, X: Array, clips: Array) -> BatchAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        if clips.shape != (len(X), 1) or not (np.isfinite(clips) & (clips > 0)).all():
            raise InvalidValue("clips", clips, "norms greater than 0, shape (R, 1)")
        n = self.problem.records
        if self.sampling is None:
            rows = (np.arange(n),) * len(X)
        else:
            rows = tuple(draw_rows(self.sampling, n, generator) for generator in self.generators)
        sums = [self.unit_sum(x, own, float(clip[0])) for x, own, clip in zip(X, rows, clips, strict=True)]
        mean = np.stack(sums) / float(self.divisor)
        noisy = self._perturbed(mean, sampling=self.sampling)
        return BatchAnswer(noisy, closed(mean), closed(rows))
