"""Descents: their privacy loss, explicit bounds at three sizes, and exponents where these show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from dpbounds.algorithms import (
    BatchDescent,
    LangevinDynamics,
    MirrorDescent,
    PerturbedGradientDescent,
    ProjectedGradientDescent,
    WeightedDescent,
    planning,
)
from dpbounds.algorithms.descents.quoted_baselines import QuotedDescent, WangYeXu2017, ZhangEtAl2017
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems import WAVY, landscape
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, Landscape
from dpbounds.algorithms.problems.mirrors import DistanceGenerator, EntropyMirror, EuclideanMirror, PNormMirror
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.problems.sets import L1Ball, L2Ball, Simplex
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.checks import Check, Measured, Verdict
from dpbounds.algorithms.verification.judging.planned_checks import (
    bounded,
    by_size,
    cells,
    in_turn,
    quantile_bounded,
    slope,
    spent,
)
from dpbounds.algorithms.verification.judging.regimes import time_constants
from dpbounds.algorithms.verification.studies.problems import design, smooth_design
from dpbounds.algorithms.verification.studies.running import Algorithm, Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result, number, parameter
from dpbounds.algorithms.verification.sweeping.trials import (
    at_cell,
    bound_of,
    means,
    ran,
    reads,
    samples,
    spending,
    step_count,
)
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import decide, evaluate
from dpbounds.papers.ours import noisy_descent_local_pl
from dpbounds.papers.tholeti_kalyani_2020 import algorithm_1

WhichMirror = Literal["l2", "l1", "simplex"]
WhichBaseline = Literal["zhang", "zhang-times-steps", "wang-ye-xu"]
WhichNoise = Literal["ball", "sphere", "gaussian"]
WhichOutput = Literal["last", "random"]

_REPETITIONS, _MORE_REPETITIONS = by_size(16, 64), by_size(64, 256)


def wavy(records: int, dimension: int) -> Landscape:
    """Return a non-convex landscape with a known PL constant and minimum 0; the walk stays far inside of its ball."""
    return landscape(WAVY, records, np.full(dimension, 0.3), radius=2, shift_bound=1)


def mirror(shape: WhichMirror, dimension: int) -> DistanceGenerator:
    """Return a mirror on a set of size 2: squared l2 norm, squared q-norm, or entropy."""
    if shape == "l2":
        return EuclideanMirror.of_ball(L2Ball(dimension, 2))
    return PNormMirror.of_ball(L1Ball(dimension, 2)) if shape == "l1" else EntropyMirror(Simplex(dimension, 2))


# --- DP-PGD


@reads(means("noisy", "exact", "noise"), step_count, spending)
def projected_gradient(records: int, dimension: int, epsilon: float) -> tuple[ProjectedGradientDescent, Problem]:
    """DP-PGD with the noise and steps of its theorem: mean squares of the mapping and of the noise, ε spent."""
    return at_budget(ProjectedGradientDescent.calibrated, design(records, dimension), budget_of(epsilon))


def _both_mappings(theorem: str, name: str, runs: kinds.CellsAt) -> kinds.Checks:
    """Return the mapping at the noisy and at the exact gradient, in turn, each below its bound."""
    named = {mapping: name.replace("MAPPING", mapping) for mapping in ("noisy", "exact")}
    return in_turn(*(bounded(theorem, named[mapping], runs, mapping, bound_of(mapping)) for mapping in named))


_pgd = partial(cells, projected_gradient, dimension=5, epsilon=1.0, repetitions=_REPETITIONS)
_SWEEP = _pgd(records=by_size((500, 1000, 2000, 4000, 8000), (500, 1000, 2000, 4000, 8000, 16_000)))
_EXPLICIT = "wang-xu-2019/theorem-2/explicit"

_PROJECTED = (
    spent("wang-xu-2019/theorem-1", "DP-PGD, every ledger of the sweep", _SWEEP),
    *_both_mappings(_EXPLICIT, "DP-PGD, MAPPING mapping, n = {records}", _pgd(records=(500, 1000, 4000))),
    # Mean squares fall like 1/n at fixed ε and d: the square of the rates of Theorems 2 and 5. At the true gradient the
    # mapping stays a tenth below its bound, which says nothing about its exponent at such n.
    slope("wang-xu-2019/theorem-2", "DP-PGD, noisy mapping against n", _SWEEP, "noisy", -1.0, regime=time_constants()),
)

# --- DP-PMD


@reads(means("noisy", "exact"), step_count, spending)
def mirror_descent(records: int, dimension: int, epsilon: float, shape: WhichMirror) -> tuple[MirrorDescent, Problem]:
    """DP-PMD with the noise and steps of its theorem: mean squares of the mapping in the norm of the mirror."""
    problem, budget = smooth_design(records, dimension), budget_of(epsilon)
    return at_budget(MirrorDescent.calibrated, problem, budget, mirror(shape, dimension))


_SHAPES: tuple[WhichMirror, ...] = ("l2", "l1", "simplex")
_pmd = partial(cells, mirror_descent, dimension=5, epsilon=1.0, repetitions=_REPETITIONS)
_MIRROR_SIZES = by_size((500, 1000, 2000, 4000), (500, 1000, 2000, 4000, 8000, 16_000))

_MIRRORED = (
    *(
        spent("wang-xu-2019/theorem-5", f"DP-PMD, {shape}", _pmd(shape=shape, records=_MIRROR_SIZES))
        for shape in _SHAPES
    ),
    *_both_mappings(
        "wang-xu-2019/theorem-5/explicit",
        "DP-PMD, {shape}, MAPPING mapping, n = {records}",
        _pmd(shape=_SHAPES, records=(500, 1000, 2000)),
    ),
    slope(
        "wang-xu-2019/theorem-5",
        "DP-PMD, l2, noisy mapping against n",
        _pmd(shape=_SHAPES, records=_MIRROR_SIZES),
        "noisy",
        -1.0,
        chosen="l2",
        among="{shape}",
        regime=time_constants(),
    ),
)

# --- DP-GLD


@reads(samples("excess"), means("noise"), step_count, spending)
def langevin_dynamics(
    records: int, dimension: int, epsilon: float, output: WhichOutput
) -> tuple[LangevinDynamics, Landscape]:
    """DP-GLD at the temperature that balances its bound: excess risk of the output, mean square of the noise."""
    return at_budget(LangevinDynamics.calibrated, wavy(records, dimension), budget_of(epsilon), output=output)


_gld = partial(cells, langevin_dynamics, dimension=2, epsilon=2.0, repetitions=_MORE_REPETITIONS)
_LANGEVIN_SIZES = (8000, 16_000, 32_000)
_LANGEVIN = (
    spent("wang-chen-xu-2019/theorem-1/explicit", "DP-GLD, every ledger", _gld(records=_LANGEVIN_SIZES, output="last")),
    *bounded(
        "dpbounds/langevin-under-pl",
        "DP-GLD, {output} iterate, n = {records}",
        _gld(records=_LANGEVIN_SIZES, output=("last", "random")),
        "excess",
    ),
)

# --- The same walk where PL holds near the start only

_PL_RADIUS, _MISSED, _WALK = Fraction(2, 5), Fraction(1, 5), 40


def _above_the_well(run: Run) -> Numbers:
    return {"excess": (run.samples + 1 / 4).tolist()}


@reads(_above_the_well, step_count, spending)
def local_pl(records: int, epsilon: float) -> tuple[LangevinDynamics, Landscape]:
    """40 steps of size 1/L in one well of (w² - 1)²/4 - 1/4: excess risk of the last iterate."""
    at, start = np.zeros((records, 1)), np.array([0.95])
    problem = Landscape(profile=DOUBLE_WELL, shifts=at, start=start, shift_bound=Fraction(1, 10), radius=Fraction(3, 2))
    budget = budget_of(epsilon)
    z = planning.multiplier_of_steps(budget, _WALK)
    stddev = z * at_least(problem.lipschitz, "lipschitz") / records
    temperature = 2 * at_least(problem.smoothness, "smoothness") / stddev**2
    return LangevinDynamics(z, _WALK, temperature, budget=budget), problem


def _near_the_start(result: Result) -> Enclosure:
    """Return the theorem's bound; (w² - 1)²/4 has ½|slope|² = 2w² times itself, w at least 0.95 - r."""
    algorithm, problem = at_cell(local_pl.posed, result)
    values = {
        symbols.step_size: Fraction(algorithm.step_size_for(problem)),
        symbols.steps: algorithm.steps,
        symbols.noise_stddev: algorithm.noise_stddev(problem),
        symbols.smoothness: at_least(problem.smoothness, "smoothness"),
        symbols.pl_constant: 2 * (Fraction(19, 20) - _PL_RADIUS) ** 2,
        symbols.initial_gap: (1 - Fraction(19, 20) ** 2) ** 2 / 4,
        symbols.dimension: 1,
        symbols.failure_probability: _MISSED,
        noisy_descent_local_pl.radius: _PL_RADIUS,
    }
    bound = noisy_descent_local_pl.THEOREM.bound
    assert bound is not None
    assert all(decide(one.holds, values) for one in bound.conditions)
    return evaluate(bound.expression, values)


