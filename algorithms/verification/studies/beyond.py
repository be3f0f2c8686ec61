"""Studies of theorems beyond one algorithm: falling noise, a point for the population, an order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpbounds.algorithms import (
    GradientPathNoise,
    PathNoiseDescent,
    WarmStartedGradientPathNoise,
    WarmStartedIterativePathNoise,
    WarmStartedPathNoise,
)
from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, WAVY, Landscape, Profile
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.checks import Check
from dpbounds.algorithms.verification.judging.planned_checks import PlannedCheck, by_size, cells, spent
from dpbounds.algorithms.verification.judging.slopes import exact_slope_check
from dpbounds.algorithms.verification.studies.problems import smooth_design
from dpbounds.algorithms.verification.studies.running import Example, at_budget, budget_of, calibrated_on
from dpbounds.algorithms.verification.studies.second_order import double_well
from dpbounds.algorithms.verification.sweeping.cells import Numbers, Result, number, parameter
from dpbounds.algorithms.verification.sweeping.trials import ran, spending
from dpbounds.algorithms.warm_starts.warm_started_path_noise import WarmStartedWalk
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.theorems.registry import theorem

_FALLING = "dpbounds/geometric-noise-under-pl"
_PATH = "dpbounds/second-order-path-noise"

# --- falling noise under the Polyak-Łojasiewicz inequality


def _bowl(w: Array) -> tuple[Array, Array, Array]:
    return w * w / 2, w, np.ones_like(w)


_SHAPES: dict[str, tuple[Any, dict[str, str], float]] = {
    # derivatives, L, μ and η, and where w_0 has its coordinates
    "bowl": (_bowl, {"smoothness": "1", "pl_constant": "3/4", "step_size": "1/2"}, 0.3),
    "wavy": (WAVY.derivatives, {"smoothness": "8", "pl_constant": "0.1755", "step_size": "1/8"}, 2.0),
}
_CLASS = {"lipschitz": "1", "rho": "1/50"}


def _falling_values(result: Result) -> dict[str, Any]:
    given = dict(result.parameters)
    values = {name: str(given[name]) for name in ("dimension", "steps")}
    values |= {"dataset_size": str(given["records"]), "initial_gap": repr(number(result, "gap"))}
    return values | _CLASS | _SHAPES[str(given["shape"])][1]


def falling_noise(shape: str, records: int, dimension: int, steps: int, repetitions: int, seed: int) -> Numbers:
    """Return the last excess risk of gradient descent on Σ_j h(w_j), with the statement's noise in each step."""
    derivatives, given, place = _SHAPES[shape]
    L, mu, eta, rho = (float(Fraction(each)) for each in (*given.values(), _CLASS["rho"]))
    kappa = math.sqrt(1 - 2 * mu * eta * (1 - L * eta / 2))
    total = (1 - kappa**steps) / (1 - kappa)
    draw, w = np.random.default_rng(seed), np.full((repetitions, dimension), place)
    gap = float(derivatives(w[:1])[0].sum())
    for t in range(steps):
        stddev = math.sqrt(2 * total / rho / kappa ** (steps - 1 - t)) / records
        w = w - eta * (derivatives(w)[1] + stddev * draw.standard_normal(w.shape))
    excess = derivatives(w)[0].sum(axis=1)
    sums: Numbers = {"sum": float(excess.sum()), "squares": float((excess * excess).sum()), "draws": float(repetitions)}
    start: Numbers = {"gap": gap * (1 + 1e-12)}
    return sums | start


def falling_bound(result: Result) -> Enclosure:
    """Return the statement about it."""
    return theorem(_FALLING).evaluate("bound", **_falling_values(result)).value


# --- a second-order stationary point of the population risk


def drawn_well(records: int, seed: int) -> Landscape:
    """Return the double well F_P, tilted by the mean of ``records`` records ±1/10, drawn by fair coins."""
    tilt = (2 * np.random.default_rng(seed).binomial(records, 0.5) / records - 1) / 10

    def derivatives(w: Array) -> tuple[Array, Array, Array]:
        value, slope, bend = DOUBLE_WELL.derivatives(w)
        return value + tilt * w, slope + tilt, bend

    profile: Profile = replace(DOUBLE_WELL, derivatives=derivatives, name="a tilted double well")
    return replace(double_well(records, 1), profile=profile)


