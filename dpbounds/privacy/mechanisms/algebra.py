"""What every mechanism is, and how several make one: one after the other, or on disjoint parts of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dpbounds.errors import InvalidValue, shown
from dpbounds.expressions.exact import positive_integer

Partition = Literal["record", "index"]


class Mechanism:
    """A randomised algorithm, described by what its privacy depends on.

    ``m ** T`` is m run T times, ``a @ b`` is a and then b; each run may depend on the outputs of earlier ones, while
    the noise, the rates and the number of runs are fixed in advance.
    """

    __slots__ = ()

    def __pow__(self, count: int) -> Composed:
        return Composed(((self, positive_integer(count, "steps")),))

    def __matmul__(self, other: Mechanism) -> Composed:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return Composed(((self, 1), (other, 1)))


@dataclass(frozen=True, slots=True, init=False)
class Composed(Mechanism):
    """Several mechanisms one after the other, each as many times as its count says.

    Args:
        parts: (mechanism, count) pairs; counts are positive integers. Nested compositions are flattened.

    Raises:
        InvalidValue: There is no part, or a count is not a positive whole number.
    """

    parts: tuple[tuple[Mechanism, int], ...]

    def __init__(self, parts: tuple[tuple[Mechanism, int], ...]) -> None:
        given = listed(parts, "parts", "pairs of a mechanism and a count")
        if not given:
            raise InvalidValue("parts", parts, "at least one mechanism")
        object.__setattr__(self, "parts", tuple(_flattened(given)))


def listed(values: object, name: str, wanted: str) -> tuple[Any, ...]:
    """The entries of a list or of whatever else can be gone through, or ``InvalidValue``."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise InvalidValue(name, values, f"a list of {wanted}")
    return tuple(values)


def paired(entry: object, name: str, wanted: str) -> tuple[Any, Any]:
    """An entry that is a pair, or ``InvalidValue``."""
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise InvalidValue(name, entry, wanted)
    return entry[0], entry[1]


def a_mechanism(value: object, name: str = "mechanism") -> Mechanism:
    """The value, if it is a mechanism, or ``InvalidValue``."""
    if not isinstance(value, Mechanism):
        raise InvalidValue(name, value, "a mechanism, such as dpbounds.Gaussian(1)")
    return value


def _flattened(parts: tuple[Any, ...]) -> Iterator[tuple[Mechanism, int]]:
    for entry in parts:
        mechanism, given = paired(entry, "parts", "pairs of a mechanism and a count")
        count = positive_integer(given, "steps")
        a_mechanism(mechanism, "parts")
        if isinstance(mechanism, Composed):
            for inner, times in mechanism.parts:
                yield inner, positive_integer(times * count, "steps")
        else:
            yield mechanism, count


@dataclass(frozen=True, slots=True, init=False, eq=False)
class InParallel(Mechanism):
    """One mechanism per block of a partition of the data; each block's may depend on what others published.

    Used several times (``m ** T``, or the same object in ``a @ m @ b @ m``), it is the same partition each time. Two
    objects are two partitions, even where their blocks have equal mechanisms: they are equal only to themselves.

    Args:
        blocks: One mechanism per block, at least one.
        partition: "record" where a fixed function of the record's content says which block it belongs to; "index" where
            its public position does (then only replace-one makes sense: a removal would shift the others).

    Raises:
        InvalidValue: There is no block, or no such kind of partition.
    """

    blocks: tuple[Mechanism, ...]
    partition: Partition

    def __init__(self, blocks: tuple[Mechanism, ...], partition: Partition = "record") -> None:
        given = listed(blocks, "blocks", "mechanisms")
        if not given or not all(isinstance(block, Mechanism) for block in given):
            raise InvalidValue("blocks", given, "at least one mechanism, and nothing else")
        if not isinstance(partition, str) or partition not in get_args(Partition):
            raise InvalidValue("partition", shown(partition), " or ".join(get_args(Partition)))
        object.__setattr__(self, "blocks", given)
        object.__setattr__(self, "partition", partition)


def parts_of(mechanism: Mechanism) -> tuple[tuple[Mechanism, int], ...]:
    """The (mechanism, count) pairs of a composition; of any other mechanism, itself once."""
    return mechanism.parts if isinstance(mechanism, Composed) else ((mechanism, 1),)
