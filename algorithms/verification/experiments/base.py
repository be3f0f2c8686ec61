"""What an experiment of a paper is: cells to run, curves to draw, and what they say beside the paper's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from algorithms.verification.cells import Cell, Result
from algorithms.verification.suite import Size
from dpbounds.render.curves import Panel


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure of a paper run again, or one that a paper lacks.

    Attributes:
        name: Of the file, such as "wang-xu-2019-figure-1".
        theorem: Id of the statement it belongs to.
        title: One line.
        cells: What must be run, by size.
        panels: From the cells' results, in their order, to what is drawn.
        findings: From the same, sentences: what agrees with the paper's words, what does not, with numbers.
    """

    name: str
    theorem: str
    title: str
    cells: Callable[[Size], Sequence[Cell]]
    panels: Callable[[Sequence[Result]], tuple[Panel, ...]]
    findings: Callable[[Sequence[Result]], tuple[str, ...]]


def vector(result: Result, name: str) -> list[float]:
    """A result's numbers of that name, as a list."""
    value = result.numbers[name]
    return value if isinstance(value, list) else [value]


def number(result: Result, name: str) -> float:
    """A result's single number of that name."""
    return vector(result, name)[0]


def parameter(result: Result, name: str) -> float:
    """A number among a cell's parameters."""
    value = dict(Cell.from_key(result.key).parameters)[name]
    assert value is not None
    return float(value)


def text(result: Result, name: str) -> str:
    """A parameter of a cell, as text."""
    return str(dict(Cell.from_key(result.key).parameters)[name])


def task(result: Result) -> str:
    """The name of the function that gave a result, without its module."""
    return Cell.from_key(result.key).task.partition(":")[2]
