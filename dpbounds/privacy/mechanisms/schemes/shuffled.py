"""Batches cut from a shuffled dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.bounds import base_of
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.demands import (
    demand_no_allocation,
    demand_no_blocks,
    demand_no_fixed_size,
    has,
    refuse_without_positions,
)
from dpbounds.privacy.mechanisms.noises.gaussian import Gaussian
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.poisson import PoissonSampled
from dpbounds.privacy.mechanisms.schemes.sampling import (
    Dealing,
    demand_mechanism,
    epochs_in_words,
)
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.drawing import Rows, Source


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shuffled(Dealing):
    """One epoch: shuffle the records, cut them into batches of one size, run the mechanism on each in turn.

    ``Shuffled(m, batches) ** E`` shuffles anew for each of E epochs. Everything that each batch publishes may be seen;
    the order must stay secret. If one order is used for all epochs, or is known, use ``shuffled_epochs``.

    With as many batches as records, this is the shuffle model: every record sends one report by a local randomiser,
    such as :class:`RandomizedResponse`, and the reports arrive in a secret order. The secret order is proven to hide a
    record where the loss of a batch is bounded (pure ε), or its noise is Gaussian; else it gains nothing.

    Args:
        mechanism: The mechanism on each batch.
        batches: M, the number of batches of equal size in an epoch.
        rest: The number of records in a further, smaller batch, as a share of all records; 0 if there is none. Records
            that are dropped instead only lower ε.

    Raises:
        InvalidValue: M is not a positive whole number, or the rest is no smaller than a batch.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> (Shuffled(Gaussian(4), batches=1000) ** 10).parts[0][1]
    10

    >>> from dpbounds.privacy.accountants.certified import epsilon
    >>> from dpbounds.privacy.mechanisms import RandomizedResponse
    >>> epsilon(Shuffled(RandomizedResponse(1), batches=100_000), "1e-6", "replace-one").at_most("0.01244")
    True
    """

    name = "shuffled"

    mechanism: Mechanism
    batches: int = field(metadata=parameter(COUNT))
    rest: Fraction = field(metadata=parameter(NUMBER, rounds="down"))

    def __init__(self, mechanism: Mechanism, batches: int, rest: ExactLike = 0) -> None:
        demand_mechanism(mechanism)
        number, share = positive_integer(batches, "batches"), exact(rest, "rest")
        if not 0 <= share * (number + 1) < 1:
            raise InvalidValue("rest", rest, f"at least 0 and less than 1/{number + 1}, the share of a batch")
        self._hold(mechanism=mechanism, batches=number, rest=share)

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties: the probability of a record depends on the number of records."""
        return frozenset((Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED, Trait.PER_RECORD, Trait.PRESENCE))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of an epoch, which spends no more than the batch that holds the record (``shuffled.md``)."""
        if order.counts_records:
            refuse_without_positions("shuffled batches of one size")
        inner, where = self.mechanism, "a shuffled batch"
        demand_no_fixed_size(inner, where, "shuffle the dataset itself")
        demand_no_blocks(inner, where)
        demand_no_allocation(inner, where)
        base, attained = base_of(inner, order)
        if self.batches == 1 and self.rest == 0:
            return pairs.StepBound(base, attained if attained == (base,) else ())
        if not isinstance(base, pairs.ShiftedGaussians):
            return self._of_reports(order, base, attained)
        centred = order is Order.REPLACE and has(Trait.PER_RECORD, inner)
        pair = pairs.ShuffledBatches(pairs.Direction.of(order), base, self.batches, self.rest, centred)
        attack: pairs.Pair = pairs.AllocatedTo(pairs.Direction.REMOVE, self.batches, 1, base)
        if self.rest > 0:  # the smaller batch's output is left out
            attack = pairs.Allocated(pairs.Direction.REMOVE, self.batches + 1, ((base, self.batches),))
        return pairs.StepBound(pair, (attack,))

    def _of_reports(self, order: Order, base: pairs.Pair, attained: tuple[pairs.Pair, ...]) -> pairs.StepBound:
        """Return the pair of batches of bounded loss, which hide the record's (``shuffle_model.md``); else None."""
        inner, number = self.mechanism, self.batches
        if any(part.waits for part in inner.nested()):  # a batch would still be in use when the next one begins
            return pairs.StepBound(base, ())
        found = inner.shuffled_reports(number) if order is Order.REPLACE else None
        if found is None:
            pair = pairs.shuffled_reports.among(base, number, replaced=order is Order.REPLACE)
            if pair is None or not pairs.shuffled_reports.hides(pair, base):
                return pairs.StepBound(base, ())
            attacks = pairs.shuffled_reports.attacks_on(attained, number) if has(Trait.CERTAIN, inner) else ()
            found = pairs.StepBound(pair, attacks)
        if self.rest > 0:  # known: the record is in the smaller batch
            return pairs.StepBound(pairs.Tagged(((1 - self.rest, found.pair), (self.rest, base))), ())
        return pairs.StepBound(found.pair, found.attacks, size=number)

    def group_pair(self, order: Order, k: int) -> pairs.Pair | None:
        """Return the pair of several records where the order is known, for noise that is not Gaussian."""
        base, _ = base_of(self.mechanism, order)
        return base.enlarged(k) if base.dominating_shift is None else None

    def answers(self, count: int) -> int:
        """Return the number of answers, including those of the smaller batch."""
        return count * (self.batches + (self.rest > 0))

    @property
    def secret(self) -> str:
        """The orders."""
        return "the orders of the records"

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption on the orders and the batches."""
        drawn = (
            "each epoch has a fresh, uniformly random order of all records, which stays secret, and batches of one "
            "size are cut from it; an order that is kept for several epochs gains nothing (shuffled_epochs)"
        )
        return (Assumption(LOADER, drawn),)

    def drawn_in_words(self, write: Writer) -> str:
        """Return one epoch and its batches, in words."""
        return self.releases_in_words(1, write)

    def releases_in_words(self, count: int, write: Writer) -> str:
        """Describe ``count`` epochs, and their batches."""
        cut = f"{self.batches} shuffled batch{'' if self.batches == 1 else 'es'}"
        smaller = f" and a smaller one of {write(self.rest, 'down')} of the records" if self.rest else ""
        return f"{epochs_in_words(count)} over {cut}{smaller}"

    def remark(self, relation: Relation) -> str:
        """Return a remark if the secret order gains nothing: each epoch then spends as much as one batch."""
        order, *_ = relation.orders
        base, _ = base_of(self.mechanism, order)
        if self.dominated_by(order).pair != base:
            return ""
        return (
            "the secret order gains nothing: a gain is proven for Gaussian noise, and for bounded loss (pure epsilon) "
            "without interaction, among enough batches"
        )

    def draws(self, relation: Relation) -> str:
        """Describe the orders and the batches."""
        return "a uniformly random order of the records in every epoch, drawn afresh, cut into batches of one size"

    def as_poisson(self) -> tuple[PoissonSampled, int] | None:
        """Return Poisson samples of the share of a batch, as many as there are batches.

        None for noise that is not Gaussian: a batch may then be the report of one record (the shuffle model), and no
        records are sampled.
        """
        if not isinstance(self.mechanism.noise, Gaussian):
            return None
        return PoissonSampled(self.mechanism, (1 - self.rest) / self.batches), self.answers(1)

    def deal(self, records: int, source: Source) -> Rows:
        """Return batches cut from a fresh order, rounded down to whole records: the rest is left out of the epoch."""
        from dpbounds.privacy.mechanisms.schemes.drawing import cut

        size, rest = int((1 - self.rest) * records / self.batches), int(self.rest * records)
        return cut(source.order(records), self.batches, self.batches * size, rest)

    def draw(self, records: int, source: Source) -> Iterator[Rows]:
        """Return the batches of an epoch, the smaller one last."""
        from dpbounds.privacy.mechanisms.schemes.drawing import in_turn

        return in_turn(self.deal(records, source), self.batches + (self.rest > 0))

    def divisor(self, records: int) -> Fraction:
        """Return the size of a batch, ⌊n/m⌋ for m batches."""
        return Fraction(records // self.batches)
