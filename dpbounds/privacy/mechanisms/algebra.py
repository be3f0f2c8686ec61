"""What every mechanism is, and how several make one: one after the other, or on disjoint parts of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import InvalidValue, demand, demand_one_of
from dpbounds.expressions.exact import positive_integer

Partition = Literal["record", "index"]


class Mechanism(Displayed):
    """A randomised algorithm, described by what its privacy depends on.

    ``m ** T`` is m run T times, ``a @ b`` is a and then b; each run may depend on the outputs of earlier ones, while
    the noise, the rates and the number of runs are fixed in advance.
    """

    __slots__ = ()

    def _sheet(self) -> Sheet:
        rows = [(str(count), repr(part)) for part, count in parts_of(self)]
        return Sheet("mechanism", columns=("times", "release"), rows=rows)

    def _hold(self, **fields: object) -> None:
        """Set the fields of a frozen record, in its constructor."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __pow__(self, count: int) -> Composed:
        return Composed(((self, positive_integer(count, "steps")),))

    def __matmul__(self, other: Mechanism) -> Composed:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return Composed(((self, 1), (other, 1)))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Composed(Mechanism):
    """Several mechanisms one after the other, each as many times as its count says.

    Args:
        parts: (mechanism, count) pairs; counts are positive integers. Nested compositions are flattened.

    Raises:
        InvalidValue: There is no part, or a count is not a positive whole number.
    """

    parts: tuple[tuple[Mechanism, int], ...]

    def __init__(self, parts: tuple[tuple[Mechanism, int], ...]) -> None:
        given = listed_pairs(parts, "parts", "pairs of a mechanism and a count")
        if not given:
            raise InvalidValue("parts", parts, "at least one mechanism")
        self._hold(parts=tuple(_flattened(given)))

    def __repr__(self) -> str:
        told = [repr(part) if count == 1 else f"{part!r} ** {count}" for part, count in self.parts]
        return " @ ".join(told) if len(told) > 1 or self.parts[0][1] > 1 else f"{told[0]} ** 1"


def listed(values: object, name: str, wanted: str) -> tuple[Any, ...]:
    """The entries of a list or of whatever else can be gone through, or ``InvalidValue``."""
    try:
        found = iter(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else None
    except TypeError:  # an array without an axis says that it can be gone through
        found = None
    if found is None:
        raise InvalidValue(name, values, f"a list of {wanted}")
    return tuple(found)


def listed_pairs(values: object, name: str, wanted: str) -> tuple[tuple[Any, Any], ...]:
    """The pairs of a list or of a mapping, or ``InvalidValue``."""
    found = listed(values.items() if isinstance(values, Mapping) else values, name, wanted)
    for entry in found:
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise InvalidValue(name, entry, wanted)
    return tuple((first, second) for first, second in found)


def _flattened(parts: tuple[tuple[Any, Any], ...]) -> Iterator[tuple[Mechanism, int]]:
    for mechanism, given in parts:
        count = positive_integer(given, "steps")
        demand("parts", mechanism, Mechanism)
        if isinstance(mechanism, Composed):
            for inner, times in mechanism.parts:
                yield inner, positive_integer(times * count, "steps")
        else:
            yield mechanism, count


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class InParallel(Mechanism):
    """One mechanism per block of a partition of the data; each block's may depend on what others published.

    Used several times (``m ** T``, or the same object in ``a @ m @ b @ m``), it is the same partition each time. Two
    objects are two partitions, even where their blocks have equal mechanisms: they are equal only to themselves.

    Args:
        blocks: One mechanism per block, at least one.
        partition: "record" where a fixed function of the record's content says which block it belongs to; "index" where
            its public position does (then add-or-remove-one makes no sense: a removal would shift the others).

    Raises:
        InvalidValue: There is no block, or no such kind of partition.
    """

    blocks: tuple[Mechanism, ...]
    partition: Partition

    def __init__(self, blocks: tuple[Mechanism, ...], partition: Partition = "record") -> None:
        given = listed(blocks, "blocks", "mechanisms")
        if not given or not all(isinstance(block, Mechanism) for block in given):
            raise InvalidValue("blocks", given, "at least one mechanism, and nothing else")
        demand_one_of("partition", partition, get_args(Partition))
        self._hold(blocks=given, partition=partition)


def parts_of(mechanism: Mechanism) -> tuple[tuple[Mechanism, int], ...]:
    """The (mechanism, count) pairs of a composition; of any other mechanism, itself once."""
    return mechanism.parts if isinstance(mechanism, Composed) else ((mechanism, 1),)
