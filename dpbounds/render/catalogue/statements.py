"""Table cells with the statement of a row, and its status."""

from __future__ import annotations

from collections.abc import Container

from dpbounds.render.tables import Assumed, Id, Standing
from dpbounds.theorems.record import Part, Read, Severity, Status, Theorem
from dpbounds.theorems.standing import standing, standing_in_words

_IN_PRINT = {
    Status.REPAIRED: "As corrected: as printed it does not hold.",
    Status.CLAIMED: "As claimed: its proof was not checked for this table.",
    Status.CONJECTURED: "Conjectured.",
    Status.DISPUTED: "Disputed: a step of its proof is known to fail.",
    Status.FALSE: "False as printed.",
    Status.EMPIRICAL: "Measured.",
}
_THROUGH = {
    Status.CLAIMED: "It rests on a result whose proof was not checked for this table.",
    Status.CONJECTURED: "It rests on a conjecture.",
    Status.DISPUTED: "Disputed: its proof uses a result that is disputed or false as printed.",
}
_FAULTS = {
    Severity.CONSTANT: "A printed constant is known to be wrong.",
    Severity.GAP: "A gap in the published proof is known.",
    Severity.FALSE: "Something else that is printed with it is false.",
    Severity.PRIVACY: "Its account of privacy has a known fault.",
}


def named(theorem: Theorem, part: Part | None = None, text: str = "", own: Container[Theorem] = ()) -> Id:
    """Return the statement, or one of its parts."""
    title = theorem.id if part is None else theorem.name_of(part)
    pieces = [theorem.number, *title.removeprefix(theorem.id).removeprefix(": ").split()]
    item = ", ".join(pieces).removeprefix("main result, ").replace("-", " ").replace("_", " ")
    return Id(text or title, theorem.paper, item, theorem in own)


def assumed(theorem: Theorem, part: Part) -> Assumed:
    """Return the assumptions of a part."""
    return Assumed(tuple(one.name for one in theorem.assumptions_of(part)))


def stood(theorem: Theorem, part: Part) -> Standing:
    """Return the status of a part and its footnote: none for proven statements."""
    known = standing(theorem, part)
    notes = [(_IN_PRINT if known is theorem.status_of(part) else _THROUGH).get(known, "")]
    if known is Status.CLAIMED and theorem.read is Read.ABSTRACT:
        notes = ["As claimed in its abstract."]
    if known not in (Status.FALSE, Status.REPAIRED, Status.DISPUTED):
        notes += dict.fromkeys(_FAULTS.get(one.severity, "") for one in theorem.errata)
    if theorem.makes_explicit:
        notes.append("With constants that the dpbounds library derived, not print.")
    return Standing(standing_in_words(theorem, part), " ".join(filter(None, notes)))
