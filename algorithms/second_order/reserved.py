"""Ledgers whose releases are recorded before the run: the number of actual releases depends on their values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger, Release, chosen_as_it_goes
from dpbounds.algorithms.oracles import GradientOracle, HessianOracle, HessianProductOracle, PathGradientOracle
from dpbounds.errors import BudgetExceeded
from dpbounds.privacy.mechanisms import Gaussian

Stream = np.random.Generator
Asked = TypeVar("Asked", GradientOracle, HessianOracle, HessianProductOracle, PathGradientOracle)


class ReservedLedger(OpenLedger):
    """Ledger of every possible release, from the start; making one takes it off the rest.

    An algorithm that stops as soon as its noisy answers allow it to, or asks for a Hessian only where a noisy gradient
    is small, makes a number of releases that depends on the data and differs between repetitions. It spends as much as
    its longest run would: imagine that the releases that were not needed are made at the end, at the point where the
    run stopped. The real output is a function of these, so their guarantee is its guarantee; a ledger of what one
    repetition happened to ask would claim less, without proof.
    """

    def __init__(self) -> None:
        super().__init__()
        self._reserved: Counter[Release | DescribedRelease] = Counter()
        self._made: dict[Release | DescribedRelease, Counter[Stream | None]] = defaultdict(Counter)
        self._asking: tuple[Stream | None, ...] = (None,)  # all of them
        self._paths, self._along = 0, 0  # entries that stand for a path, and how many answers those may be

    def reserve(self, entry: Release | DescribedRelease, along: int = 0) -> None:
        """Record ``count`` answers, or one entry for a path with at most ``along`` answers."""
        super()._write(entry)
        self._reserved[replace(entry, count=1)] += entry.count
        self._paths, self._along = self._paths + bool(along), self._along + along

    @property
    def chosen(self) -> str:
        """The largest number of releases, for a privacy statement."""
        most = sum(self._reserved.values()) - self._paths + self._along
        return chosen_as_it_goes(most, self._along)

    @contextmanager
    def asked_by(self, streams: Sequence[Stream]) -> Iterator[None]:
        """Count queries of some repetitions inside the ``with`` block, each separately: the ledger is that of one."""
        self._asking = tuple(streams)
        try:
            yield
        finally:
            self._asking = (None,)

    def _write(self, entry: Release | DescribedRelease) -> None:
        single = replace(entry, count=1)
        made = self._made[single]
        most = made[None] + max(
            (made[who] for who in (made if None in self._asking else self._asking) if who), default=0
        )
        if most + entry.count > self._reserved[single]:
            raise BudgetExceeded(
                f"{entry} was to be made, of which {self._reserved[single] - most} are left: nothing was released; "
                "the noise differs from the reserved noise, or there are more releases than planned"
            )
        for who in self._asking:
            made[who] += entry.count


def reserved(oracle: Asked, count: int = 1) -> Asked:
    """Return the oracle with ``count`` answers (or a path of that length) reserved in its ledger."""
    entry: Release | DescribedRelease
    along = 0
    if isinstance(oracle, PathGradientOracle):
        ledger, entry, along = oracle.ledger.ledger, oracle.ledger.last, count
    elif oracle.noise == "gaussian" and not isinstance(oracle, HessianProductOracle):
        ledger, entry = oracle.ledger, Release(Fraction(oracle.noise_stddev), oracle.per_record_bound, count=count)
    else:
        ledger, entry = oracle.ledger, DescribedRelease(Gaussian(oracle.noise_multiplier), count)
    assert isinstance(ledger, ReservedLedger)
    ledger.reserve(entry, along)
    return oracle
