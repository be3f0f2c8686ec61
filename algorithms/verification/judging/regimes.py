"""Whether a rate can show yet: dimensionless numbers of a run that are large where its theorem's leading terms lead.

A theorem's exponent is that of its bound. What is measured follows it when the walk has forgotten where it started and
follows its noise: after a few time constants of the loss, of which a run has γ h T (step size, curvature where it ends,
steps). An estimate that is carried through phases, as SPIDER's, is followed only where a phase is that long: η h q. A
sample has forgotten everything but the minimum where that is many temperatures deep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from dpbounds.algorithms.verification.judging.ground import Move, ground, plain_step
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, task_named
from dpbounds.algorithms.verification.sweeping.trials import at_cell
from dpbounds.expressions.evaluation import evaluate

Posed = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Regime:
    """A number that must be large.

    Attributes:
        name: In letters.
        least: From which value on an exponent is judged.
        value: At the cell that gave a result.
    """

    name: str
    least: float
    value: Callable[[Result], float]


def time_constants(name: str = "γ h T", least: float = 1.0, posed: Posed | None = None) -> Regime:
    """Step size, curvature and steps: of all of a run.

    Args:
        name: In the algorithm's letters.
        least: One: what starts has been left.
        posed: Returns algorithm and problem of a cell; by default those of the trial that gave the result.
    """

    def value(result: Result) -> float:
        algorithm, problem = _at(result, posed)
        last = algorithm.stages[-1] if hasattr(algorithm, "stages") else algorithm
        # in the norm of a mirror a curvature is larger by the square of what that norm is smaller
        wider = float(algorithm.mirror.euclidean_square) if hasattr(algorithm, "mirror") else 1.0
        return float(last.step_size_for(problem) * wider * _curvature(posed, result.cell) * last.steps)

    return Regime(name, least, value)


def way(least: float = 1.0) -> Regime:
    """Return the regime of Frank-Wolfe: γ T, steps in units of the way to a vertex."""

    def value(result: Result) -> float:
        algorithm, problem = _at(result, None)
        return float(algorithm.step_fraction_for(problem) * algorithm.steps)

    return Regime("γ T", least, value)


def depth(least: float = 5.0) -> Regime:
    """Return the regime of a choice or a sample: β Δ, the distance of the start from the minimum in temperatures."""

    def value(result: Result) -> float:
        algorithm, problem = _at(result, None)
        of = algorithm.target(problem) if hasattr(algorithm, "target") else None
        beta = algorithm.inverse_temperature(problem) if of is None else of.inverse_temperature
        return float(beta) * evaluate(problem.initial_gap, {}).upper

    return Regime("β Δ", least, value)


def _at(result: Result, posed: Posed | None) -> tuple[Any, Any]:
    trial: Any = task_named(result.task)
    found: tuple[Any, Any] = at_cell(posed or trial.posed, result)
    return found


@cache
def _curvature(posed: Posed | None, cell: Cell) -> float:
    """Return the largest eigenvalue of the mean Hessian where a cell's descent ends without noise."""
    algorithm, problem = _at(Result(cell, {}, 0.0), posed)
    return ground(problem, problem.initial_point[None], _step(algorithm, problem)).settled


def _step(algorithm: Any, problem: Any) -> Move:
    if hasattr(algorithm, "mirror"):
        project = algorithm.mirror.constraint.project
        return lambda x, slope, length: project(x - length * slope)
    return problem.proximal_step if hasattr(problem, "proximal_step") else plain_step
