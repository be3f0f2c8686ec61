"""Reference formulas: a second transcription of every formula of the library, in plain mpmath.

``<paper>/reference_formulas.py`` maps the item of a statement to its parts. Each part is a function of a point ``q``,
written from the paper's text in its letters. ``q`` has the values under the names and letters of the symbol table, and
under the names of the paper's own quantities.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from dpbounds.theorems.evaluation import Evaluation
from dpbounds.theorems.index import module_of
from dpbounds.theorems.quantities import symbol
from dpbounds.theorems.registry import theorem


class Point:
    """Values as attributes, under any name of a quantity; ``read`` collects the quantities that were used."""

    def __init__(self, values: Mapping[str, Any], read: set[str] | None = None) -> None:
        self._values = {name_of(name): value for name, value in values.items()}
        self.read: set[str] = set() if read is None else read

    def __getattr__(self, name: str) -> Any:
        known = name if name in self._values else name_of(name)
        self.read.add(known)
        return self._values[known]

    def at(self, **others: Any) -> "Point":
        """The same point with other values of some quantities; a function is evaluated at the old point when read."""
        return _Moved(self, others)


class _Moved(Point):
    def __init__(self, point: Point, others: Mapping[str, Any]) -> None:
        self._point = point
        super().__init__(others, point.read)

    def __getattr__(self, name: str) -> Any:
        others = self.__dict__["_values"]
        if name_of(name) not in others:
            return getattr(self._point, name)
        other = others[name_of(name)]
        return other(self._point) if callable(other) else other


@cache
def name_of(name: str) -> str:
    """The name of a quantity that is given by a letter or an alias."""
    try:
        found: str = symbol(name).name
    except ValueError:  # a quantity of the paper's own
        return name
    return found


Formulas: TypeAlias = Mapping[str, Callable[[Point], Any]]


def place(statement: str) -> tuple[str, str]:
    """The folder of a statement's paper, and the statement's item in the paper's table of formulas."""
    folder = module_of(statement).split(".")[2]
    return folder, statement.removeprefix("cited/") if folder == "cited" else statement.partition("/")[2]


def file_of_tests(statement: str) -> str:
    """The file of a statement's own tests, from the root of the project on."""
    folder, item = place(statement)
    name = item.partition("/")[0] if folder == "cited" else item.removesuffix("/explicit")
    return f"tests/papers/{folder}/test_{re.sub('[-./]', '_', name)}.py"


def formulas_of(folder: str) -> Mapping[str, Formulas]:
    """All reference formulas of a folder: item, then part."""
    found: Mapping[str, Formulas] = import_module(f"tests.papers.{folder}.reference_formulas").FORMULAS
    return found


def reference_of(statement: str) -> Callable[..., Any]:
    """A function from a part's name and values to the value of its reference formula."""
    folder, item = place(statement)
    return lambda part, **values: formulas_of(folder)[item][part](Point(values))


def evaluated(statement: str) -> Callable[..., Evaluation]:
    """A function from a part's name and values, under any name of their quantities, to the part's evaluation."""

    def evaluate(part: str | None = None, *, digits: int = 15, **values: Any) -> Evaluation:
        given = {name_of(name): value for name, value in values.items()}
        return theorem(statement).evaluate(part, digits=digits, **given)

    return evaluate
