"""One small example of every algorithm, by name."""

from __future__ import annotations

from functools import cache

from algorithms.verification.examples.base import Algorithm, Example
from dpbounds.errors import InvalidValue, one_of

__all__ = ["Algorithm", "Example", "all_examples", "example"]


@cache
def all_examples() -> tuple[Example, ...]:
    """Every example there is, those as printed included; names are unique."""
    from algorithms.verification.examples import (
        descents,
        frank_wolfe,
        second_order,
        selection,
        spider,
        stochastic,
        stochastic_spider,
        warm_starts,
    )

    rooms = (descents, stochastic, frank_wolfe, spider, stochastic_spider, second_order, selection, warm_starts)
    found = tuple(each for room in rooms for each in room.EXAMPLES)
    names = [each.name for each in found]
    if len(set(names)) != len(names):
        raise InvalidValue("names", names, "each example under its own name")
    return found


def example(name: str) -> Example:
    """The example of that name, or ``InvalidValue`` with the names there are."""
    for each in all_examples():
        if each.name == name:
            return each
    raise InvalidValue("algorithm", name, one_of(name, (each.name for each in all_examples()), "`dpbounds audit all`"))
