"""Steps or bins that every record draws on its own, in secret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.bounds import (
    Classes,
    as_pair,
    attacks_on,
    base_of,
    classes_of,
    mixture,
    product_of,
)
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Composed, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.demands import (
    demand_blind,
    demand_no_allocation,
    demand_no_blocks,
    demand_no_final_distance,
    demand_no_fixed_size,
    has,
)
from dpbounds.privacy.mechanisms.parameters import COUNT, FLAG, NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.sampling import (
    Dealing,
    demand_mechanism,
    epochs_in_words,
)
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source

_MOST_PARTICIPATIONS = 6  # largest number of participations in an epoch that an attack counts


class _Allocated(Dealing):
    """Steps that every record draws on its own, in secret."""

    __slots__ = ()

    @property
    def one_by_one(self) -> bool:
        """True: no record displaces another."""
        return True

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties of a scheme that allocates records to steps."""
        return frozenset((Trait.PUBLIC_RATE, Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.PER_RECORD, Trait.PRESENCE))

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption on the draws of steps."""
        drawn = (
            "each record draws its steps on its own, uniformly, in secret and whatever the data are; a record that "
            "draws none displaces no other, so that batches have random sizes, and no sum is divided by them"
        )
        return (Assumption(LOADER, drawn),)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomlyAllocated(_Allocated):
    """Run the mechanism ``steps`` times, each record allocated to ``participations`` of the runs.

    Each record draws its steps independently and in secret, all sets of that size being equally likely; so the sizes of
    the batches are random. This is one epoch: ``RandomlyAllocated(m, t, k) ** E`` is E of them, each with fresh draws.

    Args:
        mechanism: The mechanism of every step, on the records allocated to it.
        steps: t, a positive whole number.
        participations: k, from 1 to t.

    Raises:
        InvalidValue: A number is not a positive whole number, or k > t.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> (RandomlyAllocated(Gaussian(1), steps=100) ** 10).parts[0][0].participations
    1
    """

    name = "random-allocation"

    mechanism: Mechanism
    steps: int = field(metadata=parameter(COUNT))
    participations: int = field(metadata=parameter(COUNT))

    def __init__(self, mechanism: Mechanism, steps: int, participations: int = 1) -> None:
        demand_mechanism(mechanism)
        t, k = positive_integer(steps, "steps"), positive_integer(participations, "participations")
        if k > t:
            raise InvalidValue("participations", participations, f"at most steps, {t}")
        self._hold(mechanism=mechanism, steps=t, participations=k)

    @property
    def batches(self) -> int:
        """The steps."""
        return self.steps

    def resolved(self) -> Mechanism:
        """Return the composition of all steps if every record takes part in all of them."""
        if self.participations == self.steps:
            return Composed(((self.mechanism, self.steps),))
        return self

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of an epoch with the record in k of t steps: one step of each of k independent groups."""
        t, k, inner = self.steps, self.participations, self.mechanism
        if k == 1:
            return _one_bin(inner, t, ((1, t),), order)
        (base, attained), direction = _at_a_step(inner, order), pairs.Direction.of(order)
        groups: list[tuple[pairs.Pair, int]] = []
        for size, count in ((t // k + 1, t % k), (t // k, k - t % k)):
            pair = pairs.Allocated(direction, size, ((base, size),)) if size > 1 else base_of(inner, order)[0]
            groups += [(pair, count)] if count else []
        # the replacement contributes nothing
        attacked = pairs.Direction.REMOVE if order is Order.REPLACE else direction
        attacks: tuple[pairs.Pair, ...] = tuple(pairs.AllocatedTo(attacked, t, k, pair) for pair in attained)
        if k > _MOST_PARTICIPATIONS:  # an observer of a single step
            attacks = tuple(mixture(direction, pairs.Draws(Fraction(k, t)), pair) for pair in attained)
        if isinstance(base, pairs.ShiftedGaussians):  # an observer of the sum of all steps, which k of them moved
            moved = Fraction((2 * k if order is Order.REPLACE else k) ** 2, t)
            attacks += (pairs.ShiftedGaussians(base.squared_shift * moved),)
        return pairs.StepBound(pairs.Combined(product_of(groups)), attacks)

    def drawn_in_words(self, write: Writer) -> str:
        """Return the batches."""
        each = "one" if self.participations == 1 else self.participations
        return f"{self.steps} random batches, {each} of which a record is in"

    def releases_in_words(self, count: int, write: Writer) -> str:
        """Describe ``count`` epochs, and their batches."""
        return f"{epochs_in_words(count)} of {self.drawn_in_words(write)}"

    def draws(self, relation: Relation) -> str:
        """Describe the draws of steps."""
        return (
            "that every record draws its steps by itself, afresh in every epoch and all choices equally likely, so "
            "that batch sizes vary and no record displaces another"
        )

    def deal(self, records: int, source: Source) -> Rows:
        """Return a uniform set of k steps for each record."""
        from dpbounds.privacy.mechanisms.schemes.drawing import subsets

        return subsets(source, records, self.steps, self.participations)

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Return the batches of an epoch."""
        from dpbounds.privacy.mechanisms.schemes.drawing import in_turn

        return in_turn(self.deal(records, source), self.steps)

    def divisor(self, records: int) -> Fraction:
        """Return the expected size of a batch, k n/t for k of t steps."""
        return Fraction(records * self.participations, self.steps)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BallsInBins(_Allocated):
    """Put every record into one of ``bins`` bins, uniformly and in secret, and run the mechanism on one bin a step.

    An epoch visits every bin once, in order. The sizes of the bins are random: a shuffled dataset that is cut into
    equal batches is another scheme. ``**`` and ``@`` mean independent runs, each with bins of its own; several epochs
    over the same bins are one object.

    Args:
        mechanism: The mechanism of every visit, on the records in the bin.
        bins: m, a positive whole number.
        epochs: E > 0. In a last epoch that is cut short, only the first bins are visited (a step that is begun counts).
        redraw: True if every epoch draws the bins anew, False if records stay in their bins, which spends far more:
            with Gaussian(1), 100 bins and 10 epochs, ε is 13.25 instead of 1.70 at δ = 1e-5 under add-or-remove-one.

    Raises:
        InvalidValue: A number is out of its domain, or ``redraw`` is neither True nor False.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> BallsInBins(Gaussian(1), bins=100, epochs="2.5", redraw=False).visits
    ((3, 50), (2, 50))
    """

    name = "balls-in-bins"

    mechanism: Mechanism
    bins: int = field(metadata=parameter(COUNT))
    epochs: Fraction = field(metadata=parameter(NUMBER))
    redraw: bool = field(metadata=parameter(FLAG))

    def __init__(self, mechanism: Mechanism, bins: int, epochs: ExactLike, *, redraw: bool) -> None:
        demand_mechanism(mechanism)
        if not isinstance(redraw, bool):
            raise InvalidValue("redraw", redraw, "True (bins drawn anew in every epoch) or False (the same bins)")
        self._hold(
            mechanism=mechanism,
            bins=positive_integer(bins, "bins"),
            epochs=positive(epochs, "epochs"),
            redraw=redraw,
        )

    @property
    def batches(self) -> int:
        """The bins."""
        return self.bins

    def answers(self, count: int) -> int:
        """Return the number of answers: those of whole epochs, and of a last one that is cut short."""
        return count * (self.whole_epochs * self.bins + self.last_visits)

    @property
    def redraws(self) -> bool:
        """Whether bins are drawn anew."""
        return self.redraw

    @property
    def whole_epochs(self) -> int:
        """The number of epochs that visit every bin."""
        return math.floor(self.epochs)

    @property
    def last_visits(self) -> int:
        """Number of bins visited in a last epoch that is cut short; 0 if there is none."""
        return math.ceil((self.epochs - self.whole_epochs) * self.bins)

    @property
    def visits(self) -> tuple[tuple[int, int], ...]:
        """Pairs of the number of visits in all epochs, and the number of bins with that number."""
        counts = ((self.whole_epochs + 1, self.last_visits), (self.whole_epochs, self.bins - self.last_visits))
        return tuple((visits, bins) for visits, bins in counts if visits and bins)

    def resolved(self) -> Mechanism:
        """Return the composition of all steps if there is one bin."""
        return Composed(((self.mechanism, self.whole_epochs + self.last_visits),)) if self.bins == 1 else self

    def classes(self, order: Order) -> Classes:
        """Return independent epochs for bins drawn anew, else one choice among steps of several visits each."""
        inner, bins, whole, last = self.mechanism, self.bins, self.whole_epochs, self.last_visits
        if not self.redraw:
            return {(): ((_one_bin(inner, bins, self.visits, order), 1),)}
        epochs = [(_one_bin(inner, bins, ((1, bins),), order), whole)] if whole else []
        return {(): (*epochs, *([(_one_bin(inner, bins, ((1, last),), order), 1)] if last else []))}

    def drawn_in_words(self, write: Writer) -> str:
        """Return the epochs and the bins."""
        often = "drawn anew every epoch" if self.redraw else "the same in every epoch"
        return self.filled(f"{{epochs}} {'epoch' if self.epochs == 1 else 'epochs'} of {{bins}} bins, {often}", write)

    def releases_in_words(self, count: int, write: Writer) -> str:
        """Describe ``count`` independent runs, and their bins."""
        return f"{'' if count == 1 else f'{count} times '}{self.drawn_in_words(write)}"

    def draws(self, relation: Relation) -> str:
        """Describe the draws of bins."""
        often = "afresh in every epoch" if self.redraw else "once"
        return f"that every record draws its bin by itself, uniformly, {often}, and no record displaces another"

    def deal(self, records: int, source: Source) -> Rows:
        """Return a bin for each record."""
        return source.numbers(self.bins, records)

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Yield the bins of all epochs, thrown once or anew for each."""
        from dpbounds.privacy.mechanisms.schemes.drawing import in_turn

        kept = None if self.redraw else self.deal(records, source)
        for epoch in range(math.ceil(self.epochs)):
            visited = self.bins if epoch < self.whole_epochs else self.last_visits
            yield from in_turn(self.deal(records, source) if kept is None else kept, visited)

    def divisor(self, records: int) -> Fraction:
        """Return the expected size of a bin, n/m for m bins."""
        return Fraction(records, self.bins)


def _one_bin(inner: Mechanism, bins: int, visits: Iterable[tuple[int, int]], order: Order) -> pairs.StepBound:
    """Return the pair of a record in one of two or more bins.

    Args:
        inner: The mechanism of every visit.
        bins: The number of bins.
        visits: Numbers of visits, each with the number of bins that are visited so often.
        order: The order of the neighbours.
    """
    found = [(_at_a_step(Composed(((inner, times),)), order), count) for times, count in visits]
    shares = tuple((base, count) for (base, _), count in found)
    options = [tuple((pair, count) for pair in attained) for (_, attained), count in found]
    attacks = tuple(
        tuple(each[min(index, len(each) - 1)] for each in options)
        for index in range(max(map(len, options)) if all(options) else 0)
    )
    direction = pairs.Direction.of(order)
    return pairs.StepBound(
        pairs.Allocated(direction, bins, shares), tuple(pairs.Allocated(direction, bins, attack) for attack in attacks)
    )


def _at_a_step(inner: Mechanism, order: Order) -> tuple[pairs.Pair, tuple[pairs.Pair, ...]]:
    """Return the pair of one step with the record against the same step without it, and pairs that are attained.

    Under replace-one it holds for the record and for its replacement; opposite vectors attain it for both at once.
    """
    where = "steps allocated in secret"
    demand_no_fixed_size(inner, f"{where}, whose batches have random sizes", "a fixed-size sample of the whole dataset")
    demand_no_blocks(inner, where)
    demand_no_allocation(inner, where)
    if order.zeroes:
        demand_blind(inner, f"at {where}, which hold the record or not")
    if order is Order.REPLACE:  # proven for Gaussian noise alone; its releases at one step add up to one
        if not has(Trait.ADDS_UP, inner):
            raise UnsupportedMechanism(
                f"{where} have a proven pair under replace-one for Gaussian noise only: ask under add-or-remove-one "
                "or zero-out-one (--relation add-or-remove-one or --relation zero-out-one)"
            )
        demand_no_final_distance(inner, f"in {where} a record and its replacement are rarely at the same one")
    present = Order.ZERO if order.zeroes else Order.REMOVE
    ((_, steps),) = classes_of(inner, present).items()  # one class: there are no blocks inside
    product = product_of((bound.pair, count) for bound, count in steps)
    return as_pair(product), tuple(map(as_pair, attacks_on(steps, product, on_its_own=False)))
