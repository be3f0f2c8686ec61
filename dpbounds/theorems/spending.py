"""Privacy spent by an algorithm as prescribed: its mechanism, from the record, and the certified accountant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import delta as certified_delta, epsilon as certified_epsilon
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, parts_of
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.relations import Relation, as_relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.consistency import bounds_single_records
from dpbounds.theorems.evaluation import admitted, judge, refusal
from dpbounds.theorems.parts import DIGITS, Numbers
from dpbounds.theorems.record import Claim, Privacy, Theorem

_ROUNDING = Fraction(1, 10 ** (DIGITS - 5))


@dataclass(frozen=True, slots=True)
class Spending:
    """The claimed privacy, and the privacy spent.

    Attributes:
        spent: The same, certified; its lower bound is what the best known attack attains.
    """

    claim: Claim
    relation: Relation
    promised: Fraction
    spent: Enclosure
    mechanism: Mechanism

    @property
    def kept(self) -> bool | None:
        """Whether the claim holds: True if proven, False if refuted, or None.

        What is spent was rounded up in the 30th digit of the noise, which is not compared with the promise.
        """
        return self.spent.at_most(self.promised * (1 + _ROUNDING))


def spending(theorem: Theorem, values: Mapping[str, Any], relation: str | Relation | None = None) -> Spending:
    """Account for the mechanism of a statement.

    Raises:
        InvalidValue: The statement has no mechanism, or a value is missing or outside its domain.
        UnsupportedMechanism: Nothing is proven for the mechanism under the relation.
    """
    demand("theorem", theorem, Theorem)
    demand("values", values, Mapping)
    privacy = theorem.privacy
    if privacy is None:
        raise InvalidValue("theorem", theorem.id, "a statement about an algorithm whose privacy is accounted")
    wanted = privacy.relation if relation is None else as_relation(relation)
    numbers = Numbers(admitted(theorem, values), wanted)
    mechanism = composed(theorem, privacy, numbers)
    promised, spent = _spent(privacy, numbers, mechanism)
    return Spending(privacy.claim, wanted, promised, spent, mechanism)


def composed(theorem: Theorem, privacy: Privacy, numbers: Numbers) -> Mechanism:
    """Return the mechanism of a statement, for a relation that its assumptions cover.

    Where they bound only differences of records, adding or removing one is covered by batches of a fixed size alone:
    there a record that is added takes another one's place. Leaving one out with its place kept is not covered at all.

    Raises:
        InvalidValue: A value is missing.
        UnsupportedMechanism: The contribution of one record is not bounded.
    """
    try:
        mechanism = privacy.mechanism(numbers)
    except InvalidValue as error:
        judged = judge(theorem.conditions, numbers.values)
        raise refusal(theorem, theorem.conditions, judged, numbers.values) or error from error
    covered = numbers.relation is Relation.REPLACE_ONE or bounds_single_records(theorem.assumptions)
    swapped = numbers.relation is Relation.ADD_OR_REMOVE_ONE and all(
        isinstance(one, SampledWithoutReplacement) for one, _ in parts_of(mechanism)
    )
    if not covered and not swapped:
        what = "how far the gradients of two records differ, not what one record contributes"
        raise UnsupportedMechanism(
            f"{numbers.relation}: the assumptions of {theorem.id} bound {what}; account for {Relation.REPLACE_ONE}"
        )
    return mechanism


def _spent(privacy: Privacy, at: Numbers, mechanism: Mechanism) -> tuple[Fraction, Enclosure]:
    from dpbounds.expressions.symbols import delta, epsilon, rho

    match privacy.claim:
        case Claim.APPROXIMATE:
            return at[epsilon], certified_epsilon(mechanism, at[delta], relation=at.relation)
        case Claim.PURE:
            return at[epsilon], certified_epsilon(mechanism, 0, relation=at.relation)
        case Claim.ZCDP:
            proven = zcdp_rho(mechanism, at.relation)
            return at[rho], Enclosure(proven if only_gaussians(mechanism, at.relation) else Fraction(0), proven, "zCDP")
        case Claim.TOTAL_VARIATION:
            return at[delta], certified_delta(mechanism, 0, relation=at.relation)


def only_gaussians(mechanism: Mechanism, relation: Relation) -> bool:
    """Return whether shifted Gaussians are all that dominates the mechanism.

    Each product of them is one Gaussian, whose ρ is attained at every order (Bun and Steinke 2016, Lemma 2.4).

    Raises:
        UnsupportedMechanism: Nothing is proven for the mechanism under the relation.
    """
    classes = neighbour_classes(mechanism, relation)
    return all(isinstance(pair, ShiftedGaussians) for each in classes.every() for pair, _ in each.product)
