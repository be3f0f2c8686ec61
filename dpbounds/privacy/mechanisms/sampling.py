"""A mechanism that runs on a random part of the data, or each time on another part of it.

In every case the mechanism must answer with a sum, or a sum divided by a *public* constant: dividing by the realised
size of a random batch is another mechanism, whose sensitivity depends on the data. Batches cut from a shuffled data
set are a scheme of their own, :class:`Shuffled`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms.additive import positive, positive_rate
from dpbounds.privacy.mechanisms.algebra import Mechanism


def _demand_mechanism(value: object) -> None:
    if not isinstance(value, Mechanism):
        raise InvalidValue("mechanism", value, "a mechanism")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PoissonSampled(Mechanism):
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

    mechanism: Mechanism
    sample_rate: Fraction

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        _demand_mechanism(mechanism)
        self._hold(mechanism=mechanism, sample_rate=positive_rate(sample_rate))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithoutReplacement(Mechanism):
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

    mechanism: Mechanism
    batch_size: int
    dataset_size: int

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        b, n = positive_integer(batch_size, "batch_size"), positive_integer(dataset_size, "dataset_size")
        if b > n:
            raise InvalidValue("batch_size", batch_size, f"at most dataset_size, {n}")
        self._hold(mechanism=mechanism, batch_size=b, dataset_size=n)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithReplacement(Mechanism):
    """Run the mechanism on ``batch_size`` records drawn one by one, uniformly, a record possibly several times.

    Args:
        mechanism: What runs on the batch, in which a record that was drawn k times counts k times.
        batch_size: b, the number of draws.
        dataset_size: n, public, with the same meaning as for :class:`SampledWithoutReplacement`; under
            add-or-remove-one n >= 2, so that the smaller data set is not empty.

    Raises:
        InvalidValue: A size is not a positive whole number.
    """

    mechanism: Mechanism
    batch_size: int
    dataset_size: int

    def __init__(self, mechanism: Mechanism, batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            batch_size=positive_integer(batch_size, "batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TruncatedPoisson(Mechanism):
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

    mechanism: Mechanism
    sample_rate: Fraction
    max_batch_size: int
    dataset_size: int

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike, max_batch_size: int, dataset_size: int) -> None:
        _demand_mechanism(mechanism)
        self._hold(
            mechanism=mechanism,
            sample_rate=positive_rate(sample_rate),
            max_batch_size=positive_integer(max_batch_size, "max_batch_size"),
            dataset_size=positive_integer(dataset_size, "dataset_size"),
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shuffled(Mechanism):
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

    mechanism: Mechanism
    batches: int
    rest: Fraction

    def __init__(self, mechanism: Mechanism, batches: int, rest: ExactLike = 0) -> None:
        _demand_mechanism(mechanism)
        number, share = positive_integer(batches, "batches"), exact(rest, "rest")
        if not 0 <= share * (number + 1) < 1:
            raise InvalidValue("rest", rest, f"at least 0 and less than 1/{number + 1}, the share of a batch")
        self._hold(mechanism=mechanism, batches=number, rest=share)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomlyAllocated(Mechanism):
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

    mechanism: Mechanism
    steps: int
    participations: int

    def __init__(self, mechanism: Mechanism, steps: int, participations: int = 1) -> None:
        _demand_mechanism(mechanism)
        t, k = positive_integer(steps, "steps"), positive_integer(participations, "participations")
        if k > t:
            raise InvalidValue("participations", participations, f"at most steps, {t}")
        self._hold(mechanism=mechanism, steps=t, participations=k)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BallsInBins(Mechanism):
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

    mechanism: Mechanism
    bins: int
    epochs: Fraction
    redraw: bool

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
