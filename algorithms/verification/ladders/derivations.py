"""One ladder per theorem: its proof, with bounds replaced by measured values, one ingredient at a time.

Every formula here is the proof's own in doubles, written from the derivations beside the statements and not the code of
a ``bound``: at public constants both must give the same number, which is the last line of every ladder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
from attrs import evolve

from dpbounds.algorithms.descents.langevin_dynamics import LangevinDynamics, pl_constant_of
from dpbounds.algorithms.descents.mirror_descent import MirrorDescent
from dpbounds.algorithms.descents.perturbed_gradient_descent import PerturbedGradientDescent
from dpbounds.algorithms.descents.projected_gradient_descent import ProjectedGradientDescent
from dpbounds.algorithms.descents.quoted_baselines import QuotedDescent
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.frank_wolfe.feasible import FrankWolfe
from dpbounds.algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe
from dpbounds.algorithms.frank_wolfe.vertex_frank_wolfe import VertexFrankWolfe
from dpbounds.algorithms.iterates import gap_at
from dpbounds.algorithms.method import stddev_of_gradients
from dpbounds.algorithms.problems.finite_sum import FiniteSum
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.second_order.gradient_descent import GradientDescent
from dpbounds.algorithms.second_order.weighted_descent import WeightedDescent
from dpbounds.algorithms.selection.balls import steepest
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.spider.population_tree_spider import PopulationTreeSpider
from dpbounds.algorithms.spider.restarted_spider import RestartedSpider, growth_of
from dpbounds.algorithms.spider.spider import Spider, initial_gap_of
from dpbounds.algorithms.spider.storm import Storm
from dpbounds.algorithms.verification.judging.ground import Ground, Move, ground, plain_step
from dpbounds.algorithms.verification.ladders.lines import Array, Due, Relation, Rung, constant, jackknifed
from dpbounds.algorithms.warm_starts.warm_started_spider import WarmStartedSpider
from dpbounds.expressions import symbols
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate

_PROBABLE = "its bound holds with a probability: the lines of its proof are about events, and no means are in order"
_SPARED = "its lines are of exact gradients at every step, which samples are there to spare"
REASONS: Mapping[str, str] = {
    "SelectedStochasticGradientDescent": _PROBABLE,
    "StochasticSpider": _PROBABLE,
    "PopulationStochasticSpider": _PROBABLE,
    "PopulationWarmStart": _PROBABLE,
    "AboveThresholdSelection": _PROBABLE,
    "StationaryPointSelection": _PROBABLE,
    "ConstrainedSecondOrder": _PROBABLE,
    "NegativeCurvatureDescent": _PROBABLE,
    "PathNoiseDescent": _PROBABLE,
    "IterativePathNoise": _PROBABLE,
    "WarmStartedPathNoise": _PROBABLE,
    "WarmStartedIterativePathNoise": _PROBABLE,
    "GradientPathNoise": _PROBABLE,
    "WarmStartedGradientPathNoise": _PROBABLE,
    "BatchDescent": _SPARED,
    "BatchStorm": _SPARED,
    "RegularisedExponentialMechanism": "its proof is one inequality about an integral: nothing lies between",
    "MatrixDescent": "nothing is proven of its accuracy where losses are not convex: it has no bound",
    "ClippedDescent": "nothing is proven of its accuracy: it has no bound",
    "PrivateTraining": "nothing is proven of its accuracy: it has no bound",
    "ProjectedLangevin": "it has no bound: how far it is from its target is not known",
    "RandomProjection": "what it wraps has a ladder; the projection adds a bound that holds with a probability",
}
"""Why an algorithm has no ladder, by the name of its class."""

_MEASURED = "descent lemma, with the largest curvature that was measured"
_PUBLIC = "the public L for the curvature that was measured"
_DRAWN = "the noise that was drawn has the second moment that was planned"
_REACHED = "the walk cannot end below the lowest value there is"
_START = "the public bound on the initial gap for the true one"
_TRIVIAL = "trivial: "  # begins the method of a bound that is cut
_SAME = "the bound, as the algorithm evaluates it"


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The measurements from which ``explain`` makes lines; the fields are those of ``Explanation``."""

    quantity: str
    rungs: tuple[Rung, ...]
    bound: Enclosure
    curvature: tuple[float, float] | None = None
    subtracted: float = 0.0
    output_rule: Mapping[str, float] = field(default_factory=dict)
    regime: Mapping[str, float] = field(default_factory=dict)


