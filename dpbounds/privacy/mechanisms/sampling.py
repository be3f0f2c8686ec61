"""A mechanism that runs on a random part of the data, or each time on another part of it.

In every case the mechanism must answer with a sum, or a sum divided by a *public* constant: dividing by the realised
size of a random batch is another mechanism, whose sensitivity depends on the data. Batches cut from a shuffled data
set are a scheme of their own, :class:`Shuffled`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms.additive import positive, positive_rate
from dpbounds.privacy.mechanisms.core import ALL, LOADER, Assumption, Composed, Loss, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.mixtures import MixtureOfGaussians
from dpbounds.privacy.mechanisms.parameters import COUNT, FLAG, NUMBER, parameter, parameters_of
from dpbounds.privacy.relations import Relation

_BATCHES = "which records were in which batch, and how many"


def _demand_mechanism(value: object) -> None:
    if not isinstance(value, Mechanism):
        raise InvalidValue("mechanism", value, "a mechanism")


def _records(batch_size: int, dataset_size: int) -> str:
    """So many records of so many."""
    return f"{'one record' if batch_size == 1 else f'{batch_size} records'} of {dataset_size}"


class Sampling(Mechanism):
    """A way in which records come into batches, with the mechanism that runs on each batch.

    Attributes:
        mechanism: What runs on a batch.
    """

    __slots__ = ()

    mechanism: Mechanism

    @property
    def inside(self) -> tuple[Mechanism, ...]:
        """What runs on a batch."""
        return (self.mechanism,)

    @property
    def noise(self) -> Mechanism:
        """That of what runs on a batch."""
        return self.mechanism.noise

    @property
    def secret(self) -> str:
        """Which records were in which batch."""
        return _BATCHES

    def loss(self) -> Loss:
        """That of what runs on a batch; losses in secret batches do not add up."""
        found = self.mechanism.loss()
        drawn = (getattr(self, name) for name in parameters_of(self))
        return Loss((type(self), *drawn, *found.family), found.value, name=found.name)

    def in_words(self, write: Writer) -> str:
        """What runs on a batch."""
        return self.mechanism.in_words(write)


class _FixedSize(Sampling):
    """Batches of a fixed size, drawn afresh from a public number of records."""

    __slots__ = ()

    batch_size: int
    dataset_size: int

    @property
    def traits(self) -> frozenset[Trait]:
        """How likely a record takes part depends on how many there are."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    @property
    def secret(self) -> str:
        """Which records were in which batch; how many is public."""
        return "which records were in which batch"

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How batches are drawn."""
        lower = " (or a public lower bound on the larger of two neighbours)" if relation.counts_records else ""
        drawn = f"each batch is drawn afresh and uniformly, in secret, from as many records as said{lower}"
        return (Assumption(LOADER, drawn),)

    def divisor(self, records: int) -> Fraction:
        """The size of a batch, b."""
        return Fraction(self.batch_size)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PoissonSampled(Sampling):
    """Run the mechanism on a random subset: each record is in it with probability ``sample_rate``, independently.

    A composition inside sees the same subset in all its steps; ``PoissonSampled(m, q) ** T`` draws a new one each time.

    Args:
        mechanism: What runs on the subset.
        sample_rate: In (0, 1].

    Raises:
        InvalidValue: The sample rate is not in (0, 1].

    >>> from dpbounds.privacy.mechanisms.additive import Gaussian
    >>> PoissonSampled(Gaussian(1), "0.01").sample_rate
    Fraction(1, 100)
    """

    name = "poisson"

    mechanism: Mechanism
    sample_rate: Fraction = field(metadata=parameter(NUMBER))

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        _demand_mechanism(mechanism)
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


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithoutReplacement(_FixedSize):
    """Run the mechanism on a uniformly random subset of exactly ``batch_size`` records.

    ``batch_size`` 1 is one random record.

    Args:
        mechanism: What runs on the batch.
        batch_size: b, a positive whole number.
        dataset_size: n, public: the number of records, or a lower bound on it. Under replace-one and zero-out-one, on
            the size that both neighbours have; under add-or-remove-one, on the size of the larger of any two neighbours
            (so the number of records in the data set at hand will do), and the smaller one must still hold a whole
            batch: b < n.

    Raises:
        InvalidValue: A size is not a positive whole number, or b > n.
    """

    name = "without-replacement"

    mechanism: Mechanism
    batch_size: int = field(metadata=parameter(COUNT))
    dataset_size: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        b, n = positive_integer(batch_size, "batch_size"), positive_integer(dataset_size, "dataset_size")
        if b > n:
            raise InvalidValue("batch_size", batch_size, f"at most dataset_size, {n}")
        self._hold(mechanism=mechanism, batch_size=b, dataset_size=n)

    def resolved(self) -> Mechanism:
        """A batch of b' of a batch of b of n records is one of b' of n."""
        inner = self.mechanism
        if isinstance(inner, SampledWithoutReplacement) and inner.dataset_size == self.batch_size:
            return SampledWithoutReplacement(inner.mechanism, inner.batch_size, self.dataset_size).resolved()
        return self

    def drawn_in_words(self, write: Writer) -> str:
        """The batches."""
        return f"{_records(self.batch_size, self.dataset_size)} drawn without replacement"

    def draws(self, relation: Relation) -> str:
        """How batches are drawn."""
        return "batches drawn uniformly, without replacement, afresh in every step, from at least so many records"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithReplacement(_FixedSize):
    """Run the mechanism on ``batch_size`` records drawn one by one, uniformly, a record possibly several times.

    Args:
        mechanism: What runs on the batch, in which a record that was drawn k times counts k times.
        batch_size: b, the number of draws.
        dataset_size: n, public, with the same meaning as for :class:`SampledWithoutReplacement`; under
            add-or-remove-one n >= 2, so that the smaller data set is not empty.

    Raises:
        InvalidValue: A size is not a positive whole number.
    """

    name = "with-replacement"

    mechanism: Mechanism
    batch_size: int = field(metadata=parameter(COUNT))
    dataset_size: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            batch_size=positive_integer(batch_size, "batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )

    def drawn_in_words(self, write: Writer) -> str:
        """The batches."""
        return f"{_records(self.batch_size, self.dataset_size)} drawn with replacement"

    def draws(self, relation: Relation) -> str:
        """How batches are drawn."""
        return "batches drawn uniformly, with replacement, afresh in every step, from at least so many records"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TruncatedPoisson(Sampling):
    """Run the mechanism on a Poisson sample, or, where that holds more than B records, on a uniform choice of B.

    Each record is sampled with probability ``sample_rate``, independently; the choice is uniform ("the first B" is not)
    and secret. Samplers with a fixed memory draw so.

    Args:
        mechanism: What runs on the batch: noise on sums, given per unit of the per-record bound.
        sample_rate: q, in (0, 1].
        max_batch_size: B, a positive whole number.
        dataset_size: n, public: under replace-one and zero-out-one the number of records, under add-or-remove-one an
            upper bound on the size of any data set (a lower bound is not enough, and B >= n means that nothing is cut).

    Raises:
        InvalidValue: The sample rate is not in (0, 1], or a size is not a positive whole number.

    >>> from dpbounds.privacy.mechanisms.additive import Gaussian
    >>> TruncatedPoisson(Gaussian(1), "0.01", 150, 10_000).max_batch_size
    150
    """

    name = "truncated-poisson"

    mechanism: Mechanism
    sample_rate: Fraction = field(metadata=parameter(NUMBER))
    max_batch_size: int = field(metadata=parameter(COUNT))
    dataset_size: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike, max_batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            sample_rate=positive_rate(sample_rate),
            max_batch_size=positive_integer(max_batch_size, "max_batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )

    @property
    def traits(self) -> frozenset[Trait]:
        """How likely a record takes part depends on how many there are."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How samples are drawn and cut."""
        many = "as many records as said, or fewer" if relation.counts_records else "exactly as many records as said"
        drawn = (
            "each record is sampled independently with exactly the rate given, a batch that would be too large is a "
            f"uniform choice of the sampled ones, both afresh and in secret, from {many}"
        )
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """The samples, and where they are cut."""
        cut = "Poisson samples at rate {sample_rate}, cut to at most {max_batch_size} of {dataset_size} records"
        return self.filled(cut, write)

    def draws(self, relation: Relation) -> str:
        """How samples are drawn and cut."""
        many = "at most so many records" if relation.counts_records else "so many records"
        return f"Poisson samples of {many}, each cut, where it is too large, to a uniform choice of that size"

    def divisor(self, records: int) -> Fraction:
        """The expected size of a sample, q n."""
        return self.sample_rate * records


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shuffled(Sampling):
    """One epoch: shuffle the records, cut them into batches of one size, run the mechanism on each in turn.

    ``Shuffled(m, batches) ** E`` shuffles anew for each of E epochs. Everything that each batch publishes may be seen;
    the order must stay secret. Where one order serves all epochs, or is known, ``shuffled_epochs`` says what is spent.

    Args:
        mechanism: What runs on each batch.
        batches: M, how many batches of one size an epoch has.
        rest: The number of records in a further, smaller batch, as a share of all records; 0 where there is none.
            Records that are dropped instead only lower what is spent.

    Raises:
        InvalidValue: M is not a positive whole number, or the rest is no smaller than a batch.

    >>> from dpbounds.privacy.mechanisms.additive import Gaussian
    >>> (Shuffled(Gaussian(4), batches=1000) ** 10).parts[0][1]
    10
    """

    name = "shuffled"

    mechanism: Mechanism
    batches: int = field(metadata=parameter(COUNT))
    rest: Fraction = field(metadata=parameter(NUMBER, rounds="down"))

    def __init__(self, mechanism: Mechanism, batches: int, rest: ExactLike = 0) -> None:
        _demand_mechanism(mechanism)
        number, share = positive_integer(batches, "batches"), exact(rest, "rest")
        if not 0 <= share * (number + 1) < 1:
            raise InvalidValue("rest", rest, f"at least 0 and less than 1/{number + 1}, the share of a batch")
        self._hold(mechanism=mechanism, batches=number, rest=share)

    @property
    def traits(self) -> frozenset[Trait]:
        """How likely a record is in a batch depends on how many there are."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    @property
    def secret(self) -> str:
        """The orders."""
        return "the orders of the records"

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How orders are drawn and batches cut."""
        drawn = (
            "each epoch has a fresh, uniformly random order of all records, which stays secret, and batches of one "
            "size are cut from it; an order that is kept for several epochs gains nothing (shuffled_epochs)"
        )
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """One epoch."""
        return self.releases_in_words(1, write)

    def releases_in_words(self, count: int, write: Writer) -> str:
        """So many epochs, and their batches."""
        cut = f"{self.batches} shuffled batch{'' if self.batches == 1 else 'es'}"
        smaller = f" and a smaller one of {write(self.rest, 'down')} of the records" if self.rest else ""
        return f"{_epochs(count)} over {cut}{smaller}"

    def draws(self, relation: Relation) -> str:
        """How orders are drawn and batches cut."""
        return "a uniformly random order of the records in every epoch, drawn afresh, cut into batches of one size"

    def divisor(self, records: int) -> Fraction:
        """The size of a batch, ⌊n/m⌋ for m batches."""
        return Fraction(records // self.batches)


def _epochs(count: int) -> str:
    return "an epoch" if count == 1 else f"{count} epochs"


class _Allocated(Sampling):
    """Steps that every record draws on its own, in secret."""

    __slots__ = ()

    @property
    def traits(self) -> frozenset[Trait]:
        """Records are allocated to steps."""
        return frozenset((Trait.PUBLIC_RATE, Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.PER_RECORD, Trait.PRESENCE))

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """How records draw their steps."""
        drawn = (
            "each record draws its steps on its own, uniformly, in secret and whatever the data are; who draws none "
            "displaces nobody, so that batches have random sizes, and no sum is divided by them"
        )
        return (Assumption(LOADER, drawn),)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomlyAllocated(_Allocated):
    """Run the mechanism ``steps`` times, on whatever is allocated to each: every record to ``participations`` of them.

    Each record draws its steps on its own, in secret, all sets of that size being equally likely; so the sizes of the
    batches are random. This is one epoch: ``RandomlyAllocated(m, t, k) ** E`` is E of them, each with fresh draws.

    Args:
        mechanism: What runs at every step, on the records allocated to it.
        steps: t, a positive whole number.
        participations: k, from 1 to t.

    Raises:
        InvalidValue: A number is not a positive whole number, or k > t.

    >>> from dpbounds.privacy.mechanisms.additive import Gaussian
    >>> (RandomlyAllocated(Gaussian(1), steps=100) ** 10).parts[0][0].participations
    1
    """

    name = "random-allocation"

    mechanism: Mechanism
    steps: int = field(metadata=parameter(COUNT))
    participations: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, steps: int, participations: int = 1) -> None:
        _demand_mechanism(mechanism)
        t, k = positive_integer(steps, "steps"), positive_integer(participations, "participations")
        if k > t:
            raise InvalidValue("participations", participations, f"at most steps, {t}")
        self._hold(mechanism=mechanism, steps=t, participations=k)

    def resolved(self) -> Mechanism:
        """Where every record takes part in all steps nothing is drawn."""
        if self.participations == self.steps:
            return Composed(((self.mechanism, self.steps),))
        return self

    def drawn_in_words(self, write: Writer) -> str:
        """The batches."""
        each = "one" if self.participations == 1 else self.participations
        return f"{self.steps} random batches, {each} of which a record is in"

    def releases_in_words(self, count: int, write: Writer) -> str:
        """So many epochs, and their batches."""
        return f"{_epochs(count)} of {self.drawn_in_words(write)}"

    def draws(self, relation: Relation) -> str:
        """How records draw their steps."""
        return (
            "that every record draws its steps by itself, afresh in every epoch and all choices equally likely, so "
            "that batches differ in size and nobody is displaced"
        )

    def divisor(self, records: int) -> Fraction:
        """The expected size of a batch, k n/t for k of t steps."""
        return Fraction(records * self.participations, self.steps)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BallsInBins(_Allocated):
    """Throw every record into one of ``bins`` bins, uniformly and in secret, and run the mechanism on one bin a step.

    An epoch visits every bin once, in order. The sizes of the bins are random: a shuffled data set that is cut into
    equal batches is another scheme. ``**`` and ``@`` mean independent runs, each with bins of its own: what is visited
    again in several epochs is described by one object.

    Args:
        mechanism: What runs at every visit, on the records in the bin.
        bins: m, a positive whole number.
        epochs: E > 0. Of a last epoch that is cut short the bins visited first count (a step that is begun counts).
        redraw: True where every epoch throws the records anew, False where they stay in their bins, which costs far
            more: with Gaussian(1), 100 bins and 10 epochs, 13.25 instead of 1.70 at δ = 1e-5.

    Raises:
        InvalidValue: A number is out of its domain, or ``redraw`` is neither True nor False.

    >>> from dpbounds.privacy.mechanisms.additive import Gaussian
    >>> BallsInBins(Gaussian(1), bins=100, epochs="2.5", redraw=False).visits
    ((3, 50), (2, 50))
    """

    name = "balls-in-bins"

    mechanism: Mechanism
    bins: int = field(metadata=parameter(COUNT))
    epochs: Fraction = field(metadata=parameter(NUMBER))
    redraw: bool = field(metadata=parameter(FLAG))

    def __init__(self, mechanism: Mechanism, bins: int, epochs: ExactLike, *, redraw: bool) -> None:
        _demand_mechanism(mechanism)
        if not isinstance(redraw, bool):
            raise InvalidValue("redraw", redraw, "True (bins drawn anew in every epoch) or False (the same bins)")
        self._hold(
            mechanism=mechanism,
            bins=positive_integer(bins, "bins"),
            epochs=positive(epochs, "epochs"),
            redraw=redraw,
        )

    @property
    def whole_epochs(self) -> int:
        """How many epochs visit every bin."""
        return math.floor(self.epochs)

    @property
    def last_visits(self) -> int:
        """How many bins are visited in a last epoch that is cut short; 0 where none is."""
        return math.ceil((self.epochs - self.whole_epochs) * self.bins)

    @property
    def visits(self) -> tuple[tuple[int, int], ...]:
        """How often bins are visited in all epochs, and how many bins that often."""
        counts = ((self.whole_epochs + 1, self.last_visits), (self.whole_epochs, self.bins - self.last_visits))
        return tuple((visits, bins) for visits, bins in counts if visits and bins)

    def resolved(self) -> Mechanism:
        """Where there is one bin nothing is drawn."""
        return Composed(((self.mechanism, self.whole_epochs + self.last_visits),)) if self.bins == 1 else self

    def drawn_in_words(self, write: Writer) -> str:
        """The epochs and the bins."""
        often = "drawn anew every epoch" if self.redraw else "the same in every epoch"
        return self.filled(f"{{epochs}} {'epoch' if self.epochs == 1 else 'epochs'} of {{bins}} bins, {often}", write)

    def releases_in_words(self, count: int, write: Writer) -> str:
        """So many independent runs, and their bins."""
        return f"{'' if count == 1 else f'{count} times '}{self.drawn_in_words(write)}"

    def draws(self, relation: Relation) -> str:
        """How records draw their bins."""
        often = "afresh in every epoch" if self.redraw else "once"
        return f"that every record draws its bin by itself, uniformly, {often}, and nobody is displaced"

    def divisor(self, records: int) -> Fraction:
        """The expected size of a bin, n/m for m bins."""
        return Fraction(records, self.bins)
