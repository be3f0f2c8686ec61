"""Ledgers: the releases of one repetition, and their ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import attrs

from dpbounds.algorithms import ledger_format
from dpbounds.algorithms.ledger.budget import PrivacyBudget
from dpbounds.algorithms.ledger.releases import DescribedRelease, Release, from_json, to_json
from dpbounds.algorithms.planned import demand_within_plan
from dpbounds.algorithms.sampling import CyclicOrder
from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import (
    BudgetExceeded,
    InvalidValue,
    NotCertified,
    UnsupportedMechanism,
    demand_one_of,
)
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.budgets.evidence import FINE
from dpbounds.privacy.mechanisms import Composed, Gaussian, LastIterate, MatrixMechanism, Mechanism, Shuffled
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.mechanisms.schemes.last_iterate import BatchOrder
from dpbounds.privacy.relations import Relation


@attrs.frozen
class PlainDescent:
    """The parameters of a run whose last iterate alone is accounted: x <- Π(x - η (g + λx)), g the noisy answer.

    Attributes:
        smoothness_step: ηβ > 0, at least: the step size times a proven bound on how fast any record's gradient changes.
        weight_decay_step: ηλ, from 0 to 1, exactly.
        order: Order of fixed batches, see ``Cyclic``; "fixed" if there are none.

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
        """Return the mechanism of the last iterate of ``epochs`` epochs over ``batches`` batches."""
        return LastIterate(
            noise,
            batches=batches,
            epochs=epochs,
            smoothness_step=self.smoothness_step,
            order=order,
            weight_decay_step=self.weight_decay_step,
        )


WhichRelease = Literal["every-iterate", "last-iterate"]
"""Published part of a run: every noisy answer, and with them any iterate; or its output, and nothing else."""


