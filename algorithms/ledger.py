"""Every noisy release, written down as it happens, and what the releases cost together.

A ledger is that of *one* repetition of an algorithm. Repetitions (seeds) serve statistics; they share the noise levels
and therefore the ledger. Publishing the outputs of several repetitions on the same records costs more than the ledger
says: k of them are k ledgers one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast, get_args

import attrs
import numpy as np
from scipy import special

from dpbounds.algorithms import ledger_format
from dpbounds.algorithms.planned import demand_within_plan
from dpbounds.algorithms.sampling import (
    Batch,
    Bins,
    Correlated,
    CyclicOrder,
    Poisson,
    Sampling,
    Truncated,
    Visited,
    sampled,
)
from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import (
    BudgetExceeded,
    DpboundsError,
    InvalidValue,
    NotCertified,
    UnsupportedMechanism,
    demand_one_of,
)
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.mechanisms import (
    Composed,
    Gaussian,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
    parts_of,
)
from dpbounds.privacy.mechanisms.descriptions import JsonObject, described
from dpbounds.privacy.mechanisms.parameters import read_number
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.mechanisms.schemes.last_iterate import BatchOrder
from dpbounds.privacy.relations import Relation, as_relation

if TYPE_CHECKING:
    from dpbounds.privacy.budgets.filters import Chargeable, PrivacyFilter

# How often a right run may be refused because its noise happened to be small: never, for all practical purposes.
FALSE_ALARM = 1e-12


@dataclass(frozen=True, slots=True)
class PrivacyBudget:
    """What may be spent: ε at δ under a neighbouring relation, all exact."""

    epsilon: Fraction
    delta: Fraction
    relation: Relation

    @classmethod
    def of(cls, epsilon: ExactLike, delta: ExactLike, relation: str | Relation = Relation.REPLACE_ONE) -> PrivacyBudget:
        """Return the budget; ε > 0 and 0 < δ < 1, else ``InvalidValue``.

        >>> print(PrivacyBudget.of(1, "1e-6"))
        epsilon = 1, delta = 1e-06, replace-one
        """
        budget = cls(exact(epsilon, "epsilon"), exact(delta, "delta"), as_relation(relation))
        if budget.epsilon <= 0:
            raise InvalidValue("epsilon", epsilon, "greater than 0")
        if not 0 < budget.delta < 1:
            raise InvalidValue("delta", delta, "greater than 0 and less than 1")
        return budget

    def __str__(self) -> str:
        return f"epsilon = {float(self.epsilon):g}, delta = {float(self.delta):g}, {self.relation}"


def checked_budget(budget: PrivacyBudget | None) -> PrivacyBudget | None:
    """Return the budget, or raise ``InvalidValue`` where it is something else."""
    if budget is None or isinstance(budget, PrivacyBudget):
        return budget
    raise InvalidValue("budget", repr(budget), "a PrivacyBudget or None", "PrivacyBudget.of(epsilon, delta, relation)")


@dataclass(frozen=True, slots=True)
class Release:
    """A number of equal releases of a sum (or a mean with a public divisor) plus N(0, stddev² I).

    Attributes:
        noise_stddev: Exact standard deviation that was used, in the units of the answer.
        per_record_bound: How far one record can move the answer by being added, in l2 norm, in the same units.
        sample_rate: Of Poisson sampling, in (0, 1]; None for the full batch or a batch of fixed size.
        count: How many such releases.
        batch: Of a fixed size, or cut to one; None for the full batch or Poisson sampling.
    """

    noise_stddev: Fraction
    per_record_bound: Fraction
    sample_rate: Fraction | None = None
    count: int = 1
    batch: Batch | Truncated | None = None

    def __post_init__(self) -> None:
        for name in ("noise_stddev", "per_record_bound"):
            if getattr(self, name).numerator <= 0:  # without the price of comparing fractions, at every step of a run
                raise InvalidValue(name, getattr(self, name), "greater than 0")
        if self.sample_rate is not None and not 0 < self.sample_rate <= 1:
            raise InvalidValue("sample_rate", self.sample_rate, "greater than 0 and at most 1")
        if self.sample_rate is not None and self.batch is not None:
            raise InvalidValue("batch", self.batch, "None where there is a sample rate", "a release is sampled one way")
        positive_integer(self.count, "count")

    @property
    def noise_multiplier(self) -> Fraction:
        """Standard deviation in units of the per-record bound, exact."""
        return self.noise_stddev / self.per_record_bound

    def mechanism(self) -> Mechanism:
        """One of these releases as a mechanism."""
        inner = Gaussian(self.noise_multiplier)
        if self.batch is not None:
            return self.batch.sample(inner)
        return inner if self.sample_rate is None else PoissonSampled(inner, self.sample_rate)

    def __str__(self) -> str:
        sampling = "full batch" if self.batch is None else str(self.batch)
        if self.sample_rate is not None:
            sampling = f"Poisson sample, rate {float(self.sample_rate):g}"
        return (
            f"{self.count} x Gaussian, noise_stddev {float(self.noise_stddev):.6g}, "
            f"per-record bound {float(self.per_record_bound):.6g} "
            f"(noise_multiplier {float(self.noise_multiplier):.6g}), {sampling}"
        )


@dataclass(frozen=True, slots=True)
class DescribedRelease:
    """A number of equal releases of any other kind, known by the mechanism that describes one of them.

    Attributes:
        described: One release, noise per unit of the per-record bound; sampled or not.
        count: How many such releases.

    Raises:
        UnsupportedMechanism: The mechanism is no single release: a ledger file could not hold it.
    """

    described: Mechanism
    count: int = 1

    def __post_init__(self) -> None:
        positive_integer(self.count, "count")
        described(self.described, self.count)

    def mechanism(self) -> Mechanism:
        """One of these releases as a mechanism."""
        return self.described

    def __str__(self) -> str:
        return f"{self.count} x {self.described!r}"


@attrs.frozen
class PlainDescent:
    """What has to be known of a run to account for its last iterate alone: x <- Π(x - η (g + λx)), g the noisy answer.

    Attributes:
        smoothness_step: ηβ > 0, at least: the step size times a proven bound on how fast any record's gradient changes.
        weight_decay_step: ηλ, from 0 to 1, exactly.
        order: Of batches that are kept, see ``Cyclic``; "fixed" where there are none.

    Raises:
        InvalidValue: A value is out of its domain.
    """

    smoothness_step: Fraction
    weight_decay_step: Fraction = Fraction(0)
    order: CyclicOrder = "fixed"

    def __attrs_post_init__(self) -> None:
        self.read(Gaussian(1), 1, 1, self.order)  # raises where a value is not allowed
        demand_one_of("order", self.order, get_args(CyclicOrder))

    def read(self, noise: Gaussian, batches: int, epochs: int, order: BatchOrder) -> LastIterate:
        """The last iterate of so many epochs over so many batches."""
        return LastIterate(
            noise,
            batches=batches,
            epochs=epochs,
            smoothness_step=self.smoothness_step,
            order=order,
            weight_decay_step=self.weight_decay_step,
        )


WhichRelease = Literal["every-iterate", "last-iterate"]
"""What of a run is published: all noisy answers, so that all iterates may be; or its output, and nothing else."""


@dataclass(frozen=True, slots=True, repr=False)
class Ledger(Displayed):
    """The releases of one repetition, in order; equal ones in a row are counted together.

    Attributes:
        releases: What was released.
        adaptive: Whether noise, rates or the number of releases were chosen in view of earlier outputs. What such a run
            spends is what its filter guarantees; the accountant's answer for the realised list would prove nothing,
            and is refused.
        seeded: Whether its noise came from a seed that was given: all it says is ``ledger_format.CONDITION``.
        descent: How the iterate moved, where the releases are those of plain noisy gradient descent; else None.

    Raises:
        InvalidValue: Batches of a fixed size are said to be drawn from different numbers of records.

    >>> ledger = Ledger((Release(Fraction(2), Fraction(1, 2), count=10),))
    >>> Ledger.from_json(ledger.to_json()) == ledger
    True
    """

    releases: tuple[Release | DescribedRelease, ...] = ()
    adaptive: bool = False
    seeded: bool = False
    descent: PlainDescent | None = None

    def __post_init__(self) -> None:
        ledger_format.demand_one_size(release.mechanism() for release in self.releases)

    @property
    def gaussian_releases(self) -> tuple[Release, ...]:
        """The releases, all with Gaussian noise of known size; ``UnsupportedMechanism`` where one is not."""
        found = tuple(release for release in self.releases if isinstance(release, Release))
        if len(found) < len(self.releases):
            raise UnsupportedMechanism(f"not every release has Gaussian noise of known size:\n{self}")
        return found

    def mechanism(self) -> Mechanism:
        """The releases as one mechanism, for any accountant.

        Raises:
            InvalidValue: The ledger is empty.
            UnsupportedMechanism: The releases were chosen adaptively.
        """
        self._demand_fixed_in_advance()
        if not self.releases:
            raise InvalidValue("ledger", "empty", "at least one release")
        return Composed(tuple((release.mechanism(), release.count) for release in self.releases))

    def last_iterate(self) -> LastIterate:
        """The same run as a mechanism that publishes its last iterate, and **nothing else** that depends on records.

        Raises:
            UnsupportedMechanism: It is not written down how the iterate moved; or the releases are not those of whole
                epochs over batches in a fixed order or shuffled anew, all with the same Gaussian noise, and nothing
                beside them; or they were chosen adaptively.

        Source: ``last_iterate.md``, sections 1 to 3.
        """
        self._demand_fixed_in_advance()
        if self.descent is None:
            why = "this ledger is not that of a plain noisy gradient descent whose last iterate was returned"
            raise UnsupportedMechanism(f"{why}: count all iterates")
        match [(release.mechanism(), release.count) for release in self.releases]:
            case [(Gaussian() as noise, steps)]:
                return self.descent.read(noise, 1, steps, "fixed")
            case [(Shuffled(mechanism=Gaussian() as noise, batches=m, rest=0), epochs)]:
                return self.descent.read(noise, m, epochs, "shuffled")
            case [(MatrixMechanism() as cyclic, 1)] if cyclic.matrix == Toeplitz([1], cyclic.matrix.steps):
                epochs, rest = divmod(cyclic.matrix.steps, cyclic.separation or 1)
                if cyclic.participation == "fixed-order" and not rest:
                    noise = Gaussian(cyclic.noise_multiplier)
                    return self.descent.read(noise, cyclic.separation or 1, epochs, self.descent.order)
        raise UnsupportedMechanism(
            "the last iterate alone is accounted for where all releases are whole epochs over batches in a fixed "
            f"order or shuffled anew, with the same Gaussian noise, and nothing else was released:\n{self}"
        )

    def published(self, release: WhichRelease) -> Mechanism:
        """The releases as one mechanism, or what their last iterate alone gives away; raises as these do."""
        return self.mechanism() if release == "every-iterate" else self.last_iterate()

    def spent(
        self,
        delta: ExactLike,
        relation: str | Relation = Relation.REPLACE_ONE,
        release: WhichRelease = "every-iterate",
    ) -> Enclosure:
        """Return a proven enclosure of the smallest ε for which the releases together are (ε, δ)-private, 0 < δ < 1.

        Its upper end is safe to publish. Exactly 0 for an empty ledger. With "last-iterate" it is that of the output
        alone: then nothing else that depends on the records may be published, see ``last_iterate``.

        Raises:
            InvalidValue: δ or the relation is not allowed.
            UnsupportedMechanism: A release has no proven analysis under that relation, or they were chosen adaptively.
        """
        self._demand_fixed_in_advance()
        if not self.releases:
            PrivacyBudget.of(1, delta, relation)  # the same errors as for a ledger that holds something
            return Enclosure.exactly(0)
        return accountants.epsilon(self.published(release), delta=delta, relation=relation)

    def check(self, budget: PrivacyBudget, release: WhichRelease = "every-iterate") -> Enclosure:
        """Return the ε that was spent at a budget's δ and relation, certified; its upper end is within the budget.

        Raises:
            BudgetExceeded: More was spent.
            NotCertified: The enclosure of ε is too wide to tell.
            UnsupportedMechanism: A release has no proven analysis under that relation.
        """
        return _checked(self, budget, release)

    def _check(self, budget: PrivacyBudget, release: WhichRelease) -> Enclosure:
        spent = self.spent(budget.delta, budget.relation, release)
        within = spent.at_most(budget.epsilon)
        if within is None:  # tied up to the width of the proof: then what calibrates asks, δ at the budget's own ε
            lost = accountants.delta(self.published(release), epsilon=budget.epsilon, relation=budget.relation)
            kept = lost.at_most(budget.delta)
            if kept:
                return Enclosure(spent.exact_lower, budget.epsilon, spent.method, spent.precision)
            if kept is None:
                why = f"the ledger spends epsilon in {spent}, which does not decide whether {budget} is kept"
                raise NotCertified(why)
            lost_or_spent = f"loses delta in {lost} at the planned epsilon"
        else:
            lost_or_spent = f"spends epsilon in {spent}"
        if not within:
            why = f"the ledger {lost_or_spent}, more than the planned {budget}; do not publish the output\n{self}"
            raise BudgetExceeded(why)
        return spent

    def check_plan(self, planned: Mechanism) -> None:
        """Compare the releases with what was meant to run, exactly: no accountant, no δ, both relations.

        Releases of one family (same kind, same sampling) differ in one number only, their loss. The most lossy release
        is held against the most lossy one that was planned, the next against the next, and so on: each one that was
        made then is a planned one followed by more noise, or has a guarantee that implies the planned one. Full-batch
        Gaussians compose to one, so only the sum of their squared shifts (sensitivity / stddev)² is compared, and for
        zCDP the sum of ρ.

        Raises:
            BudgetExceeded: A release has less noise than planned, or there are more of them.
            UnsupportedMechanism: There is a release of a family of which nothing was planned: ``check`` with a budget
                can tell.
        """
        demand_within_plan(self.mechanism(), planned, self)

    def _demand_fixed_in_advance(self) -> None:
        if self.adaptive:
            raise UnsupportedMechanism(ledger_format.ADAPTIVE)

    def to_json(self) -> str:
        """Write the ledger as JSON text; numbers are exact fractions."""
        entries = [_to_json(release) for release in self.releases]
        descent = None
        if self.descent is not None:
            descent = {field: str(value) for field, value in attrs.asdict(self.descent).items()}
        return ledger_format.to_text(entries, adaptive=self.adaptive, seeded=self.seeded, descent=descent)

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Read what ``to_json`` wrote, or any ledger file; equal to what was written.

        Raises:
            InvalidValue: Not JSON, another format or version, a missing or unknown field, or a value out of range.
        """
        entries, adaptive, seeded, descent = ledger_format.from_text(text)
        moved = None if descent is None else PlainDescent(**descent)
        return cls(tuple(map(_from_json, entries)), adaptive, seeded, moved)

    def _sheet(self) -> Sheet:
        chosen = (("chosen in view of outputs", "yes: only its filter says what it spends"),) if self.adaptive else ()
        return Sheet("ledger", chosen, ("released",), [(str(release),) for release in self.releases])

    def __str__(self) -> str:
        return "\n".join(str(release) for release in self.releases) or "no releases"


