"""Proofs of a route, fit to be written down and re-checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import ParamSpec, TypeVar

from dpbounds.errors import DpboundsError
from dpbounds.expressions.enclosure import Enclosure


class Declined(DpboundsError):
    """A route found one of its conditions unmet, or too much work ahead, and left the question to another route."""


_Arguments = ParamSpec("_Arguments")
_Found = TypeVar("_Found")


def planned_in_doubles(route: Callable[_Arguments, _Found]) -> Callable[_Arguments, _Found]:
    """Decorate a route: it declines where a number that it plans with leaves the range of doubles.

    Routes choose in floating point, and prove in balls and integers, which do not overflow. So an overflow or a
    division by zero says that no choice was found; no answer depends on it.
    """

    @wraps(route)
    def declining(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Found:
        try:
            return route(*args, **kwargs)
        except ArithmeticError as reason:
            raise Declined(f"these numbers cannot be planned in doubles ({reason})") from reason

    return declining


@dataclass(frozen=True, slots=True)
class Proof:
    """An enclosure together with how it was reached.

    Attributes:
        enclosure: The proven ends.
        route: "closed form", "outcomes", "largest losses", "contour", "common lattice", "optimal composition" or
            "lattice"; "groups" where very many levels are rounded to few, both ways; "dominated" where another order
            spends more; "bounds" (a single release or part below; basic composition, Rényi divergences or a Chernoff
            bound above) where every route declined or was wide; "upper bound" where nothing else is known.
        parameters: The free choices that were made; every choice is sound, a poor one only widens the result.
        error_budget: The parts of the width by source, relative to δ.
    """

    enclosure: Enclosure
    route: str
    parameters: Mapping[str, object] = field(default_factory=dict, hash=False)
    error_budget: Mapping[str, float] = field(default_factory=dict, hash=False)
