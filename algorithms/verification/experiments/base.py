"""Experiments of papers: cells to run, curves to draw, and a comparison with the paper's text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpbounds.algorithms.verification.judging.planned_checks import CellsAt
from dpbounds.algorithms.verification.sweeping.cells import Result, Task, name_of
from dpbounds.render.curves import Panel


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure of a paper run again, or one that a paper lacks.

    Attributes:
        name: The name of the file, such as "wang-xu-2019-figure-1".
        theorem: Id of the statement it belongs to.
        title: One line.
        cells: The cells to run, by size.
        panels: From the cells' results, in their order, to what is drawn.
        findings: From the same, sentences: what agrees with the paper's words, what does not, with numbers.
    """

    name: str
    theorem: str
    title: str
    cells: CellsAt
    panels: Callable[[Sequence[Result]], tuple[Panel, ...]]
    findings: Callable[[Sequence[Result]], tuple[str, ...]]


def of_task(results: Sequence[Result], task: Task) -> list[Result]:
    """Return the results of one task."""
    return [result for result in results if result.task == name_of(task)]
