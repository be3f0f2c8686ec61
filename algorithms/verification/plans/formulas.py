"""Closed forms and explicit bounds against their Monte Carlo twins."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import dpbounds as dp
from algorithms.verification.cells import Cell, Value
from algorithms.verification.plans.shapes import CellAt, Promise, formula, mean_bounded, rate_bounded
from algorithms.verification.suite import Planned, Size
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate

_TASKS = "algorithms.verification.tasks.formulas"
_DRAWS = {Size.QUICK: 100_000, Size.FULL: 4_000_000}


def _planned(
    theorem: str,
    name: str,
    task: str,
    predicted: Promise,
    *,
    check: Callable[[str, str, CellAt, Promise], Planned] = formula,
    draws: float = 1.0,
    **parameters: Value,
) -> Planned:
    def cell(size: Size) -> Cell:
        return Cell.of(f"{_TASKS}:{task}", 0, draws=int(draws * _DRAWS[size]), **parameters)

    return check(theorem, name, cell, predicted)


def _value(theorem: str, part: str | None = None, **values: Any) -> Promise:
    return lambda: dp.theorem(theorem).evaluate(part, **values).value


def _ball(dimension: int, distance: str) -> Planned:
    theorem = "tholeti-kalyani-2020/equation-6"
    return _planned(
        theorem,
        f"ball overlap, d = {dimension}, distance {distance}",
        "ball_overlap",
        _value(theorem, dimension=dimension, radius=1, distance=distance),
        dimension=dimension,
        radius=1.0,
        distance=float(Fraction(distance)),
    )


def _ball_run(dimension: int, steps: int) -> Planned:
    theorem = "tholeti-kalyani-2020/theorem-1/explicit"
    records = 50

    def predicted() -> Enclosure:
        return dp.BallDescent(Fraction(1), dimension, records, steps).delta(Fraction(1))

    return _planned(
        theorem,
        f"a run of ball noise, d = {dimension}, T = {steps}",
        "ball_descent",
        predicted,
        draws=0.5,
        dimension=dimension,
        radius=1.0,
        distance=1.0,
        records=records,
        steps=steps,
    )


def _gaussian(multiplier: str, steps: int, epsilon: str) -> Planned:
    theorem = "cited/dwork-roth-2014/theorem-a.1"

    def predicted() -> Enclosure:
        return dp.delta(dp.Gaussian(multiplier) ** steps, epsilon)

    return _planned(
        theorem,
        f"δ({epsilon}) of {steps} Gaussian releases, z = {multiplier}",
        "gaussian_profile",
        predicted,
        multiplier=float(Fraction(multiplier)),
        steps=steps,
        epsilon=float(Fraction(epsilon)),
    )


def _poisson(multiplier: str, rate: str, steps: int, epsilon: str) -> Planned:
    theorem = "cited/abadi-et-al-2016/theorem-1"

    def predicted() -> Enclosure:
        return dp.delta(dp.PoissonSampled(dp.Gaussian(multiplier), rate) ** steps, epsilon)

    return _planned(
        theorem,
        f"δ({epsilon}) of {steps} Poisson samples, q = {rate}, z = {multiplier}",
        "poisson_profile",
        predicted,
        multiplier=float(Fraction(multiplier)),
        sample_rate=float(Fraction(rate)),
        steps=steps,
        epsilon=float(Fraction(epsilon)),
    )


def _selection(candidates: int, failure: str, draws: float) -> Planned:
    theorem = "wang-xu-2019/lemma-3"
    found = dp.theorem(theorem).evaluate(
        score_sensitivity=1, step_epsilon=1, candidates=candidates, failure_probability=failure
    )
    return _planned(
        theorem,
        f"shortfall of a selection, N = {candidates}, ζ = {failure}",
        "selection_shortfall",
        lambda: Enclosure.exactly(Fraction(failure)),
        check=rate_bounded,
        draws=draws,
        candidates=candidates,
        step_epsilon=1.0,
        sensitivity=1.0,
        shortfall=found.value.upper,
    )


def _dual_norm(shape: str, dimension: int) -> Planned:
    theorem = "wang-xu-2019/lemma-4"

    def predicted() -> Enclosure:
        from algorithms.problems.sets import Box, ConstraintSet, L1Ball, L2Ball

        sets: dict[str, Callable[[int, int], ConstraintSet]] = {"l2": L2Ball, "l1": L1Ball, "box": Box.cube}
        made = sets[shape](dimension, 1)
        width, largest = (
            one if isinstance(one, Enclosure) else evaluate(one, {}) for one in (made.gaussian_width, made.norm_bound)
        )
        return dp.theorem(theorem).evaluate(gaussian_width=width, norm_bound=largest).value

    return _planned(
        theorem,
        f"squared dual norm of a Gaussian, {shape}, d = {dimension}",
        "squared_dual_norm",
        predicted,
        check=mean_bounded,
        draws=0.2,
        shape=shape,
        dimension=dimension,
    )


PLANNED: tuple[Planned, ...] = (
    *(_ball(dimension, distance) for dimension in (1, 2, 10) for distance in ("1/2", "3/2")),
    *(_ball_run(dimension, steps) for dimension, steps in ((2, 10), (5, 40))),
    *(_gaussian(*case) for case in (("1", 1, "1"), ("4", 16, "1/2"), ("3", 4, "0"))),
    *(_poisson(*case) for case in (("1", "1/10", 10, "1/2"), ("2", "1/4", 5, "1/4"))),
    *(_dual_norm(shape, dimension) for shape in ("l2", "l1", "box") for dimension in (3, 30)),
    # the closer to its bound, the more draws; each of them draws N numbers
    *(_selection(*case) for case in ((2, "1/10", 1.0), (50, "1/20", 4.0), (1000, "1/10", 1.0))),
)
