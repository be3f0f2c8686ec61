"""The mean gradient of one batch after the other, with noise, where batches depend on each other: bins, shuffles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpbounds.algorithms.ledger import OpenLedger, Visits
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.batches import BatchAnswer, HasBatchGradients, Rows, batch_means, source_of
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.perturbation import Perturbing, asked_at, demand_points, perturbed
from dpbounds.algorithms.oracles.secured import secured_means
from dpbounds.algorithms.sampling import Bins, Correlated, Visited
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms.schemes.drawing import in_batch as in_batch


def dealt(scheme: Visited, records: int, generator: np.random.Generator, kind: Kind = "gaussian") -> Rows:
    """Return every record's batch in an epoch, from 0, or -1 where it sits out; shape (n,). "secure" asks the system.

    Its K batches, in any order, for ``Allocated``; shape (n, K).
    """
    return scheme.deal(records, source_of(kind, generator))


@dataclass(frozen=True, eq=False)
class Visiting(Perturbing):
    """Oracle of batches 1, 2, ..., m, then 1 again; its answers are one entry of the ledger together.

    The sum is divided by a public number (``divisor`` of the scheme), never by the size that a batch happens to have.
    """

    question: ClassVar[str] = "batch"

    problem: HasBatchGradients
    scheme: Visited | Correlated
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: OpenLedger
    noise: Kind = "gaussian"
    _pen: Visits = field(init=False)

    def __post_init__(self) -> None:
        self.scheme.divisor(self.problem.records)  # raises where batches would be empty
        object.__setattr__(self, "_pen", Visits(self.scheme, self.ledger))

    @property
    def visits(self) -> int:
        """Number of batches that were visited."""
        return self._pen.steps

    @property
    def sampling(self) -> Visited | Correlated:
        """The sampling of records."""
        return self.scheme

    @property
    def per_record_bound(self) -> Fraction:
        """The largest norm of one record's contribution, if it is in the batch: G over the divisor."""
        return at_least(self.problem.lipschitz, "lipschitz") / self.divisor

    @property
    def divisor(self) -> Fraction:
        """The public number by which the sum is divided."""
        return self.scheme.divisor(self.problem.records)

    def __call__(self, X: Array) -> BatchAnswer:
        """Answer at every row of ``X`` (shape (R, p), one row per generator)."""
        return asked_at(self, self._answer, X)

    def _answer(self, X: Array) -> BatchAnswer:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class VisitGradientOracle(Visiting):
    """Answers about batch 1, 2, ..., m of the records, then 1 again: the mean gradient of its records plus noise.

    The first answer of an epoch deals the records (the first of all, where they stay where they are). The entry of the
    ledger is of the visits so far: ``BallsInBins``, of a cut epoch the bins that were visited; ``RandomlyAllocated`` or
    ``Shuffled``, an epoch as soon as it is begun; or a ``MatrixMechanism`` without correlation, in a fixed order. With
    secure noise each answer is dominated by the Gaussian of the entry, whatever was published before, and of Gaussian
    noise no more than that is used but for bins and random allocation under replace-one (``secure_noise``, 6).

    Attributes:
        scheme: ``Bins``, ``Allocated``, ``Shuffle`` or ``Cyclic``; drawn from the streams of the noise.

    Raises:
        InvalidValue: There are fewer records than batches, or the noise is of another kind.
        UnsupportedMechanism: Something else was written into the ledger between two answers.

    Source: ``dpbounds/privacy/pairs``: ``allocation.md``, sections 1, 2, 4 and 6; ``shuffled.md``; ``matrices.md``.
    """

    scheme: Visited
    _dealt: list[Rows] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.noise not in ("gaussian", "secure"):
            raise InvalidValue("noise", repr(self.noise), "'gaussian' or 'secure' on batches that depend on others")
        super().__post_init__()

    @property
    def keeps(self) -> bool:
        """Whether privacy depends on a fixed assignment of records."""
        return isinstance(self.scheme, Bins) and not self.scheme.redraw

    def hand_over(self, hide: Callable[[Rows], None]) -> None:
        """Pass the assignment to bins, shape (R, n), to an object that keeps it secret."""
        hide(np.stack(self._dealt))

    def resume(self, visits: int, dealt: Rows | None = None) -> None:
        """Continue after the whole epochs of another attempt, and deal anew, or as it was ``dealt``.

        Shuffles and bins that are thrown anew are independent from epoch to epoch: the distribution is that of one
        attempt, as it is where bins are those of before. Of secret cyclic batches the account holds given any order in
        each epoch, as noise is independent and a record is in one batch of every epoch.

        Raises:
            InvalidValue: See ``Visits.resume``.
        """
        self._pen.resume(visits, kept=dealt is not None)
        if dealt is not None:
            self._dealt[:] = list(dealt)

    def _answer(self, X: Array) -> BatchAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        visited = self._pen.steps % self.scheme.bins
        if not self._dealt or (self.scheme.redraw and visited == 0):
            records = self.problem.records
            self._dealt[:] = [dealt(self.scheme, records, each, self.noise) for each in self.generators]
        rows = tuple(in_batch(batches, visited) for batches in self._dealt)
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
