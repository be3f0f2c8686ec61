"""A statement's guarantee at given numbers, or why it has none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.rates.costs import Cost
from dpbounds.rates.prescriptions import Prescribed
from dpbounds.theorems.record import Metric, Status


@dataclass(frozen=True, slots=True)
class Threshold:
    """The number of records from which a bound is informative.

    Attributes:
        dataset_size: There the bound is proven to be below every trivial one; with one record less that is not so, or
            the statement does not apply (where parameters are free: none were found at which it is so).
        monotone: The record declares that the bound never rises with n, so it stays meaningful above.
    """

    dataset_size: int
    monotone: bool
    part: str


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One statement at the numbers given.

    Attributes:
        metric: The bounded metric: the requested one, or a stronger one.
        sense: "expectation", "probability", "always", or empty where it is not said.
        meaning: The meaning of the number, in the record's words.
        bound: A proven enclosure; None where the statement is an order of growth only.
        rate: The value of the formula inside O(.); None for a bound.
        rho: The ρ at which the statement was evaluated, for those that promise ρ-zCDP; None for releases on samples, of
            which it says nothing.
        mechanism: The mechanism; None if the record has none.
        privacy: How the budget is satisfied.
        status: The status of the statement, including those that it relies on.
        vacuous: The bound is not below what holds trivially; None where no trivial bound is known.
        meaningful_from: Since which n it is not; None where that was not found, or for an order.
        unchecked: Conditions that could not be checked.
        caveat: The reason why a run may not reach the bound, if any.
        hides: The quantities that the published version sets to 1 without reason: the value holds in such units.
        place: Its rank among its like; 0 where it has none.
    """

    id: str
    metric: Metric
    sense: str
    part: str
    meaning: str
    formula: str
    parameters: tuple[Prescribed, ...]
    privacy: str
    cost: Cost
    status: Status
    assumes: tuple[str, ...]
    unchecked: tuple[str, ...]
    remarks: tuple[str, ...]
    bound: Enclosure | None = None
    rate: Enclosure | None = None
    rho: Fraction | None = None
    mechanism: Mechanism | None = None
    vacuous: bool | None = None
    meaningful_from: Threshold | None = None
    caveat: str = ""
    hides: tuple[str, ...] = ()
    logs_hidden: bool = False
    place: int = 0
    why: str = ""

    @property
    def like(self) -> str:
        """The kind of guarantees with which it is ranked: in words, empty for proven bounds."""
        if self.bound is not None:
            return ""
        words = ["orders of growth", *(["logarithms left out"] if self.logs_hidden else [])]
        if self.hides:
            words.append(f"in units in which {', '.join(self.hides)} {'is' if len(self.hides) == 1 else 'are'} 1")
        return ", ".join(words)

    @property
    def value(self) -> Fraction:
        """Return the number that it is ranked by: the upper bound."""
        found = self.bound or self.rate
        assert found is not None
        return Fraction(found.exact_upper)


class Missing(Exception):
    """Values that were not given."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(set(names)))
        super().__init__(self.names)


class Unfit(Exception):
    """Why a statement cannot be ranked."""