_local = partial(cells, local_pl, epsilon=2.0, repetitions=_MORE_REPETITIONS)
_LOCAL_ID = "dpbounds/noisy-descent-local-pl"
_LOCAL_PL = (
    spent(_LOCAL_ID, "noisy descent in one well, ledger", _local(records=4000)),
    *quantile_bounded(
        _LOCAL_ID,
        "noisy descent in one well, n = {records}",
        _local(records=(4000, 8000, 16_000)),
        "excess",
        _MISSED,
        _near_the_start,
    ),
)

# --- PrGD

_BALL_DELTA = Fraction(1, 1024)  # a double


def _lengths(run: Run) -> Numbers:
    """Sums of the mean squared length of noise over r²."""
    lengths = run.trace["noise"].per_repetition / run.parameters["radius"] ** 2
    return {"sum": float(lengths.sum()), "squares": float((lengths**2).sum()), "draws": float(run.repetitions)}


@reads(samples("gradient"), _lengths)
def perturbed_gradient(
    records: int, dimension: int, steps: int, shape: WhichNoise
) -> tuple[PerturbedGradientDescent, Problem]:
    """PrGD with noise as long as a gradient can be: squared gradient at the output, lengths of the noise."""
    return PerturbedGradientDescent(1, records, dimension, steps, shape), smooth_design(records, dimension)