@singledispatch
def ladder(algorithm: Any, problem: Any, run: Run, mapping: str = "noisy") -> Ladder:
    """Return the ladder of an algorithm's bound in a run of it; registered for every class that has one."""
    raise NotImplementedError(type(algorithm).__name__)


# --- what several proofs share ----------------------------------------------------------------------------------------


def _upper(number: Any) -> float:
    """Return a public constant as a double, rounded up."""
    if isinstance(number, Enclosure):
        return number.upper
    return evaluate(number, {}).upper if hasattr(number, "free_symbols") else float(number)


def _mean(run: Run, name: str) -> Array:
    return jackknifed(run.trace[name].per_repetition)


def _seen(problem: FiniteSum, run: Run, move: Move = plain_step, ridge: float = 0.0) -> Ground:
    start = problem.initial_point if "start" not in run.outputs else run.outputs["start"][0]
    return ground(problem, np.concatenate([start[None], run.output]), move, ridge)


def _gaps(run: Run, first: Array, lowest: float, public: float) -> tuple[Array, Array, Array]:
    """Return F(first) - F(last), F(first) - the lowest value, and the public bound on it.

    The lowest value counts what the run itself reached.
    """
    last = _mean(run, "last")
    least = min(lowest, float(run.trace["last"].per_repetition.min()))
    return first - last, first - least, constant(public)


def _last(bound: Enclosure) -> Rung:
    """Return the bound, which is the proof's last line, or the trivial bound if that is less."""
    if bound.method.startswith(_TRIVIAL):
        why = f"less holds without a theorem: {bound.method.removeprefix(_TRIVIAL)}"
        return Rung(constant(bound.upper), why, Due.TRIVIAL, ">=")
    return Rung(constant(bound.upper), _SAME, Due.FORMULA, "=")


def _closing(
    formula: Callable[[Array], Array], true_gap: Array, public_gap: Array, bound: Enclosure
) -> tuple[Rung, Rung, Rung]:
    """Return the last lines of every descent: the gap that was descended, the true one, the public one; the bound."""
    return (
        Rung(formula(true_gap), _REACHED, Due.DESCENT),
        Rung(formula(public_gap), _START, Due.START),
        _last(bound),
    )


def _output_rule(run: Run, name: str) -> dict[str, float]:
    values = run.trace[name].per_step
    return {"any step": float(values.mean()), "the last": float(values[-1]), "the best": float(values.min())}


# --- descents ---------------------------------------------------------------------------------------------------------


@ladder.register
def _projected(algorithm: ProjectedGradientDescent, problem: Problem, run: Run, mapping: str = "noisy") -> Ladder:
    def move(x: Array, slope: Array, length: float) -> Array:
        return problem.proximal_step(x, slope, length)

    gamma, variance = run.step_size, problem.dimension * float(algorithm.noise_stddev(problem)) ** 2
    bound = algorithm.bound(problem, mapping)  # type: ignore[arg-type]
    gap = _upper(problem.initial_gap)
    return _of_mapping(
        run, _seen(problem, run, move), gamma, _upper(problem.smoothness), 1.0, variance, gap, bound, mapping
    )


