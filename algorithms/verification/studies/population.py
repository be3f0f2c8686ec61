"""Excess risk on the population, records drawn anew for every repetition; and how often bounds are exceeded."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from dpbounds.algorithms import GaussianFrankWolfe, NetExponentialMechanism, PopulationTreeSpider, problems
from dpbounds.algorithms.planning import multiplier_of_one
from dpbounds.algorithms.problems import LinearModel
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.algorithms.verification.judging.planned_checks import Checks, Size, bounded, by_size, cells, rate_bounded
from dpbounds.algorithms.verification.studies import warm_starts
from dpbounds.algorithms.verification.studies.frank_wolfe import sign_design, vertex
from dpbounds.algorithms.verification.studies.running import Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.sweeping.cells import Cell, Numbers, Result
from dpbounds.algorithms.verification.sweeping.trials import at_cell, bound_of, ran
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.evaluation import evaluate
from dpbounds.theorems.registry import theorem

_FRESH = 20_000  # records that the population's risk is averaged over
_TRUTH = 0.9  # length of the true parameter, within the unit ball
_NOISE = 0.3


def _directions(draw: np.random.Generator, records: int, dimension: int) -> Array:
    features = draw.standard_normal((records, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True) * (1 + 1e-12)
    return features


def _truth(dimension: int) -> Array:
    return np.full(dimension, _TRUTH / np.sqrt(dimension))


def _chance(margins: Array) -> Array:
    chances: Array = 1 / (1 + np.exp(-margins))
    return chances


def links(records: int, dimension: int, seed: int) -> LinearModel:
    """Labels with P(y = 1 | x) = σ(<w*, x>), squared loss: the setting of Theorem 5 of Wang, Chen & Xu 2019."""
    draw = np.random.default_rng(seed)
    features = _directions(draw, records, dimension)
    chance = _chance(features @ _truth(dimension))
    return problems.squared_sigmoid_link(features, np.where(draw.random(records) < chance, 1, -1))


def regression(records: int, dimension: int, seed: int) -> LinearModel:
    """Geman-McClure regression with noisy targets."""
    draw = np.random.default_rng(seed)
    features = _directions(draw, records, dimension)
    return problems.geman_mcclure(features, features @ _truth(dimension) + _NOISE * draw.standard_normal(records))


@cache
def on_ball(records: int, dimension: int, epsilon: float) -> tuple[GaussianFrankWolfe, LinearModel]:
    """DP-FW-L2 on the unit ball; its parameters are public, the same for every draw of records."""
    problem, ball = links(records, dimension, 0), L2Ball(dimension, 1)
    return at_budget(GaussianFrankWolfe.calibrated, problem, budget_of(epsilon), ball)


@cache
def on_net(records: int, epsilon: float) -> tuple[NetExponentialMechanism, LinearModel]:
    """Return the exponential mechanism on a net of [-1, 1]."""
    options = {"radius": 1, "covering_radius": "1/50"}
    return at_budget(NetExponentialMechanism.calibrated, regression(records, 1, 0), budget_of(epsilon), **options)


@cache
def on_ridge(records: int, epsilon: float, covering_radius: str) -> tuple[NetExponentialMechanism, LinearModel]:
    """Return the exponential mechanism for F + ‖w‖²/2 on a net of the interval |w| <= G."""
    options = {"covering_radius": covering_radius, "regularisation": 1}
    return at_budget(NetExponentialMechanism.calibrated, regression(records, 1, 0), budget_of(epsilon), **options)


def _outputs(method: Any, draw: Callable[[int], Any], entropy: np.random.SeedSequence, repetitions: int) -> list[Array]:
    """Return the output of one run on each of ``repetitions`` draws of records."""
    seeds = entropy.generate_state(repetitions, np.uint64).tolist()
    return [method.run(draw(seed), seed=seed, repetitions=1).output[0] for seed in seeds]


def _link_excess(features: Array, truth: Array, outputs: list[Array]) -> list[float]:
    """E (σ(<w, x>) - σ(<w*, x>))² over the features, which is the excess of the squared loss."""
    chances = _chance(features @ truth)
    return [float(((_chance(features @ w) - chances) ** 2).mean()) for w in outputs]


def frank_wolfe(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-FW-L2: excess population risk, one per draw of records."""
    method, entropy = on_ball(records, dimension, epsilon)[0], np.random.SeedSequence(seed)
    fresh = _directions(np.random.default_rng(entropy.spawn(1)[0]), _FRESH, dimension)
    outputs = _outputs(method, lambda draw: links(records, dimension, draw), entropy, repetitions)
    return {"excess": _link_excess(fresh, _truth(dimension), outputs)}