@dataclass(frozen=True, slots=True, repr=False)
class Ledger(Displayed):
    """The releases of one repetition, in order; equal ones in a row are counted together.

    Attributes:
        releases: The releases.
        adaptive: Whether noise, rates or the number of releases were chosen in view of earlier outputs. Such a run
            spends the guarantee of its filter; composing the realised list would prove nothing, and raises an error.
        seeded: Whether its noise came from a given seed: its guarantee is then subject to ``ledger_format.CONDITION``.
        descent: The updates of the iterate, if the releases are those of plain noisy gradient descent; else None.

    Raises:
        InvalidValue: Batches of a fixed size are drawn from different numbers of records.

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
        """Return the releases, all with Gaussian noise of known size; ``UnsupportedMechanism`` if one is not."""
        found = tuple(release for release in self.releases if isinstance(release, Release))
        if len(found) < len(self.releases):
            raise UnsupportedMechanism(f"not every release has Gaussian noise of known size:\n{self}")
        return found

    def mechanism(self) -> Mechanism:
        """Return the releases as one mechanism, for any accountant.

        Raises:
            InvalidValue: The ledger is empty.
            UnsupportedMechanism: The releases were chosen adaptively.
        """
        self._demand_fixed_in_advance()
        if not self.releases:
            raise InvalidValue("ledger", "empty", "a list of at least one release")
        return Composed(tuple((release.mechanism(), release.count) for release in self.releases))

    def last_iterate(self) -> LastIterate:
        """Return the run as a mechanism that publishes its last iterate, and **nothing else** that depends on records.

        Raises:
            UnsupportedMechanism: The updates of the iterate are not recorded; or the releases are not those of whole
                epochs over batches in a fixed order (by the records' positions) or shuffled anew, all with the same
                Gaussian noise, and nothing beside them; or they were chosen adaptively.

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
                # its assumption: which batch a record is in does not depend on its content
                if (cyclic.participation, cyclic.groups) == ("fixed-order", "position") and not rest:
                    noise = Gaussian(cyclic.noise_multiplier)
                    return self.descent.read(noise, cyclic.separation or 1, epochs, self.descent.order)
        raise UnsupportedMechanism(
            "the last iterate alone is accounted for where all releases are whole epochs over batches in a fixed "
            "order (by the records' positions) or shuffled anew, with the same Gaussian noise, and nothing else was "
            f"released:\n{self}"
        )

    def published(self, release: WhichRelease) -> Mechanism:
        """Return the releases as one mechanism, or the last iterate alone; raises as these do."""
        return self.mechanism() if release == "every-iterate" else self.last_iterate()

    def spent(
        self,
        delta: ExactLike,
        relation: str | Relation = Relation.REPLACE_ONE,
        release: WhichRelease = "every-iterate",
    ) -> Enclosure:
        """Return a proven enclosure of the smallest ε for which the releases together are (ε, δ)-private, 0 < δ < 1.

        Its upper bound is safe to publish. Exactly 0 for an empty ledger. With "last-iterate" it is that of the output
        alone: then nothing else that depends on the records may be published, see ``last_iterate``.

        Raises:
            InvalidValue: δ or the relation is not allowed.
            UnsupportedMechanism: A release has no proven analysis under that relation, or they were chosen adaptively.
        """
        self._demand_fixed_in_advance()
        if not self.releases:
            PrivacyBudget.of(1, delta, relation)  # raises the same errors as a ledger with entries
            return Enclosure.exactly(0)
        return accountants.epsilon(self.published(release), delta=delta, relation=relation)

    def check(self, budget: PrivacyBudget, release: WhichRelease = "every-iterate") -> Enclosure:
        """Return the ε that was spent at a budget's δ and relation, certified; its upper bound is within the budget.

        Raises:
            BudgetExceeded: More was spent.
            NotCertified: The certified interval of ε is too wide to decide.
            UnsupportedMechanism: A release has no proven analysis under that relation.
        """
        return _checked(self, budget, release)

    def _check(self, budget: PrivacyBudget, release: WhichRelease) -> Enclosure:
        spent = self.spent(budget.delta, budget.relation, release)
        within = spent.at_most(budget.epsilon)
        if within is None:  # a tie, up to the width of the proof: compare δ at the budget's ε, as calibrations do
            known = self.published(release)
            lost = accountants.delta(known, budget.epsilon, budget.relation, tolerance=FINE)
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
        """Compare the releases with the plan, exactly: without an accountant or δ, for both relations.

        Releases of one family (same kind, same sampling) differ in one number only, their loss. The most lossy release
        is compared with the most lossy one that was planned, the next against the next, and so on: each one that was
        made then is a planned one followed by more noise, or has a guarantee that implies the planned one. Full-batch
        Gaussians compose to one, so only the sum of their squared shifts (sensitivity / stddev)² is compared, and for
        zCDP the sum of ρ.

        Raises:
            BudgetExceeded: A release has less noise than planned, or there are more of them.
            UnsupportedMechanism: There is a release of a family without a plan: use ``check`` with a budget.
        """
        demand_within_plan(self.mechanism(), planned, self)

    def _demand_fixed_in_advance(self) -> None:
        if self.adaptive:
            raise UnsupportedMechanism(ledger_format.ADAPTIVE)

    def to_json(self) -> str:
        """Write the ledger as JSON text; numbers are exact fractions."""
        entries = [to_json(release) for release in self.releases]
        descent = None
        if self.descent is not None:
            descent = {field: str(value) for field, value in attrs.asdict(self.descent).items()}
        return ledger_format.to_text(entries, adaptive=self.adaptive, seeded=self.seeded, descent=descent)

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Read the output of ``to_json``, or any ledger file; the result equals the ledger that was written.

        Raises:
            InvalidValue: Not JSON, another format or version, a missing or unknown field, or a value out of range.
        """
        entries, adaptive, seeded, descent = ledger_format.from_text(text)
        moved = None if descent is None else PlainDescent(**descent)
        return cls(tuple(map(from_json, entries)), adaptive, seeded, moved)

    def _sheet(self) -> Sheet:
        chosen = (("chosen in view of outputs", "yes: only its filter says what it spends"),) if self.adaptive else ()
        return Sheet("ledger", chosen, ("released",), [(str(release),) for release in self.releases])

    def __str__(self) -> str:
        return "\n".join(str(release) for release in self.releases) or "no releases"


@lru_cache(maxsize=256)  # runs of one plan have equal ledgers, and an account may take a good part of a second
def _checked(ledger: Ledger, budget: PrivacyBudget, release: WhichRelease) -> Enclosure:
    return ledger._check(budget, release)
