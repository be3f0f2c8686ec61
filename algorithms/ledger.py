"""Every noisy release, written down as it happens, and what the releases cost together.

A ledger is that of *one* repetition of an algorithm. Repetitions (seeds) serve statistics; they share the noise levels
and therefore the ledger. Publishing the outputs of several repetitions on the same records costs more than the ledger
says: k of them are k ledgers one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from algorithms import ledger_format
from algorithms.ledger_format import FULL_BATCH, POISSON
from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy import accountants
from dpbounds.privacy.domination import dominating_products
from dpbounds.privacy.filters import PrivacyFilter, Step
from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.pairs import ShiftedGaussians
from dpbounds.privacy.relations import Relation, as_relation

_FIELDS = {"mechanism", "noise_stddev", "per_record_bound", "sampling", "count"}


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
            raise InvalidValue("epsilon", epsilon, "a number greater than 0")
        if not 0 < budget.delta < 1:
            raise InvalidValue("delta", delta, "a number greater than 0 and less than 1")
        return budget

    def __str__(self) -> str:
        return f"epsilon = {float(self.epsilon):g}, delta = {float(self.delta):g}, {self.relation}"


@dataclass(frozen=True, slots=True)
class Release:
    """A number of equal releases of a sum (or a mean with a public divisor) plus N(0, stddev² I).

    Attributes:
        noise_stddev: Exact standard deviation that was used, in the units of the answer.
        per_record_bound: How far one record can move the answer by being added, in l2 norm, in the same units.
        sample_rate: Of Poisson sampling, in (0, 1]; None for the full batch.
        count: How many such releases.
    """

    noise_stddev: Fraction
    per_record_bound: Fraction
    sample_rate: Fraction | None = None
    count: int = 1

    def __post_init__(self) -> None:
        for name in ("noise_stddev", "per_record_bound"):
            if getattr(self, name) <= 0:
                raise InvalidValue(name, getattr(self, name), "a number greater than 0")
        if self.sample_rate is not None and not 0 < self.sample_rate <= 1:
            raise InvalidValue("sample_rate", self.sample_rate, "a number greater than 0 and at most 1")
        positive_integer(self.count, "count")

    @property
    def noise_multiplier(self) -> Fraction:
        """Standard deviation in units of the per-record bound, exact."""
        return self.noise_stddev / self.per_record_bound

    def mechanism(self) -> Mechanism:
        """One of these releases as a mechanism."""
        inner = Gaussian(self.noise_multiplier)
        return inner if self.sample_rate is None else PoissonSampled(inner, self.sample_rate)

    def __str__(self) -> str:
        sampling = "full batch" if self.sample_rate is None else f"Poisson sample, rate {float(self.sample_rate):g}"
        return (
            f"{self.count} x Gaussian, noise_stddev {float(self.noise_stddev):.6g}, "
            f"per-record bound {float(self.per_record_bound):.6g} "
            f"(noise_multiplier {float(self.noise_multiplier):.6g}), {sampling}"
        )


@dataclass(frozen=True, slots=True)
class Ledger:
    """The releases of one repetition, in order; equal ones in a row are counted together.

    Attributes:
        releases: What was released.
        adaptive: Whether noise, rates or the number of releases were chosen in view of earlier outputs. What such a run
            spends is what its filter guarantees; the accountant's answer for the realised list would prove nothing,
            and is refused.

    >>> ledger = Ledger((Release(Fraction(2), Fraction(1, 2), count=10),))
    >>> Ledger.from_json(ledger.to_json()) == ledger
    True
    """

    releases: tuple[Release, ...] = ()
    adaptive: bool = False

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

    def spent(self, delta: ExactLike, relation: str | Relation = Relation.REPLACE_ONE) -> Enclosure:
        """Return a proven enclosure of the smallest ε for which the releases together are (ε, δ)-private.

        Args:
            delta: In (0, 1).
            relation: "replace-one" or "add-or-remove-one".

        Returns:
            The enclosure of ε; its upper end is safe to publish. Exactly 0 for an empty ledger.

        Raises:
            InvalidValue: δ or the relation is not allowed.
            UnsupportedMechanism: A release has no proven analysis under that relation, or they were chosen adaptively.
        """
        self._demand_fixed_in_advance()
        if not self.releases:
            PrivacyBudget.of(1, delta, relation)  # the same errors as for a ledger that holds something
            return Enclosure.exactly(0)
        return accountants.epsilon(self.mechanism(), delta=delta, relation=relation)

    def check(self, budget: PrivacyBudget) -> Enclosure:
        """Compare what the releases spend with a budget, by the certified accountant.

        Returns:
            The ε that was spent at the budget's δ and relation; its upper end is within the budget.

        Raises:
            BudgetExceeded: More was spent.
            NotCertified: The enclosure of ε is too wide to tell.
            UnsupportedMechanism: A release has no proven analysis under that relation.
        """
        spent = self.spent(budget.delta, budget.relation)
        within = spent.at_most(budget.epsilon)
        if within is None:
            raise NotCertified(f"the ledger spends epsilon in {spent}, which does not decide whether {budget} is kept")
        if not within:
            raise BudgetExceeded(
                f"the ledger spends epsilon in {spent}, more than the planned {budget}; "
                f"do not publish the output\n{self}"
            )
        return spent

    def check_plan(self, planned: Mechanism) -> None:
        """Compare the releases with the full-batch Gaussian mechanism that was meant to run, exactly.

        Both are summed up by the squared shift, the sum of (sensitivity / stddev)² over the releases.

        Raises:
            BudgetExceeded: The ledger's is larger.
            UnsupportedMechanism: One of the two is not made of full-batch Gaussian releases.
        """
        shift, allowed = (_squared_shift(mechanism) for mechanism in (self.mechanism(), planned))
        if shift > allowed:
            raise BudgetExceeded(
                f"the sum of (sensitivity / stddev)² over the ledger is {float(shift):.9g}, more than the planned "
                f"{float(allowed):.9g}: less noise was drawn than planned, or more releases were made; "
                f"do not publish the output\n{self}"
            )

    def _demand_fixed_in_advance(self) -> None:
        if self.adaptive:
            raise UnsupportedMechanism(ledger_format.ADAPTIVE)

    def to_json(self) -> str:
        """Write the ledger as JSON text; numbers are exact fractions."""
        return ledger_format.to_text([_release_to_json(release) for release in self.releases], adaptive=self.adaptive)

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Read what ``to_json`` wrote; ``ledger_format.read_releases`` reads releases of any other kind, too.

        Raises:
            InvalidValue: Not JSON, another format or version, a missing or unknown field, or a value out of range.
        """
        entries, adaptive = ledger_format.from_text(text)
        return cls(tuple(map(_release_from_json, entries)), adaptive)

    def __str__(self) -> str:
        return "\n".join(str(release) for release in self.releases) or "no releases"