@ladder.register
def _mirrored(algorithm: MirrorDescent, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    mirror = algorithm.mirror

    def move(x: Array, slope: Array, length: float) -> Array:
        return mirror.constraint.project(x - length * slope)

    width = _upper(mirror.dual_second_moment) * float(algorithm.noise_stddev(problem)) ** 2
    bound = algorithm.bound(problem, mapping)  # type: ignore[arg-type]
    gap = float(gap_at(problem, algorithm.start_for(problem)))
    square = _upper(mirror.euclidean_square)
    L = _upper(algorithm.smoothness(problem))
    return _of_mapping(run, _seen(problem, run, move), run.step_size, L, square, width, gap, bound, mapping)


@ladder.register
def _quoted(algorithm: QuotedDescent, problem: Problem, run: Run, mapping: str = "noisy") -> Ladder:
    return _projected(algorithm.descent, problem, run, mapping)


def _of_mapping(
    run: Run,
    seen: Ground,
    gamma: float,
    smoothness: float,
    square: float,
    variance: float,
    gap: float,
    bound: Enclosure,
    mapping: str,
) -> Ladder:
    """Wang & Xu 2019, Theorems 2 and 5: E N(P)² <= [gap/(γT) + E<e, P>]/(1 - Lγ/2), and E<e, P> <= E N*(e)².

    At the true gradient it is (√E N(P)² + √E N*(e)²)².
    """
    noisy, noise, product = _mean(run, "noisy"), _mean(run, "noise"), _mean(run, "product")
    first = constant(float(run.trace["objective"].per_step[0]))
    descended, true, public = _gaps(run, first, seen.lowest, gap)

    def square_of(gap: Array, cross: Array, curvature: float) -> Array:
        return (gap / (gamma * run.steps) + cross) / (1 - curvature * gamma / 2)

    def at(inner: Array, drawn: Array) -> Array:
        return inner if mapping == "noisy" else (np.sqrt(inner) + np.sqrt(drawn)) ** 2

    curvature, planned = square * seen.curvature, constant(variance)
    moment: Relation = "=" if square == 1 else "<="  # for a dual norm there may be a bound only
    rungs = [Rung(_mean(run, mapping))]
    if mapping == "exact":
        claim = "two steps from one point differ by the noise at most; Minkowski's inequality"
        rungs.append(Rung(at(noisy, noise), claim, Due.TRIANGLE))
    rungs += [
        Rung(at(square_of(descended, product, curvature), noise), _MEASURED, Due.STEP),
        Rung(at(square_of(descended, product, smoothness), noise), _PUBLIC, Due.CURVATURE),
        Rung(
            at(square_of(descended, noise, smoothness), noise),
            "a step follows the noise at most by all of it",
            Due.NOISE,
        ),
        Rung(
            at(square_of(descended, planned, smoothness), planned),
            _DRAWN,
            Due.NOISE,
            moment,
        ),
        *_closing(lambda gap: at(square_of(gap, planned, smoothness), planned), true, public, bound),
    ]
    return Ladder(
        f"mean square of the {mapping} mapping",
        tuple(rungs),
        bound,
        (curvature, smoothness),
        output_rule=_output_rule(run, mapping),
        regime={"γ h T": gamma * square * seen.settled * run.steps},
    )


@ladder.register
def _unprojected(algorithm: GradientDescent, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """Wang, Chen & Xu 2019, Algorithm 4, explicit: E‖∇F‖² <= [gap/(ηT) + (Lη/2) E‖e‖²]/(1 - Lη/2)."""
    seen, eta, T, L = _seen(problem, run), run.step_size, run.steps, _upper(problem.smoothness)
    exact, noisy, noise = _mean(run, "exact"), _mean(run, "noisy"), _mean(run, "noise")
    cross, nothing = (noisy - exact - noise) / 2, constant(0.0)
    first = constant(float(run.trace["objective"].per_step[0]))
    descended, true, public = _gaps(run, first, seen.lowest, _upper(problem.initial_gap))

    def square_of(gap: Array, drawn: Array, along: Array, curvature: float) -> Array:
        bracket = gap / (eta * T) + curvature * eta / 2 * drawn - (1 - curvature * eta) * along
        return bracket / (1 - curvature * eta / 2)

    curvature, bound = seen.curvature, algorithm.bound(problem)
    planned = constant(problem.dimension * float(algorithm.noise_stddev(problem)) ** 2)
    rungs = (
        Rung(exact),
        Rung(square_of(descended, noise, cross, curvature), _MEASURED, Due.STEP),
        Rung(square_of(descended, noise, cross, L), _PUBLIC, Due.CURVATURE),
        Rung(square_of(descended, noise, nothing, L), "the noise has mean 0, given the past", Due.NOISE, relation="="),
        Rung(square_of(descended, planned, nothing, L), _DRAWN, Due.NOISE, relation="="),
        *_closing(lambda gap: square_of(gap, planned, nothing, L), true, public, bound),
    )
    return Ladder(
        "mean square of the gradient",
        rungs,
        bound,
        (curvature, L),
        output_rule=_output_rule(run, "exact"),
        regime={"η h T": eta * seen.settled * T},
    )


@ladder.register
def _weighted(algorithm: WeightedDescent, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """dpbounds/noisy-descent-exact: (Tη(1 - Lη/2) + 1/(2L)) E‖∇F(w_R)‖² <= gap + T(Lη²/2) E‖e‖²."""
    seen, eta, T, bound = _seen(problem, run), run.step_size, run.steps, algorithm.bound(problem)
    L, first = _upper(problem.smoothness), constant(float(run.trace["objective"].per_step[0]))
    _, true, public = _gaps(run, first, seen.lowest, _upper(problem.initial_gap))
    planned = constant(problem.dimension * float(algorithm.noise_stddev(problem)) ** 2)

    def square_of(gap: Array, drawn: Array) -> Array:
        return (gap + T * L * eta**2 / 2 * drawn) / (T * eta * (1 - L * eta / 2) + 1 / (2 * L))

    rungs = (
        Rung(jackknifed(run.samples)),
        Rung(square_of(true, _mean(run, "noise")), _PUBLIC, Due.STEP),
        Rung(square_of(true, planned), _DRAWN, Due.NOISE, relation="="),
        *_closing(lambda gap: square_of(gap, planned), true, public, bound)[1:],
    )
    return Ladder(
        "mean square of the gradient", rungs, bound, (seen.curvature, L), regime={"η h T": eta * seen.settled * T}
    )


@ladder.register
def _perturbed(algorithm: PerturbedGradientDescent, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """Tholeti & Kalyani 2020, Algorithm 1, explicit: E‖∇F‖² <= gap/(ηT) + (Lη/2)(E‖g‖² + E‖u‖²)."""
    seen, eta, T, L, d = _seen(problem, run), run.step_size, run.steps, _upper(problem.smoothness), problem.dimension
    step, noise = _mean(run, "step"), _mean(run, "noise")
    first = constant(float(problem.objective(problem.initial_point[None])[0]))
    descended, true, public = _gaps(run, first, seen.lowest, _upper(problem.initial_gap))

    def square_of(gap: Array, moment: Array, curvature: float) -> Array:
        return gap / (eta * T) + curvature * eta / 2 * moment

    radius = run.parameters["radius"]
    planned = constant(radius**2 * (1 if algorithm.noise == "sphere" else d / (d + 2)))
    longest = constant(_upper(problem.lipschitz) ** 2)
    bound = algorithm.bound(problem)
    rungs = (
        Rung(jackknifed(run.samples)),
        Rung(square_of(descended, step + noise, seen.curvature), _MEASURED, Due.STEP),
        Rung(square_of(descended, step + noise, L), _PUBLIC, Due.CURVATURE),
        Rung(square_of(descended, step + planned, L), _DRAWN, Due.NOISE, relation="="),
        Rung(square_of(descended, longest + planned, L), "no record's gradient is longer than G", Due.GRADIENTS),
        *_closing(lambda gap: square_of(gap, longest + planned, L), true, public, bound),
    )
    return Ladder(
        "mean square of the gradient", rungs, bound, (seen.curvature, L), regime={"η h T": eta * seen.settled * T}
    )


@ladder.register
def _stochastic(algorithm: StochasticGradientDescent, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """Lowy, Ullman & Wright 2024, Proposition D.1, explicit: D²/(2ηqT) + η(E‖g‖² + E‖u‖²)/(2q)."""
    seen, eta, T, D = _seen(problem, run), run.step_size, run.steps, float(algorithm.distance)
    bound, numbers = algorithm.bound(problem), algorithm.constants(problem)
    q = _upper(algorithm.quasar_constant(problem, None))
    step, noise = _mean(run, "step"), _mean(run, "noise")

    def excess(distance: float, moment: Array) -> Array:
        return distance**2 / (2 * eta * q * T) + eta * moment / (2 * q)

    planned = constant(problem.dimension * _upper(numbers[symbols.noise_stddev]) ** 2)
    longest = constant(_upper(numbers[symbols.lipschitz]) ** 2)
    away = float(np.linalg.norm(seen.minimiser - problem.initial_point))
    rungs = (
        Rung(jackknifed(run.samples - seen.lowest)),
        Rung(excess(away, step + noise), "quasar-convexity, at the true distance to the minimiser", Due.GROWTH),
        Rung(excess(D, step + noise), "the public distance for the true one", Due.START),
        Rung(excess(D, longest + noise), "no record's gradient is longer than G", Due.GRADIENTS),
        Rung(excess(D, longest + planned), _DRAWN, Due.NOISE, relation="="),
        _last(bound),
    )
    along = _output_rule(run, "objective") if "objective" in run.trace else {}
    return Ladder("mean excess risk", rungs, bound, subtracted=seen.lowest, output_rule=along)


@ladder.register
def _langevin(algorithm: LangevinDynamics, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """dpbounds/langevin-under-pl: E U⁺ - U* <= (1 - 2μηa)(U - U*) + (Lη²/2) E‖e‖², a = 1 - Lη/2, T times."""
    ridge, eta, T, bound = float(algorithm.regulariser), run.step_size, run.steps, algorithm.bound(problem)
    seen = _seen(problem, run, ridge=ridge)
    L, mu = _upper(problem.smoothness) + ridge, _upper(pl_constant_of(problem, algorithm.regulariser))
    x = problem.initial_point
    first = float(problem.objective(x[None])[0]) + ridge / 2 * float(x @ x)
    noise, planned = _mean(run, "noise"), constant(problem.dimension * float(algorithm.noise_stddev(problem)) ** 2)

    def excess(gap: float, drawn: Array, curvature: float, forever: bool = False) -> Array:
        kept = 1 - 2 * mu * eta * (1 - curvature * eta / 2)
        powers = kept ** np.arange(1, T + 1)
        left = float(powers[-1] if algorithm.output == "last" else powers.mean())
        return left * gap + curvature * eta**2 / 2 * drawn * (1 if forever else 1 - left) / (1 - kept)

    true = first - min(seen.lowest, float(run.samples.min()))
    public = float(gap_at(problem, x)) + ridge * float(x @ x) / 2
    rungs = (
        Rung(jackknifed(run.samples - (first - true))),
        Rung(excess(true, noise, seen.curvature), "descent lemma and the PL inequality with the public μ", Due.GROWTH),
        Rung(excess(true, noise, L), _PUBLIC, Due.CURVATURE),
        Rung(excess(true, planned, L), _DRAWN, Due.NOISE, relation="="),
        Rung(excess(true, planned, L, forever=True), "noise of infinitely many steps", Due.NOISE),
        Rung(excess(public, planned, L, forever=True), _START, Due.START),
        _last(bound),
    )
    regime = {"μ η T": mu * eta * T}
    return Ladder("mean excess risk", rungs, bound, (seen.curvature, L), first - true, regime=regime)


# --- SPIDER -----------------------------------------------------------------------------------------------------------


@ladder.register
def _spider(algorithm: Spider, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    return _estimated(algorithm, problem, run, algorithm.bound(problem))


@ladder.register
def _restarted(algorithm: RestartedSpider, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """Return the last stage, after the bound for the one before."""
    bounds, gap = algorithm.bounds(problem), algorithm.initial_gap
    if len(bounds) > 1:
        gap = growth_of(problem, algorithm.growth).gap_above(bounds[-2])
    last = algorithm.stages[-1]
    return _estimated(evolve(last, initial_gap=gap), problem, run, bounds[-1])


@ladder.register
def _warm_started(algorithm: WarmStartedSpider, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    return _estimated(algorithm.spider, problem, run, algorithm.bound(problem))


def _estimated(stage: Spider, problem: FiniteSum, run: Run, bound: Enclosure) -> Ladder:
    """LUW 2024, Algorithm 1, explicit: E‖∇F‖² <= 2 gap/(ηT) + E‖e‖² - (1 - Lη) E‖∇_t‖², E‖e‖² <= dσ₁² + dσ₂²η² times.

    The sum of E‖∇_k‖² over a phase; the condition of the theorem pays for it.
    """
    seen, eta, T, q = _seen(problem, run), stage.step_size_for(problem), stage.steps, stage.anchor_period
    L, d = _upper(problem.smoothness), problem.dimension
    squares, noise, estimate = _mean(run, "squared_gradient"), _mean(run, "noise"), _mean(run, "estimate")
    public = _upper(initial_gap_of(problem, stage.initial_gap))
    descended, true, promised = _gaps(run, _mean(run, "first"), seen.lowest, public)

    def norm(gap: Array, error: Array, paid: Array) -> Array:
        return np.sqrt(2 * gap / (eta * T) + error - paid)

    curvature, nothing = seen.curvature, constant(0.0)
    anchor = constant(d * float(stddev_of_gradients(problem, stage.anchor_multiplier)) ** 2)
    carried = d * (float(stage.difference_noise_stddev(problem)) * eta) ** 2 * (q - 1)
    rungs = (
        Rung(jackknifed(run.samples)),
        Rung(np.sqrt(squares), "the mean norm is at most the root of the mean square", Due.JENSEN),
        Rung(norm(descended, noise, (1 - curvature * eta) * estimate), _MEASURED, Due.STEP),
        Rung(norm(descended, noise, (1 - L * eta) * estimate), _PUBLIC, Due.CURVATURE),
        Rung(
            norm(descended, anchor + carried * estimate, (1 - L * eta) * estimate),
            "an error is that of the anchor, and what a whole phase carries",
            Due.NOISE,
        ),
        Rung(norm(descended, anchor, nothing), "the steps pay for what is carried, and are not used further", Due.STEP),
        *_closing(lambda gap: norm(gap, anchor, nothing), true, promised, bound),
    )
    return Ladder(
        "mean norm of the gradient",
        rungs,
        bound,
        (curvature, L),
        output_rule=_output_rule(run, "gradient_norm"),
        regime={"η h q": eta * seen.settled * q, "η h T": eta * seen.settled * T},
    )


@ladder.register
def _recursive(algorithm: Storm, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """dpbounds/storm: the sum of E‖∇F‖² is at most 2 gap/η + E‖e‖² - (1 - Lη) E‖v‖², and errors fade by 1 - k."""
    seen, eta, T, bound = _seen(problem, run), algorithm.step_size, algorithm.steps, algorithm.bound(problem)
    L, G, k, d = _upper(problem.smoothness), _upper(problem.lipschitz), float(algorithm.momentum), problem.dimension
    noise, estimate = T * _mean(run, "noise"), T * _mean(run, "estimate")
    public, weights = _upper(initial_gap_of(problem, algorithm.initial_gap)), T + 1 / (L * eta)
    _, true, promised = _gaps(run, _mean(run, "first"), seen.lowest, public)
    later = d * (float(algorithm.difference_multiplier) * L / problem.records) ** 2 / (k * (2 - k))
    first = d * float(stddev_of_gradients(problem, algorithm.first_multiplier)) ** 2 / (k * (2 - k))
    made_anew = constant(first + 2 * (T - 1) * later * (k * G / L) ** 2)
    carried = 2 * later * ((1 - k) * eta) ** 2

    def square(gap: Array, error: Array, paid: Array) -> Array:
        return (2 * gap / eta + error - paid) / weights

    rungs = (
        Rung(jackknifed(run.samples)),
        Rung(square(true, noise, (1 - L * eta) * estimate), _PUBLIC, Due.STEP),
        Rung(
            square(true, made_anew + carried * estimate, (1 - L * eta) * estimate),
            "errors fade by 1 - k, and a move adds what it is long",
            Due.NOISE,
        ),
        Rung(
            square(true, made_anew, constant(0.0)),
            "the steps pay for what moves add, and are not used further",
            Due.STEP,
        ),
        *_closing(lambda gap: square(gap, made_anew, constant(0.0)), true, promised, bound)[1:],
    )
    return Ladder(
        "mean square of the gradient", rungs, bound, (seen.curvature, L), regime={"η h T": eta * seen.settled * T}
    )


@ladder.register
def _tree(algorithm: PopulationTreeSpider, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """dpbounds/population-tree-spider/explicit: the mean of ‖∇F‖ is at most gap/(Tr) + Lr/2 + 2 E‖e‖."""
    seen, T, r, bound = _seen(problem, run), algorithm.steps, algorithm.move_length, algorithm.bound(problem)
    L, G, J = _upper(problem.smoothness), _upper(problem.lipschitz), algorithm.levels
    first, leaf, d, z = (
        algorithm.first_batch,
        algorithm.leaf_batch,
        problem.dimension,
        float(algorithm.noise_multiplier),
    )
    gap = problem.initial_gap if algorithm.initial_gap is None else algorithm.initial_gap
    descended, true, public = _gaps(run, _mean(run, "first"), seen.lowest, _upper(gap))
    length, square = _mean(run, "error"), _mean(run, "noise")
    trees = (2**J - 1) / (2 * leaf) + J * d * (z / leaf) ** 2 / 2
    planned = constant(math.sqrt(G**2 / first + d * (z * G / first) ** 2 + trees * (L * r) ** 2))

    def norm(gap: Array, error: Array) -> Array:
        return gap / (T * r) + L * r / 2 + 2 * error

    rungs = (
        Rung(jackknifed(run.samples)),
        Rung(norm(descended, length), "a move of length r lowers the risk by r(‖∇F‖ - 2‖e‖) - Lr²/2", Due.STEP),
        Rung(norm(descended, np.sqrt(square)), "the mean error is at most the root of its mean square", Due.JENSEN),
        Rung(norm(descended, planned), "batches and noise have the variances that were planned", Due.NOISE),
        *_closing(lambda gap: norm(gap, planned), true, public, bound),
    )
    return Ladder("mean norm of the gradient", rungs, bound, (seen.curvature, L))


# --- Frank-Wolfe ------------------------------------------------------------------------------------------------------


@ladder.register
def _gaussian_vertices(algorithm: GaussianFrankWolfe, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """Wang & Xu 2019, Theorem 4, explicit: a choice by g = ∇F + e loses at most σ times the Gaussian width."""
    numbers = algorithm.sizes(problem)
    L, D = _upper(numbers[symbols.smoothness]), _upper(numbers[symbols.diameter])
    lost = float(algorithm.noise_stddev(problem)) * _upper(algorithm.constraint.gaussian_width)
    claim = "the choice loses at most the noise along the set: σ times its Gaussian width"
    seen = _seen(problem, run, _within(algorithm))
    return _frank_wolfe(algorithm, problem, run, seen, L, D, lost, claim, seen.curvature)


@ladder.register
def _private_vertices(algorithm: VertexFrankWolfe, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """Wang & Xu 2019, Theorem 6: an exponential mechanism's mean score is within (2Δ/ε₀) ln N of the best."""
    numbers = algorithm.sizes(problem)
    L, D = _upper(numbers[symbols.smoothness_l1]), _upper(numbers[symbols.l1_diameter])
    reach = _upper(numbers[symbols.lipschitz_l1]) * _upper(numbers[symbols.l1_norm_bound])
    candidates = float(numbers[symbols.candidates])
    per_step = float(algorithm.step_epsilon) * 2 / algorithm.relation.sensitivity_factor
    lost = 4 * reach * math.log(candidates) / (problem.records * per_step)
    claim = "the exponential mechanism loses at most 2Δ ln N/ε₀"
    seen = _seen(problem, run, _within(algorithm))
    points = np.concatenate([problem.initial_point[None], run.output[:6]])
    steepest_entry = float(np.abs(problem.hessian(points)).max())  # |<v, H v>| is at most that times the square l1 norm
    return _frank_wolfe(algorithm, problem, run, seen, L, D, lost, claim, steepest_entry)


def _within(algorithm: FrankWolfe) -> Move:
    return lambda x, slope, length: algorithm.constraint.project(x - length * slope)


def _frank_wolfe(
    algorithm: FrankWolfe,
    problem: FiniteSum,
    run: Run,
    seen: Ground,
    smoothness: float,
    diameter: float,
    lost: float,
    claim: str,
    curvature: float,
) -> Ladder:
    """E gap <= [F(x₁) - F(x_{T+1})]/(γT) + E (loss by a choice) + (Lγ/2) E (the way to the vertex)²."""
    gamma, bound, way = run.parameters["step_fraction"], algorithm.bound(problem), _mean(run, "reach")
    gap, shortfall = _mean(run, "gap"), _mean(run, "shortfall")
    first = constant(float(run.trace["objective"].per_step[0]))
    public = _upper(algorithm.sizes(problem)[symbols.initial_gap])
    descended, true, promised = _gaps(run, first, seen.lowest, public)

    def of(gap: Array, choice: Array, curved: Array) -> Array:
        return gap / (gamma * run.steps) + choice + gamma / 2 * curved

    planned, farthest = constant(lost), constant(smoothness * diameter**2)
    rungs = (
        Rung(gap),
        Rung(of(descended, shortfall, curvature * way), _MEASURED, Due.STEP),
        Rung(of(descended, shortfall, smoothness * way), _PUBLIC, Due.CURVATURE),
        Rung(of(descended, shortfall, farthest), "no way to a vertex is longer than the diameter", Due.SET),
        Rung(of(descended, planned, farthest), claim, Due.CHOICE),
        *_closing(lambda gap: of(gap, planned, farthest), true, promised, bound),
    )
    return Ladder(
        "mean Frank-Wolfe gap",
        rungs,
        bound,
        (curvature, smoothness),
        output_rule=_output_rule(run, "gap"),
        regime={"γ T": gamma * run.steps},
    )


# --- choices ----------------------------------------------------------------------------------------------------------


@ladder.register
def _on_a_net(algorithm: NetExponentialMechanism, problem: FiniteSum, run: Run, mapping: str = "noisy") -> Ladder:
    """LUW 2024, Lemma 4.2, explicit: E F - min over the net = (entropy - deficit of the best)/β <= ln N/β, and S r."""
    net, beta, bound = algorithm.net, float(algorithm.inverse_temperature(problem)), algorithm.bound(problem)
    risks = problem.objective_at(net.points) + float(algorithm.regularisation) / 2 * (net.points**2).sum(axis=1)
    above = risks - risks.min()
    weights = np.exp(-beta * above)
    chances = weights / weights.sum()
    entropy = float(-(chances * np.log(np.where(chances > 0, chances, 1.0))).sum())
    slope = _upper(steepest(problem)) + float(algorithm.regularisation * net.radius)
    widest = math.log(net.size) / beta
    rungs = (
        Rung(jackknifed(run.samples)),
        Rung(
            constant(float(chances @ above)),
            "the distribution of the choice, summed over the net",
            Due.CHOICE,
            relation="=",
        ),
        Rung(constant(entropy / beta), "no weight of the best candidate is more than all weight", Due.CHOICE),
        Rung(constant(widest), "a distribution on N points has entropy at most ln N", Due.CHOICE),
        Rung(constant(widest + slope * float(net.covering_radius)), "the nearest candidate lies within r", Due.SET),
        _last(bound),
    )
    return Ladder("mean excess risk", rungs, bound)
