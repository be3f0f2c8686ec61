"""An accountant with the interface of dp-accounting's own, whose ε and δ are proven.

Use it wherever a ``dp_accounting.PrivacyAccountant`` is accepted: ``dp_accounting.calibrate_dp_mechanism``, or the
configurations of JAX-privacy's training (``accountant_fn=CertifiedPrivacyAccountant``). It needs dp-accounting.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpbounds.errors import MISSING, DpboundsError, InvalidValue, NotCertified, UnsupportedMechanism, shown
from dpbounds.expressions.exact import ExactLike, as_promised, brief, exact, positive_integer, to_float
from dpbounds.privacy.accountants.attackers import true_positive_rate
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import ApproximateDP, Composed, Mechanism
from dpbounds.privacy.publishing.interoperability.events import (
    Unprotected,
    as_our_relation,
    as_their_relation,
    read_event,
)
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import probability, promised_epsilon

try:
    import dp_accounting
except ModuleNotFoundError:
    raise DpboundsError(
        "dp-accounting is not installed; install it with: pip install 'dpbounds[interoperability]'"
    ) from None

if TYPE_CHECKING:
    import numpy as np
    from dp_accounting import DpEvent, NeighboringRelation
    from numpy.typing import NDArray

_FARTHEST_EPSILON = 10**6  # ε that replaces any larger one, infinity included: δ does not increase


@dataclass(frozen=True, slots=True)
class _Part:
    """A repeated part: its guarantees hold as declared, or else under the accountant's relation.

    ``otherwise`` has them hold under add-or-remove-one, and is the same where nothing depends on that.
    """

    mechanism: Mechanism
    otherwise: Mechanism
    count: int


class CertifiedPrivacyAccountant(dp_accounting.PrivacyAccountant):  # type: ignore[misc]  # (Bazel's library has no types)
    """An accountant of dp-accounting: composes events, and proves their ε and δ.

    ``docs/names.md`` lists the mechanism of each event; batches of a fixed size are supported under all relations.

    Args:
        neighboring_relation: The relation of dp-accounting, or its name in dpbounds.
        declared_relation: The relation under which the guarantees of mechanisms given by their guarantee
            (``ZCDpEvent``, ``EpsilonDeltaDpEvent``) and the sensitivities of scores (``ExponentialMechanismDpEvent``,
            ``PermuteAndFlipDpEvent``) hold, which events do not contain. By default it is the accountant's; but if
            add-or-remove-one would give another answer, as it mostly does under replace-one, it has to be given.

    Raises:
        InvalidValue: There is no such relation.

    >>> import dp_accounting as dpa
    >>> step = dpa.SampledWithoutReplacementDpEvent(1000, 10, dpa.GaussianDpEvent(2.0))
    >>> spent = CertifiedPrivacyAccountant(dpa.NeighboringRelation.REPLACE_SPECIAL).compose(step).get_epsilon(1e-5)
    >>> round(spent, 4)
    0.1494
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation | str | Relation = Relation.ADD_OR_REMOVE_ONE,
        *,
        declared_relation: NeighboringRelation | str | Relation | None = None,
    ) -> None:
        self.relation = as_our_relation(neighboring_relation)
        self.declared_relation = None if declared_relation is None else as_our_relation(declared_relation)
        super().__init__(as_their_relation(self.relation))
        self._parts: list[_Part] = []
        self._unprotected = False

    def _maybe_compose(self, event: DpEvent, count: int, do_compose: bool) -> Any:
        """Walk through the tree of events; return None, or the unsupported event with the reason."""
        if type(event) is dp_accounting.ComposedDpEvent:
            found = (self._maybe_compose(part, count, do_compose) for part in event.events)
            return next((details for details in found if details is not None), None)
        try:
            if type(event) is dp_accounting.SelfComposedDpEvent:
                times = positive_integer(event.count, "count")
                return self._maybe_compose(event.event, count * times, do_compose)
            mechanism = read_event(event, self.declared_relation or self.relation)
            if isinstance(mechanism, Mechanism):
                neighbour_classes(mechanism, self.relation)
        except (UnsupportedMechanism, InvalidValue) as error:
            return self.CompositionErrorDetails(event, str(error))
        if do_compose and isinstance(mechanism, Unprotected):
            self._unprotected = True
        elif do_compose and isinstance(mechanism, Mechanism):
            otherwise = mechanism if self.declared_relation else read_event(event, Relation.ADD_OR_REMOVE_ONE)
            assert isinstance(otherwise, Mechanism)  # what an event releases does not depend on the relation
            self._parts.append(_Part(mechanism, otherwise, count))
        return None

    @property
    def composition(self) -> Mechanism | None:
        """Return everything composed so far as one mechanism; None before the first release.

        Raises:
            InvalidValue: An event given by its guarantee was composed, under another relation than add-or-remove-one,
                without ``declared_relation``.
            UnsupportedMechanism: An event without a guarantee was composed.
        """
        found = self._readings()
        if found is None:
            return None
        if found[0] != found[1]:
            raise self._undeclared(f"what was composed is {shown(found[0])}", shown(found[1]))
        return found[0]

    def account(self, *, delta: ExactLike | None = None, epsilon: ExactLike | None = None) -> Account:
        """Return the account at δ or at ε, with a proof and both bounds.

        Raises:
            InvalidValue: A value is not allowed, nothing was composed yet, or the answer depends on
                ``declared_relation``, which was not given. The message has both answers.
            UnsupportedMechanism: An event without a guarantee was composed.
            NotCertified: The proof did not close.
        """
        found = self._readings()
        if found is None:
            raise InvalidValue("number of releases", 0, "at least 1", "nothing was composed yet")
        composed, otherwise = found
        answer = account(composed, delta=delta, epsilon=epsilon, relation=self.relation)
        if composed == otherwise:
            return answer
        at = f"{'ε' if answer.given == 'delta' else 'δ'} at {'δ' if answer.given == 'delta' else 'ε'} = "
        told = f"{at}{brief(answer.target)} is at most {answer.enclosure.decimals(6)[1]}"
        try:
            other = account(otherwise, delta=delta, epsilon=epsilon, relation=self.relation).enclosure
        except (UnsupportedMechanism, NotCertified) as error:
            raise self._undeclared(told, f"not known ({error})") from None
        if (other.exact_lower, other.exact_upper) != (answer.enclosure.exact_lower, answer.enclosure.exact_upper):
            raise self._undeclared(told, f"at most {other.decimals(6)[1]}")
        return answer

    def _readings(self) -> tuple[Mechanism, Mechanism] | None:
        """Return the composition, with guarantees as declared, and as if they held under add-or-remove-one."""
        if self._unprotected:
            raise UnsupportedMechanism("an event without privacy was composed (no noise, or non-private)")
        if not self._parts:
            return None
        return (
            Composed(tuple((part.mechanism, part.count) for part in self._parts)),
            Composed(tuple((part.otherwise, part.count) for part in self._parts)),
        )

    def _undeclared(self, reading: str, otherwise: str) -> InvalidValue:
        """The error that asks for the relation of the black boxes, with the meaning of both possible relations."""
        boxes = {
            type(inner).__name__
            for part in self._parts
            if part.mechanism != part.otherwise
            for inner in part.mechanism.nested()
            if hasattr(inner, "relation")
        }
        return InvalidValue(
            "declared_relation",
            MISSING,
            f"the relation under which the guarantees of {', '.join(sorted(boxes))} were established, which their "
            f"events do not say; {reading} if it is {self.relation}, and {otherwise} if it is "
            f"{Relation.ADD_OR_REMOVE_ONE}",
            "give it as CertifiedPrivacyAccountant(..., declared_relation=...)",
        )

    def get_epsilon(self, target_delta: ExactLike) -> float:
        """Return the proven upper bound of ε(δ), rounded up.

        Args:
            target_delta: From 0 to 1. At 0 the result is pure ε: infinity where a loss is unbounded.

        Raises:
            InvalidValue: δ is not allowed, or the answer depends on ``declared_relation``, which was not given.
            NotCertified: The proof did not close.
        """
        failure = probability(as_promised(target_delta, "target_delta"), "target_delta")
        if self._unprotected:
            return math.inf
        if not self._parts or failure == 1:
            return 0.0
        return self.account(delta=failure).enclosure.upper

    def get_delta(self, target_epsilon: ExactLike) -> float:
        """Return the proven upper bound of δ(ε), rounded up.

        Args:
            target_epsilon: At least 0, infinity included; there it is 0 unless a part has a δ of its own.

        Raises:
            InvalidValue: ε is not allowed, or the answer depends on ``declared_relation``, which was not given.
            NotCertified: The proof did not close.
        """
        endless = target_epsilon == math.inf
        wanted = exact(_FARTHEST_EPSILON) if endless else promised_epsilon(target_epsilon, "target_epsilon")
        if self._unprotected:
            return 1.0
        if endless and not any(_reveals(part.mechanism) for part in self._parts):
            return 0.0
        return self.account(epsilon=min(wanted, exact(_FARTHEST_EPSILON))).enclosure.upper if self._parts else 0.0

    def get_true_positive_rates(self, false_positive_rates: float | Sequence[float]) -> float | NDArray[np.float64]:
        """Return proven upper bounds of the true positive rate of any test, rounded up.

        Args:
            false_positive_rates: One false positive rate from 0 to 1, or several.

        Returns:
            A number for a number, else an array.

        Raises:
            InvalidValue: A rate is not allowed, or a black box was composed under another relation than
                add-or-remove-one, and ``declared_relation`` was not given.
            NotCertified: The proof did not close.
        """
        import numpy as np

        alone = isinstance(false_positive_rates, numbers.Number)
        rates = [probability(rate, "false_positive_rates") for rate in np.atleast_1d(false_positive_rates).tolist()]
        mechanism = None if self._unprotected else self.composition
        found = [1.0 if self._unprotected else to_float(self._best(mechanism, rate), "up") for rate in rates]
        return found[0] if alone else np.array(found)

    def _best(self, mechanism: Mechanism | None, rate: Fraction) -> Fraction:
        """The largest true positive rate; that of guessing before the first release."""
        return rate if mechanism is None else Fraction(true_positive_rate(mechanism, rate, self.relation).exact_upper)


def _reveals(mechanism: Mechanism) -> bool:
    """Return whether some output may be impossible without the record; only a δ of its own allows that.

    The noise of events reaches every output, and a Rényi guarantee or a pure one excludes impossible outputs. Samples
    of neighbours are linked by samples which differ in one record, so that sampling and composition keep this.
    """
    return any(isinstance(part, ApproximateDP) and part.delta > 0 for part in mechanism.nested())
