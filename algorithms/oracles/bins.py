"""The mean gradient of one bin of records after the other, with noise: random allocation, balls in bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpbounds.algorithms import secure_noise
from dpbounds.algorithms.ledger import Bins, BinVisits, OpenLedger
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.batches import BatchAnswer, HasBatchGradients, Rows, batch_means
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.perturbation import Perturbing, asked_at, demand_points, perturbed
from dpbounds.algorithms.oracles.secured import secured_means
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue


def throw(bins: int, records: int, generator: np.random.Generator, kind: Kind = "gaussian") -> Rows:
    """Throw every record into one of m bins: shape (n,), independent and uniform; "secure" asks the system."""
    return secure_noise.bins(records, bins) if kind == "secure" else generator.integers(0, bins, size=records)


@dataclass(frozen=True, eq=False)
class BinGradientOracle(Perturbing):
    """Answers about bin 1, 2, ..., m of the records, then 1 again: the mean gradient of its records plus noise.

    The sum over a bin is divided by n/m, public, never by the size that the bin happens to have. The first answer of an
    epoch throws the records (the first of all, where they stay in their bins). All answers of one oracle are one entry
    of the ledger, a ``BallsInBins`` of the visits so far: of an epoch that is cut short the bins that were visited.

    Attributes:
        bins: How many, and whether every epoch throws anew; drawn from the streams of the noise.

    Raises:
        UnsupportedMechanism: Something else was written into the ledger between two answers.

    Source: ``dpbounds/privacy/pairs/allocation.md``, sections 1, 2 and 6.
    """

    question: ClassVar[str] = "batch"

    problem: HasBatchGradients
    bins: Bins
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: OpenLedger
    noise: Kind = "gaussian"
    _pen: BinVisits = field(init=False)
    _thrown: list[Rows] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.noise not in ("gaussian", "secure"):
            raise InvalidValue("noise", repr(self.noise), "'gaussian' or 'secure' on bins")
        object.__setattr__(self, "_pen", BinVisits(self.bins, self.ledger))

    def resume(self, steps: int) -> None:
        """Go on after so many visits, whole epochs of bins that are drawn anew, whose entry is the ledger's last.

        Raises:
            InvalidValue: Bins are kept, an epoch is not whole, or the ledger says something else.
        """
        if not self.bins.redraw or steps % self.bins.bins:
            raise InvalidValue("steps", steps, "whole epochs of bins that are drawn anew")
        if steps:
            self.ledger.resume_visits(self._pen, steps)

    @property
    def sampling(self) -> Bins:
        """How records are drawn."""
        return self.bins

    @property
    def per_record_bound(self) -> Fraction:
        """How far one record in the bin can move the answer: G m/n."""
        return at_least(self.problem.lipschitz, "lipschitz") / self.divisor

    @property
    def divisor(self) -> Fraction:
        """n/m: what the sum is divided by."""
        return Fraction(self.problem.records, self.bins.bins)

    def __call__(self, X: Array) -> BatchAnswer:
        """Answer at every row of ``X`` (shape (R, p), one row per generator); the ledger's entry grows by a visit."""
        return asked_at(self, self._answer, X)

    def _answer(self, X: Array) -> BatchAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        visited = self._pen.steps % self.bins.bins
        if not self._thrown or (self.bins.redraw and visited == 0):
            records = self.problem.records
            self._thrown[:] = [throw(self.bins.bins, records, each, self.noise) for each in self.generators]
        rows = tuple(np.flatnonzero(thrown == visited) for thrown in self._thrown)
        mean = batch_means(self.problem, X, rows, self.divisor)
        if self.noise == "secure":
            bound = at_least(self.problem.lipschitz, "lipschitz")
            noisy = secured_means(
                self.problem,
                (X,),
                rows,
                bounds=[bound] * len(self.generators),
                divisor=self.divisor,
                noise_multiplier=self.noise_multiplier,
                sampling=None,
                ledger=self._pen,
            )
        else:
            noisy = perturbed(
                mean,
                kind=self.noise,
                amount=self.noise_stddev,
                per_record_bound=self.per_record_bound,
                generators=self.generators,
                ledger=self._pen,
            )
        return BatchAnswer(noisy, closed(mean), closed(rows))
