"""Which records take part in one step: every way of drawing, by enumeration.

A record is anything that can be sorted: a vector, or a number that names a type of record. A dataset is a tuple of
records, a batch the sorted tuple of those that take part (a record drawn twice stands there twice). A ``Sampling``
knows the law of "how often each record is drawn"; ``batches`` turns it into the law of the batch.

Nothing here knows what a relation or a sampling is worth: the laws are written down from their definitions, subset by
subset and tuple of indices by tuple of indices.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

Vector = tuple[float, ...]
Record = TypeVar("Record", int, Vector)
Counts = tuple[int, ...]  # how often each record of a dataset is drawn


class Order(StrEnum):
    """What is done to the first of two neighbours to get the second."""

    REMOVE = "remove"
    ADD = "add"
    REPLACE = "replace"
    ZERO = "zero"
    RESTORE = "restore"


class Sampling(Protocol):
    """A way of drawing."""

    def counts(self, size: int) -> dict[Counts, float]:
        """The law of the numbers of times that each of ``size`` records is drawn."""
        ...


@dataclass(frozen=True)
class Full:
    """Every record, once."""

    def counts(self, size: int) -> dict[Counts, float]:
        return {(1,) * size: 1.0}


@dataclass(frozen=True)
class Poisson:
    """Each record with probability ``rate``, independently."""

    rate: float

    def counts(self, size: int) -> dict[Counts, float]:
        return {
            chosen: self.rate ** sum(chosen) * (1 - self.rate) ** (size - sum(chosen))
            for chosen in itertools.product((0, 1), repeat=size)
        }


@dataclass(frozen=True)
class Truncated:
    """A Poisson sample, of which a set of ``most`` records is kept where it has more, all sets equally likely."""

    rate: float
    most: int

    def counts(self, size: int) -> dict[Counts, float]:
        law: dict[Counts, float] = {}
        for drawn, probability in Poisson(self.rate).counts(size).items():
            sample = [index for index, count in enumerate(drawn) if count]
            kept = list(itertools.combinations(sample, min(self.most, len(sample))))
            for subset in kept:
                counts = tuple(int(index in subset) for index in range(size))
                law[counts] = law.get(counts, 0.0) + probability / len(kept)
        return law


@dataclass(frozen=True)
class WithoutReplacement:
    """A set of ``batch`` records, all sets equally likely."""

    batch: int

    def counts(self, size: int) -> dict[Counts, float]:
        if size < self.batch:
            raise ValueError(f"{self.batch} of {size} records cannot be drawn without replacement")
        subsets = list(itertools.combinations(range(size), self.batch))
        return {tuple(int(index in subset) for index in range(size)): 1 / len(subsets) for subset in subsets}


@dataclass(frozen=True)
class WithReplacement:
    """``batch`` draws, each of them any record with the same probability, independently."""

    batch: int

    def counts(self, size: int) -> dict[Counts, float]:
        tuples = itertools.product(range(size), repeat=self.batch)  # ordered: all equally likely
        drawn = Counter(tuple(indices.count(index) for index in range(size)) for indices in tuples)
        return {counts: ways / size**self.batch for counts, ways in drawn.items()}


@dataclass(frozen=True)
class OneRandom:
    """A single record, all equally likely."""

    def counts(self, size: int) -> dict[Counts, float]:
        return {tuple(int(index == drawn) for index in range(size)): 1 / size for drawn in range(size)}


def batches(records: Sequence[Record], sampling: Sampling) -> dict[tuple[Record, ...], float]:
    """The law of the multiset of records that take part."""
    law: dict[tuple[Record, ...], float] = {}
    for counts, probability in sampling.counts(len(records)).items():
        batch = tuple(
            sorted(record for record, count in zip(records, counts, strict=True) for _ in range(count)),
        )
        law[batch] = law.get(batch, 0.0) + probability
    return {batch: probability for batch, probability in law.items() if probability > 0}


Batches = Mapping[tuple[Record, ...], float]


def multisets(records: Sequence[Record], sizes: Iterable[int]) -> list[tuple[Record, ...]]:
    """Every multiset of the records with one of the sizes."""
    return [found for size in sizes for found in itertools.combinations_with_replacement(records, size)]


def nothing(record: Record) -> Record:
    """The record that contributes nothing, of the same kind: the vector 0, or type 0."""
    return (0.0,) * len(record) if isinstance(record, tuple) else 0


def neighbours(
    order: Order, shared: Iterable[tuple[Record, ...]], own: Sequence[Record]
) -> Iterator[tuple[tuple[Record, ...], tuple[Record, ...]]]:
    """Ordered pairs of datasets that share some records and differ by one of ``own``, in every way."""
    for rest in shared:
        longer = [tuple(itertools.chain(rest, [record])) for record in own]
        zeroed = tuple(itertools.chain(rest, [nothing(own[0])]))
        match order:
            case Order.REPLACE:
                yield from itertools.permutations(longer, 2)
            case Order.REMOVE:
                yield from ((more, rest) for more in longer)
            case Order.ADD:
                yield from ((rest, more) for more in longer)
            case Order.ZERO:
                yield from ((more, zeroed) for more in longer if more != zeroed)
            case Order.RESTORE:
                yield from ((zeroed, more) for more in longer if more != zeroed)