def ball_budget(records: int, dimension: int, delta: str, steps: int, repetitions: int, seed: int) -> Numbers:
    """PrGD with the radius for (0, δ): the certified δ of its transcript, and ε at δ by the ledger."""
    problem = smooth_design(records, dimension)
    algorithm = PerturbedGradientDescent.calibrated(problem, delta=delta, steps=steps)
    run, ends = ran((algorithm, problem), repetitions, seed), algorithm.spent_delta
    return {"delta_lower": ends.lower, "delta_upper": ends.upper} | step_count(run) | spending(run)


def _squared_length(result: Result) -> Enclosure:
    """E‖u‖² = d/(d+2) of noise in the unit ball, and of the Gaussian of the same covariance."""
    return evaluate(algorithm_1.square, {symbols.radius: 1, symbols.dimension: int(parameter(result, "dimension"))})


_prgd = partial(cells, perturbed_gradient, records=400, dimension=3, repetitions=_MORE_REPETITIONS)
_STEPS = by_size((1, 10, 100), (1, 10, 100, 1000))
_BUDGETS = cells(ball_budget, records=400, dimension=3, delta=str(_BALL_DELTA), steps=_STEPS, repetitions=2)
_PRGD = ("tholeti-kalyani-2020/algorithm-1", "tholeti-kalyani-2020/algorithm-1/explicit")
_PERTURBED = (
    spent("tholeti-kalyani-2020/theorem-1/explicit", "PrGD, δ of the transcript", _BUDGETS, _BALL_DELTA, "delta"),
    *bounded(
        _PRGD[1],
        "PrGD, {shape}, T = {steps}",
        _prgd(steps=(30, 100, 300), shape=("ball", "sphere", "gaussian")),
        "gradient",
    ),
    *kinds.formula(
        _PRGD[0],
        "PrGD, squared length of the noise, {shape}",
        _prgd(steps=200, shape=("ball", "gaussian")),
        _squared_length,
    ),
)