@lru_cache(maxsize=256)  # runs of one plan have equal ledgers, and an account may take a good part of a second
def _checked(ledger: Ledger, budget: PrivacyBudget, release: WhichRelease) -> Enclosure:
    return ledger._check(budget, release)


class OpenLedger:
    """A ledger while it is being written; ``close`` returns what was.

    It also keeps count of the noise that reached the answers, in units of what was written: a ledger can only be right
    about what it was told, and a run whose noise is too small for its ledger must not end as if nothing had happened.

    Attributes:
        seeded: See ``Ledger``; whoever draws from a seed that was given sets it.
        descent: See ``Ledger``; whoever has watched the walk sets it.
        taken: How many releases it was told of.
        last: The last of them, None before the first.
    """

    def __init__(self) -> None:
        self.seeded = False
        self._chosen = ""
        self.descent: PlainDescent | None = None
        self._entry: tuple[tuple[Fraction, Fraction, Sampling], Release] | None = None
        self._releases: list[tuple[Release | DescribedRelease, int]] = []  # one of each, and how many in a row
        self.taken, self.last = 0, cast("Release | DescribedRelease | None", None)
        self._visits: Visits | None = None  # whose entry is the last, and may grow
        # sums of Gamma variables and how many, by their shape and level: little noise at one level cannot hide behind
        # much at another
        self._added: dict[tuple[float, float], tuple[float, int]] = {}

    @property
    def chosen(self) -> str:
        """See ``Run``: empty where it lists what was released."""
        return self._chosen

    def stand_for(self, chosen: str) -> None:
        """Say that its entries are no list of what was released, but stand for it in this way."""
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
        """Write down releases described by a mechanism, noise per unit of the per-record bound, so many times.

        A composition is written part by part.

        Raises:
            InvalidValue: The count is not a positive whole number.
            UnsupportedMechanism: A part is no single release.
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
        """Some repetitions ask inside the ``with`` block; what is written is written for all."""
        return nullcontext()

    def _take(self, entry: Release | DescribedRelease) -> None:
        self._write(entry)
        self._visits = None
        self.taken, self.last = self.taken + entry.count, entry

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of Gaussian noise as it was really added.

        Args:
            squares: Sum of (noise / noise_stddev)², over the coordinates of every repetition.
            numbers: How many coordinates there were.
            level: What tells this noise from other noise in the ledger; each level is judged by itself, and all are.
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
        """What was written so far, of a run that goes on: its noise is not looked at."""
        releases = tuple(replace(entry, count=count) for entry, count in self._releases)
        return Ledger(releases, seeded=self.seeded, descent=self.descent)

    @property
    def noise_counted(self) -> list[tuple[float, float, float, int]]:
        """The noise that reached the answers so far: shape, level, sum and number, to be kept beside ``so_far``."""
        return [(*key, *sums) for key, sums in self._added.items()]

    def resume(self, ledger: Ledger, noise_counted: Sequence[tuple[float, float, float, int]]) -> None:
        """Go on where another one stopped: with its releases, and the count of its noise.

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
    """Raise ``BudgetExceeded`` where a sum of Gamma(shape) variables over their mean is too small to be chance."""
    if not numbers:
        return
    share = max(total, 0.0) / numbers
    if not special.gammainc(numbers * shape, numbers * share * shape) > alarm:  # refuses NaN, too
        raise BudgetExceeded(
            f"the {numbers} numbers of noise that were added have {share**shape:.6g} of the size that the ledger says: "
            "less noise was added than written down; do not publish the output"
        )


