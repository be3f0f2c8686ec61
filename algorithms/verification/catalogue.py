"""Index of studies: the checks of a statement, the example of a name. A query imports its study alone.

The index says where each of them is; ``python -m dpbounds.algorithms.verification`` writes it, and a test compares it
with the studies themselves.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpbounds import documents
from dpbounds.algorithms.verification.judging.planned_checks import PlannedCheck
from dpbounds.algorithms.verification.studies.running import Example
from dpbounds.errors import InvalidValue, one_of

_INDEX = Path(__file__).parent / "index.json"
_STUDIES = __name__.removesuffix("catalogue") + "studies"
FAMILIES = (
    "formulas",
    "descents",
    "stochastic",
    "frank_wolfe",
    "spider",
    "stochastic_spider",
    "second_order",
    "selection",
    "warm_starts",
)
ACROSS = ("exponents", "population", "beyond")  # their checks come after those of the examples
ALL = (*FAMILIES, *ACROSS)


@dataclass(frozen=True, slots=True)
class Study:
    """A study: its checks and its examples, in order."""

    checks: tuple[PlannedCheck, ...]
    examples: tuple[Example, ...]


def study(name: str) -> Study:
    """Return the study of that name."""
    module = importlib.import_module(f"{_STUDIES}.{name}")
    return Study(module.CHECKS, module.EXAMPLES)


@cache
def _index() -> Mapping[str, Mapping[str, list[str]]]:
    index: Mapping[str, Mapping[str, list[str]]] = documents.parsed(_INDEX.read_text("utf-8"), "index")
    return index


def derived_index() -> dict[str, dict[str, list[str]]]:
    """Return the index, from all studies: the names of those that hold a statement or an example, by its id or name."""
    statements: dict[str, list[str]] = {}
    examples: dict[str, list[str]] = {}
    for name in ALL:
        held = study(name)
        ids = [check.theorem for check in held.checks]
        ids += [example.theorems[0] for example in held.examples if not example.printed]
        for theorem in dict.fromkeys(ids):
            statements.setdefault(theorem, []).append(name)
        for example in held.examples:
            examples.setdefault(example.name, []).append(name)
    return {"statements": statements, "examples": examples}


def write_index() -> None:
    """Write the result of ``derived_index``."""
    documents.write(_INDEX, json.dumps(derived_index(), indent=1) + "\n")


def checked_statements() -> tuple[str, ...]:
    """Return the ids of all statements with a check."""
    return tuple(_index()["statements"])


def studies_of(theorems: Iterable[str]) -> frozenset[str]:
    """Return the names of the studies that check one of these statements."""
    return frozenset(name for theorem in theorems for name in _index()["statements"][theorem])


def example_names() -> tuple[str, ...]:
    """Return the names of all examples, those as printed included."""
    return tuple(_index()["examples"])


@cache
def all_examples() -> tuple[Example, ...]:
    """Return all examples, the printed variants included; names are unique."""
    return tuple(example for name in ALL for example in study(name).examples)


def example(name: str) -> Example:
    """Return the example of that name, or ``InvalidValue`` with the names there are."""
    names = _index()["examples"]
    if name not in names:
        raise InvalidValue("algorithm", name, one_of(name, names, "`dpbounds run --list`"))
    (found,) = (example for example in study(names[name][0]).examples if example.name == name)
    return found
