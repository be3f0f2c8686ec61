"""What an experiment of a paper is: cells to run, curves to draw, and what they say beside the paper's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from algorithms.verification.cells import Cell, Result, number, parameter, task, text, vector
from algorithms.verification.suite import Size
from dpbounds.render.curves import Panel

__all__ = ["Experiment", "number", "parameter", "task", "text", "vector"]


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
