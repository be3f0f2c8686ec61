"""Choices for one claim: hints, and the fineness of the computation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.reading import field
from dpbounds.privacy.publishing.checker.verdicts import Malformed

Sizes = dict[int, tuple[int, int]]  # by the largest size of datasets that is promised: the first and last of a range
CHOICES = ("clones", "strides")  # hints that are lists, of one choice for each release that takes one


class Aim:
    """Choices for one claim: where distributions are cut off and rounded; none of them matters for soundness."""

    def __init__(self, delta: Fraction, releases: int, hints: dict[str, Any], known: dict[Any, Any]) -> None:
        self.hints, self.known = hints, known
        self.waiting = {name: list(field(hints, name, list)) for name in CHOICES if name in hints}
        self.moved: list[object] = []  # (19): of each cut sample, in one class of sizes
        self.sizes: Sizes = {}  # (19): that class
        self.share = delta / releases
        self.negligible = number(self.share) * arb(2) ** -26
        # (24): how many points, and how much rarer what is cut off
        self.exchange_points = field(hints, "exchange", int) if "exchange" in hints else 256
        self.finer = field(hints, "finer", int) if "finer" in hints else 0
        few = self.exchange_points
        if not (16 <= few <= 2**18 and few & (few - 1) == 0 and 0 <= self.finer <= 40):
            raise Malformed(f"a grid of {few} points, {self.finer} steps finer")

    def choice(self, name: str) -> Any:
        """Return the next choice that the hints hold under this name; None where there is none."""
        waiting = self.waiting.get(name)
        return waiting.pop(0) if waiting else None
