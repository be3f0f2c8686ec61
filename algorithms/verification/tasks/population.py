"""Excess risk on the population: records drawn anew for every repetition, risk on many that were never used."""

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
