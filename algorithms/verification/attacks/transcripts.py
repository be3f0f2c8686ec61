"""What an algorithm released along the way, heard at the oracles; how likely it is under either data set.

A certificate is about *all* noisy answers, not only about the point that is returned in the end, so an attacker may see
them all. The points that an oracle was asked about are known to him, too: they are functions of earlier answers. Which
records a random batch held is not: likelihoods are averaged over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from dpbounds.algorithms.ledger import Batch
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    HessianOracle,
    Poisson,
)
from dpbounds.algorithms.oracles.gradients import in_batches
from dpbounds.algorithms.verification.attacks.neighbours import Pair

_IMPOSSIBLE = -1e6  # log-likelihood of an answer that a ball or a sphere cannot give: finite, so that sums are
_FAR = 1e6  # a distance, in units of the noise, where there was nothing to measure
_MOST_COPIES = 8  # of one record in a batch drawn with replacement: more are too rare to matter for a score


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One noisy answer of R repetitions, and how to compute what it was about.

    Attributes:
        noisy: What was released, shape (R, m).
        amount: Standard deviation (or radius) as written down, shape (R,).
        kind: Of noise, as written down.
        generators: The repetitions' streams: they tell whose row is whose.
        exact: From a problem to the answer without noise, of all records or of a given one alone, shape (R, m).
        sampling: Of the random batch that was asked, or None for all records.
        records: n.
        dimension: d of the problem that was asked about.
    """

    noisy: Array
    amount: Array
    kind: Kind
    generators: Sequence[np.random.Generator]
    exact: Callable[..., Array]
    sampling: Batch | Poisson | None
    records: int
    dimension: int


Listener = Callable[[Answer], None]


@contextmanager
def listening(hear: Listener) -> Iterator[None]:
    """Tell ``hear`` of every answer that a gradient, difference or Hessian oracle gives inside the ``with`` block.

    The oracles are wrapped for that time, in this process; what they answer, draw and write is unchanged. Choices,
    thresholds and whatever else an algorithm releases are not heard: an attack without them is weaker, but no less
    valid.
    """
    described: dict[type, Callable[..., Answer]] = {
        GradientOracle: _of_gradient,
        BatchGradientOracle: _of_gradient,
        GradientDifferenceOracle: _of_difference,
        HessianOracle: _of_hessian,
    }
    originals = {kind: kind.__dict__["__call__"] for kind in described}
    try:
        for kind, original in originals.items():
            setattr(kind, "__call__", _heard(original, described[kind], hear))  # noqa: B010 (a method, for mypy)
        yield
    finally:
        for kind, original in originals.items():
            setattr(kind, "__call__", original)  # noqa: B010 (as above)


def _heard(original: Callable[..., Any], answer_of: Callable[..., Answer], hear: Listener) -> Callable[..., Any]:
    def call(oracle: Any, *points: Array, **named: Array) -> Any:
        answer = original(oracle, *points, **named)
        hear(answer_of(oracle, answer, *points, **named))
        return answer

    return call


def _answer(
    oracle: Any, noisy: Array, sampling: Batch | Poisson | None = None, amount: Array | None = None, **of: Any
) -> Answer:
    return Answer(
        noisy=noisy,
        amount=np.full(len(noisy), oracle.noise_stddev) if amount is None else amount,
        kind=oracle.noise,
        generators=oracle.generators,
        sampling=sampling,
        records=oracle.problem.records,
        dimension=oracle.problem.dimension,
        **of,
    )


def _of_gradient(oracle: GradientOracle | BatchGradientOracle, answer: Any, X: Array) -> Answer:
    return _answer(
        oracle,
        answer.noisy,
        oracle.sampling if isinstance(oracle, BatchGradientOracle) else None,
        exact=partial(gradient, X),
    )


def _of_difference(oracle: GradientDifferenceOracle, answer: Any, X: Array, previous: Array) -> Answer:
    return _answer(
        oracle,
        answer.noisy,
        oracle.sampling,
        answer.noise_stddev,
        exact=lambda *asked: gradient(X, *asked) - gradient(previous, *asked),
    )


def _of_hessian(oracle: HessianOracle, answer: Any, X: Array) -> Answer:
    above = np.triu_indices(oracle.problem.dimension)
    return _answer(
        oracle, answer.noisy[:, above[0], above[1]], exact=lambda problem: problem.hessian(X)[:, above[0], above[1]]
    )


def gradient(X: Array, problem: Any, record: int | None = None) -> Array:
    """The mean gradient of all records at points X, shape (R, d), or that of one record."""
    if record is None:
        return in_batches(problem, X)[1]
    alone: Array = problem.batch_gradient(X, np.full((len(X), 1), record))
    return alone


