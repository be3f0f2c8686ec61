"""Accounting methods: one function per method, each from a question to an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Literal

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import Account
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Order, Relation


@dataclass(frozen=True, slots=True)
class Question:
    """ε at a δ, or δ at an ε.

    Attributes:
        tolerance: Relative width to aim at; None for the default.
        group_size: Number of records that differ together.
        order: The only order of neighbours that counts; None for all.
    """

    wanted: Literal["epsilon", "delta"]
    target: Fraction
    mechanism: Mechanism
    relation: Relation
    tolerance: float | None
    group_size: int
    time_limit: Fraction | None = None
    order: Order | None = None

    @property
    def delta(self) -> Fraction | None:
        """The δ that was given, or None."""
        return self.target if self.wanted == "epsilon" else None

    @property
    def epsilon(self) -> Fraction | None:
        """The ε that was given, or None."""
        return self.target if self.wanted == "delta" else None

    def at_zero(self) -> Question:
        """Return the question for δ at ε = 0, the total variation distance."""
        return replace(self, wanted="delta", target=Fraction(0))

    def of_group(self, found: Enclosure) -> Account:
        """Return the result for several records as an account that certificates take."""
        from dpbounds.privacy.accountants.certified import Account

        given: Literal["delta", "epsilon"] = "delta" if self.wanted == "epsilon" else "epsilon"
        return Account(self.mechanism, self.relation, given, self.target, found, (), group_size=self.group_size)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a method.

    Attributes:
        enclosure: The proven ends; the upper one is to be published.
        bound: Certified interval of the upper bound itself.
        attained: The value that explicit attacks attain, if it is smaller; None if none is known, or none is smaller.
        tight: Whether the upper bound is, up to the width of the proofs, what is spent; None where it is not known.
    """

    enclosure: Enclosure
    bound: Enclosure
    attained: Enclosure | None
    tight: bool | None
    account: Account | None


def certified(question: Question) -> Answer:
    """Return the accountant of dominating pairs; for several records at once, the one for groups."""
    # looked up where they live at the time of the call
    from dpbounds.privacy.accountants import certified as accountants

    if question.group_size > 1:
        from dpbounds.privacy.accountants import groups as group_accounts

        found = group_accounts.group_account(
            question.mechanism,
            question.group_size,
            delta=question.delta,
            epsilon=question.epsilon,
            relation=question.relation,
        )
        return Answer(found, found, None, None, None)
    proven = accountants.account(
        question.mechanism,
        delta=question.delta,
        epsilon=question.epsilon,
        relation=question.relation,
        tolerance=question.tolerance or DEFAULT_TOLERANCE,
        time_limit=question.time_limit,
        order=question.order,
    )
    bound = _largest([proof.enclosure for _, proof in proven.proofs if proof.route != "dominated"])
    if proven.moments is not None:
        bound = Enclosure(proven.enclosure.exact_upper, proven.enclosure.exact_upper, proven.moments.route)
    attained = attained_by(proven)
    enclosed = bound.exact_upper == 0 or bound.exact_lower > 0  # else it is bounded above only
    tight = proven.tight or (attained is not None and enclosed and bound.overlaps(attained))
    return Answer(proven.enclosure, bound, None if tight else attained, tight, proven)


def attained_by(found: Account) -> Enclosure | None:
    """Return the largest ε that a known pair of datasets attains; None if none is known."""
    ends = [attack.enclosure for _, attack in found.attacks]
    for each, (_, proof) in zip(found.classes.every(), found.proofs, strict=True):
        if each.tight and proof.route != "dominated":
            ends.append(proof.enclosure)
    return _largest(ends) if ends else None


def _largest(enclosures: list[Enclosure]) -> Enclosure:
    return reduce(Enclosure.larger, enclosures)
