"""The tables of the library, by name: those that the papers print, and our own.

A table is made by a function of the values at which it is to be evaluated (none: formulas only). Tables with a grid of
their own take no values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

from dpbounds.errors import InvalidValue, one_of
from dpbounds.render.catalogue.by_metric import METRICS, by_metric
from dpbounds.render.catalogue.derived import derived
from dpbounds.render.catalogue.explicit import explicit_bounds
from dpbounds.render.catalogue.open_problems import open_problems
from dpbounds.render.catalogue.printed import PRINTED, printed
from dpbounds.render.catalogue.spent import ball_noise, noise_constants, privacy_as_printed
from dpbounds.render.catalogue.tightness import tightness
from dpbounds.render.tables import Table
from dpbounds.theorems.record import Theorem

Values = Mapping[str, Fraction]


def _at_values() -> dict[str, Callable[[Values], Table]]:
    return {name: partial(printed, name) for name in PRINTED}


def _of_statements() -> dict[str, Callable[[Values, Sequence[Theorem]], Table]]:
    metrics = {name: partial(by_metric, name) for name in METRICS}
    return {**metrics, "explicit-bounds": explicit_bounds}


def _on_a_grid() -> dict[str, Callable[[], Table]]:
    return {
        "noise-constants": noise_constants,
        "privacy-as-printed": privacy_as_printed,
        "ball-noise": ball_noise,
        "derived-rates": derived,
        "tightness": tightness,
        "open-problems": open_problems,
    }


def names() -> tuple[str, ...]:
    """Return the names of all tables."""
    return (*METRICS, *PRINTED, "explicit-bounds", *_on_a_grid())


def table(name: str, at: Values | None = None, own: Sequence[Theorem] = ()) -> Table:
    """Return a table.

    Args:
        name: One of ``names()``.
        at: Values at which formulas are evaluated.
        own: Your own statements, to be included.

    Raises:
        InvalidValue: There is no such table, a value is outside its domain, the table has a grid of its own, or does
            not accept your own statements.
    """
    if name in _of_statements():
        return _of_statements()[name](at or {}, own)
    if name not in names():
        raise InvalidValue("table", name, one_of(name, names()))
    if own:
        raise InvalidValue("--with", own[0].id, f"left out for {name}; it fits {', '.join(_of_statements())}")
    if name in _at_values():
        return _at_values()[name](at or {})
    if at:
        raise InvalidValue("--at", ", ".join(at), f"empty for {name}, which has a grid of its own")
    return _on_a_grid()[name]()
