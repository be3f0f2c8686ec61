"""An accountant with the interface of dp-accounting's own, whose ε and δ are proven.

Whoever takes a ``dp_accounting.PrivacyAccountant`` can take this one: ``dp_accounting.calibrate_dp_mechanism``, or the
configurations of JAX-privacy's training (``accountant_fn=CertifiedPrivacyAccountant``). It needs dp-accounting.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.mechanisms import ApproximateDP, Composed, Mechanism
from dpbounds.privacy.pairs.domination import neighbour_classes
from dpbounds.privacy.publishing.interoperability.events import (
    as_our_relation,
    as_their_relation,
    from_dp_event,
    protects_nothing,
)
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import at_least_zero, probability

try:
    import dp_accounting
except ModuleNotFoundError:
    raise DpboundsError(
        "dp-accounting is not installed; install it with: pip install 'dpbounds[interoperability]'"
    ) from None

if TYPE_CHECKING:
    from dp_accounting import DpEvent, NeighboringRelation

_FARTHEST_EPSILON = 10**6  # at which δ is asked for any larger ε, infinity included: it does not rise


class CertifiedPrivacyAccountant(dp_accounting.PrivacyAccountant):  # type: ignore[misc]  # (Bazel's library has no types)
    """Composes the events of dp-accounting, and proves what they spent.

    What each event is read as, ``docs/names.md`` says; batches of a fixed size have an answer under all relations.

    Args:
        neighboring_relation: Of dp-accounting, or our name of it. A black box (``ZCDpEvent``, ``EpsilonDeltaDpEvent``,
            ...) is taken to have its guarantee under it.

    Raises:
        InvalidValue: There is no such relation.

    >>> import dp_accounting as dpa
    >>> step = dpa.SampledWithoutReplacementDpEvent(1000, 10, dpa.GaussianDpEvent(2.0))
    >>> spent = CertifiedPrivacyAccountant(dpa.NeighboringRelation.REPLACE_SPECIAL).compose(step).get_epsilon(1e-5)
    >>> round(spent, 4)
    0.1494
    """

    def __init__(self, neighboring_relation: NeighboringRelation | str | Relation = Relation.ADD_OR_REMOVE_ONE) -> None:
        self.relation = as_our_relation(neighboring_relation)
        super().__init__(as_their_relation(self.relation))
        self._parts: list[tuple[Mechanism, int]] = []
        self._unprotected = False

    def _maybe_compose(self, event: DpEvent, count: int, do_compose: bool) -> Any:
        """As there: walk through the tree; None, or what is not supported and why."""
        match type(event).__name__:
            case "ComposedDpEvent" if type(event) is dp_accounting.ComposedDpEvent:
                found = (self._maybe_compose(part, count, do_compose) for part in event.events)
                return next((details for details in found if details is not None), None)
            case "SelfComposedDpEvent" if type(event) is dp_accounting.SelfComposedDpEvent:
                return self._maybe_compose(event.event, count * event.count, do_compose)
        if protects_nothing(event):
            self._unprotected = self._unprotected or do_compose
            return None
        try:
            mechanism = from_dp_event(event, self.relation)
            neighbour_classes(mechanism, self.relation)
        except (UnsupportedMechanism, InvalidValue) as error:
            return self.CompositionErrorDetails(event, str(error))
        if do_compose and mechanism != _nothing(self.relation):
            self._parts.append((mechanism, count))
        return None

    @property
    def composition(self) -> Mechanism | None:
        """Everything composed so far as one mechanism; None before the first release.

        Raises:
            UnsupportedMechanism: Something was composed that protects nothing.
        """
        if self._unprotected:
            raise UnsupportedMechanism("an event was composed that protects nothing (without noise, or non-private)")
        return Composed(tuple(self._parts)) if self._parts else None

    def account(self, *, delta: ExactLike | None = None, epsilon: ExactLike | None = None) -> Account:
        """What was spent at δ or at ε, with its proof and both ends.

        Raises:
            InvalidValue: A value is not allowed, or nothing was composed yet.
            UnsupportedMechanism: Something was composed that protects nothing.
            NotCertified: The proof did not close.
        """
        composed = self.composition
        if composed is None:
            raise InvalidValue("number of releases", 0, "at least 1", "nothing was composed yet")
        return account(composed, delta=delta, epsilon=epsilon, relation=self.relation)

    def get_epsilon(self, target_delta: ExactLike) -> float:
        """The proven upper end of ε(δ), rounded up.

        Args:
            target_delta: From 0 to 1. At 0 the answer is infinity: ask ``account`` for what is known there.

        Raises:
            InvalidValue: δ is not allowed.
            NotCertified: The proof did not close.
        """
        failure = probability(target_delta, "target_delta")
        if self._unprotected:
            return math.inf
        if not self._parts or failure == 1:
            return 0.0
        return math.inf if failure == 0 else self.account(delta=failure).enclosure.upper

    def get_delta(self, target_epsilon: ExactLike) -> float:
        """The proven upper end of δ(ε), rounded up.

        Args:
            target_epsilon: At least 0, infinity included.

        Raises:
            InvalidValue: ε is not allowed.
            NotCertified: The proof did not close.
        """
        endless = target_epsilon == math.inf
        wanted = exact(_FARTHEST_EPSILON) if endless else at_least_zero(target_epsilon, "target_epsilon")
        if self._unprotected:
            return 1.0
        return self.account(epsilon=min(wanted, exact(_FARTHEST_EPSILON))).enclosure.upper if self._parts else 0.0


def _nothing(relation: Relation) -> Mechanism:
    """What ``from_dp_event`` reads an event as that releases nothing."""
    return ApproximateDP(0, 0, relation=relation)
