"""Poisson sampling of users: a sample holds all records of each user who is drawn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.bounds import Classes, Members, base_of
from dpbounds.privacy.mechanisms.core import LOADER, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.demands import (
    demand_no_allocation,
    demand_no_blocks,
    demand_no_final_distance,
    demand_no_fixed_size,
    has,
)
from dpbounds.privacy.mechanisms.parameters import NUMBER, parameter
from dpbounds.privacy.mechanisms.schemes.sampling import Sampling, demand_mechanism
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive_rate


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PoissonByUser(Sampling):
    """Run the mechanism on all records of randomly drawn users, each with probability ``sample_rate``, independently.

    The protected unit is one *record*. Its user may have any number of other records, which show whether the user was
    drawn, so that sampling hides less than for records that are drawn one by one (:class:`PoissonSampled`). If a user
    is protected as a whole, and all contributions of a user are clipped together, users are the records: use
    :class:`PoissonSampled`.

    Args:
        mechanism: The mechanism on the records of the users who are drawn.
        sample_rate: q, in (0, 1].

    Raises:
        InvalidValue: The sample rate is not in (0, 1].

    >>> from dpbounds.privacy.accountants.certified import epsilon
    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> epsilon(PoissonByUser(Gaussian(2), "0.01") ** 100, "1e-5").at_most("3.57")
    True
    """

    name = "poisson-by-user"

    mechanism: Mechanism
    sample_rate: Fraction = field(metadata=parameter(NUMBER))

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        demand_mechanism(mechanism)
        self._hold(mechanism=mechanism, sample_rate=positive_rate(sample_rate))

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties. ``ANY_RECORDS`` is missing: a sample or a block may hold only some records of a user."""
        of_draws = (Trait.PUBLIC_RATE, Trait.UNDIVIDED, Trait.UNALLOCATED)
        return frozenset((*of_draws, Trait.BLIND, Trait.PER_RECORD, Trait.PRESENCE))

    def resolved(self) -> Mechanism:
        """Return the mechanism without sampling, if the rate is 1."""
        return self.mechanism.resolved() if self.sample_rate == 1 else self

    def classes(self, order: Order) -> Classes:
        """Return the classes: a replaced record stays with its user, or moves to another user (``by_user.md``)."""
        of_one = ((self.dominated_by(order), 1),)
        if order is not Order.REPLACE:
            return {(): of_one}
        return {("within one user",): of_one, ("from one user to another",): ((self._of_two(), 1),)}

    @property
    def group_key(self) -> Hashable:
        """One key for all samples of users: a replaced record stays with its user in all releases, or in none."""
        return self if self.sample_rate == 1 else PoissonByUser

    def classes_together(self, members: Members, order: Order, most: int) -> list[Classes]:
        """Return the same classes as for one release."""
        several = [(member.classes(order), count) for member, count in members]
        return [
            {
                place: tuple((bound, times * count) for found, count in several for bound, times in found[place])
                for place in self.classes(order)
            }
        ]

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of one release: the draw of the record's user may show (``by_user.md``, section 1)."""
        self._demand()
        base, attained = base_of(self.mechanism, order)
        drawn = pairs.Diluted(self.sample_rate, base)
        attacks = tuple(pairs.Diluted(self.sample_rate, pair) for pair in attained)
        return pairs.StepBound(drawn, attacks if has(Trait.NOISY_SUM, self.mechanism) else (), in_the_limit=True)

    def _of_two(self) -> pairs.StepBound:
        """Return the pair of two users, one of whom loses the record that the other gets (``by_user.md``, 2)."""
        self._demand()
        demand_no_final_distance(
            self.mechanism, "a record that leaves one user and enters another moves the answer by other distances"
        )
        q = self.sample_rate
        chances = {Order.REPLACE: q * q, Order.REMOVE: q * (1 - q), Order.ADD: (1 - q) * q}
        parts: dict[pairs.Pair, Fraction] = {}
        for order, chance in chances.items():
            base, _ = base_of(self.mechanism, order)
            parts[base] = parts.get(base, Fraction(0)) + chance
        either = 1 - (1 - q) ** 2
        tagged = pairs.Tagged(tuple((chance / either, pair) for pair, chance in parts.items()))
        drawn = pairs.Diluted(either, tagged)
        return pairs.StepBound(drawn, (drawn,) if has(Trait.ADDS_UP, self.mechanism) else (), in_the_limit=True)

    def _demand(self) -> None:
        demand_no_fixed_size(self.mechanism, "a sample of users, whose size is random", "sample records")
        demand_no_blocks(self.mechanism, "a sample of users together with other releases")
        demand_no_allocation(self.mechanism, "a sample of users")

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption on the samples."""
        drawn = (
            "each user enters each sample independently with exactly the rate given, in secret and whatever their "
            "records are; a sample holds all records of its users, and the bound is that of one record"
        )
        return (Assumption(LOADER, drawn),)

    @property
    def secret(self) -> str:
        """Who was drawn."""
        return "which users were in which sample"

    def drawn_in_words(self, write: Writer) -> str:
        """Return the samples."""
        return self.filled("Poisson samples of users at rate {sample_rate}", write)

    def draws(self, relation: Relation) -> str:
        """Describe the samples."""
        return "Poisson sampling of users (each enters each step's sample independently, with all of their records)"

    def divisor(self, records: int) -> Fraction:
        """Return the expected number of records in a sample, q n."""
        return self.sample_rate * records

    def records_read(self, records: int) -> Fraction | None:
        """Return the expected number of records in a sample, q n."""
        return self.divisor(records)
