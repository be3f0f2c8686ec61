"""How questions are asked and answers written down."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

import click

from dpbounds.errors import DpboundsError
from dpbounds.expressions.enclosure import Enclosure


@dataclass(frozen=True)
class Answer:
    """What a question gave.

    Attributes:
        value: Part of the outcome that has to stay the same: anything that JSON can hold after ``plain``.
        ends: Part of the outcome that may become narrower: certified intervals by name.
        text: How it is said or was reached.
    """

    value: object = None
    ends: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    text: object = None


_CHEAP = 0.1  # CPU seconds
Question = tuple[str, Callable[[], Answer]]


def enclosed(**found: Enclosure) -> Answer:
    """The answer that consists of enclosures; how each was proven is its text."""
    return Answer(
        ends={name: (one.exact_lower, one.exact_upper) for name, one in found.items()},
        text={name: one.method for name, one in found.items()},
    )


def plain(value: object) -> Any:
    """The same in lists, dictionaries, text and numbers; anything else by its ``repr``."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return repr(value)


def row(ask: Callable[[], Answer]) -> dict[str, Any]:
    """The answer as it is written down, or the exception in its place; a defect is an outcome, too."""
    try:
        found = ask()
    except click.ClickException as error:
        return {"status": type(error).__name__, "text": error.message}
    except DpboundsError as error:
        return {"status": type(error).__name__, "text": str(error)}
    except Exception as error:  # every other exception is a defect: it is recorded, and comparing tells of it
        return {"status": f"defect: {type(error).__name__}", "text": str(error)}
    ends = {name: [str(low), str(high)] for name, (low, high) in found.ends.items()}
    parts = {"value": plain(found.value), "ends": ends, "text": plain(found.text)}
    return {"status": "answered"} | {name: part for name, part in parts.items() if part not in (None, {})}


def chosen(questions: Iterable[Question], keys: Sequence[str] | None) -> Iterator[Question]:
    """The questions of these keys, or all; a key that no question has is an error."""
    left = None if keys is None else set(keys)
    for key, ask in questions:
        if left is None or key in left:
            yield key, ask
        if left is not None:
            left.discard(key)
    if left:
        raise ValueError(f"nothing is asked so: {sorted(left)}")


def record(questions: Iterable[Question], path: Path, costs: TextIO | None = None) -> None:
    """Ask all in turn and write each answer as it comes, one a line; the CPU seconds above a tenth go to ``costs``."""
    seen: set[str] = set()
    with path.open("w", encoding="utf-8") as file:
        for key, ask in questions:
            if key in seen:
                raise ValueError(f"asked twice: {key}")
            seen.add(key)
            began = time.process_time()
            file.write(json.dumps([key, row(ask)], ensure_ascii=False) + "\n")
            file.flush()
            spent = time.process_time() - began
            if costs is not None and spent > _CHEAP:
                print(f"{spent:8.1f}  {key}", file=costs, flush=True)