class OpenLedger:
    """A ledger while it is being written; ``close`` returns what was."""

    def __init__(self) -> None:
        self._releases: list[Release] = []

    def gaussian(
        self, *, noise_stddev: Fraction, per_record_bound: Fraction, sample_rate: Fraction | None = None
    ) -> None:
        """Write down one release with Gaussian noise (see ``Release`` for units)."""
        release = Release(noise_stddev, per_record_bound, sample_rate)
        last = self._releases[-1] if self._releases else None
        if last is not None and _same_kind(last, release):
            self._releases[-1] = Release(noise_stddev, per_record_bound, sample_rate, last.count + 1)
        else:
            self._releases.append(release)

    def close(self) -> Ledger:
        """Return the ledger as written so far."""
        return Ledger(tuple(self._releases))


class BudgetedLedger(OpenLedger):
    """A ledger for noise that is chosen as the run goes: it refuses the release that would exceed the budget.

    The entry is made before the noise is drawn, so that what is refused was never computed. What a choice may depend
    on stands in ``dpbounds.privacy.filters``; one that looks at the outputs of several repetitions releases them all,
    and their ledgers add up.

    Args:
        privacy_filter: Decides; a ``ZCDPFilter``, ``GaussianFilter`` or ``RenyiFilter``.
        step: A release as the filter is to see it. The default does for the full batch; on Poisson samples, return an
            object with ``relation`` and ``renyi(order)``.
    """

    def __init__(self, privacy_filter: PrivacyFilter, step: Callable[[Release], Step] = Release.mechanism) -> None:
        super().__init__()
        self._filter, self._step = privacy_filter, step

    @property
    def privacy_filter(self) -> PrivacyFilter:
        """The filter as it stands: what is left, and what it guarantees."""
        return self._filter

    def gaussian(
        self, *, noise_stddev: Fraction, per_record_bound: Fraction, sample_rate: Fraction | None = None
    ) -> None:
        """Write down one release with Gaussian noise, if the budget has room for it.

        Raises:
            BudgetExceeded: It has not. Nothing was written, and nothing may be released.
            UnsupportedMechanism: The filter knows no cost of such a release.
        """
        self._filter = self._filter.spend(self._step(Release(noise_stddev, per_record_bound, sample_rate)))
        super().gaussian(noise_stddev=noise_stddev, per_record_bound=per_record_bound, sample_rate=sample_rate)

    def close(self) -> Ledger:
        """Return the ledger as written so far, marked as adaptive."""
        return Ledger(tuple(self._releases), adaptive=True)


def _same_kind(first: Release, second: Release) -> bool:
    return (first.noise_stddev, first.per_record_bound, first.sample_rate) == (
        second.noise_stddev,
        second.per_record_bound,
        second.sample_rate,
    )


def _squared_shift(mechanism: Mechanism) -> Fraction:
    # Under either relation the shift is that of add-or-remove-one times the same factor, so one of them tells.
    products = dominating_products(mechanism, Relation.ADD_OR_REMOVE_ONE)
    (pair, count), *others = products[0]
    if len(products) != 1 or others or not isinstance(pair, ShiftedGaussians):
        raise UnsupportedMechanism(f"{mechanism!r} is not made of full-batch Gaussian releases: use check(budget)")
    return count * pair.squared_shift


def _release_to_json(release: Release) -> ledger_format.Entry:
    entry: dict[str, object] = {
        "mechanism": "gaussian",
        "noise_stddev": str(release.noise_stddev),
        "per_record_bound": str(release.per_record_bound),
        "sampling": FULL_BATCH if release.sample_rate is None else POISSON,
        "count": release.count,
    }
    if release.sample_rate is not None:
        entry["sample_rate"] = str(release.sample_rate)
    return entry


def _release_from_json(entry: ledger_format.Entry) -> Release:
    if entry.get("mechanism") != "gaussian":
        advice = "algorithms.ledger_format.read_releases reads the other kinds"
        raise InvalidValue("mechanism", entry.get("mechanism"), "gaussian", advice)
    poisson = entry.get("sampling") == POISSON
    ledger_format.demand_fields(entry, _FIELDS | ({"sample_rate"} if poisson else set()))
    if not poisson and entry["sampling"] != FULL_BATCH:
        raise InvalidValue("sampling", entry["sampling"], f"{FULL_BATCH} or {POISSON}")
    return Release(
        ledger_format.number(entry["noise_stddev"], "noise_stddev"),
        ledger_format.number(entry["per_record_bound"], "per_record_bound"),
        ledger_format.number(entry["sample_rate"], "sample_rate") if poisson else None,
        positive_integer(entry["count"], "count"),
    )