# --- an output that is drawn by weights


@reads(samples("mean_square"), spending)
def weighted(records: int, dimension: int, epsilon: float) -> tuple[WeightedDescent, Problem]:
    """Weighted descent with its own parameters: the mean square of the gradient over the possible outputs."""
    return at_budget(WeightedDescent.calibrated, smooth_design(records, dimension), budget_of(epsilon))


_EXACT = "dpbounds/noisy-descent-exact"
_weighted = partial(cells, weighted, dimension=5, epsilon=1.0, repetitions=_REPETITIONS)(records=(500, 1000, 2000))
_WEIGHTED = (
    spent(_EXACT, "weighted descent, every ledger", _weighted),
    *bounded(_EXACT, "weighted descent, squared gradient, n = {records}", _weighted, "mean_square"),
)


@reads(samples("mean_square"), spending)
def on_samples(records: int, dimension: int, epsilon: float) -> tuple[BatchDescent, Problem]:
    """Return the same on samples."""
    problem = smooth_design(records, dimension)
    return at_budget(BatchDescent.calibrated, problem, budget_of(epsilon), steps=200, sample_rate=Fraction(1, 10))


_SAMPLED = "dpbounds/noisy-descent-batches"
_on_samples = cells(on_samples, records=(500, 1000, 2000), dimension=5, epsilon=1.0, repetitions=by_size(256, 1024))
_WEIGHTED += (
    spent(_SAMPLED, "descent on samples, every ledger", _on_samples),
    *bounded(_SAMPLED, "descent on samples, squared gradient, n = {records}", _on_samples, "mean_square"),
)

# --- baselines as quoted


def baseline(which: WhichBaseline, epsilon: float, steps: int) -> QuotedDescent:
    """Return a baseline as Wang & Xu 2019 quote it, at their δ."""
    if which == "wang-ye-xu":
        return WangYeXu2017.quoted(Fraction(epsilon), "1e-3", steps)
    reading: Literal["times-steps", "per-iteration"] = (
        "times-steps" if which == "zhang-times-steps" else "per-iteration"
    )
    return ZhangEtAl2017.quoted(Fraction(epsilon), "1e-3", steps, reading=reading)


def _spent_of_claim(run: Run) -> Numbers:
    ends = run.ledger.spent("1e-3")
    return {"spent_lower": ends.lower, "spent_upper": ends.upper}


@reads(means("noisy"), _spent_of_claim)
def quoted_baseline(
    which: WhichBaseline, records: int, dimension: int, epsilon: float, steps: int
) -> tuple[QuotedDescent, Problem]:
    """Return a quoted baseline: mean square of the noisy mapping, one per repetition; ε that was spent, certified."""
    return baseline(which, epsilon, steps), design(records, dimension)


_QUOTING = "wang-xu-2019/figure-4"
_BASELINES: tuple[WhichBaseline, ...] = ("zhang", "zhang-times-steps", "wang-ye-xu")
_quoted = partial(cells, quoted_baseline, dimension=5, epsilon=0.5, repetitions=_REPETITIONS)


def _broken(last: int) -> kinds.PlannedCheck:
    """The noise quoted for Zhang et al. keeps its promise up to a number of steps and not for one more: certified."""

    def judge(results: Sequence[Result], confidence: float) -> Check:
        (kept, before), (after, broken) = (
            [number(result, end) for end in ("spent_lower", "spent_upper")] for result in results
        )
        refuted = kept > 0.5 or broken <= 0.5
        verdict = Verdict.HOLDS if before <= 0.5 < after else Verdict.FAILS if refuted else Verdict.UNDECIDED
        ends = f"{last} steps spend at most {before:.8g} and {last + 1} at least {after:.8g}"
        measured, promised = Measured(after, before, after), Enclosure.exactly(Fraction(1, 2), "budget")
        return Check(_QUOTING, "spent", promised, measured, verdict, f"{ends} of 0.5, certified")

    name = f"refutes the paper: zhang as quoted keeps ε = 0.5 up to T = {last} only"
    return kinds.PlannedCheck(
        _QUOTING, "spent", name, _quoted(which="zhang", records=500, steps=(last, last + 1)), judge
    )


