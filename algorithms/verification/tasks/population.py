"""Excess risk on the population, records drawn anew for every repetition; and how often bounds are exceeded."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from algorithms import problems
from algorithms.frank_wolfe.gaussian_frank_wolfe import GaussianFrankWolfe
from algorithms.problems import LinearModel
from algorithms.problems.finite_sum import Array
from algorithms.problems.sets import L2Ball
from algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from algorithms.verification.tasks.frank_wolfe import budget_of, planned_vertex, sign_design

_DELTA = Fraction(1, 10**5)
_FRESH = 20_000  # records that the population's risk is averaged over
_TRUTH = 0.9  # length of the true parameter, within the unit ball
_NOISE = 0.3


def _directions(draw: np.random.Generator, records: int, dimension: int) -> Array:
    features = draw.standard_normal((records, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True) * (1 + 1e-12)
    return features


def _truth(dimension: int) -> Array:
    return np.full(dimension, _TRUTH / np.sqrt(dimension))


def links(records: int, dimension: int, seed: int) -> LinearModel:
    """Labels with P(y = 1 | x) = σ(<w*, x>), squared loss: what Theorem 5 of Wang, Chen & Xu 2019 is about."""
    draw = np.random.default_rng(seed)
    features = _directions(draw, records, dimension)
    chance = 1 / (1 + np.exp(-features @ _truth(dimension)))
    return problems.squared_sigmoid_link(features, np.where(draw.random(records) < chance, 1, -1))


def regression(records: int, dimension: int, seed: int) -> LinearModel:
    """Geman-McClure regression with noisy targets."""
    draw = np.random.default_rng(seed)
    features = _directions(draw, records, dimension)
    return problems.geman_mcclure(features, features @ _truth(dimension) + _NOISE * draw.standard_normal(records))


@cache
def planned_frank_wolfe(records: int, dimension: int, epsilon: float) -> GaussianFrankWolfe:
    """DP-FW-L2 on the unit ball; its parameters are public, the same for every draw of records."""
    return GaussianFrankWolfe.calibrated(
        links(records, dimension, 0), L2Ball(dimension, 1), epsilon=Fraction(epsilon), delta=_DELTA
    )


@cache
def planned_net(records: int, epsilon: float) -> NetExponentialMechanism:
    """The exponential mechanism on a net of [-1, 1]."""
    return NetExponentialMechanism.calibrated(
        regression(records, 1, 0), Fraction(epsilon), _DELTA, radius=1, covering_radius="1/50"
    )


def frank_wolfe(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-FW-L2: E (σ(<w, x>) - σ(<w*, x>))², which is the excess of the squared loss, one per draw of records."""
    method, entropy = planned_frank_wolfe(records, dimension, epsilon), np.random.SeedSequence(seed)
    fresh = _directions(np.random.default_rng(entropy.spawn(1)[0]), _FRESH, dimension)
    truth = 1 / (1 + np.exp(-fresh @ _truth(dimension)))
    excess = []
    for each in entropy.generate_state(repetitions, np.uint64).tolist():
        w = method.run(links(records, dimension, each), seed=each, repetitions=1).output[0]
        excess.append(float(((1 / (1 + np.exp(-fresh @ w)) - truth) ** 2).mean()))
    return {"excess": excess}


def net(records: int, epsilon: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """A choice on a net: its population risk over the least that a fine grid of the interval has."""
    method, entropy = planned_net(records, epsilon), np.random.SeedSequence(seed)
    population = regression(_FRESH, 1, int(entropy.spawn(1)[0].generate_state(1, np.uint64)[0]))
    least = float(population.objective_at(np.linspace(-1, 1, 401)[:, None]).min())
    chosen = [
        method.run(regression(records, 1, each), seed=each, repetitions=1).output[0]
        for each in entropy.generate_state(repetitions, np.uint64).tolist()
    ]
    return {"excess": (population.objective_at(np.array(chosen)) - least).tolist()}


def vertices(
    records: int, dimension: int, epsilon: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """DP-FW-L1 on features of ±1: the same excess, exactly, as there are 2^p features only."""
    method, _ = planned_vertex(records, dimension, budget_of(epsilon))
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * dimension)).reshape(dimension, -1).T
    truth = 1 / (1 + np.exp(-corners[:, 0]))
    excess = []
    for each in np.random.SeedSequence(seed).generate_state(repetitions, np.uint64).tolist():
        w = method.run(sign_design(records, dimension, each), seed=each, repetitions=1).output[0]
        excess.append(float(((1 / (1 + np.exp(-corners @ w)) - truth) ** 2).mean()))
    return {"excess": excess}


def net_tail(records: int, epsilon: float, limit: float, repetitions: int, seed: int) -> dict[str, float | list[float]]:
    """How often the choice's population excess exceeds a limit."""
    found = net(records, epsilon, repetitions, seed)["excess"]
    assert isinstance(found, list)
    return {"hits": float(sum(value > limit for value in found)), "draws": float(repetitions)}


@cache
def planned_ridge(records: int, epsilon: float, covering_radius: str) -> NetExponentialMechanism:
    """The exponential mechanism for F + ‖w‖²/2 on a net of the interval |w| <= G."""
    return NetExponentialMechanism.calibrated(
        regression(records, 1, 0), Fraction(epsilon), _DELTA, covering_radius=covering_radius, regularisation=1
    )


def ridge_tail(
    records: int, epsilon: float, covering_radius: str, limit: float, repetitions: int, seed: int
) -> dict[str, float | list[float]]:
    """How often the regularised empirical excess of a choice exceeds a limit."""
    method, problem = planned_ridge(records, epsilon, covering_radius), regression(records, 1, 0)
    chosen = method.run(problem, seed=seed % 2**63, repetitions=repetitions).output
    radius = float(method.net.radius)
    fine = np.linspace(-radius, radius, 4001)[:, None]
    least = (problem.objective_at(fine) + 0.5 * fine[:, 0] ** 2).min()
    excess = problem.objective_at(chosen) + 0.5 * chosen[:, 0] ** 2 - least
    return {"hits": float((excess > limit).sum()), "draws": float(repetitions)}
