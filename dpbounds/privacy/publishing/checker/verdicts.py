"""Verdicts on a certificate, and reasons for which it is undecided."""

from __future__ import annotations

CONFIRMED, WRONG, MALFORMED, NOT_COVERED = 0, 1, 2, 3


class Malformed(Exception):
    """The document is not a certificate of the known format."""


class Unproven(Exception):
    """A condition of the proof could not be shown with these hints."""


class NotCovered(Exception):
    """The certificate rests on a method that is not re-done here."""


class OutOfReach(NotCovered):
    """No method re-does this: its numbers lie beyond double precision."""


def require(condition: object, what: str) -> None:
    """Go on only where the condition is proven."""
    if condition is not True:
        raise Unproven(what)


VERDICTS = {
    CONFIRMED: "THE CERTIFICATE HOLDS",
    WRONG: "THE CERTIFICATE DOES NOT HOLD",
    NOT_COVERED: "NEITHER CONFIRMED NOR REFUTED: it rests on a method that is not re-done here",
}
