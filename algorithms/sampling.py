"""Sampling schemes of releases: drawn by a descent, recorded in a ledger, and certified by the accountant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import attrs
import numpy as np

from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand_one_of
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Gaussian,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
    RandomlyAllocated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
)
from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source, cut, drawable_rate
from dpbounds.privacy.mechanisms.schemes.encoders import Encoder, Toeplitz
from dpbounds.privacy.mechanisms.schemes.sampling import Dealing, Sampling as Drawing

_ANY = Gaussian(1)  # batches do not depend on what runs on them


class _Independent(ABC):
    """Batches that are drawn independently of each other."""

    __slots__ = ()

    @abstractmethod
    def sample(self, mechanism: Mechanism) -> Drawing:
        """Return the mechanism on such a batch."""

    def draw(self, records: int, source: Source) -> Rows:
        """Return one batch: the places of its records."""
        (rows,) = self.sample(_ANY).draw(records, source)
        return rows

    def divisor(self, records: int) -> Fraction:
        """Return the public number by which the sum over a batch is divided, for any batch."""
        return self.sample(_ANY).divisor(records)


@dataclass(frozen=True, slots=True)
class Batch(_Independent):
    """Fixed-size batches: their size, and whether they are drawn with replacement.

    Attributes:
        size: b, the number of draws.
        records: n, the public number of records to draw from.
        replacement: Whether each draw is from all n records, so that one may occur several times.
    """

    size: int
    records: int
    replacement: bool

    def __post_init__(self) -> None:
        self.sample(_ANY)  # raises where a size is not allowed

    def sample(self, mechanism: Mechanism) -> Drawing:
        """Return the mechanism on such a batch."""
        scheme = SampledWithReplacement if self.replacement else SampledWithoutReplacement
        return scheme(mechanism, self.size, self.records)

    def __str__(self) -> str:
        return f"{self.size} of {self.records} records {'with' if self.replacement else 'without'} replacement"


@attrs.frozen
class Poisson(_Independent):
    """Poisson sampling: each record is in the batch with probability ``sample_rate``, independently.

    Attributes:
        sample_rate: In (0, 1]. A generator's uniform numbers are multiples of 2^-53, so the rate is rounded down to
            one: the ledger has the rate at which records are drawn.

    Raises:
        InvalidValue: The rate is not in (0, 1], or below 2^-53.
    """

    sample_rate: Fraction = attrs.field(converter=drawable_rate)

    def sample(self, mechanism: Mechanism) -> Drawing:
        """Return the mechanism on such a sample."""
        return PoissonSampled(mechanism, self.sample_rate)


@attrs.frozen
class Truncated(_Independent):
    """A Poisson sample, or, where that holds more than B records, a uniform choice of B among them.

    Attributes:
        sample_rate: As of ``Poisson``, rounded down in the same way.
        size: B, a positive whole number.
        records: n, public, out of which they are drawn.

    Raises:
        InvalidValue: A number is out of its domain.
    """

    sample_rate: Fraction = attrs.field(converter=drawable_rate)
    size: int
    records: int

    def __attrs_post_init__(self) -> None:
        self.sample(_ANY)  # raises where a size is not allowed

    def sample(self, mechanism: Mechanism) -> Drawing:
        """Return the mechanism on such a batch."""
        return TruncatedPoisson(mechanism, self.sample_rate, self.size, self.records)

    def __str__(self) -> str:
        return f"Poisson sample, rate {float(self.sample_rate):g}, at most {self.size} of {self.records} records"


class _Dealt(ABC):
    """Batches of an epoch, to which all records are dealt at once."""

    __slots__ = ()

    bins: int

    @property
    @abstractmethod
    def epoch(self) -> Dealing:
        """Return one epoch of any mechanism."""

    def deal(self, records: int, source: Source) -> Rows:
        """Return each record's batch in an epoch, from 0, or -1 for none, shape (n,); or its K batches, (n, K)."""
        return self.epoch.deal(records, source)

    def divisor(self, records: int) -> Fraction:
        """Return the public number by which the sum over a batch is divided, for any batch."""
        found = self.epoch.divisor(records)
        if not found:
            raise InvalidValue("bins", self.bins, f"at most the number of records, {records}")
        return found