class Witness:
    """Listens to a run and keeps three scores for each of its repetitions.

    - likelihood ratio: of everything heard under the second data set to that under the first, as a logarithm, with the
      noise that was *written down*. For full-batch Gaussian noise it is, up to constants, the sum of
      <answer, shift>/σ², and no test is better (Neyman & Pearson 1933).
    - residual: the smallest distance between an answer and what it would be without noise on the first data set, in
      units of the noise: next to nothing if noise was forgotten anywhere
    - repeated noise: the smallest distance between the residuals of two answers in a row: next to nothing if noise was
      used twice

    The last two only hear full-batch answers.

    Attributes:
        answers: How many were heard.
    """

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._index: dict[np.random.Generator, int] = {}
        self._asked: tuple[Sequence[np.random.Generator], NDArray[np.int64]] | None = None
        self._ratio, self._smallest, self._closest = np.zeros(0), np.zeros(0), np.zeros(0)
        self._last: dict[int, Array] = {}
        self._full = 0
        self.answers = 0

    def hear(self, answer: Answer) -> None:
        """Take one answer; one about projected records, which are others than those of the pair, tells nothing here."""
        if answer.dimension != self._pair.first.dimension:
            return
        self.answers += 1
        rows, noisy = self._rows(answer.generators), answer.amount > 0  # else the point did not move: nothing was said
        if answer.sampling is None:
            first, second = answer.exact(self._pair.first), answer.exact(self._pair.second)
            ratio = _log_density(answer, second) - _log_density(answer, first)
            residual = (answer.noisy - first) / np.where(noisy, answer.amount, 1.0)[:, None]
            self._keep_residual(rows[noisy], residual[noisy])
        else:
            ratio = _log_mixture(answer, self._pair.second) - _log_mixture(answer, self._pair.first)
        self._ratio[rows[noisy]] += ratio[noisy]

    def scores(self, repetitions: int) -> dict[str, Array]:
        """The scores, one number per repetition each (0 for who was never heard); those that mean something."""
        heard = {
            "likelihood ratio": (self._ratio, self.answers > 0),
            "residual": (self._smallest, self._full > 0),
            "repeated noise": (self._closest, self._full > 1),
        }
        return {
            name: np.append(values, np.zeros(repetitions - len(values)))
            for name, (values, means_something) in heard.items()
            if means_something
        }

    def _keep_residual(self, rows: NDArray[np.int64], residual: Array) -> None:
        self._full += 1
        self._smallest[rows] = np.minimum(self._smallest[rows], np.linalg.norm(residual, axis=1))
        # by length, so that what one repetition is compared with does not depend on what others asked in between
        last = self._last.setdefault(residual.shape[1], np.full((0, residual.shape[1]), np.inf))
        new = len(self._ratio) - len(last)
        last = self._last[residual.shape[1]] = np.concatenate([last, np.full((new, residual.shape[1]), np.inf)])
        before = last[rows]
        known = np.isfinite(before).all(axis=1)
        distance = np.linalg.norm(residual[known] - before[known], axis=1)
        self._closest[rows[known]] = np.minimum(self._closest[rows[known]], distance)
        last[rows] = residual

    def _rows(self, generators: Sequence[np.random.Generator]) -> NDArray[np.int64]:
        """Whose answers these are, by the streams; an oracle may be asked for some of the repetitions only."""
        if self._asked is None or self._asked[0] is not generators:
            for generator in generators:
                self._index.setdefault(generator, len(self._index))
            new = len(self._index) - len(self._ratio)
            self._ratio = np.append(self._ratio, np.zeros(new))
            self._smallest = np.append(self._smallest, np.full(new, _FAR))
            self._closest = np.append(self._closest, np.full(new, _FAR))
            self._asked = (generators, np.array([self._index[generator] for generator in generators], dtype=np.int64))
        return self._asked[1]


def _log_density(answer: Answer, exact: Array) -> Array:
    """Log-likelihood of an answer around its exact value, up to what is the same for both data sets."""
    distance = np.linalg.norm(answer.noisy - exact, axis=-1)
    amount = np.where(answer.amount > 0, answer.amount, 1.0)
    if answer.kind in ("gaussian", "secure"):
        return np.asarray(-0.5 * (distance / amount) ** 2)
    outside = distance > amount * (1 + 1e-9)
    if answer.kind == "sphere":
        outside |= distance < amount * (1 - 1e-9)
    return np.where(outside, _IMPOSSIBLE, 0.0)


def _log_mixture(answer: Answer, problem: Any) -> Array:
    """The same for an answer about a random batch: the average over how often record 0 is in it."""
    target, other = answer.exact(problem, 0), answer.exact(problem, 1)
    sampling = answer.sampling
    if isinstance(sampling, Poisson):
        if other.any():
            return np.zeros(len(target))  # how many others there are matters, too: no score
        rate = float(sampling.sample_rate)
        means, chances = [0 * target, target / (rate * answer.records)], [1 - rate, rate]
    else:
        assert sampling is not None
        size, share = sampling.size, 1 / sampling.records
        if sampling.replacement:
            copies = range(min(size, _MOST_COPIES) + 1)
            chances = stats.binom.pmf(copies, size, share).tolist()
        else:
            copies, chances = range(2), [1 - size * share, size * share]
        means = [((size - k) * other + k * target) / size for k in copies]
    with np.errstate(divide="ignore"):
        weights = np.log(np.array(chances))[:, None]
    mixed: Array = special.logsumexp(weights + np.array([_log_density(answer, mean) for mean in means]), axis=0)
    return mixed
