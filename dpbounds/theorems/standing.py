"""Status of a statement together with those that it relies on: a proof is no better than its lemmas."""

from __future__ import annotations

from functools import cache

from dpbounds.theorems.index import listing
from dpbounds.theorems.record import Part, Status, Theorem
from dpbounds.theorems.registry import theorem as statement

PROVEN = (Status.PROVED_HERE, Status.PROVED, Status.REPAIRED)
# From the best to the worst. A definition or a measurement that is relied on takes nothing away.
_ORDER = (*PROVEN, Status.CLAIMED, Status.CONJECTURED, Status.DISPUTED, Status.FALSE)


def standing(theorem: Theorem, part: Part | None = None) -> Status:
    """Return the own status of a statement or a part; ``disputed`` if its proof uses disputed or false statements.

    What is false itself stays false. What relies on a claim whose proof was not checked, while its own proof was, is as
    good as that claim.
    """
    own = theorem.status if part is None else theorem.status_of(part)
    if own not in _ORDER or own is Status.FALSE:
        return own
    used = theorem.relies_on if part is None else theorem.foundations_of(part)
    worst = max((_foundation(name) for name in used), key=_ORDER.index, default=own)
    if worst is Status.FALSE:
        worst = Status.DISPUTED  # the proof is gone; the statement may still hold
    return own if worst in PROVEN else max(own, worst, key=_ORDER.index)


def standing_in_words(theorem: Theorem, part: Part | None = None) -> str:
    """Return the standing, with a remark where it is not the own status."""
    known = standing(theorem, part)
    own = theorem.status if part is None else theorem.status_of(part)
    return str(known) if known is own else f"{known} (through what it relies on)"


@cache
def _foundation(name: str) -> Status:
    if not any(entry.id == name for entry in listing()):
        return Status.CLAIMED  # an id of someone's own file
    known = standing(statement(name))
    return known if known in _ORDER else Status.PROVED