_QUOTED = (
    *(
        spent(_QUOTING, f"{which} as quoted, T = 100", _quoted(which=which, records=(500, 1000, 2000), steps=100))
        for which in _BASELINES
    ),
    _broken(121),  # by bisection, see ``experiments.runs.quoted_noise``
    *bounded(
        _EXPLICIT,
        "{which} as quoted, n = {records}",
        _quoted(which=_BASELINES, records=(500, 1000, 2000), steps=100),
        "noisy",
    ),
)

CHECKS = (*_PROJECTED, *_MIRRORED, *_LANGEVIN, *_LOCAL_PL, *_PERTURBED, *_WEIGHTED, *_QUOTED)


def _printed_ball(budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    del budget  # the paper has one radius for every budget
    return PerturbedGradientDescent.as_printed(_smooth(), steps=3), _smooth()


def _as_quoted(kind: type[ZhangEtAl2017 | WangYeXu2017], budget: PrivacyBudget) -> tuple[Algorithm, Any]:
    return kind.quoted(budget.epsilon, budget.delta, steps=20), _plain()


_PMD = ("wang-xu-2019/algorithm-3", "wang-xu-2019/theorem-5/explicit")
_GLD = ("wang-chen-xu-2019/algorithm-1", "wang-chen-xu-2019/theorem-1/explicit", "dpbounds/langevin-under-pl")
_ZHANG = (_QUOTING, "cited/zhang-et-al-2017/main-result")
_WANG_YE_XU = (_QUOTING, "wang-xu-2019/theorem-1", "cited/wang-ye-xu-2017/main-result")
_plain, _smooth = partial(design, 400, 4), partial(smooth_design, 400, 4)
_small_pgd = calibrated_on(ProjectedGradientDescent.calibrated, _plain, steps=20)
_small_gld = partial(calibrated_on, LangevinDynamics.calibrated, _smooth, regulariser=2)

EXAMPLES = (
    Example("dp-pgd", ("wang-xu-2019/algorithm-1", _EXPLICIT), _small_pgd),
    *(
        Example(f"dp-pmd-{shape}", _PMD, calibrated_on(MirrorDescent.calibrated, _smooth, mirror(shape, 4), steps=20))
        for shape in _SHAPES
    ),
    Example("dp-gld", _GLD, _small_gld(variant="repaired")),
    Example("dp-gld-as-printed", _GLD, _small_gld(variant="as-printed"), printed=True),
    Example("prgd", _PRGD, calibrated_on(PerturbedGradientDescent.calibrated, _smooth, steps=3)),
    Example("dp-gd-weighted", (_EXACT,), calibrated_on(WeightedDescent.calibrated, _smooth, steps=20)),
    Example(
        "dp-sgd-weighted",
        (_SAMPLED,),
        calibrated_on(BatchDescent.calibrated, _smooth, steps=20, sample_rate=Fraction(1, 4)),
    ),
    Example("prgd-as-printed", _PRGD, _printed_ball, printed=True),
    Example("dp-gd-zhang", _ZHANG, calibrated_on(ZhangEtAl2017.calibrated, _plain, steps=20)),
    Example("dp-gd-zhang-as-quoted", _ZHANG, partial(_as_quoted, ZhangEtAl2017), printed=True),
    Example("dp-gd-wang-ye-xu", _WANG_YE_XU, calibrated_on(WangYeXu2017.calibrated, _plain, steps=20)),
    Example("dp-gd-wang-ye-xu-as-quoted", _WANG_YE_XU, partial(_as_quoted, WangYeXu2017), printed=True),
)
