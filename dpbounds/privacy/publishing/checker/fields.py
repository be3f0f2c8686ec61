"""Objects with the fields of their kind, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dpbounds.privacy.publishing.checker.limits import COUNT, RUNS
from dpbounds.privacy.publishing.checker.reading import field, quoted
from dpbounds.privacy.publishing.checker.verdicts import Malformed

Reader = Callable[[Any, str], Any]  # maps a record and the name of a field to its value
Fields = Mapping[str, Reader]

FIELDS = {
    "certificate": ("format", "version", "calibration", "accounts", "assumptions", "versions"),
    "calibration": ("solve", "value", "fails_at", "target_epsilon", "target_delta"),
    "account": ("role", "claim", "mechanism", "proofs"),
    "claim": ("relation", "given", "target", "lower", "upper"),
    "proof": ("order", "route", "method", "precision", "parameters", "error_budget"),
    "versions": ("dpbounds", "python-flint", "FLINT", "Python"),
}


def has_fields(record: object, kind: str, *more: str) -> dict[str, Any]:
    """Return an object of the document with the fields of its kind, and no others."""
    return demand_fields(record, kind, (*FIELDS[kind], *more))


def demand_fields(record: object, kind: str, names: Iterable[str]) -> dict[str, Any]:
    """Return an object with these fields, and no others."""
    needed = {*names}
    if not isinstance(record, dict):
        raise Malformed(f"{quoted(record)} is no {kind}, which is an object")
    if set(record) != needed:
        wrong = ", ".join([*sorted(needed - set(record)), *sorted(map(quoted, set(record) - needed))][:5])
        raise Malformed(
            f"a {kind} has the fields {', '.join(sorted(needed))} and no others; missing or unknown: {wrong}"
        )
    return record


def read_fields(record: object, kind: str, fields: Fields) -> dict[str, Any]:
    """Return the same with each field read."""
    return {name: fields[name](record, name) for name in demand_fields(record, kind, fields)}


def unread(record: Any, name: str) -> Any:
    """Return a field unchecked, to be read later."""
    return record[name]


def whole(most: int, *, optional: bool = False) -> Reader:
    """Reads a whole number from 1 on."""

    def read_whole(record: Any, name: str) -> int | None:
        value: int | None = field(record, name, (int, type(None)) if optional else int)
        if value is not None and not 1 <= value <= most:
            raise Malformed(f"{name} is {quoted(value)}, and not from 1 to {most}")
        return value

    return read_whole


COUNTED, COUNTED_OR_NONE, MANY = whole(COUNT), whole(COUNT, optional=True), whole(RUNS)
