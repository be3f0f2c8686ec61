"""What a route did to prove its enclosure, fit to be written down and re-checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpbounds.errors import DpboundsError
from dpbounds.expressions.enclosure import Enclosure


class Declined(DpboundsError):
    """A route found one of its conditions unmet, or too much work ahead, and left the question to another route."""


@dataclass(frozen=True, slots=True)
class Proof:
    """An enclosure together with how it was reached.

    Attributes:
        enclosure: The proven ends.
        route: "closed form", "outcomes", "one law beside a Gaussian", "contour" or "lattice"; "groups" where very many
            levels are rounded to few, both ways; "adaptive attack" for a lower end by
            choices that follow the outputs; "dominated" where another order spends more; "bounds" (a single release
            below, a Chernoff bound above) or "upper bound" where every route declined.
        parameters: The free choices that were made; every choice is sound, a poor one only widens the result.
        error_budget: How much of the width comes from which source, relative to δ.
    """

    enclosure: Enclosure
    route: str
    parameters: Mapping[str, object] = field(default_factory=dict, hash=False)
    error_budget: Mapping[str, float] = field(default_factory=dict, hash=False)
