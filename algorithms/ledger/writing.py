"""The ledger that a run writes, and that counts the noise that was added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy import special

from dpbounds.algorithms.ledger.closed import Ledger, PlainDescent
from dpbounds.algorithms.ledger.releases import DescribedRelease, Release
from dpbounds.algorithms.sampling import (
    Batch,
    Bins,
    Correlated,
    Poisson,
    Sampling,
    Truncated,
    Visited,
    sampled,
)
from dpbounds.errors import BudgetExceeded, DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms import Gaussian, Mechanism, parts_of

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.filters import Chargeable, PrivacyFilter

# How often a right run may be refused because its noise happened to be small: never, for all practical purposes.
FALSE_ALARM = 1e-12


class OpenLedger:
    """A ledger that is being written; ``close`` returns the ledger.

    It also measures the noise of the answers, relative to its entries: a run whose noise is too small for its ledger
    must end with an error.

    Attributes:
        seeded: See ``Ledger``; set by the code that draws from a given seed.
        descent: See ``Ledger``; set by the code that has watched the walk.
        taken: The number of releases.
        last: The last release, None before the first.
    """

    def __init__(self) -> None:
        self.seeded = False
        self._chosen = ""
        self.descent: PlainDescent | None = None
        self._entry: tuple[tuple[Fraction, Fraction, Sampling], Release] | None = None
        self._releases: list[tuple[Release | DescribedRelease, int]] = []  # one of each, and how many in a row
        self.taken, self.last = 0, cast("Release | DescribedRelease | None", None)
        self._visits: Visits | None = None  # visits whose entry is the last, and may grow
        # sums of Gamma variables and how many, by their shape and level: little noise at one level cannot hide behind
        # much at another
        self._added: dict[tuple[float, float], tuple[float, int]] = {}

    @property
    def chosen(self) -> str:
        """See ``Run``: empty if the ledger lists the releases."""
        return self._chosen

    def stand_for(self, chosen: str) -> None:
        """Declare that the entries are not a list of releases, but an upper bound, described in words."""
        self._chosen = chosen

    def gaussian(
        self,
        *,
        noise_stddev: Fraction,
        per_record_bound: Fraction,
        sampling: Sampling = None,
    ) -> None:
        """Write down one release with Gaussian noise (see ``Release`` for units)."""
        asked = noise_stddev, per_record_bound, sampling
        if self._entry is None or self._entry[0] != asked:  # else the entry that was made for the step before
            rate = sampling.sample_rate if isinstance(sampling, Poisson) else None
            batch = sampling if isinstance(sampling, Batch | Truncated) else None
            self._entry = asked, Release(noise_stddev, per_record_bound, rate, batch=batch)
        self._take(self._entry[1])

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Record ``count`` releases described by a mechanism, with noise per unit of the per-record bound.

        A composition is written part by part.

        Raises:
            InvalidValue: The count is not a positive whole number.
            UnsupportedMechanism: A part is not a single release.
        """
        times = positive_integer(count, "count")
        for entry in [DescribedRelease(part, each * times) for part, each in parts_of(mechanism)]:
            self._take(entry)

    def visit(self, visits: Visits, mechanism: Mechanism) -> None:
        """Write down an answer about the next batch: all answers of one series of draws are one entry.

        Raises:
            UnsupportedMechanism: Something else was released since the last answer, or these answers had other noise:
                the entry is of answers that follow each other and are all alike. Or the ledger judges each release
                by itself (a filter, a reserve), and these depend on each other.
        """
        if type(self)._write is not OpenLedger._write:
            why = "filters and reserves have no cost for one visit of a bin, or of a shuffled or cyclic batch"
            raise UnsupportedMechanism(why)
        if visits.resumed:
            ((part, count),) = parts_of(visits.scheme.visited(mechanism, visits.steps))
            alike = self._releases == [(DescribedRelease(part), count)]
            self._visits, visits.mechanism = (visits, mechanism) if alike else (None, None)
        if visits.steps and (self._visits is not visits or visits.mechanism != mechanism):
            why = "visits of batches are accounted one after the other, all with the same noise: start with new ones"
            raise UnsupportedMechanism(why)
        ((part, count),) = parts_of(visits.scheme.visited(mechanism, visits.steps + 1))
        last = self.last
        known = isinstance(last, DescribedRelease) and last.described is part and last.count == count
        entry = last if visits.steps and known and isinstance(last, DescribedRelease) else DescribedRelease(part, count)
        if visits.steps:
            self._releases.pop()
        self._releases.append((replace(entry, count=1), count))
        self._visits, self.taken, self.last = visits, self.taken + 1, entry
        visits.steps, visits.mechanism, visits.resumed = visits.steps + 1, mechanism, False

    def asked_by(self, streams: Sequence[np.random.Generator]) -> AbstractContextManager[None]:
        """Mark that only some repetitions ask inside the ``with`` block; entries are written for all."""
        return nullcontext()

    def _take(self, entry: Release | DescribedRelease) -> None:
        self._write(entry)
        self._visits = None
        self.taken, self.last = self.taken + entry.count, entry

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """Count Gaussian noise that was added.

        Args:
            squares: Sum of (noise / noise_stddev)², over the coordinates of every repetition.
            numbers: The number of coordinates.
            level: Distinguishes this noise from other noise in the ledger; each level is tested separately.
        """
        self._count(0.5, level, squares, numbers)

    def waited(self, total: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of Laplace, Gumbel or ball noise as it was really added.

        |Laplace|/b is a standard exponential variable, and so are -log(1 - exp(-e^(-Gumbel/β))) and, in a ball of
        radius r in R^p, -log(1 - (‖u‖/r)^p): ``total`` is the sum of these, with b, β or r as written, and falls where
        noise is missing. See ``added``.
        """
        self._count(1.0, level, total, numbers)

    def _count(self, shape: float, level: float, total: float, numbers: int) -> None:
        before = self._added.get((shape, level), (0.0, 0))
        self._added[shape, level] = before[0] + total, before[1] + numbers

    def close(self) -> Ledger:
        """Return the ledger as written so far.

        Raises:
            BudgetExceeded: The noise that was added is too small for what was written, all together or at one level.
                If N numbers were drawn as written, the sum of their squares is a chi-square variable with N degrees of
                freedom (a sum of N exponential variables, half of one with 2N); right runs are refused with probability
                1e-12. With N = 10^6, noise that is 1 % too small is found (for Gumbel noise, N = 2·10^6).
        """
        self._demand_noise()
        return self.so_far()

    def so_far(self) -> Ledger:
        """Return the entries so far, of a run that continues: its noise is not tested."""
        releases = tuple(replace(entry, count=count) for entry, count in self._releases)
        return Ledger(releases, seeded=self.seeded, descent=self.descent)

    @property
    def noise_counted(self) -> list[tuple[float, float, float, int]]:
        """Return the noise of the answers so far: shape, level, sum and number, to be stored with ``so_far``."""
        return [(*key, *sums) for key, sums in self._added.items()]

    def resume(self, ledger: Ledger, noise_counted: Sequence[tuple[float, float, float, int]]) -> None:
        """Continue from another ledger: with its releases, and the count of its noise.

        Raises:
            InvalidValue: Something was written already, or the other's releases were chosen adaptively.
        """
        if self._releases or ledger.adaptive or type(self)._write is not OpenLedger._write:
            raise InvalidValue("ledger", "not empty, or adaptive", "an empty one, and releases that were planned")
        for release in ledger.releases:
            self._releases.append((replace(release, count=1), release.count))
            self.taken += release.count
        self.seeded = self.seeded or ledger.seeded
        for shape, level, total, numbers in noise_counted:
            self._count(shape, level, total, numbers)

    def _write(self, entry: Release | DescribedRelease) -> None:
        one = entry if entry.count == 1 else replace(entry, count=1)
        last, count = self._releases[-1] if self._releases else (None, 0)
        if last is one or last == one:
            self._releases[-1] = one, count + entry.count
        else:
            self._releases.append((one, entry.count))

    def _demand_noise(self) -> None:
        sums = [(shape, total, numbers) for (shape, _), (total, numbers) in self._added.items()]
        for shape in (0.5, 1.0):
            levels = [(total, numbers) for one, total, numbers in sums if one == shape]
            if len(levels) > 1:  # what is a little too small everywhere shows in the sum of all levels
                sums.append((shape, sum(total for total, _ in levels), sum(numbers for _, numbers in levels)))
        for shape, total, numbers in sums:
            _demand_sum(numbers, total, shape, FALSE_ALARM / len(sums))


def _demand_sum(numbers: int, total: float, shape: float, alarm: float) -> None:
    """Raise ``BudgetExceeded`` if a sum of Gamma(shape) variables over their mean is improbably small."""
    if not numbers:
        return
    share = max(total, 0.0) / numbers
    if not special.gammainc(numbers * shape, numbers * share * shape) > alarm:  # refuses NaN, too
        raise BudgetExceeded(
            f"the {numbers} numbers of noise that were added have {share**shape:.6g} of the size in the ledger: less "
            "noise was added than recorded; do not publish the output"
        )


def chosen_as_it_goes(most: int, along: int = 0) -> str:
    """Return the text of ``Run.chosen`` for releases that a run chooses adaptively.

    Args:
        most: Largest number of releases.
        along: Those of them along a path, which is one entry.
    """
    path = f", {along} of them along a path, which is accounted for as one release" if along else ""
    shares = "; along the path earlier answers say how much noise the next one has" if along else ""
    return (
        f"Which releases are made, and how many, is chosen as the run goes: at most {most}{path}; the run is accounted "
        f"for as if it had made all{shares}"
    )


class Visits:
    """Writer of the answers about one series of batches: one entry of the ledger, which grows.

    Args:
        scheme: The scheme that deals records to batches.
        ledger: The ledger of one repetition.

    Attributes:
        steps: The number of recorded answers.
        mechanism: One of them, None before the first.
        resumed: Whether the entry so far is that of an attempt before, and nothing was added to it.
    """

    def __init__(self, scheme: Visited | Correlated, ledger: OpenLedger) -> None:
        self.scheme, self.ledger = scheme, ledger
        self.steps, self.mechanism, self.resumed = 0, cast("Mechanism | None", None), False

    def resume(self, steps: int, kept: bool = False) -> None:
        """Continue after ``steps`` answers that the ledger already holds, alone; the next one has the same noise.

        Args:
            steps: The number of answers.
            kept: Whether the assignment of records is the same, for bins that are not drawn anew.

        Raises:
            InvalidValue: They are not whole epochs, or records would have to stay in bins that were not kept.
        """
        if steps % self.scheme.bins:
            allowed = f"whole epochs of {self.scheme.bins} batches"
            raise InvalidValue("steps", steps, allowed, "batches of an unfinished epoch are not stored")
        if isinstance(self.scheme, Bins) and not self.scheme.redraw and not kept:
            raise InvalidValue(
                "sampling",
                repr(self.scheme),
                "one that draws bins anew",
                "the assignment of records to bins is not stored",
            )
        self.steps, self.resumed = steps, bool(steps)

    def gaussian(self, *, noise_stddev: Fraction, per_record_bound: Fraction, sampling: Sampling = None) -> None:
        """Write down one visit with Gaussian noise of known size."""
        self.release(sampled(Gaussian(noise_stddev / per_record_bound), sampling))

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Write down visits, see ``OpenLedger.visit``."""
        for _ in range(positive_integer(count, "count")):
            self.ledger.visit(self, mechanism)

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of the noise, in the ledger."""
        self.ledger.added(squares, numbers, level)

    def waited(self, total: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of other noise, in the ledger."""
        self.ledger.waited(total, numbers, level)


class BudgetedLedger(OpenLedger):
    """A ledger for noise that is chosen adaptively: it refuses the release that would exceed the budget.

    The entry is made before the noise is drawn, so that what is refused was never computed.
    ``dpbounds.privacy.budgets.filters`` states what a choice may depend on; one that looks at the outputs of several
    repetitions releases them all, and their ledgers add up.

    Args:
        privacy_filter: Decides on each release: a ``ZCDPFilter``, ``GaussianFilter`` or ``RenyiFilter``.
        step: A release as the filter is to see it. The default does for the full batch; on Poisson samples, return an
            object with ``relation`` and ``renyi(order)``.
    """

    def __init__(
        self, privacy_filter: PrivacyFilter, step: Callable[[Release], Chargeable] = Release.mechanism
    ) -> None:
        super().__init__()
        self._filter, self._step = privacy_filter, step

    @property
    def privacy_filter(self) -> PrivacyFilter:
        """The filter in its present state: the rest of the budget, and the guarantee."""
        return self._filter

    def close(self) -> Ledger:
        """Return the ledger as written so far, marked as adaptive; raises as ``OpenLedger.close``."""
        return replace(super().close(), adaptive=True)

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Write down releases described by a mechanism, if the budget has room for all of them.

        Raises:
            BudgetExceeded: It has not. Nothing was written, and nothing may be released.
            UnsupportedMechanism: The filter has no cost for such a release, or a part is not a single release.
        """
        before = self._filter, list(self._releases)
        try:
            super().release(mechanism, count)
        except DpboundsError:
            self._filter, self._releases = before
            raise

    def _write(self, entry: Release | DescribedRelease) -> None:
        self._filter = self._spend(entry)
        super()._write(entry)

    def _spend(self, entry: Release | DescribedRelease) -> PrivacyFilter:
        if isinstance(entry, Release):
            return self._filter.spend(self._step(entry))
        return self._filter.spend(entry.described**entry.count)
