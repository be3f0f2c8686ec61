"""Poisson samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms.core import ALL, LOADER, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.noises.mixture import MixtureOfGaussians
from dpbounds.privacy.mechanisms.parameters import NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.sampling import (
    Sampling,
    demand_mechanism,
)
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import positive_rate


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PoissonSampled(Sampling):
    """Run the mechanism on a random subset: each record is in it with probability ``sample_rate``, independently.

    A composition inside sees the same subset in all its steps; ``PoissonSampled(m, q) ** T`` draws a new one each time.

    Args:
        mechanism: What runs on the subset.
        sample_rate: In (0, 1].

    Raises:
        InvalidValue: The sample rate is not in (0, 1].

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> PoissonSampled(Gaussian(1), "0.01").sample_rate
    Fraction(1, 100)
    """

    name = "poisson"

    mechanism: Mechanism
    sample_rate: Fraction = field(metadata=parameter(NUMBER))

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        demand_mechanism(mechanism)
        self._hold(mechanism=mechanism, sample_rate=positive_rate(sample_rate))

    @property
    def traits(self) -> frozenset[Trait]:
        """All, but that a sum over a sample is another thing than a sum over all records."""
        return ALL - {Trait.NOISY_SUM}

    def resolved(self) -> Mechanism:
        """A sample of a sample is one, at rate 1 there is none, and a mixture on a sample is another mixture."""
        inner = self.mechanism
        if isinstance(inner, PoissonSampled):
            return PoissonSampled(inner.mechanism, inner.sample_rate * self.sample_rate).resolved()
        if self.sample_rate == 1:
            return inner.resolved()
        return inner.thinned(self.sample_rate) if isinstance(inner, MixtureOfGaussians) else self

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How samples are drawn."""
        drawn = "each record enters each sample independently with exactly the rate given, in secret"
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """The samples."""
        return self.filled("Poisson samples at rate {sample_rate}", write)

    def draws(self, relation: Relation) -> str:
        """How samples are drawn."""
        return "Poisson sampling (each record enters each step's sample independently, and the samples stay secret)"

    def divisor(self, records: int) -> Fraction:
        """The expected size of a sample, q n."""
        return self.sample_rate * records

    def records_read(self, records: int) -> Fraction | None:
        """The expected size of a sample, q n."""
        return self.divisor(records)
