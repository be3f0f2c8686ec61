"""Comparison of releases with a plan: releases of one family differ in one number only, their loss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import BudgetExceeded, UnsupportedMechanism
from dpbounds.privacy.mechanisms import Mechanism, parts_of
from dpbounds.privacy.mechanisms.core import Loss


@dataclass(frozen=True, slots=True)
class _Family:
    """Releases that differ in one number, their loss: the larger, the less private.

    Attributes:
        example: One of them.
        loss: The loss of that release.
        losses: The multiplicity of each loss.
    """

    example: Mechanism
    loss: Loss
    losses: Counter[Fraction] = field(default_factory=Counter)


def demand_within_plan(made: Mechanism, planned: Mechanism, ledger: object) -> None:
    """Raise where releases that were made are lossier, or more, than planned ones; see ``Ledger.check_plan``.

    Args:
        made: The composition of all entries of a ledger.
        planned: The composition that was planned.
        ledger: Whose releases they are, to be printed in an error.
    """
    allowed = _by_family(planned)
    for key, family in _by_family(made).items():
        if key not in allowed:
            why = f"nothing like {family.example!r} is in the plan {planned!r}: use check(budget)"
            raise UnsupportedMechanism(why)
        _demand_within(family, allowed[key].losses, ledger)


def _by_family(mechanism: Mechanism) -> dict[tuple[object, ...], _Family]:
    families: dict[tuple[object, ...], _Family] = {}
    for part, count in parts_of(mechanism):
        loss = part.loss()
        families.setdefault(loss.family, _Family(part, loss)).losses[loss.value] += count
    return families


def _demand_within(family: _Family, allowed: Counter[Fraction], ledger: object) -> None:
    made = family.losses
    if family.loss.adds_up:
        shift, planned = (sum(loss * count for loss, count in losses.items()) for losses in (made, allowed))
        if shift > planned:
            raise BudgetExceeded(
                f"the sum of {family.loss.name} over the ledger is {float(shift):.9g}, more than the planned "
                f"{float(planned):.9g}: less noise was drawn than planned, or more releases were made; "
                f"do not publish the output\n{ledger}"
            )
        return
    # for every loss level: no more releases at least as lossy as it than were planned at least as lossy
    total = 0
    for loss, count in sorted(made.items(), reverse=True):
        total += count
        if total > sum(times for other, times in allowed.items() if other >= loss):
            raise BudgetExceeded(
                f"the ledger holds {total} releases like {family.example!r} or with less noise, more than planned: "
                f"less noise was drawn than planned, or more releases were made; do not publish the output\n{ledger}"
            )
