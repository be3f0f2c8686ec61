"""Descents: what they spend, their explicit bounds at three sizes, their exponents where these show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from algorithms.verification.cells import Cell, Result, number
from algorithms.verification.checks import Check, Measured, Verdict
from algorithms.verification.plans.shapes import CellsAt, bounded, formula, slope, spent
from algorithms.verification.suite import Planned, Size
from algorithms.verification.tasks.descents import (
    WhichBaseline,
    WhichMirror,
    design,
    planned_ball_descent,
    planned_baseline,
    planned_descent,
    planned_langevin,
    planned_mirror_descent,
    smooth_design,
    wavy,
)
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.tholeti_kalyani_2020 import algorithm_1

_TASKS = "algorithms.verification.tasks.descents"
_EXPLICIT = "wang-xu-2019/theorem-2/explicit"
_DIMENSION, _EPSILON = 5, 1.0
_SIZES = {Size.QUICK: (500, 1000, 2000, 4000), Size.FULL: (500, 1000, 2000, 4000, 8000, 16_000)}
_REPETITIONS = {Size.QUICK: 16, Size.FULL: 64}


def _cell(size: Size, records: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:projected_gradient",
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        repetitions=_REPETITIONS[size],
    )


def _sweep(size: Size) -> Sequence[Cell]:
    return [_cell(size, records) for records in _SIZES[size]]


def _bounded(records: int, mapping: Literal["noisy", "exact"]) -> Planned:
    def bound() -> Enclosure:
        return planned_descent(records, _DIMENSION, _EPSILON).bound(design(records, _DIMENSION), mapping)

    name = f"DP-PGD, {mapping} mapping, n = {records}"
    return bounded(_EXPLICIT, name, lambda size: _cell(size, records), mapping, bound)


# --- DP-PMD

_MIRROR_SIZES = {Size.QUICK: (250, 500, 1000, 2000), Size.FULL: (500, 1000, 2000, 4000, 8000)}
_SHAPES: tuple[WhichMirror, ...] = ("l2", "l1", "simplex")


def _mirror_cell(size: Size, records: int, shape: WhichMirror) -> Cell:
    return Cell.of(
        f"{_TASKS}:mirror_descent",
        records=records,
        dimension=_DIMENSION,
        epsilon=_EPSILON,
        shape=shape,
        repetitions=_REPETITIONS[size],
    )


def _mirror_sweep(shape: WhichMirror) -> CellsAt:
    return lambda size: [_mirror_cell(size, records, shape) for records in _MIRROR_SIZES[size]]


def _mirror_bound(shape: WhichMirror, records: int, mapping: Literal["noisy", "exact"]) -> Planned:
    def bound() -> Enclosure:
        algorithm = planned_mirror_descent(records, _DIMENSION, _EPSILON, shape)
        return algorithm.bound(smooth_design(records, _DIMENSION), mapping)

    name = f"DP-PMD, {shape}, {mapping} mapping, n = {records}"
    return bounded(
        "wang-xu-2019/theorem-5/explicit", name, lambda size: _mirror_cell(size, records, shape), mapping, bound
    )


# --- DP-GLD

_LANGEVIN_EPSILON = 2.0
_LANGEVIN_DIMENSION = 2
_OUTPUTS: tuple[Literal["last", "random"], ...] = ("last", "random")


def _langevin_cell(size: Size, records: int, output: str) -> Cell:
    return Cell.of(
        f"{_TASKS}:langevin_dynamics",
        records=records,
        dimension=_LANGEVIN_DIMENSION,
        epsilon=_LANGEVIN_EPSILON,
        output=output,
        repetitions=4 * _REPETITIONS[size],
    )


def _langevin_bound(records: int, output: Literal["last", "random"]) -> Planned:
    def bound() -> Enclosure:
        algorithm = planned_langevin(records, _LANGEVIN_DIMENSION, _LANGEVIN_EPSILON, output)
        return algorithm.bound(wavy(records, _LANGEVIN_DIMENSION))

    name = f"DP-GLD, {output} iterate, n = {records}"
    return bounded(
        "dpbounds/langevin-under-pl", name, lambda size: _langevin_cell(size, records, output), "excess", bound
    )


# --- PrGD

_BALL_RECORDS, _BALL_DIMENSION = 400, 3
_NOISES: tuple[Literal["ball", "sphere", "gaussian"], ...] = ("ball", "sphere", "gaussian")


def _ball_cell(size: Size, steps: int, shape: str) -> Cell:
    return Cell.of(
        f"{_TASKS}:perturbed_gradient",
        records=_BALL_RECORDS,
        dimension=_BALL_DIMENSION,
        steps=steps,
        shape=shape,
        repetitions=4 * _REPETITIONS[size],
    )


def _ball_bound(steps: int, shape: Literal["ball", "sphere", "gaussian"]) -> Planned:
    def bound() -> Enclosure:
        algorithm = planned_ball_descent(_BALL_RECORDS, _BALL_DIMENSION, steps, shape)
        return algorithm.bound(smooth_design(_BALL_RECORDS, _BALL_DIMENSION))

    return bounded(
        "tholeti-kalyani-2020/algorithm-1/explicit",
        f"PrGD, {shape}, T = {steps}",
        lambda size: _ball_cell(size, steps, shape),
        "gradient",
        bound,
    )


def _ball_length(shape: Literal["ball", "gaussian"]) -> Planned:
    """E‖u‖² = d/(d+2) r² of the noise that was drawn, for the ball and for the Gaussian of the same covariance."""

    def square() -> Enclosure:
        return evaluate(algorithm_1.square(), {symbols.radius: 1, symbols.dimension: _BALL_DIMENSION})

    name = f"PrGD, squared length of the noise, {shape}"
    return formula("tholeti-kalyani-2020/algorithm-1", name, lambda size: _ball_cell(size, 200, shape), square)


def _ball_budgets(size: Size) -> Sequence[Cell]:
    steps = {Size.QUICK: (1, 10, 100), Size.FULL: (1, 10, 100, 1000)}[size]
    return [
        Cell.of(
            f"{_TASKS}:ball_budget",
            records=_BALL_RECORDS,
            dimension=_BALL_DIMENSION,
            delta=str(_BALL_DELTA),
            steps=each,
            repetitions=2,
        )
        for each in steps
    ]


_BALL_DELTA = Fraction(1, 1024)  # a double

# --- baselines as quoted

_QUOTED_EPSILON, _QUOTED_STEPS = 0.5, 100
_QUOTING = "wang-xu-2019/figure-4"
_BASELINES: tuple[WhichBaseline, ...] = ("zhang", "zhang-times-steps", "wang-ye-xu")


def _quoted_cell(size: Size, which: WhichBaseline, records: int, steps: int) -> Cell:
    return Cell.of(
        f"{_TASKS}:quoted_baseline",
        which=which,
        records=records,
        dimension=_DIMENSION,
        epsilon=_QUOTED_EPSILON,
        steps=steps,
        repetitions=_REPETITIONS[size],
    )


def _quoted_bound(which: WhichBaseline, records: int) -> Planned:
    def bound() -> Enclosure:
        algorithm = planned_baseline(which, _QUOTED_EPSILON, _QUOTED_STEPS)
        return algorithm.bound(design(records, _DIMENSION))

    name = f"{which} as quoted, n = {records}"
    return bounded(_EXPLICIT, name, lambda size: _quoted_cell(size, which, records, _QUOTED_STEPS), "noisy", bound)


def _quoted_sweep(which: WhichBaseline) -> CellsAt:
    return lambda size: [_quoted_cell(size, which, records, _QUOTED_STEPS) for records in (500, 1000, 2000)]


def _quoted_ledgers(which: WhichBaseline) -> Planned:
    return spent(_QUOTING, f"{which} as quoted, T = {_QUOTED_STEPS}", _quoted_sweep(which), _QUOTED_EPSILON)


def _broken(last: int) -> Planned:
    """The noise quoted for Zhang et al. keeps its promise up to a number of steps and not for one more: certified."""

    def cells(size: Size) -> Sequence[Cell]:
        return [_quoted_cell(size, "zhang", 500, steps) for steps in (last, last + 1)]

    def judge(results: Sequence[Result], confidence: float) -> Check:
        kept, broken = results
        before, after = number(kept, "spent_upper"), number(broken, "spent_lower")
        right = before <= _QUOTED_EPSILON < after
        wrong = number(kept, "spent_lower") > _QUOTED_EPSILON or number(broken, "spent_upper") <= _QUOTED_EPSILON
        verdict = Verdict.HOLDS if right else Verdict.FAILS if wrong else Verdict.UNDECIDED
        ends = f"{last} steps spend at most {before:.8g} and {last + 1} at least {after:.8g}"
        reason = f"{ends} of {_QUOTED_EPSILON:g}, certified"
        promised = Enclosure.exactly(Fraction(_QUOTED_EPSILON), "budget")
        return Check(_QUOTING, "spent", promised, Measured(after, before, after), verdict, reason)

    name = f"refutes print: zhang as quoted keeps ε = {_QUOTED_EPSILON:g} up to T = {last} only"
    return Planned(_QUOTING, "spent", name, cells, judge)


_MAPPINGS: tuple[Literal["noisy", "exact"], ...] = ("noisy", "exact")

PLANNED: tuple[Planned, ...] = (
    spent("wang-xu-2019/theorem-1", "DP-PGD, every ledger of the sweep", _sweep, _EPSILON),
    *(_bounded(records, mapping) for records in (500, 1000, 4000) for mapping in _MAPPINGS),
    # Mean squares fall like 1/n at fixed ε and d: the square of the rates of Theorems 2 and 5. At the true gradient the
    # mapping stays a tenth below its bound, which says nothing about its exponent at such n.
    slope("wang-xu-2019/theorem-2", "DP-PGD, noisy mapping against n", _sweep, "noisy", -1.0),
    *(spent("wang-xu-2019/theorem-5", f"DP-PMD, {shape}", _mirror_sweep(shape), _EPSILON) for shape in _SHAPES),
    *(
        _mirror_bound(shape, records, mapping)
        for shape in _SHAPES
        for records in (500, 1000, 2000)
        for mapping in _MAPPINGS
    ),
    slope("wang-xu-2019/theorem-5", "DP-PMD, l2, noisy mapping against n", _mirror_sweep("l2"), "noisy", -1.0),
    spent(
        "wang-chen-xu-2019/theorem-1/explicit",
        "DP-GLD, every ledger",
        lambda size: [_langevin_cell(size, records, "last") for records in (8000, 16_000, 32_000)],
        _LANGEVIN_EPSILON,
    ),
    *(_langevin_bound(records, output) for records in (8000, 16_000, 32_000) for output in _OUTPUTS),
    spent(
        "tholeti-kalyani-2020/theorem-1/explicit",
        "PrGD, δ of the transcript",
        _ball_budgets,
        _BALL_DELTA,
        "delta",
    ),
    *(_ball_bound(steps, shape) for steps in (30, 100, 300) for shape in _NOISES),
    _ball_length("ball"),
    _ball_length("gaussian"),
    *(_quoted_ledgers(which) for which in _BASELINES),
    _broken(121),
    *(_quoted_bound(which, records) for which in _BASELINES for records in (500, 1000, 2000)),
)
