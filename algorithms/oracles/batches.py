"""The mean gradient of a random batch, with noise: the sampling, and the sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from attrs import Attribute

from dpbounds.algorithms import noise, secure_noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.perturbation import Answer, HasRecords, Perturbing, asked_at, demand_points
from dpbounds.algorithms.oracles.watching import drawn
from dpbounds.algorithms.sampling import (
    Batch,
    Poisson,
    Sampling as Sampling,
    Scheme,
    Truncated,
    Visited,
    sampled as sampled,
)
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.mechanisms.schemes.drawing import Generator, Rows as Rows, Source


class HasBatchGradients(HasRecords, Protocol):
    """The requirements of batch oracles on a problem."""

    def batch_gradient(self, X: Array, rows: Rows) -> Array:
        """Return the mean gradient (R, p) over each repetition's own records, rows of shape (R, b)."""


def draw_rows(
    sampling: Batch | Poisson | Truncated, records: int, generator: np.random.Generator, kind: Kind = "gaussian"
) -> Rows:
    """Draw one batch: indices of records, in an arbitrary order; "secure" uses the operating system.

    Every random batch of independent records is drawn here, once per answer and repetition. Guards count the draws.
    """
    return drawn(generator, _new_rows(sampling, records, generator, kind))


def _new_rows(sampling: Batch | Poisson | Truncated, records: int, generator: np.random.Generator, kind: Kind) -> Rows:
    if kind == "secure":
        _demand_secure_account(sampling)
    return sampling.draw(records, source_of(kind, generator))


def source_of(kind: Kind, generator: np.random.Generator) -> Source:
    """Return the source of randomness for batches: with "secure" noise, the operating system."""
    return secure_noise.System() if kind == "secure" else Generator(generator)


def _demand_secure_account(sampling: Batch | Poisson | Truncated) -> None:
    if isinstance(sampling, Truncated):
        why = "no account for secure noise on Poisson samples that are cut to a size: draw them uncut, or fixed batches"
        raise UnsupportedMechanism(why)
    if isinstance(sampling, Batch) and sampling.replacement:
        why = "no account for secure noise on records that are drawn several times: draw without replacement"
        raise UnsupportedMechanism(why)


@dataclass(frozen=True, slots=True, eq=False)
class BatchAnswer(Answer):
    """Means over random batches, shape (R, p).

    Attributes:
        rows: Each repetition's records, ``Unreleased``: they must be kept secret.
    """

    rows: tuple[Rows, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BatchGradientOracle(Perturbing):
    """Answers with the mean gradient of a fresh random batch plus noise.

    The divisor is public: b for a batch of b records, q n for a Poisson sample of rate q (never the size that a sample
    happens to have, which depends on the data). A record that is in the batch contributes at most G to the sum, so
    that the per-record bound of the answer is G/b, or G/(q n), and the ledger gets the sampled mechanism with noise per
    unit of it: ``SampledWithoutReplacement``, ``SampledWithReplacement`` (a record drawn k times counts k times, which
    that mechanism accounts for), ``PoissonSampled`` or ``TruncatedPoisson`` (the divisor stays q n).
    One random record is ``Batch(1, n, replacement=False)``.

    Attributes:
        sampling: A ``Batch`` out of all n records, ``Poisson`` or ``Truncated``; drawn from the streams of the noise.

    Raises:
        InvalidValue: The batch is drawn from another number of records than the problem has.

    Source: Tholeti & Kalyani 2020 (PrGD: one record, ball); Lowy, Ullman & Wright 2024 (DP-SGD: with replacement).
    """

    question: ClassVar[str] = "batch"

    problem: HasBatchGradients
    sampling: Batch | Poisson | Truncated
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind = "gaussian"

    def __post_init__(self) -> None:
        demand_all_records(self.sampling, self.problem.records)

    @property
    def divisor(self) -> Fraction:
        """b, or q n: the public number by which the sum is divided."""
        return self._divisor

    @property
    def per_record_bound(self) -> Fraction:
        """The largest norm of one record's contribution to the answer, if it is in the batch."""
        return self._bound

    @cached_property  # asked for at every step of a run, as the next
    def _divisor(self) -> Fraction:
        return self.sampling.divisor(self.problem.records)

    @cached_property
    def _bound(self) -> Fraction:
        return at_least(self.problem.lipschitz, "lipschitz") / self.divisor

    def __call__(self, X: Array) -> BatchAnswer:
        """Answer at every row of ``X`` (shape (R, p), one row per generator) and write one ledger entry."""
        return asked_at(self, self._answer, X)

    def _answer(self, X: Array) -> BatchAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        records = self.problem.records
        rows = tuple(draw_rows(self.sampling, records, generator, self.noise) for generator in self.generators)
        mean = batch_means(self.problem, X, rows, self.divisor)
        if self.noise == "secure":
            noisy = self._secured((X,), rows, self.sampling)
        else:
            noisy = self._perturbed(mean, sampling=self.sampling)
        return BatchAnswer(noisy, closed(mean), closed(rows))


def batch_means(problem: HasBatchGradients, X: Array, rows: Sequence[Rows], by: Fraction) -> Array:
    """Return sums of gradients over each repetition's records, divided by ``by``; shape (R, p).

    Batches of one size are one call; Poisson samples differ in size and are asked about one repetition at a time (the
    sums over their records are matrix products), so that no repetition's numbers depend on another's.
    """
    sizes = {len(each) for each in rows}
    if sizes == {int(by)} and by == int(by):
        return problem.batch_gradient(X, np.stack(rows))
    means = np.zeros(X.shape)
    for index, each in enumerate(rows):
        if len(each):
            here = problem.batch_gradient(X[index : index + 1], each[None])
            means[index] = here[0] * (len(each) / float(by))
    return means


def valid_sampling(_record: object, field: Attribute[Any], value: object) -> None:
    """Return a validator: raise ``InvalidValue`` unless this is how batches are drawn, or None for all records."""
    demand_sampling(value, field.name)


def demand_sampling(value: object, name: str) -> None:
    """Raise ``InvalidValue`` unless this is how batches are drawn, or None for all records."""
    if value is not None and not isinstance(value, Batch | Poisson):
        advice = "Poisson(rate) draws each record by itself"
        raise InvalidValue(name, repr(value), "a Batch, a Poisson or None", advice)


def valid_scheme(_record: object, field: Attribute[Any], value: object) -> None:
    """Validate a scheme, where any ``Scheme`` is allowed."""
    demand_scheme(value, field.name)


def demand_scheme(value: object, name: str) -> None:
    """Raise ``InvalidValue`` unless this is a ``Scheme``."""
    if value is not None and not isinstance(value, Batch | Poisson | Truncated | Visited):
        advice = (
            "Poisson(rate) draws each record by itself; for another sampler, write your own training loop and account "
            "its ledger (docs/tutorials/own_loop.md)"
        )
        allowed = "a Batch, a Poisson, a Truncated, Bins, an Allocated, a Shuffle, a Cyclic or None"
        raise InvalidValue(name, repr(value), allowed, advice)


def demand_all_records(sampling: Scheme, records: int) -> None:
    """Raise ``InvalidValue`` where it is no ``Scheme``, or draws from another number of records than there are."""
    demand_scheme(sampling, "sampling")
    if isinstance(sampling, Batch | Truncated) and sampling.records != records:
        raise InvalidValue("batch.records", sampling.records, f"the problem's {records}", "privacy is computed from it")
    if isinstance(sampling, Visited):
        sampling.divisor(records)  # raises where batches would be empty