def vertices(records: int, dimension: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """DP-FW-L1 on features of ±1: the same excess, exactly, as there are 2^p features only."""
    method, entropy = vertex.posed(records, dimension, epsilon)[0], np.random.SeedSequence(seed)
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * dimension)).reshape(dimension, -1).T
    outputs = _outputs(method, lambda draw: sign_design(records, dimension, draw), entropy, repetitions)
    return {"excess": _link_excess(corners, np.eye(dimension)[0], outputs)}


def net(records: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """Return a choice on a net: its population risk over the least that a fine grid of the interval has."""
    method, entropy = on_net(records, epsilon)[0], np.random.SeedSequence(seed)
    population = regression(_FRESH, 1, int(entropy.spawn(1)[0].generate_state(1, np.uint64)[0]))
    least = float(population.objective_at(np.linspace(-1, 1, 401)[:, None]).min())
    outputs = _outputs(method, lambda draw: regression(records, 1, draw), entropy, repetitions)
    return {"excess": (population.objective_at(np.array(outputs)) - least).tolist()}


def net_tail(records: int, epsilon: float, limit: float, repetitions: int, seed: int) -> Numbers:
    """Return the rate at which the choice's population excess exceeds a limit."""
    return _exceeding(np.array(net(records, epsilon, repetitions, seed)["excess"]), limit)


def ridge_tail(
    records: int, epsilon: float, covering_radius: str, limit: float, repetitions: int, seed: int
) -> Numbers:
    """Return the rate at which the regularised empirical excess of a choice exceeds a limit."""
    method, problem = on_ridge(records, epsilon, covering_radius)
    chosen = ran((method, problem), repetitions, seed).output
    radius = float(method.net.radius)
    risks = [
        problem.objective_at(points) + 0.5 * points[:, 0] ** 2
        for points in (chosen, np.linspace(-radius, radius, 4001)[:, None])
    ]
    return _exceeding(risks[0] - risks[1].min(), limit)


def _exceeding(excess: Array, limit: float) -> Numbers:
    return {"hits": float((excess > limit).sum()), "draws": float(len(excess))}


def atoms() -> Problem:
    """All records of a population, equally likely: eight features, each with three labels of four by its first sign."""
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T / math.sqrt(3) / (1 + 1e-12)
    features = np.repeat(corners, 4, axis=0)
    signs = np.where(features[:, 0] > 0, 1, -1) * np.tile([1, 1, 1, -1], len(corners))
    return problems.sigmoid_loss(features, signs, l1=0)


def drawn(records: int, seed: int) -> Problem:
    """Independent records of that population."""
    every, chosen = atoms(), np.random.default_rng(seed)
    return replace(every, signed_features=every.signed_features[chosen.integers(0, every.records, records)])


@cache
def on_trees(records: int, epsilon: float) -> tuple[PopulationTreeSpider, Problem]:
    """Tree-SPIDER on the sigmoid loss; its parameters are public, the same for every draw of records."""
    return at_budget(PopulationTreeSpider.calibrated, drawn(records, 0), budget_of(epsilon))


def trees(records: int, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """Return the mean norm of the population's gradient, and the mean square of the estimates' errors, one per draw."""
    method, population = on_trees(records, epsilon)[0], atoms()
    seeds = np.random.SeedSequence(seed).generate_state(repetitions, np.uint64).tolist()
    runs = [
        method.run(drawn(records, one), seed=one, repetitions=1, population_gradient=population.gradient)
        for one in seeds
    ]
    return {name: [float(run.measured[name][0]) for run in runs] for name in ("mean_norm", "mean_error")}


_TREES = "dpbounds/population-tree-spider/explicit"
_TAIL, _RIDGE = "lowy-ullman-wright-2024/lemma-e.3/explicit", "wang-chen-xu-2019/theorem-4/explicit"
_COROLLARY = "lowy-ullman-wright-2024/corollary-4.3/explicit"
_FAILURE, _COVERING = Fraction(1, 5), "1/50"
_anew = partial(cells, epsilon=1.0, repetitions=by_size(10, 200))


def _tail(records: int) -> Checks:
    """Return the tail with ψ = 0 (a minimiser is in the ball, over which the excess is measured) and D = R = 1."""

    def limited(size: Size) -> Sequence[Cell]:
        method, problem = on_net(records, 1.0)
        limit = theorem(_TAIL).evaluate(
            None,
            excess_risk=0,
            lipschitz=evaluate(problem.lipschitz, {}),
            diameter=1,
            epsilon=1,
            dataset_size=records,
            candidates=method.net.size,
            net_radius=method.net.covering_radius,
            failure_probability=_FAILURE,
        )
        repetitions = by_size(60, 1200)
        return _anew(net_tail, records=records, limit=limit.value.lower, repetitions=repetitions)(size)

    return rate_bounded(_TAIL, f"choice on a net, tail of the population risk, n = {records}", limited, _at_most)


def _ridge(records: int) -> Checks:
    """λ = 1, the net's radius fixed."""

    def limited(size: Size) -> Sequence[Cell]:
        limit = theorem(_RIDGE).evaluate(
            None,
            lipschitz=evaluate(regression(records, 1, 0).lipschitz, {}),
            net_radius=Fraction(_COVERING),
            regularisation=1,
            dataset_size=records,
            dimension=1,
            epsilon=1,
            failure_probability=_FAILURE,
        )
        runs = partial(_anew, ridge_tail, covering_radius=_COVERING, repetitions=by_size(200, 4000))
        return runs(records=records, limit=limit.value.lower)(size)

    return rate_bounded(_RIDGE, f"choice on a net, tail of the regularised risk, n = {records}", limited, _at_most)


def _at_most(result: Result) -> Enclosure:
    return Enclosure.exactly(_FAILURE, "ζ")


def _corollary(result: Result) -> Enclosure:
    """Radius and halves of the budget are those of the corollary; the noise is certified, hence smaller."""
    method, problem = at_cell(warm_starts.warm.posed, result)
    assert method.budget is not None
    given: dict[str, Any] = {name: evaluate(getattr(problem, name), {}) for name in ("lipschitz", "smoothness")}
    rho = 2 / multiplier_of_one(method.budget) ** 2
    sizes = {"dataset_size": problem.records, "dimension": 1, "diameter": 2}
    return theorem(_COROLLARY).evaluate(None, rho=rho, **sizes, **given).value


def _squared_error(result: Result) -> Enclosure:
    method, problem = at_cell(on_trees, result)
    error = method.error_bound(problem).upper
    return Enclosure.exactly(Fraction(error) ** 2)


_TREE_RUNS = _anew(trees, records=(2000, 8000, 32_000), repetitions=by_size(40, 200))

CHECKS = (
    *bounded(
        "wang-chen-xu-2019/theorem-5/explicit",
        "DP-FW-L2, excess population risk, n = {records}",
        _anew(frank_wolfe, records=(250, 500, 1000), dimension=3),
        "excess",
        bound_of(method="population_bound", posed=on_ball),
    ),
    *bounded(
        "ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit",
        "choice on a net, excess population risk, n = {records}",
        _anew(net, records=(500, 1000, 2000)),
        "excess",
        bound_of("population", posed=on_net),
    ),
    *bounded(
        "wang-chen-xu-2019/theorem-6/explicit",
        "DP-FW-L1, excess population risk, n = {records}",
        _anew(vertices, records=(250, 500, 1000), dimension=4),
        "excess",
        bound_of(method="population_bound", posed=vertex.posed),
    ),
    *bounded(
        _TREES,
        "tree-SPIDER, mean norm of the population's gradient, n = {records}",
        _TREE_RUNS,
        "mean_norm",
        bound_of(posed=on_trees),
    ),
    *bounded(
        _TREES,
        "tree-SPIDER, mean square of an estimate's error, n = {records}",
        _TREE_RUNS,
        "mean_error",
        _squared_error,
    ),
    *(check for n in (500, 1000, 2000) for check in _tail(n)),
    *(check for n in (50, 100, 200) for check in _ridge(n)),
    *bounded(
        _COROLLARY,
        "a net and then SPIDER, n = {records}",
        _anew(warm_starts.warm, records=(300, 600, 1200), dimension=1, epsilon=2.0, covering_radius=None),
        "gradient_norm",
        _corollary,
    ),
)
EXAMPLES = (
    Example(
        "tree-spider-population",
        (_TREES,),
        calibrated_on(PopulationTreeSpider.calibrated, partial(drawn, 20_000, 0)),
    ),
)
