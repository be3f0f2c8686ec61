"""Input checks: arguments of algorithms are checked and made exact once, under the name of their field.

A record of parameters is ``attrs.frozen(field_transformer=named)``; its fields have one of the converters or validators
below, which raise ``InvalidValue``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeVar, cast, get_args

import attrs

from dpbounds.algorithms.ledger import PrivacyBudget, checked_budget
from dpbounds.algorithms.sampling import Poisson
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.relations import Relation

WhichNoise = Literal["gaussian", "secure"]
WhichMapping = Literal["noisy", "exact"]
_Choice = TypeVar("_Choice")


def named(_cls: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Pass the name of the field to every converter with a ``name`` (a ``field_transformer`` of attrs)."""
    return [
        field.evolve(converter=partial(cast(Any, field.converter), name=field.name))
        if _asks(field.converter)
        else field
        for field in fields
    ]


def _asks(converter: Any) -> bool:
    return inspect.isfunction(converter) and "name" in inspect.signature(converter).parameters


# --- converters -------------------------------------------------------------------------------------------------------


def positive(value: ExactLike, name: str = "value", advice: str = "") -> Fraction:
    """Return an exact number greater than 0."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidValue(name, value, "greater than 0", advice)
    return number


def multiplier(value: ExactLike, name: str = "noise_multiplier") -> Fraction:
    """Return a noise multiplier: an exact number greater than 0."""
    return positive(value, name, "no noise, no privacy")


def not_negative(value: ExactLike, name: str = "value") -> Fraction:
    """Return an exact number at least 0."""
    number = exact(value, name)
    if number < 0:
        raise InvalidValue(name, value, "at least 0")
    return number


def share(value: ExactLike, name: str = "share") -> Fraction:
    """Return a part of a whole, or a probability: an exact number greater than 0 and less than 1."""
    number = exact(value, name)
    if not 0 < number < 1:
        raise InvalidValue(name, value, "greater than 0 and less than 1")
    return number


def sample_rate(value: ExactLike) -> Fraction:
    """Convert the rate of Poisson samples, rounded down as in ``Poisson``."""
    return Poisson(value).sample_rate


def count(value: int, name: str = "count") -> int:
    """Return a positive whole number."""
    return positive_integer(value, name)


def step_size(value: float | None, name: str = "step_size") -> float | None:
    """Return a step size as a double greater than 0, or None for the default."""
    if value is None:
        return None
    try:
        step = float(value)
    except (TypeError, ValueError):
        step = math.nan
    if not (math.isfinite(step) and step > 0):
        raise InvalidValue(name, repr(value), "a finite number greater than 0, or None for the default")
    return step


def length(value: float, name: str = "value") -> float:
    """Return a finite double greater than 0."""
    if not (math.isfinite(value) and value > 0):
        raise InvalidValue(name, value, "a finite number greater than 0")
    return float(value)


def initial_gap(value: ExactLike | None, name: str = "initial_gap") -> Fraction | None:
    """Return a public bound on the initial gap, exact and at least 0, or None for the problem's."""
    if value is None:
        return None
    gap = exact(value, name)
    if gap < 0:
        raise InvalidValue(name, value, "at least 0, or None for the problem's")
    return gap


def point(value: Sequence[float] | None, name: str = "start") -> tuple[float, ...] | None:
    """Return finite numbers, or None."""
    if value is None:
        return None
    numbers = tuple(float(entry) for entry in value)
    if not all(map(math.isfinite, numbers)):
        raise InvalidValue(name, numbers, "finite numbers")
    return numbers


# --- validators -------------------------------------------------------------------------------------------------------


def one_of(choices: object) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """Return a validator: the value is one of a ``Literal``."""

    def check(_record: object, field: attrs.Attribute[Any], value: object) -> None:
        demand_one_of(value, choices, field.name)

    return check


def budget(_record: object, _field: attrs.Attribute[Any], value: PrivacyBudget | None) -> None:
    """Raise ``InvalidValue`` unless the value is a budget or None: a validator."""
    checked_budget(value)


def of_the_budget(record: Any, _field: attrs.Attribute[Any], relation: Relation) -> None:
    """Raise ``InvalidValue`` unless a relation is that of the record's budget, if it has one: a validator."""
    kept = checked_budget(record.budget)
    if kept is not None and kept.relation is not relation:
        raise InvalidValue("relation", str(relation), f"the budget's, {kept.relation}")


def demand_one_of(value: _Choice, choices: object, name: str) -> _Choice:
    """Return the value where it is one of a ``Literal``, else raise ``InvalidValue``."""
    if value not in get_args(choices):
        raise InvalidValue(name, repr(value), " or ".join(get_args(choices)))
    return value
