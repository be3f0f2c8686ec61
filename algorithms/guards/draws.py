"""Tests that random batches are independent of the batches before them: joint distributions over two draws.

Two batches may depend on each other even if each has the right size and the right records. A sampler that returns every
batch twice, or deals disjoint batches where independent ones are accounted, passes every test of one draw, and spends
more than its ledger says.

Given all earlier draws, the number of a batch's records that were in an earlier batch A has a known distribution:

- of a Poisson sample of rate q, binomial with |A| trials of probability q (mean n q² where A is such a sample, too);
- of a batch of b out of n records without replacement, and of a cut Poisson sample given its size b, hypergeometric;
- of b draws with replacement, binomial with b trials of probability |A|/n, A the set of the records.

Its tails, with ties broken at random, are then uniform and independent from draw to draw. ``Tails`` adds up the
logarithms of them: minus each is a standard exponential variable, so that a sum of k is Gamma(k, 1), exactly
(Fisher's method). A batch that comes twice is far out in one tail, batches that avoid each other in the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from dpbounds.algorithms.noise import Array
from dpbounds.privacy.mechanisms.schemes.sampling import OneBatch

LAGS = 4  # number of earlier batches with which a batch is compared
_LEAST = np.finfo(np.float64).tiny  # tails below count as this: the sum is smaller, and the test no less right


@dataclass(slots=True)
class Tails:
    """Sums of -log of both tails of numbers that are independent and uniform where all is right.

    Attributes:
        above: The sum of the probabilities of as much or more.
        below: The sum of the probabilities of as little or less.
        count: The number of values.
    """

    above: float = 0.0
    below: float = 0.0
    count: int = 0

    def add(self, above: Array, below: Array) -> None:
        """Add the tails of further numbers."""
        self.above -= float(np.log(np.maximum(above, _LEAST)).sum())
        self.below -= float(np.log(np.maximum(below, _LEAST)).sum())
        self.count += above.size

    def probability(self) -> float:
        """Bound the probability that one of the sums is as large or larger, by the upper tail of Gamma(k, 1)."""
        if not self.count:
            return 1.0
        largest = max(self.above, self.below)
        return min(1.0, 2 * float(special.gammaincc(self.count, largest)))

    def __str__(self) -> str:
        return f"{self.count} batches hold too {'many' if self.above > self.below else 'few'} of the same records"


def tails_of(counts: Array, distribution: Any, ties: Array) -> tuple[Array, Array]:
    """Return both tails at counts with a discrete distribution of SciPy's, ties broken by uniform numbers."""
    at = distribution.pmf(counts)
    return distribution.sf(counts) + ties * at, distribution.cdf(counts - 1) + (1 - ties) * at


class Overlaps:
    """Numbers of records that batches share with the batches before them, and with those of other repetitions.

    Args:
        tails: From a name to the sums that its numbers are added to.
        ties: Source of the numbers that break ties.
    """

    def __init__(self, tails: Callable[[str], Tails], ties: np.random.Generator) -> None:
        self._tails, self._ties = tails, ties
        self._held: dict[tuple[object, object], deque[Any]] = {}
        self._marks = np.zeros(0, dtype=bool)

    def add(self, drawn: OneBatch, records: int, streams: Sequence[object], rows: Sequence[Any]) -> None:
        """Take the batches of one answer, one per repetition.

        Args:
            drawn: The sampling scheme, by the ledger.
            records: n, out of which they are drawn. What the indices stand for does not matter.
            streams: The streams of the repetitions.
            rows: Their records.
        """
        by_lag: list[list[tuple[Any, Any]]] = [[] for _ in range(LAGS)]
        for stream, each in zip(streams, rows, strict=True):
            held = self._held.setdefault((stream, records), deque(maxlen=LAGS))
            for lag, earlier in enumerate(held):
                by_lag[lag].append((earlier, each))
            held.appendleft(np.unique(each))
        for lag, pairs in enumerate(by_lag, start=1):
            self._compare("draws in a row" if lag == 1 else f"draws {lag} apart", drawn, records, pairs)
        others = [(np.unique(ours), theirs) for ours, theirs in zip(rows[::2], rows[1::2], strict=False)]
        self._compare("repetitions", drawn, records, others)

    def of_group(self, group: Any, records: int, rate: float, streams: Sequence[object], rows: Sequence[Any]) -> None:
        """Take the Poisson samples of one answer from a group of the records, which is drawn from again and again."""
        pairs = []
        for stream, each in zip(streams, rows, strict=True):
            held = self._held.setdefault((stream, f"the group of {group[0]}"), deque(maxlen=1))
            pairs += [(earlier, each) for earlier in held]
            held.appendleft(np.unique(each))
        if pairs:
            self._take("draws in a row", self._shared(records, pairs), stats.binom(_sizes(pairs, 0), rate))

    def _compare(self, name: str, drawn: OneBatch, records: int, pairs: Sequence[tuple[Any, Any]]) -> None:
        if not pairs:
            return
        shared, before, now = self._shared(records, pairs), _sizes(pairs, 0), _sizes(pairs, 1)
        if drawn.rate is not None and drawn.most is None:
            distribution = stats.binom(before, float(drawn.rate))
        elif drawn.repeats:
            distribution = stats.binom(now, before / records)
        else:
            distribution = stats.hypergeom(records, before, now)
        self._take(name, shared, distribution)

    def _take(self, name: str, shared: Any, distribution: Any) -> None:
        self._tails(name).add(*tails_of(shared, distribution, self._ties.random(len(shared))))

    def _shared(self, records: int, pairs: Sequence[tuple[Any, Any]]) -> Any:
        """Return the number of records of each second batch in the first."""
        if len(self._marks) < records:
            self._marks = np.zeros(records, dtype=bool)
        found = []
        for earlier, now in pairs:
            self._marks[earlier] = True
            found.append(int(np.count_nonzero(self._marks[now])))
            self._marks[earlier] = False
        return np.array(found)


def _sizes(pairs: Sequence[tuple[Any, Any]], which: int) -> Any:
    return np.array([len(pair[which]) for pair in pairs])
