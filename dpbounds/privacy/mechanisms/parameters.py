"""The parameters of a mechanism: how each is written in a ledger, read back, and rounded where it is printed.

A field of a mechanism's record declares this beside its type, and everything that writes or reads mechanisms follows
from it::

    sample_rate: Fraction = field(metadata=parameter(NUMBER, rounds="up"))

Files come from anywhere, so reading a value either gives one of the right kind, or raises ``InvalidValue``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from dpbounds.documents import quoted
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import Direction, ExactLike, exact, positive_integer
from dpbounds.privacy.relations import Relation

_KEY = "dpbounds"
WriteNumber = Callable[[Fraction], object]  # exactly


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values: how JSON holds them.

    Attributes:
        read: The value that a JSON value stands for, given the name of its field; ``InvalidValue`` for any other.
        write: The JSON value of a value, given how to write a number.
    """

    read: Callable[[object, str], Any]
    write: Callable[[Any, WriteNumber], object]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a mechanism.

    Attributes:
        kind: The kind of its values.
        rounds: To which side a rounded number of it is printed. This is not the side that spends more.
        optional: Whether it may be None, and is then not written.
        instead_of: The name of the parameter that it replaces where it is given; certificates then leave that one out,
            and else leave this one out.
    """

    kind: Kind
    rounds: Direction
    optional: bool
    instead_of: str | None = None


def parameter(
    kind: Kind, *, rounds: Direction = "up", optional: bool = False, instead_of: str | None = None
) -> dict[str, Parameter]:
    """Return the metadata of a dataclass field that holds a parameter."""
    return {_KEY: Parameter(kind, rounds, optional, instead_of)}


def parameters_of(record: object) -> Mapping[str, Parameter]:
    """Return the parameters of a record or of its class, by their names, in the order of its fields."""
    declared: Any = record
    return {field.name: field.metadata[_KEY] for field in fields(declared) if _KEY in field.metadata}


# --- Kinds of values --------------------------------------------------------------------------------------------------


def read_number(value: object, name: str) -> Fraction:
    """Return a number in a file, exactly."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        raise InvalidValue(name, quoted(value), "a number")
    number: ExactLike = value
    return exact(number, name)


def read_list(value: object, name: str) -> list[object]:
    """Return a list in a file."""
    if not isinstance(value, list):
        raise InvalidValue(name, quoted(value), "a list")
    return value


def _read_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue(name, quoted(value), "true or false")
    return value


def _read_word(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidValue(name, quoted(value), "a word")
    return value


def _read_relation(value: object, name: str) -> object:
    if value not in tuple(Relation):
        raise InvalidValue(name, quoted(value), "one of " + ", ".join(Relation))
    return value


def _read_counts(value: object, name: str) -> list[int]:
    return [positive_integer(each, name) for each in read_list(value, name)]


def _read_number_or_list(value: object, name: str) -> Fraction | list[Fraction]:
    return [read_number(each, name) for each in value] if isinstance(value, list) else read_number(value, name)


def _write_number_or_list(value: Fraction | tuple[Fraction, ...], number: WriteNumber) -> object:
    return number(value) if isinstance(value, Fraction) else list(map(number, value))


def pairs_of(first: str, second: str) -> Kind:
    """Return the kind of lists of pairs of numbers, with the names of both."""

    def read(value: object, name: str) -> list[tuple[Fraction, Fraction]]:
        if not isinstance(value, list) or not all(isinstance(point, list) and len(point) == 2 for point in value):
            raise InvalidValue(name, quoted(value), f"a list of [{first}, {second}]")
        return [(read_number(one, first), read_number(other, second)) for one, other in value]

    return Kind(read, lambda value, number: [[number(one), number(other)] for one, other in value])


def _same(value: object, _: WriteNumber) -> object:
    return value


NUMBER = Kind(read_number, lambda value, number: number(value))
COUNT = Kind(lambda value, name: positive_integer(value, name), _same)
FLAG = Kind(_read_flag, _same)
WORD = Kind(_read_word, _same)
RELATION = Kind(_read_relation, lambda value, _: str(value))
COUNTS = Kind(_read_counts, lambda value, _: list(value))
NUMBER_OR_NUMBERS = Kind(_read_number_or_list, _write_number_or_list)
