"""Neighbouring relations: which two data sets must be hard to tell apart."""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn

from dpbounds.errors import InvalidValue, shown


class Relation(StrEnum):
    """A neighbouring relation. Whatever a sum is divided by must be a public constant under either of them.

    ``ADD_OR_REMOVE_ONE``: one data set is the other plus one record. A record moves a sum of per-record terms of norm
    at most C by at most C. ``REPLACE_ONE``: one record differs, which moves the sum by at most 2C.
    """

    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        given = repr(value) if isinstance(value, str) else shown(value)
        raise InvalidValue("relation", given, "one of " + ", ".join(cls))

    @property
    def sensitivity_factor(self) -> int:
        """How far one record can move a sum, in units of the per-record bound C."""
        return 1 if self is Relation.ADD_OR_REMOVE_ONE else 2


def as_relation(value: str | Relation) -> Relation:
    """Return the relation of that name.

    Raises:
        InvalidValue: There is no such relation.
    """
    return Relation(value) if isinstance(value, str) else Relation._missing_(value)