def chosen_as_it_goes(most: int, along: int = 0) -> str:
    """What ``Run.chosen`` says of releases that a run chooses as it goes.

    Args:
        most: How many it may make.
        along: Those of them along a path, which is one entry.
    """
    path = f", {along} of them along a path, which is accounted for as one release" if along else ""
    shares = "; along the path earlier answers say how much noise the next one has" if along else ""
    return (
        f"Which releases are made, and how many, is chosen as the run goes: at most {most}{path}; the run is accounted "
        f"for as if it had made all{shares}"
    )


class Visits:
    """Who writes down the answers about one series of batches: what is released is one entry of the ledger, that grows.

    Args:
        scheme: How records are dealt to batches.
        ledger: That of one repetition.

    Attributes:
        steps: How many answers were written.
        mechanism: One of them, None before the first.
        resumed: Whether the entry so far is that of an attempt before, and nothing was added to it.
    """

    def __init__(self, scheme: Visited | Correlated, ledger: OpenLedger) -> None:
        self.scheme, self.ledger = scheme, ledger
        self.steps, self.mechanism, self.resumed = 0, cast("Mechanism | None", None), False

    def resume(self, steps: int, kept: bool = False) -> None:
        """Go on behind so many answers that the ledger holds already, alone; the next one has the same noise.

        Args:
            steps: How many.
            kept: Whether records are where they were, for bins that are not drawn anew.

        Raises:
            InvalidValue: They are not whole epochs, or records would have to stay in bins that were not kept.
        """
        if steps % self.scheme.bins:
            allowed = f"whole epochs of {self.scheme.bins} batches"
            raise InvalidValue("steps", steps, allowed, "who was in a batch of a part of one is not kept")
        if isinstance(self.scheme, Bins) and not self.scheme.redraw and not kept:
            raise InvalidValue("sampling", repr(self.scheme), "one that deals anew", "who is in which bin is not kept")
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
    """A ledger for noise that is chosen as the run goes: it refuses the release that would exceed the budget.

    The entry is made before the noise is drawn, so that what is refused was never computed. What a choice may depend
    on stands in ``dpbounds.privacy.budgets.filters``; one that looks at the outputs of several repetitions releases
    them all, and their ledgers add up.

    Args:
        privacy_filter: Decides; a ``ZCDPFilter``, ``GaussianFilter`` or ``RenyiFilter``.
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
        """The filter as it stands: what is left, and what it guarantees."""
        return self._filter

    def close(self) -> Ledger:
        """Return the ledger as written so far, marked as adaptive; raises as ``OpenLedger.close``."""
        return replace(super().close(), adaptive=True)

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Write down releases described by a mechanism, if the budget has room for all of them.

        Raises:
            BudgetExceeded: It has not. Nothing was written, and nothing may be released.
            UnsupportedMechanism: The filter knows no cost of such a release, or a part is no single release.
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


# --- as JSON ----------------------------------------------------------------------------------------------------------


_FIRST = ("mechanism", "noise_stddev", "per_record_bound", "sampling", "count")  # in the order of the text


def _to_json(release: Release | DescribedRelease) -> JsonObject:
    entry = described(release.mechanism(), release.count)
    if isinstance(release, DescribedRelease):
        return entry
    own = {"noise_stddev": str(release.noise_stddev), "per_record_bound": str(release.per_record_bound)}
    fields = {**entry, **own}
    return {name: fields[name] for name in (*_FIRST, *fields) if name != "noise_multiplier"}


def _from_json(entry: JsonObject) -> Release | DescribedRelease:
    mechanism, count = ledger_format.read_entry(entry)  # checks every field
    if "per_record_bound" not in entry:
        return DescribedRelease(mechanism, count)
    batch: Batch | Truncated | None = None
    if isinstance(mechanism, TruncatedPoisson):
        batch = Truncated(mechanism.sample_rate, mechanism.max_batch_size, mechanism.dataset_size)
    elif isinstance(mechanism, SampledWithoutReplacement | SampledWithReplacement):
        batch = Batch(mechanism.batch_size, mechanism.dataset_size, isinstance(mechanism, SampledWithReplacement))
    return Release(
        read_number(entry["noise_stddev"], "noise_stddev"),
        read_number(entry["per_record_bound"], "per_record_bound"),
        mechanism.sample_rate if isinstance(mechanism, PoissonSampled) else None,
        count,
        batch,
    )
