"""The numbers of privacy statements, each checked once at the interface and passed on as a record."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpbounds.errors import InvalidValue, demand
from dpbounds.expressions.exact import ExactLike, as_promised, exact, practical
from dpbounds.privacy.relations import Relation, as_relation

Given = Literal["delta", "epsilon"]


def at_least_zero(value: ExactLike, name: str = "epsilon") -> Fraction:
    """Return an exact number >= 0, such as ε, or raise ``InvalidValue``."""
    number = exact(value, name)
    if number < 0:
        raise InvalidValue(name, value, "at least 0")
    return number


def positive(value: ExactLike, name: str, advice: str = "") -> Fraction:
    """Return an exact number > 0, or raise ``InvalidValue``."""
    number = exact(value, name)
    if number <= 0:
        if name.startswith("noise") and number == 0:
            advice = "no noise means no privacy"
        raise InvalidValue(name, value, "greater than 0", advice)
    return number


def positive_rate(value: ExactLike) -> Fraction:
    """Return an exact sample rate in (0, 1], or raise ``InvalidValue``."""
    rate = exact(value, "sample_rate")
    if not 0 < rate <= 1:
        meant = "at rate 0 no record is ever used, and epsilon and delta are 0" if rate == 0 else ""
        raise InvalidValue("sample_rate", value, "greater than 0 and at most 1", meant)
    return rate


def probability(value: ExactLike, name: str = "delta") -> Fraction:
    """Return an exact number from 0 to 1, or raise ``InvalidValue``."""
    number = exact(value, name)
    if not 0 <= number <= 1:
        raise InvalidValue(name, value, "a number from 0 to 1")
    return number


def open_unit(value: ExactLike, name: str = "delta") -> Fraction:
    """Return an exact number in (0, 1), such as δ, or raise ``InvalidValue``."""
    number = exact(value, name)
    if not 0 < number < 1:
        raise InvalidValue(name, value, "greater than 0 and less than 1")
    return number


def promised_epsilon(value: ExactLike, name: str = "epsilon") -> Fraction:
    """Return an ε >= 0 that may be printed as it was typed (``as_promised``), or raise ``InvalidValue``."""
    return at_least_zero(as_promised(value, name), name)


def practical_epsilon(value: ExactLike, name: str = "target_epsilon") -> Fraction:
    """Return such an ε that a search can reach: 0, or between 1e-100 and 1e100."""
    return practical(promised_epsilon(value, name), name)


def promised_delta(value: ExactLike, name: str = "delta") -> Fraction:
    """Return a δ in (0, 1) that may be printed as it was typed (``as_promised``), or raise ``InvalidValue``."""
    return open_unit(as_promised(value, name), name)


def promised_delta_or_zero(value: ExactLike, name: str = "delta") -> Fraction:
    """Return such a δ in [0, 1), or raise ``InvalidValue``."""
    number = as_promised(value, name)
    if number < 0 or number >= 1:
        raise InvalidValue(name, value, "at least 0 and less than 1")
    return number


def above_one(value: ExactLike, name: str = "order") -> Fraction:
    """Return an exact number > 1, such as a Rényi order λ, or raise ``InvalidValue``."""
    number = exact(value, name)
    if number <= 1:
        raise InvalidValue(name, value, "greater than 1")
    return number


def demand_fields(record: object, **kinds: Any) -> None:
    """Refuse a record of results with a field of another type than the one (or the several) named here."""
    for name, kind in kinds.items():
        demand(name, getattr(record, name), *(kind if isinstance(kind, tuple) else (kind,)))


@dataclass(frozen=True, slots=True)
class Target:
    """The argument of a question: δ in [0, 1), to find ε; or ε >= 0, to find δ.

    Attributes:
        given: Which of δ and ε is given.
        value: Its value.
    """

    given: Given
    value: Fraction

    @property
    def for_epsilon(self) -> bool:
        """Whether ε is the unknown, at a given δ."""
        return self.given == "delta"

    @property
    def is_pure(self) -> bool:
        """Whether ε at δ = 0 is the unknown."""
        return self.for_epsilon and self.value == 0

    @classmethod
    def of(cls, delta: ExactLike | None, epsilon: ExactLike | None, *, pure: bool = False) -> Target:
        """Return the one that is not None; ``InvalidValue`` for both, for neither, and for one out of range.

        Args:
            delta: δ, if ε is the unknown.
            epsilon: ε, if δ is the unknown.
            pure: Whether δ = 0 is allowed.
        """
        if delta is not None and epsilon is None:
            return cls("delta", promised_delta_or_zero(delta) if pure else promised_delta(delta))
        if epsilon is not None and delta is None:
            return cls("epsilon", promised_epsilon(epsilon))
        raise InvalidValue("delta, epsilon", (delta, epsilon), "one of the two alone")


@dataclass(frozen=True, slots=True)
class Budget:
    """A privacy budget: ε >= 0 at δ in [0, 1) under a neighbouring relation, all exact."""

    epsilon: Fraction
    delta: Fraction
    relation: Relation

    @classmethod
    def of(
        cls, target_epsilon: ExactLike, target_delta: ExactLike, relation: str | Relation, *, pure: bool = False
    ) -> Budget:
        """Return the budget, or raise ``InvalidValue``; δ = 0 only where it is for ``pure`` privacy, too."""
        checked = promised_delta_or_zero if pure else promised_delta
        return cls(
            promised_epsilon(target_epsilon, "target_epsilon"),
            checked(target_delta, "target_delta"),
            as_relation(relation),
        )

    @property
    def at_delta(self) -> Target:
        """Return the target with ε as the unknown."""
        return Target("delta", self.delta)
