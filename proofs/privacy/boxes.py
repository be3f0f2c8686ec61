"""Mechanisms with finitely many outcomes, as vectors of probabilities; and what such vectors guarantee, measured.

A box maps a batch to the probabilities of its outcomes. It may do with the batch what it likes: depend on its size, on
how often a record stands in it, give probability zero. Some boxes have a name (randomised response, the exponential
mechanism, AboveThreshold); random ones have as many degrees of freedom as there are batches.

What a box guarantees is *measured*, on the very neighbours at stake, straight from the definitions: the largest log
ratio (pure), the largest divergence at one ε (approximate), the widest range of a log ratio (bounded range), the
largest Rényi divergence over its order (zero-concentrated). So a guarantee is neither violated nor loose by accident,
and the guarantees for "a record joins the batch" and "a record of the batch is replaced" are independent numbers.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from tests.privacy.oracle.noise import Array, Table, divergence
from tests.privacy.oracle.samplings import Record, Vector

Box = Callable[[tuple[Record, ...]], Array]


@dataclass(frozen=True)
class Finite(Generic[Record]):
    """Publish the outcome of a box on the batch."""

    box: Box[Record]

    def law(self, batches: Mapping[tuple[Record, ...], float]) -> Array:
        return np.asarray(sum(probability * self.box(batch) for batch, probability in batches.items()))

    def table(self, first: Mapping[tuple[Record, ...], float], second: Mapping[tuple[Record, ...], float]) -> Table:
        return self.law(first), self.law(second)


# --- Boxes that have a name ------------------------------------------------------------------------------------------


def randomised_response(truth: int, choices: int, epsilon: float) -> Array:
    """The truth with e^ε times the probability of each other choice."""
    odds = np.ones(choices)
    odds[truth] = math.exp(epsilon)
    return np.asarray(odds / odds.sum())


def exponential(utilities: Array, epsilon: float, sensitivity: float) -> Array:
    """Choose y with probability proportional to e^{ε u(y) / 2Δ}."""
    weights = np.exp(epsilon * (utilities - utilities.max()) / (2 * sensitivity))
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Exponential:
    """The exponential mechanism on Σ_{v in batch} v, one coordinate per candidate."""

    epsilon: float
    sensitivity: float
    offsets: Vector  # what every candidate starts with

    def __call__(self, batch: tuple[Vector, ...]) -> Array:
        return exponential(np.array(self.offsets) + _total(batch, len(self.offsets)), self.epsilon, self.sensitivity)


def _total(batch: Sequence[Vector], dimension: int) -> Array:
    return np.array([math.fsum(vector[axis] for vector in batch) for axis in range(dimension)])


@dataclass(frozen=True)
class AboveThreshold:
    """Halt at the first noisy answer above a noisy threshold; answer j is offsets[j] + Σ_{v in batch} v_j.

    Threshold 0 + Lap(threshold_scale), answers + Lap(query_scale). Outcome j: the j-th answer is the first one above;
    the last outcome: none is. (Until it halts the mechanism has said "below" every time, so that a stream chosen
    adaptively is a stream chosen in advance.)
    """

    threshold_scale: float
    query_scale: float
    offsets: Vector

    def __call__(self, batch: tuple[Vector, ...]) -> Array:
        answers = np.array(self.offsets) + _total(batch, len(self.offsets))
        return above_threshold(answers, self.threshold_scale, self.query_scale)


def above_threshold(answers: Array, threshold_scale: float, query_scale: float, crossings: int = 1) -> Array:
    """Outcome probabilities, by integration over the threshold's noise t; outcomes say which answers are above.

    With one crossing the outcomes are the answers in order, and none; with more, the sets of at most so many answers.

    Given t the answers are independent. Between the points 0 and x_j the integrand is a sum of exponentials, so that
    Gauss-Legendre panels of at most a quarter of the smaller scale are exact to rounding; it is cut off where the
    density of t has fallen by e^{-60} beyond the outermost of these points.
    """
    knots = np.union1d(answers, [0.0])
    reach = 60 * threshold_scale
    ends = np.concatenate(([knots[0] - reach], knots, [knots[-1] + reach]))
    step = min(threshold_scale, query_scale)
    cuts = np.unique(
        np.concatenate([np.linspace(a, b, 1 + math.ceil((b - a) / step)) for a, b in itertools.pairwise(ends)])
    )
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(cuts)[:, None] / 2
    t = (cuts[:-1, None] + half + half * nodes).ravel()
    mass = (half * weights).ravel() * np.exp(-np.abs(t) / threshold_scale) / (2 * threshold_scale)
    distance = (answers[:, None] - t[None, :]) / query_scale
    tail = np.exp(-np.abs(distance)) / 2
    above = np.where(distance > 0, 1 - tail, tail)  # P(x_j + Lap >= t)
    below = np.where(distance > 0, tail, 1 - tail)
    if crossings > 1:
        return np.array([both @ mass for both in _kept(above, below, crossings)])
    survived = np.cumprod(np.vstack((np.ones_like(t), below)), axis=0)
    return np.concatenate((survived[:-1] * above @ mass, survived[-1:] @ mass))


def _kept(above: Array, below: Array, crossings: int) -> Iterator[Array]:
    """Probabilities, given t, of the sets of answers above, where it stops at the last of so many."""
    if crossings == 0 or not len(above):
        yield np.ones(above.shape[1])
        return
    for rest in _kept(above[1:], below[1:], crossings - 1):
        yield above[0] * rest
    for rest in _kept(above[1:], below[1:], crossings):
        yield below[0] * rest


# --- Random boxes ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scatter:
    """How a random box varies: log odds with these standard deviations, and outcomes that a batch cannot have."""

    outcomes: int = 3
    base: float = 1.0  # between outcomes
    size: float = 0.5  # between sizes of the batch
    content: float = 0.5  # between batches of one size
    impossible: float = 0.0  # probability that an outcome has probability zero on a batch


def random_box(
    generator: np.random.Generator, possible: Iterable[tuple[int, ...]], scatter: Scatter
) -> dict[tuple[int, ...], Array]:
    """Outcome probabilities for every batch."""
    possible = list(possible)
    shape = scatter.outcomes
    base = scatter.base * generator.standard_normal(shape)
    by_size = {
        size: scatter.size * generator.standard_normal(shape) for size in sorted({len(batch) for batch in possible})
    }
    laws: dict[tuple[int, ...], Array] = {}
    for batch in possible:
        odds = np.exp(base + by_size[len(batch)] + scatter.content * generator.standard_normal(shape))
        keep = generator.uniform(size=shape) >= scatter.impossible
        keep[generator.integers(shape)] = True
        laws[batch] = odds * keep / (odds * keep).sum()
    return laws


def joined(laws: Mapping[tuple[int, ...], Array]) -> list[Table]:
    """(with, without): every batch of the box against the same with one record fewer."""
    return [
        (law, laws[rest])
        for batch, law in laws.items()
        for rest in {batch[:index] + batch[index + 1 :] for index in range(len(batch))}
        if rest in laws
    ]


def replaced(laws: Mapping[tuple[int, ...], Array], copies: int = 1) -> list[Table]:
    """Every batch of the box against those of the same size that differ in at most ``copies`` records, ordered."""
    return [
        (law, other_law)
        for batch, law in laws.items()
        for other, other_law in laws.items()
        if len(batch) == len(other) and 0 < sum((Counter(batch) - Counter(other)).values()) <= copies
    ]


def zeroed(laws: Mapping[tuple[int, ...], Array]) -> list[Table]:
    """(record there, type 0 in its place): every batch of the box that holds another type, and each such record."""
    return [
        (law, laws[tuple(sorted((*batch[:index], 0, *batch[index + 1 :])))])
        for batch, law in laws.items()
        for index in range(len(batch))
        if batch[index] != 0 and batch[index] not in batch[:index]
    ]


# --- What boxes guarantee --------------------------------------------------------------------------------------------


def both_ways(tables: Iterable[Table]) -> list[Table]:
    return [table for first, second in tables for table in ((first, second), (second, first))]


def _log_ratios(table: Table) -> Array:
    first, second = table
    either = (first > 0) | (second > 0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(first[either]) - np.log(second[either]))


def pure(tables: Iterable[Table]) -> float:
    """The largest |log P/Q|."""
    return max(float(np.abs(_log_ratios(table)).max()) for table in tables)


def approximate(tables: Iterable[Table], epsilon: float) -> float:
    """The smallest δ for this ε, in both orders."""
    return max(float(divergence(table, np.exp([epsilon]))[0]) for table in both_ways(tables))


def bounded_range(tables: Iterable[Table]) -> float:
    """The widest range of log P/Q."""
    return max(float(np.ptp(_log_ratios(table))) for table in tables)


def concentrated(tables: Iterable[Table]) -> float:
    """sup_λ D_λ(P ‖ Q) / λ, in both orders, over a dense set of λ > 1 and rounded up by far more than that misses."""
    orders = 1 + np.geomspace(1e-3, 1e3, 400)
    largest = 0.0
    for first, second in both_ways(tables):
        inside = first > 0
        p, log_ratio = first[inside], np.log(first[inside]) - np.log(second[inside])
        exponents = (orders[:, None] - 1) * log_ratio[None, :]
        top = exponents.max(axis=1)
        divergences = (top + np.log(np.exp(exponents - top[:, None]) @ p)) / (orders - 1)
        largest = max(largest, float((divergences / orders).max()), float(p @ log_ratio))
    return largest * (1 + 1e-4)
