"""What is known of a statement together with what it rests on: a proof is no better than the lemmas it uses."""

from __future__ import annotations

from functools import cache

from dpbounds.theorems.record import Status, Theorem
from dpbounds.theorems.registry import library

# From the best to the worst. A definition or a measurement that is relied on takes nothing away.
_ORDER = (
    Status.PROVED_HERE,
    Status.PROVED,
    Status.REPAIRED,
    Status.CLAIMED,
    Status.CONJECTURED,
    Status.DISPUTED,
    Status.FALSE,
)


@cache
def _by_id() -> dict[str, Theorem]:
    return {theorem.id: theorem for theorem in library()}


def standing(theorem: Theorem) -> Status:
    """The statement's own status, or ``disputed`` if something that its proof uses is disputed or false.

    A statement that is false itself stays false. One that relies on a claim whose proof was not checked, while its own
    proof was, is as good as that claim.
    """
    if theorem.status not in _ORDER or theorem.status is Status.FALSE:
        return theorem.status
    worst = max((_foundation(name) for name in theorem.relies_on), key=_ORDER.index, default=theorem.status)
    if worst is Status.FALSE:
        worst = Status.DISPUTED  # the proof is gone; the statement may still hold
    return (
        max(theorem.status, worst, key=_ORDER.index)
        if worst in (Status.CLAIMED, Status.CONJECTURED, Status.DISPUTED)
        else theorem.status
    )


@cache
def _foundation(name: str) -> Status:
    found = _by_id().get(name)
    if found is None:
        return Status.CLAIMED  # an id of someone's own file
    known = standing(found)
    return known if known in _ORDER else Status.PROVED