@attrs.frozen
class Bins(_Dealt):
    """Every record is thrown into one of m bins, in secret; each step answers about one bin, in order, epoch by epoch.

    With ``redraw`` that is random allocation: one of the m steps of every epoch, fresh each epoch.

    Attributes:
        bins: m, a positive whole number.
        redraw: Whether every epoch throws anew; else the records stay in their bins, which costs far more.

    Raises:
        InvalidValue: m is not a positive whole number, or ``redraw`` neither True nor False.
    """

    bins: int
    redraw: bool = True

    def __attrs_post_init__(self) -> None:
        assert self.epoch  # raises where a field is not allowed

    @property
    def epoch(self) -> Dealing:
        """Return one epoch of any mechanism."""
        return BallsInBins(_ANY, self.bins, 1, redraw=self.redraw)

    def visited(self, mechanism: Mechanism, steps: int) -> Mechanism:
        """Return the mechanism of the first ``steps`` steps together; a last epoch may be cut short."""
        return BallsInBins(mechanism, self.bins, Fraction(steps, self.bins), redraw=self.redraw)


@attrs.frozen
class Allocated(_Dealt):
    """Every record is in K of the m batches of an epoch, all K-subsets equally likely, drawn in secret anew each epoch.

    K = 1 has the distribution of ``Bins(m)``; the entry of a ledger is another, in which an epoch counts as soon as it
    is begun.

    Attributes:
        bins: m, a positive whole number.
        participations: K, from 1 to m.

    Raises:
        InvalidValue: A number is out of its domain.
    """

    bins: int
    participations: int

    def __attrs_post_init__(self) -> None:
        assert self.epoch  # raises where a field is not allowed

    @property
    def epoch(self) -> Dealing:
        """Return one epoch of any mechanism."""
        return RandomlyAllocated(_ANY, self.bins, self.participations)

    @property
    def redraw(self) -> bool:
        """Every epoch draws anew."""
        return True

    def visited(self, mechanism: Mechanism, steps: int) -> Mechanism:
        """Return the mechanism of the first ``steps`` steps: an epoch that is cut short counts as a whole one."""
        return RandomlyAllocated(mechanism, self.bins, self.participations) ** -(-steps // self.bins)


@attrs.frozen
class Shuffle(_Dealt):
    """Every epoch shuffles the records anew, in secret, and cuts them into m batches of one size, ⌊n/m⌋.

    The remaining records, fewer than m, are left out of the epoch; a record without a batch spends nothing in it.

    Attributes:
        bins: m, a positive whole number.

    Raises:
        InvalidValue: m is not a positive whole number.
    """

    bins: int

    def __attrs_post_init__(self) -> None:
        assert self.epoch  # raises where m is not allowed

    @property
    def epoch(self) -> Dealing:
        """Return one epoch of any mechanism."""
        return Shuffled(_ANY, self.bins)

    @property
    def redraw(self) -> bool:
        """Every epoch has an order of its own."""
        return True

    def visited(self, mechanism: Mechanism, steps: int) -> Mechanism:
        """Return the mechanism of the first ``steps`` steps: an epoch that is cut short counts as a whole one."""
        return Shuffled(mechanism, self.bins) ** -(-steps // self.bins)


CyclicOrder = Literal["fixed", "secret"]


@attrs.frozen
class Cyclic:
    """Cyclic batches: the same m batches in every epoch; batch j holds the records at places j, j + m, j + 2m, ....

    Attributes:
        bins: m, a positive whole number.
        order: "fixed": places are the public positions of the records. "secret": one secret shuffle comes first, and
            is kept: it hides nothing where every answer is published, and a little where the last iterate alone is.

    Raises:
        InvalidValue: m is not a positive whole number, or there is no such order.
    """

    bins: int
    order: CyclicOrder = "fixed"

    def __attrs_post_init__(self) -> None:
        self.visited(_ANY, 1)  # raises where m is not allowed
        demand_one_of("order", self.order, get_args(CyclicOrder))

    @property
    def redraw(self) -> bool:
        """Batches are kept."""
        return False

    def visited(self, mechanism: Mechanism, steps: int) -> Mechanism:
        """Return the mechanism of the first ``steps`` steps: independent noise, records in a fixed order.

        Given the order it is a composition of releases of which a record is in every m-th one.
        """
        assert isinstance(mechanism, Gaussian)
        assert mechanism.noise_multiplier is not None
        return MatrixMechanism(
            mechanism.noise_multiplier, Toeplitz([1], steps), "fixed-order", separation=self.bins, groups="position"
        )

    def deal(self, records: int, source: Source) -> Rows:
        """Return the batches of every epoch, with ⌈n/m⌉ records or one less."""
        order = np.arange(records) if self.order == "fixed" else source.order(records)
        return cut(order, self.bins, records)

    def divisor(self, records: int) -> Fraction:
        """Return ⌈n/m⌉, as many as the largest batch holds."""
        if records < self.bins:
            raise InvalidValue("bins", self.bins, f"at most the number of records, {records}")
        return Fraction(-(-records // self.bins))


def _drawable_if_any(sample_rate: ExactLike | None) -> Fraction | None:
    return None if sample_rate is None else drawable_rate(sample_rate)


CorrelatedDraws = Literal["fixed-order", "cyclic-poisson", "balls-in-bins"]


@attrs.frozen
class Correlated:
    """Batches of m groups in turn, epoch by epoch, under noise that a matrix correlates from step to step.

    Attributes:
        matrix: C, a row per step: what is released is C x + noise, x the sums of the batches.
        bins: m, a positive whole number; "separation" of the mechanism.
        draws: "fixed-order": group j holds the records at places j, j + m, .... "cyclic-poisson": of that group each
            record with probability ``sample_rate``, drawn anew at each step, in secret. "balls-in-bins": every record
            is thrown into one of the groups, uniformly, in secret, once.
        sample_rate: As of ``Poisson``, with "cyclic-poisson"; else None.

    Raises:
        InvalidValue: A value is out of its domain, or they do not go together.
    """

    matrix: Encoder
    bins: int
    draws: CorrelatedDraws = "fixed-order"
    sample_rate: Fraction | None = attrs.field(default=None, converter=_drawable_if_any)

    def __attrs_post_init__(self) -> None:
        demand_one_of("draws", self.draws, get_args(CorrelatedDraws))
        self.visited(_ANY, 1)  # raises where a field is not allowed

    @property
    def redraw(self) -> bool:
        """Groups are kept."""
        return False

    @property
    def order(self) -> str:
        """Order of the groups, see ``Cyclic``."""
        return "drawn" if self.draws == "balls-in-bins" else "fixed"

    def visited(self, mechanism: Mechanism, steps: int) -> Mechanism:
        """Return the mechanism of all rows of the matrix, with the first ``steps`` released.

        Raises:
            UnsupportedMechanism: There are fewer rows.
        """
        assert isinstance(mechanism, Gaussian)
        assert mechanism.noise_multiplier is not None
        if steps > self.matrix.steps:
            raise UnsupportedMechanism(f"the matrix has {self.matrix.steps} rows, and another step was asked for")
        return _encoded(self, mechanism.noise_multiplier)

    def divisor(self, records: int) -> Fraction:
        """Return ⌈n/m⌉, as many as the largest group holds, times the sample rate; n/m for groups that are drawn."""
        if records < self.bins:
            raise InvalidValue("bins", self.bins, f"at most the number of records, {records}")
        if self.draws == "balls-in-bins":
            return Fraction(records, self.bins)
        return -(-records // self.bins) * (self.sample_rate or Fraction(1))


@lru_cache(maxsize=64)
def _encoded(scheme: Correlated, noise_multiplier: Fraction) -> MatrixMechanism:
    return MatrixMechanism(
        noise_multiplier,
        scheme.matrix,
        scheme.draws,
        separation=scheme.bins,
        sample_rate=scheme.sample_rate,
        groups="independent" if scheme.draws == "balls-in-bins" else "position",
    )


Sampling = Batch | Poisson | Truncated | None
"""Which records an answer is about: a random batch, or (None) all of them."""

Visited = Bins | Allocated | Shuffle | Cyclic
"""Batches that depend on each other: their answers are one entry of a ledger, that grows."""

Scheme = Sampling | Visited
"""Any way to draw the batches of a descent."""


def sampled(mechanism: Mechanism, sampling: Sampling) -> Mechanism:
    """Return the mechanism on a batch, or on all records."""
    return mechanism if sampling is None else sampling.sample(mechanism)
