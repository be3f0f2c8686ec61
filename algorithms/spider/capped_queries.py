"""Queries whose number depends on the run, under a fixed cap: the ledger holds the cap.

Which kind of query comes next depends on earlier answers, so that the list of the queries of one run proves nothing by
itself. But every kind has a noise multiplier and a largest number, both fixed in advance. Gaussian releases whose
squared shifts add up to at most μ² on *every* history are together no worse than one with shift μ, however they were
chosen (``dpbounds/privacy/budgets/filters.md``, section 4). So the ledger gets the largest number of each kind, and the
query that would exceed it is refused before it is computed.

The ledger is that of any one repetition: all have the same noise multipliers and the same caps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger, chosen_as_it_goes
from dpbounds.algorithms.sampling import Sampling
from dpbounds.errors import BudgetExceeded
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms import Gaussian, Mechanism


class CappedQueries:
    """Ledger entries for queries of one kind: at most ``cap`` of them in any repetition.

    Args:
        planned: One query as planned; what the ledger gets where a run happens to make none.
        cap: Largest number of queries of any repetition, fixed in advance.
        repetitions: The number of repetitions.
        ledger: Gets the noise count at once, and ``cap`` queries by ``write``.

    Attributes:
        taken, last: The number of queries so far, and the last one.
    """

    def __init__(self, planned: Gaussian, cap: int, repetitions: int, ledger: OpenLedger) -> None:
        self.cap = positive_integer(cap, "cap")
        self.counts: NDArray[np.int64] = np.zeros(repetitions, dtype=np.int64)
        self.taken, self.last = 0, cast("DescribedRelease | None", None)
        self._planned, self.ledger = planned, ledger
        self._made: list[Gaussian] = []
        self._granted = False

    def grant(self, rows: NDArray[np.bool_]) -> None:
        """Allow the next query, of these repetitions; ``BudgetExceeded`` where one of them has made ``cap``."""
        if (self.counts[rows] >= self.cap).any():
            raise BudgetExceeded(f"a repetition has made all of its {self.cap} queries: nothing more may be asked")
        self.counts[rows] += 1
        self._granted = True

    def gaussian(
        self,
        *,
        noise_stddev: Fraction,
        per_record_bound: Fraction,
        sampling: Sampling = None,
    ) -> None:
        """Take one query with Gaussian noise of known size."""
        assert sampling is None
        self.release(Gaussian(noise_stddev / per_record_bound))

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Take one query described by a mechanism; ``BudgetExceeded`` where it was not granted."""
        assert isinstance(mechanism, Gaussian)
        if not self._granted or count != 1:
            raise BudgetExceeded("a query was made that was not granted: more is released than planned")
        self._granted = False
        self.taken, self.last = self.taken + 1, DescribedRelease(mechanism)
        if mechanism not in self._made:
            self._made.append(mechanism)

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of the noise, in the ledger."""
        self.ledger.added(squares, numbers, level)

    def waited(self, total: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of other noise, in the ledger."""
        self.ledger.waited(total, numbers, level)

    @property
    def made(self) -> tuple[Gaussian, ...]:
        """The queries that were made, each noise level once; as planned where there were none."""
        return tuple(self._made) or (self._planned,)

    def write(self) -> None:
        """Write the largest number of queries into the ledger (of every noise level that occurred: one, as planned)."""
        for query in self.made:
            self.ledger.release(query, self.cap)


def written_for_all(*kinds: CappedQueries) -> None:
    """Write the largest number of queries of each kind into their ledger, for queries about all records."""
    for each in kinds:
        each.write()
    kinds[0].ledger.stand_for(chosen_as_it_goes(sum(each.cap for each in kinds)))


def written_for_one(*kinds: CappedQueries) -> None:
    """Record one query, for queries with each record in at most one of them.

    It is the one with the least noise.
    """
    ledger = kinds[0].ledger
    ledger.release(min((query for each in kinds for query in each.made), key=lambda query: query.noise_multiplier or 0))
    ledger.stand_for(
        f"At most {sum(each.cap for each in kinds)} releases are made, each about records of its own: no record takes "
        "part in more than one, and the run is accounted for as that one"
    )
