"""Neighbouring relations: which two datasets must be hard to distinguish."""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn, assert_never

from dpbounds.errors import InvalidValue, shown


class Order(StrEnum):
    """A class of ordered neighbours: the change from the first dataset to the second.

    No step of a run changes it, so that pairs of one order compose, and only they do (``pairs.md``, section 2).
    """

    REMOVE = "remove"
    ADD = "add"
    REPLACE = "replace"
    ZERO = "zero"  # the record contributes nothing any more
    RESTORE = "restore"  # the other way round

    @property
    def reversed(self) -> Order:
        """The change in the other order, from the second dataset to the first."""
        match self:
            case Order.REMOVE:
                return Order.ADD
            case Order.ADD:
                return Order.REMOVE
            case Order.ZERO:
                return Order.RESTORE
            case Order.RESTORE:
                return Order.ZERO
            case Order.REPLACE:
                return Order.REPLACE
        assert_never(self)

    @property
    def moves_twice(self) -> bool:
        """Whether the record's term is exchanged for another one, which moves a sum by up to 2C, not C."""
        return self is Order.REPLACE

    @property
    def counts_records(self) -> bool:
        """Whether one of the datasets has one record more."""
        return self in (Order.REMOVE, Order.ADD)

    @property
    def zeroes(self) -> bool:
        """Whether the record is a null record in one of the datasets, and keeps its place."""
        return self in (Order.ZERO, Order.RESTORE)


class Relation(StrEnum):
    """A neighbouring relation. Under each of them, divisors of sums must be public constants.

    ``ADD_OR_REMOVE_ONE``: one dataset is the other plus one record. A record moves a sum of per-record terms of norm at
    most C by at most C. ``REPLACE_ONE``: one record differs, which moves the sum by at most 2C. ``ZERO_OUT_ONE``: in
    one of the two, one record is replaced by a null record, which contributes 0; its place, its slot in a batch and the
    number of records stay, and are public. This moves the sum by at most C (``zero_out.md``).
    """

    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"
    ZERO_OUT_ONE = "zero-out-one"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        given = repr(value) if isinstance(value, str) else shown(value)
        near = cls.meant_by(value) if isinstance(value, str) else None
        advice = () if near is None else (f"did you mean {near}?",)
        raise InvalidValue("relation", given, "one of " + ", ".join(cls), *advice)

    @classmethod
    def meant_by(cls, text: str) -> Relation | None:
        """Return the relation meant by a name of papers or libraries; None if it is ambiguous.

        >>> [str(Relation.meant_by(name)) for name in ("add-one", "REPLACE_SPECIAL", "bounded")]
        ['add-or-remove-one', 'zero-out-one', 'replace-one']
        """
        told = text.lower()
        return next((relation for part, relation in _PARTS if part in told), None)

    @property
    def sensitivity_factor(self) -> int:
        """The sensitivity of a sum, in units of the clipping norm C."""
        return 2 if self.orders[0].moves_twice else 1

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders of two neighbours; a replacement is its own reversal."""
        match self:
            case Relation.ADD_OR_REMOVE_ONE:
                return Order.REMOVE, Order.ADD
            case Relation.REPLACE_ONE:
                return (Order.REPLACE,)
            case Relation.ZERO_OUT_ONE:
                return Order.ZERO, Order.RESTORE
        assert_never(self)

    @property
    def counts_records(self) -> bool:
        """Whether neighbours have different numbers of records, so that a dataset's own size is not public."""
        return self is Relation.ADD_OR_REMOVE_ONE


# of other names, and what they mean; the first that is found in a name decides ("replace special": dp-accounting)
_PARTS = (
    *((part, Relation.ZERO_OUT_ONE) for part in ("zero", "special", "null")),
    *((part, Relation.ADD_OR_REMOVE_ONE) for part in ("add", "remov", "delet", "unbounded")),
    *((part, Relation.REPLACE_ONE) for part in ("repla", "substitut", "swap", "change", "edit", "bounded")),
)


def as_relation(value: str | Relation) -> Relation:
    """Return the relation of that name.

    Raises:
        InvalidValue: There is no such relation.
    """
    return Relation(value) if isinstance(value, str) else Relation._missing_(value)


def orders_of(relation: Relation, order: str | Order | None) -> tuple[Order, ...]:
    """Return the orders of neighbours that a question is about: all of the relation, or the one that is given.

    Raises:
        InvalidValue: The relation has no such order.
    """
    if order is None:
        return relation.orders
    if not isinstance(order, str) or order not in relation.orders:
        given = repr(str(order)) if isinstance(order, str) else shown(order)
        raise InvalidValue("order", given, f"one of {', '.join(relation.orders)} under {relation}, or None for all")
    return (Order(order),)
