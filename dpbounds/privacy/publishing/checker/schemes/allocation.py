"""Records that take part in steps or bins of their own drawing (20)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.fields import COUNTED, MANY, Fields, unread
from dpbounds.privacy.publishing.checker.limits import RUNS
from dpbounds.privacy.publishing.checker.noises.gaussian import per_bound
from dpbounds.privacy.publishing.checker.profiles import gaussian_profile
from dpbounds.privacy.publishing.checker.reading import positive
from dpbounds.privacy.publishing.checker.rules.secret_steps import allocated
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme
from dpbounds.privacy.publishing.checker.spent import Spent, Steps
from dpbounds.privacy.publishing.checker.verdicts import Malformed


class RandomAllocation(Scheme):
    """Random allocation: every record is in a random set of steps, of a given size."""

    kind = "random-allocation"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "count": COUNTED,
        **dict.fromkeys(("steps", "participations"), MANY),
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse more participations than steps."""
        if release["participations"] > release["steps"]:
            raise Malformed("more participations than steps")

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """One step of each group of steps."""
        return Spent(steps=of_allocated(release, order, aim))


class BallsInBins(Scheme):
    """Every record draws one of the steps of an epoch, once or anew in each epoch."""

    kind = "balls-in-bins"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "bins": MANY,
        "epochs": positive,
        "redraw": unread,
        "count": COUNTED,
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse other than a number of epochs, and yes or no."""
        if type(release["redraw"]) is not bool or release["epochs"] is None:
            raise Malformed("balls in bins need epochs, and redraw is true or false")
        if release["epochs"] > RUNS:
            raise Malformed(f"more than {RUNS} epochs")

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """One bin of all."""
        return Spent(steps=of_bins(release, order, aim))


def of_allocated(release: dict[str, Any], order: str, aim: Aim) -> Steps:
    """(20) k groups of steps, one step of each."""
    t, k, one = release["steps"], release["participations"], per_bound(release["mechanism"])
    if k == t:
        return [(gaussian_profile(t * one * (4 if order == "replace" else 1)), 1)]
    groups = Counter({t // k + 1: t % k, t // k: k - t % k})
    return [(allocated([(one, size)], size, order, aim), count) for size, count in groups.items() if count]


def of_bins(release: dict[str, Any], order: str, aim: Aim) -> Steps:
    """(20) Bins that are kept are one choice, bins drawn anew one in each epoch."""
    bins, one = release["bins"], per_bound(release["mechanism"])
    whole = math.floor(release["epochs"])
    last = math.ceil((release["epochs"] - whole) * bins)
    if bins == 1:
        return [(gaussian_profile((whole + last) * one * (4 if order == "replace" else 1)), 1)]
    if not release["redraw"]:
        return [(allocated([((whole + 1) * one, last), (whole * one, bins - last)], bins, order, aim), 1)]
    epochs = [(allocated([(one, bins)], bins, order, aim), whole)] if whole else []
    return epochs + ([(allocated([(one, last), (Fraction(0), bins - last)], bins, order, aim), 1)] if last else [])