def deviations(method: WarmStartedWalk, problem: Landscape, failure: Fraction) -> tuple[float, float]:
    """u₁ and u₂ of the statement, for a net in [-3/2, 3/2]."""
    known: dict[str, Any] = {name: str(getattr(problem, name)) for name in ("lipschitz", "smoothness", "dimension")}
    known |= {"hessian_lipschitz": str(problem.hessian_lipschitz), "dataset_size": str(problem.records)}
    known |= {"path_length": str(method.descent.path_length), "diameter": "3", "failure_probability": str(failure)}
    statement = theorem(f"{_PATH}/population")
    first, second = (
        statement.evaluate(part, **known).value.upper for part in ("gradient_deviation", "hessian_deviation")
    )
    return first, second


def population(records: int, failure: str, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """Return the rate at which runs, each on new records, miss κ-stationarity of the population risk.

    The runs succeed on their records but for ζ/2; then u₁ and u₂ of the statement are added. No point of the net is a
    minimiser, so that runs walk.
    """
    return _missed(WarmStartedPathNoise.calibrated, records, Fraction(failure), epsilon, repetitions, seed)


def population_by_products(
    records: int, failure: str, stationarity: str, epsilon: float, repetitions: int, seed: int
) -> Numbers:
    """Return the same for searches that form no Hessian, at an α for which the records are enough."""
    calibrated = partial(WarmStartedIterativePathNoise.calibrated, stationarity=stationarity)
    return _missed(calibrated, records, Fraction(failure), epsilon, repetitions, seed)


def _missed(
    calibrated: Callable[..., WarmStartedWalk],
    records: int,
    zeta: Fraction,
    epsilon: float,
    repetitions: int,
    seed: int,
) -> Numbers:
    problem, options = double_well(records, 1), {"covering_radius": "1/67", "failure_probability": zeta / 2}
    method, _ = at_budget(calibrated, problem, budget_of(epsilon, "1e-6"), **options)
    method.bound(problem)
    slope, bend = deviations(method, problem, zeta)
    rho_H = float(at_least(problem.hessian_lipschitz, "hessian_lipschitz"))
    alpha = float(method.descent.stationarity)
    kappa = max(alpha + slope, (math.sqrt(rho_H * alpha) + bend) ** 2 / rho_H)
    hits = 0
    for turn in range(repetitions):
        w = ran((method, drawn_well(records, seed % 2**40 + turn)), 1, seed + turn).output
        _, gradient, curvature = DOUBLE_WELL.derivatives(w)
        hits += bool(abs(gradient[0, 0]) > kappa or curvature[0, 0] < -math.sqrt(rho_H * kappa))
    return {"hits": float(hits), "draws": float(repetitions), "kappa": kappa}


# --- a small gradient of the population risk

_SMALL = "dpbounds/population-path-noise"
_NET = {"covering_radius": "1/67"}
_FAR = {"initial_gap": "3/10"}  # from 1/2, with any tilt of at most 1/10
_WALKS: dict[str, tuple[str, Callable[..., Any], dict[str, str]]] = {
    "1/2": (_SMALL, GradientPathNoise.calibrated, _FAR),
    "a net": (f"{_SMALL}/warm-start", WarmStartedGradientPathNoise.calibrated, _NET),
}


def _begun(problem: Landscape) -> Landscape:
    """From 1/2, where the gradient is not small: walks move."""
    return replace(problem, start=np.array([0.5]))


def off_by_sampling(statement: str, walk: GradientPathNoise, problem: Landscape, failure: str) -> float:
    """Return u of the statement, for a net in [-3/2, 3/2] where there is one."""
    known: dict[str, Any] = {name: str(getattr(problem, name)) for name in ("lipschitz", "smoothness", "dimension")}
    known |= {"dataset_size": str(problem.records), "path_length": str(walk.path_length)}
    known |= {"diameter": "3"} if statement.endswith("warm-start") else {}
    off: float = theorem(statement).evaluate("gradient_deviation", **known, failure_probability=failure).value.upper
    return off


def small_gradient(start: str, records: int, failure: str, epsilon: float, repetitions: int, seed: int) -> Numbers:
    """Return the rate at which runs, each on new records, end where the population's gradient is larger than κ."""
    statement, calibrated, options = _WALKS[start]
    problem, zeta = _begun(double_well(records, 1)), Fraction(failure)
    method, _ = at_budget(calibrated, problem, budget_of(epsilon, "1e-6"), failure_probability=zeta / 2, **options)
    method.bound(problem)
    off = off_by_sampling(statement, getattr(method, "descent", method), problem, failure)
    kappa, hits, last = float(method.stationarity) + off, 0, None
    for turn in range(repetitions):
        last = ran((method, _begun(drawn_well(records, seed % 2**40 + turn))), 1, seed + turn)
        hits += bool(abs(DOUBLE_WELL.derivatives(last.output)[1][0, 0]) > kappa)
    assert last is not None
    return {"hits": float(hits), "draws": float(repetitions), "kappa": kappa} | spending(last)


# --- the order of α


def least_stationarity(records: int, epsilon: float, seed: int) -> Numbers:
    """Return the smallest α for which ``records`` records are proven to suffice, on the double well; deterministic."""
    method, _ = at_budget(PathNoiseDescent.calibrated, double_well(records), budget_of(epsilon, "1e-6"))
    return {"stationarity": float(method.stationarity)}


def falls_as(exponent: Fraction) -> kinds.Judge:
    """Hold the last local exponent of α in n, which is computed, against a promised one."""
    name, near = f"{_PATH}/rate", Fraction(1, 20)

    def judge(results: Sequence[Result], confidence: float) -> Check:
        sizes = [parameter(result, "records") for result in results]
        found = exact_slope_check(name, float(exponent), sizes, [number(one, "stationarity") for one in results])
        promised = Enclosure(exponent - near, exponent + near)
        return kinds.computed(name, found.slope.value, promised, found.verdict, found.reason)

    return judge


_falling = partial(cells, falling_noise, dimension=20, steps=60, repetitions=by_size(400, 4000))
_drawn = partial(cells, population, records=10**6, failure="1/5", epsilon=1.0, repetitions=by_size(64, 256))
_by_products = partial(cells, population_by_products, records=10**6, failure="1/2", stationarity="1/20")
_gradients = partial(cells, small_gradient, records=10**6, failure="1/5", epsilon=1.0, repetitions=by_size(64, 256))
_sizes = by_size(tuple(10**k for k in (9, 11, 13)), tuple(10**k for k in range(8, 15)))
_orders = cells(least_stationarity, records=_sizes, epsilon=1.0)

CHECKS = (
    *kinds.mean_bounded(
        _FALLING,
        "falling noise, excess risk, {shape}, n = {records}",
        _falling(shape=("bowl", "wavy"), records=(500, 1000, 2000)),
        falling_bound,
    ),
    *kinds.rate_bounded(
        f"{_PATH}/population",
        "a second-order point of the population is missed",
        _drawn(),
        lambda result: Enclosure.exactly(Fraction(1, 5)),
    ),
    *kinds.rate_bounded(
        f"{_PATH}/population/iterative",
        "a second-order point of the population is missed by searches without Hessians",
        _by_products(epsilon=1.0, repetitions=by_size(24, 64)),  # enough for ζ = 1/2, where runs take a second each
        lambda result: Enclosure.exactly(Fraction(1, 2)),
    ),
    *kinds.in_turn(
        *(
            (
                spent(statement, f"DP-PN to a small gradient, ledger, from {start}", _gradients(start=start)),
                *kinds.rate_bounded(
                    statement,
                    "a small gradient of the population is missed from {start}",
                    _gradients(start=start),
                    lambda result: Enclosure.exactly(Fraction(1, 5)),
                ),
            )
            for start, (statement, *_) in _WALKS.items()
        )
    ),
    PlannedCheck(f"{_PATH}/rate", "formula", "least α against n", _orders, falls_as(Fraction(-2, 3))),
)

_small = {"stationarity": "1/5"}
EXAMPLES = (
    Example(
        "gradient-path-noise",
        (_SMALL,),
        calibrated_on(GradientPathNoise.calibrated, partial(smooth_design, 400, 4), **_small),
    ),
    Example(
        "warm-gradient-path-noise",
        (f"{_SMALL}/warm-start",),
        calibrated_on(
            WarmStartedGradientPathNoise.calibrated,
            partial(smooth_design, 400, 2),
            **_small,
            radius=1,
            covering_radius="1/5",
        ),
    ),
)
