"""The tables of the library, by name: those that the papers print, and our own.

A table is made by a function of the values at which it is to be evaluated (none: formulas only). Tables with a grid of
their own take no values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from dpbounds.errors import InvalidValue, one_of
from dpbounds.render.catalogue.by_metric import METRICS, by_metric
from dpbounds.render.catalogue.derived import derived
from dpbounds.render.catalogue.explicit import explicit_bounds
from dpbounds.render.catalogue.printed import PRINTED, printed
from dpbounds.render.catalogue.spent import ball_noise, noise_constants, privacy_as_printed
from dpbounds.render.tables import Table

Values = Mapping[str, Fraction]


def _at_values() -> dict[str, Callable[[Values], Table]]:
    makers: dict[str, Callable[[Values], Table]] = {}
    for metric in METRICS:
        makers[metric] = partial(by_metric, metric)
    for name in PRINTED:
        makers[name] = partial(printed, name)
    makers["explicit-bounds"] = explicit_bounds
    return makers


def _on_a_grid() -> dict[str, Callable[[], Table]]:
    return {
        "noise-constants": noise_constants,
        "privacy-as-printed": privacy_as_printed,
        "ball-noise": ball_noise,
        "derived-rates": derived,
    }


def names() -> tuple[str, ...]:
    """The names of all tables."""
    return (*_at_values(), *_on_a_grid())


def table(name: str, at: Values | None = None) -> Table:
    """A table.

    Raises:
        InvalidValue: There is no such table, a value is outside its domain, or the table has a grid of its own.
    """
    if name in _at_values():
        return _at_values()[name](at or {})
    if name not in _on_a_grid():
        raise InvalidValue("table", name, one_of(name, names()))
    if at:
        raise InvalidValue("--at", ", ".join(at), f"empty for {name}, which has a grid of its own")
    return _on_a_grid()[name]()
