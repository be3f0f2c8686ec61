"""Second order: privacy loss, how often a guarantee fails at its number of records, gradient norms, noise norms.

Runs begin at an exact saddle point, with as many records as a guarantee asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbounds.algorithms import (
    ConstrainedSecondOrder,
    GradientDescent,
    IterativePathNoise,
    NegativeCurvatureDescent,
    PathNoiseDescent,
    WarmStartedIterativePathNoise,
    WarmStartedPathNoise,
)
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, Landscape
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.problems.shifted_records import ShiftedRecords
from dpbounds.algorithms.problems.strict_saddles import escape_test
from dpbounds.algorithms.problems.surfaces import SurfaceLandscape
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.second_order.stationary_point_selection import StationaryPointSelection, Variant
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.planned_checks import by_size, cells, spent
from dpbounds.algorithms.verification.studies import running
from dpbounds.algorithms.verification.studies.problems import smooth_design
from dpbounds.algorithms.verification.studies.running import Example, at_budget, calibrated_on
from dpbounds.algorithms.verification.sweeping.cells import Numbers
from dpbounds.algorithms.verification.sweeping.trials import ran, reads, samples, spending, step_count
from dpbounds.expressions.enclosure import Enclosure

FAILURE = Fraction(1, 5)


def double_well(records: int, dimension: int = 2, radius: str = "3/2") -> Landscape:
    """Σ w⁴/4 - w²/2 from its saddle point (for p = 1, its maximum) 0, with n records in the memory of one.

    The guarantees ask for a million records and more. Records f(w, z_i) = F(w) + <z_i, w> with |z_i| <= 1/10 are what
    the constants allow for; that all z_i are 0 is one such dataset, and the noise does not know.
    """
    shifts, start = np.broadcast_to(np.zeros((1, dimension)), (records, dimension)), np.zeros(dimension)
    public = {"shift_bound": Fraction(1, 10), "radius": Fraction(radius)}
    return Landscape(profile=DOUBLE_WELL, shifts=shifts, start=start, **public)


def saddle(records: int, dimension: int = 3) -> SurfaceLandscape:
    """1 - exp(-|x_⊥|²/2) + cos(x_1)/2 from its strict saddle 0, on all of R^p, likewise with n equal records."""
    shifts, surface = np.broadcast_to(np.zeros((1, dimension)), (records, dimension)), escape_test(dimension)
    start = np.zeros(dimension)
    return SurfaceLandscape(surface=surface, shifts=shifts, shift_bound=Fraction(1, 10), radius=None, start=start)


_LANDSCAPES: Mapping[str, Callable[[int], ShiftedRecords]] = {"double well": double_well, "saddle": saddle}


def _budget(epsilon: float) -> PrivacyBudget:
    return running.budget_of(epsilon, "1e-6")


@reads(samples("exact"), spending)
def gradient_descent(records: int, dimension: int, epsilon: float) -> tuple[GradientDescent, Problem]:
    """DP-GD with the noise and steps of its explicit bound: ‖∇F‖² at a random iterate (its average over them)."""
    return at_budget(GradientDescent.calibrated, smooth_design(records, dimension), _budget(epsilon))


def selection(
    stationarity: str, steps: int, epsilon: float, repetitions: int, seed: int, variant: Variant = "repaired"
) -> Numbers:
    """Algorithm 5 at the smallest n that its tests' guarantee asks for."""
    options = {"stationarity": stationarity, "failure_probability": FAILURE, "steps": steps, "variant": variant}
    algorithm, small = at_budget(StationaryPointSelection.calibrated, double_well(2), _budget(epsilon), **options)
    return _successes(algorithm, small, double_well, repetitions, seed)


