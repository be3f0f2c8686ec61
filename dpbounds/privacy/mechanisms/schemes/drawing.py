"""Random numbers from any source, and the assignment of records to the batches of an epoch.

Each scheme draws its own batches, in ``draw``, beside the pair of distributions that is accounted for them. The
reference algorithms and the engine for Opacus call that, with numbers from a generator of NumPy, or from the operating
system.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact

Rows = NDArray[np.int64]  # places of records, from 0

_GRID = 1 << 53  # a generator's uniform doubles are the multiples of 2^-53 in [0, 1)


class Source(Protocol):
    """Independent random numbers, each exactly uniform."""

    def coins(self, count: int, rate: Fraction) -> Rows:
        """Return the indices of the ``count`` coins that show heads, with probability ``rate``, a multiple of 2^-53."""

    def numbers(self, below: int, count: int) -> Rows:
        """Return ``count`` numbers from 0 to ``below`` - 1."""

    def subset(self, size: int, among: int) -> Rows:
        """Return ``size`` different numbers from 0 to ``among`` - 1, in an order without meaning."""

    def order(self, count: int) -> Rows:
        """Return the numbers from 0 to ``count`` - 1, shuffled."""


class Generator:
    """Random numbers of a generator of NumPy.

    Args:
        generator: Whose stream is used up.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def coins(self, count: int, rate: Fraction) -> Rows:
        """See ``Source``."""
        demand_drawable(rate)
        return np.flatnonzero(self._generator.random(count) < float(rate))

    def numbers(self, below: int, count: int) -> Rows:
        """See ``Source``."""
        return self._generator.integers(0, below, size=count)

    def subset(self, size: int, among: int) -> Rows:
        """See ``Source``."""
        return self._generator.choice(among, size=size, replace=False, shuffle=False)

    def order(self, count: int) -> Rows:
        """See ``Source``."""
        return self._generator.permutation(count)


def drawable_rate(sample_rate: ExactLike) -> Fraction:
    """Return a sample rate rounded down to a multiple of 2^-53: one at which a generator can draw.

    Raises:
        InvalidValue: It is not in (0, 1], or below 2^-53.
    """
    rate = Fraction(math.floor(exact(sample_rate, "sample_rate") * _GRID), _GRID)
    if not 0 < rate <= 1:
        raise InvalidValue("sample_rate", sample_rate, "a number of at least 2^-53 and at most 1")
    return rate


def demand_drawable(rate: Fraction) -> None:
    """Raise ``InvalidValue`` unless coins can show heads with exactly this probability: a double may be larger."""
    if (rate * _GRID).denominator != 1:
        advice = "draw and account at drawable_rate(sample_rate), which is hardly smaller"
        raise InvalidValue("sample_rate", rate, "a multiple of 2^-53", advice)


def subsets(source: Source, records: int, batches: int, size: int) -> Rows:
    """Return a uniform subset of 0, ..., ``batches`` - 1 for each record, by Floyd's algorithm; shape (n, K).

    By induction: after j the first columns are a uniform subset of 0, ..., j of their size. It holds j with the
    probability that a uniform number up to j is j or taken, (1 + i)/(j + 1) for i columns before; else that number is
    uniform among those that are not taken (Bentley & Floyd 1987).
    """
    found: list[Rows] = []
    for j in range(batches - size, batches):
        drawn = source.numbers(j + 1, records)
        taken = np.any([drawn == each for each in found], axis=0) if found else np.zeros(records, dtype=bool)
        found.append(np.where(taken, j, drawn))
    return np.stack(found, axis=1)


def cut(order: Rows, batches: int, taken: int, rest: int = 0) -> Rows:
    """Deal the first ``taken`` records of an order to batches in turn, and ``rest`` more to a last one; -1 for others.

    >>> cut(np.array([4, 0, 3, 1, 2]), batches=2, taken=3, rest=1)
    array([ 1,  2, -1,  0,  0])
    """
    found = np.full(len(order), -1)
    found[order[:taken]] = np.arange(taken) % batches
    found[order[taken : taken + rest]] = batches
    return found


def in_batch(places: Rows, batch: int) -> Rows:
    """Return the records of one batch, in order, by the batches to which all of them were dealt."""
    there = places == batch
    return np.flatnonzero(there.any(axis=1) if there.ndim == 2 else there)


def in_turn(places: Rows, batches: int) -> Iterator[Rows]:
    """Yield the same for batch 0, 1, ..., ``batches`` - 1."""
    each = places.size // max(1, len(places))  # how many batches a record is in
    by_batch = np.argsort(places.ravel(), kind="stable")
    ends = np.searchsorted(places.ravel()[by_batch], np.arange(batches + 1))
    for first, behind in itertools.pairwise(ends):
        yield by_batch[first:behind] // each