def negative_curvature(stationarity: str, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-NC at the smallest n that its guarantee asks for."""
    options = {"stationarity": stationarity, "failure_probability": FAILURE}
    algorithm, small = at_budget(NegativeCurvatureDescent.calibrated, double_well(2), _budget(epsilon), **options)
    return _successes(algorithm, small, double_well, repetitions, seed)


def path_noise(landscape: str, stationarity: str, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-PN at the smallest n that its guarantee asks for."""
    posed = _LANDSCAPES[landscape]
    options = {"stationarity": stationarity, "failure_probability": FAILURE}
    algorithm, small = at_budget(PathNoiseDescent.calibrated, posed(2), _budget(epsilon), **options)
    return _successes(algorithm, small, posed, repetitions, seed)


def iterative_path_noise(landscape: str, stationarity: str, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-PN without Hessians at the smallest n that its guarantee asks for."""
    posed = _LANDSCAPES[landscape]
    options = {"stationarity": stationarity, "failure_probability": FAILURE}
    algorithm, small = at_budget(IterativePathNoise.calibrated, posed(2), _budget(epsilon), **options)
    return _successes(algorithm, small, posed, repetitions, seed)


def warm_path_noise(
    records: int, dimension: int, covering_radius: str, epsilon: float, repetitions: int, seed: int
) -> Numbers:
    """Draw a start from a net, then run DP-PN, at the smallest α for which ``records`` records suffice."""
    problem = double_well(records, dimension)
    calibrated = partial(WarmStartedPathNoise.calibrated, covering_radius=covering_radius, failure_probability=FAILURE)
    algorithm, _ = at_budget(calibrated, problem, _budget(epsilon))
    algorithm.bound(problem)
    return _counted(ran((algorithm, problem), repetitions, seed), problem)


def warm_iterative_path_noise(
    records: int, dimension: int, covering_radius: str, stationarity: str, epsilon: float, repetitions: int, seed: int
) -> Numbers:
    """Draw a start from a net, then run DP-PN without Hessians, at an α for which ``records`` records just suffice."""
    problem = double_well(records, dimension)
    options = {"covering_radius": covering_radius, "stationarity": stationarity, "failure_probability": FAILURE}
    algorithm, _ = at_budget(WarmStartedIterativePathNoise.calibrated, problem, _budget(epsilon), **options)
    algorithm.bound(problem)  # raises where the guarantee does not hold
    return _counted(ran((algorithm, problem), repetitions, seed), problem)


def constrained(
    dimension: int,
    radius: str,
    gap_tolerance: str,
    curvature_tolerance: str,
    epsilon: float,
    repetitions: int,
    seed: int,
) -> Numbers:
    """Algorithm 6 on an l2 ball at the smallest n that its guarantee asks for."""
    posed = partial(double_well, dimension=dimension, radius=radius)
    asked = (L2Ball(dimension, radius), gap_tolerance, curvature_tolerance)
    calibrated = partial(ConstrainedSecondOrder.calibrated, failure_probability=FAILURE)
    algorithm, small = at_budget(calibrated, posed(2), _budget(epsilon), *asked)
    return _successes(algorithm, small, posed, repetitions, seed)


def operator_norm(dimension: int, failure: float, draws: int, seed: int) -> Numbers:
    """Return how often the norm of symmetric noise, N(0, 1) on, N(0, 1/2) off the diagonal, exceeds its bound."""
    generator = np.random.default_rng(seed)
    limit = math.sqrt(2) * (math.sqrt(dimension) + math.sqrt(math.log(2 / failure)))
    above, hits = np.triu_indices(dimension), 0
    for start in range(0, draws, 1000):
        count = min(1000, draws - start)
        matrices = np.zeros((count, dimension, dimension))
        scale = np.where(above[0] == above[1], 1, math.sqrt(0.5))
        matrices[:, above[0], above[1]] = generator.standard_normal((count, len(above[0]))) * scale
        matrices[:, above[1], above[0]] = matrices[:, above[0], above[1]]
        hits += int((np.abs(np.linalg.eigvalsh(matrices)).max(axis=1) > limit).sum())
    return {"hits": float(hits), "draws": float(draws)}


def _successes(
    algorithm: Any, small: ShiftedRecords, posed: Callable[[int], ShiftedRecords], repetitions: int, seed: int
) -> Numbers:
    problem = posed(math.ceil(algorithm.records_needed(small).exact_upper))
    algorithm.bound(problem)  # raises where the guarantee does not hold at this size
    return _counted(ran((algorithm, problem), repetitions, seed), problem)


def _counted(run: Run, problem: ShiftedRecords) -> Numbers:
    counts: Numbers = {"hits": float(run.measured["failure"].sum()), "draws": float(run.repetitions)}
    sizes: Numbers = {"found": float(run.outputs["found"].sum()), "records": float(problem.records)}
    return counts | sizes | step_count(run) | spending(run)


_PAPER, _OWN = "wang-chen-xu-2019", "dpbounds/negative-curvature-descent"
_PATH = "dpbounds/second-order-path-noise"
_WARM = f"{_PATH}/warm-start"
_ITERATIVE = f"{_PATH}/iterative"
_WARM_ITERATIVE = f"{_WARM}/iterative"
# Without a failure, this number of runs puts the upper bound of a 1 - 1e-5 interval below FAILURE.
_REPETITIONS = by_size(64, 256)
_dp_gd = partial(cells, gradient_descent, dimension=5, epsilon=1.0, repetitions=by_size(16, 64))
_sosp = partial(cells, selection, steps=150, epsilon=1.0, repetitions=_REPETITIONS)
_nc = partial(cells, negative_curvature, epsilon=1.0, repetitions=_REPETITIONS)
_pn = partial(cells, path_noise, epsilon=1.0, repetitions=_REPETITIONS)
_it = partial(cells, iterative_path_noise, epsilon=1.0, repetitions=_REPETITIONS)
_warm = partial(cells, warm_path_noise, epsilon=1.0, repetitions=_REPETITIONS)
_warm_it = partial(cells, warm_iterative_path_noise, records=10**6, epsilon=1.0, repetitions=_REPETITIONS)
_IN_ONE: dict[str, Any] = {"dimension": 1, "covering_radius": "1/67", "stationarity": "23/1000"}
_so = partial(cells, constrained, dimension=1, radius="6/5", epsilon=1.0, repetitions=_REPETITIONS)
_noise = partial(cells, operator_norm, failure=float(FAILURE), draws=by_size(10_000, 200_000))
# √(ρ_H α) < 1 with ρ_H = 9: the start, a saddle point of curvature -1, is not good enough.
_ALPHAS = ("1/10", "1/14", "1/20")

# Failures among independent runs at the smallest n of a guarantee; Clopper and Pearson's interval.
_guaranteed = partial(kinds.rate_bounded, failure=lambda result: Enclosure.exactly(FAILURE))
_tail = partial(kinds.rate_bounded, failure=lambda result: Enclosure.exactly(float(FAILURE)))
_NOISE_NAME = "operator norm of symmetric noise, d = {dimension}"
_IN_A_SET = (("1/2", "1"), ("1/2", "5/4"), ("1", "3/4"))

CHECKS = (
    spent(f"{_PAPER}/theorem-7", "DP-GD, ledger", _dp_gd(records=500)),
    *kinds.bounded(
        f"{_PAPER}/algorithm-4/explicit",
        "DP-GD, squared gradient norm, n = {records}",
        _dp_gd(records=(500, 1000, 2000)),
        "exact",
    ),
    spent(f"{_PAPER}/algorithm-5", "SOSP selection, ledger", _sosp(stationarity="1/10")),
    *_guaranteed(
        f"{_PAPER}/theorem-8/explicit", "SOSP selection fails, α = {stationarity}", _sosp(stationarity=_ALPHAS)
    ),
    *_tail(f"{_PAPER}/theorem-8/explicit", _NOISE_NAME, _noise(dimension=(2, 10))),
    spent(f"{_PAPER}/theorem-9", "DP-GD-SO, ledger", _so(gap_tolerance="1/2", curvature_tolerance="1")),
    *_guaranteed(
        f"{_PAPER}/theorem-9/explicit",
        "DP-GD-SO fails, a = {gap_tolerance}, b = {curvature_tolerance}",
        kinds.together(*(_so(gap_tolerance=gap, curvature_tolerance=curvature) for gap, curvature in _IN_A_SET)),
    ),
    spent(_OWN, "DP-NC, ledger", _nc(stationarity="1/10")),
    *_guaranteed(_OWN, "DP-NC fails, α = {stationarity}", _nc(stationarity=_ALPHAS)),
    spent(_PATH, "DP-PN, ledger", _pn(landscape="double well", stationarity="1/10")),
    *_guaranteed(
        _PATH,
        "DP-PN fails, {landscape}, α = {stationarity}",
        kinds.together(*(_pn(landscape=name, stationarity=_ALPHAS) for name in ("double well", "saddle"))),
    ),
    spent(_ITERATIVE, "DP-PN without Hessians, ledger", _it(landscape="saddle", stationarity="1/7")),
    *_guaranteed(
        _ITERATIVE,
        "DP-PN without Hessians fails, {landscape}, α = {stationarity}",
        _it(landscape="saddle", stationarity=("1/8", "1/7", "1/6")),
    ),
    spent(_WARM, "DP-PN from a net, ledger", _warm(records=10**6, dimension=1, covering_radius="1/67")),
    *_guaranteed(
        _WARM,
        "DP-PN from a net fails, n = {records}, d = {dimension}",
        kinds.together(
            _warm(records=(10**6, 10**7), dimension=1, covering_radius="1/67"),
            _warm(records=10**7, dimension=2, covering_radius="1/50"),
        ),
    ),
    spent(_WARM_ITERATIVE, "DP-PN from a net without Hessians, ledger", _warm_it(**_IN_ONE)),
    *_guaranteed(
        _WARM_ITERATIVE,
        "DP-PN from a net without Hessians fails, d = {dimension}",
        kinds.together(
            _warm_it(**_IN_ONE),
            _warm_it(dimension=2, covering_radius="1/50", stationarity="4/125"),
        ),
    ),
)

_small = partial(smooth_design, 400, 4)
_sosp_example = partial(calibrated_on, StationaryPointSelection.calibrated, _small, stationarity="1/4", steps=10)
_in_ball = (L2Ball(4, "1/2"), "1/50", "1/10")

EXAMPLES = (
    Example(
        "dp-gd",
        (f"{_PAPER}/algorithm-4", f"{_PAPER}/algorithm-4/explicit"),
        calibrated_on(GradientDescent.calibrated, _small, steps=20),
    ),
    Example("dp-gd-sosp", (f"{_PAPER}/algorithm-5", f"{_PAPER}/theorem-8/explicit"), _sosp_example()),
    Example("dp-gd-sosp-as-printed", (f"{_PAPER}/algorithm-5",), _sosp_example(variant="as-printed"), printed=True),
    Example(
        "dp-gd-so",
        (f"{_PAPER}/algorithm-6", f"{_PAPER}/theorem-9/explicit"),
        calibrated_on(ConstrainedSecondOrder.calibrated, _small, *_in_ball, steps=20),
    ),
    Example("dp-nc", (_OWN,), calibrated_on(NegativeCurvatureDescent.calibrated, _small, stationarity="1/5")),
    Example("path-noise", (_PATH,), calibrated_on(PathNoiseDescent.calibrated, _small, stationarity="1/5")),
    Example(
        "iterative-path-noise",
        (_ITERATIVE,),
        calibrated_on(
            IterativePathNoise.calibrated, _small, stationarity="1/5", searches=3, restarts=6, power_steps=10
        ),
    ),
    Example(
        "warm-path-noise",
        (_WARM,),
        calibrated_on(
            WarmStartedPathNoise.calibrated,
            partial(smooth_design, 400, 2),
            stationarity="1/5",
            radius=1,
            covering_radius="1/5",
        ),
    ),
    Example(
        "warm-iterative-path-noise",
        (_WARM_ITERATIVE,),
        calibrated_on(
            WarmStartedIterativePathNoise.calibrated,
            partial(smooth_design, 400, 2),
            stationarity="1/5",
            radius=1,
            covering_radius="1/5",
            searches=3,
            restarts=20,
            power_steps=3,
        ),
    ),
)
