"""Likelihood of the answers that an algorithm released along the way, recorded at the oracles, for either dataset.

A certificate is about *all* noisy answers, not only about the point that is returned in the end, so an attacker may see
them all. The points that an oracle was asked about are known to him, too: they are functions of earlier answers. Which
records a random batch held is not: likelihoods are averaged over it. Where batches depend on each other, they are
averaged over the record's place (or set of places) in all of them, for each epoch or, where batches are kept, for all
epochs together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from dpbounds.algorithms.guards.residuals import row_of
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles import (
    BatchGradientOracle,
    CorrelatedGradientOracle,
    GradientDifferenceOracle,
    GradientOracle,
    HessianOracle,
    HessianProductOracle,
    PathGradientOracle,
    Poisson,
    Scored,
    VisitGradientOracle,
    as_vectors,
)
from dpbounds.algorithms.oracles.watching import Question, watched_by
from dpbounds.algorithms.problems.finite_sum import mean_products
from dpbounds.algorithms.sampling import Allocated, Batch, Bins, Correlated, Cyclic, Shuffle, Truncated, Visited
from dpbounds.algorithms.verification.attacks.neighbours import Pair

_IMPOSSIBLE = -1e6  # log-likelihood of an answer that a ball or a sphere cannot give: finite, so that sums are
_FAR = 1e6  # a distance, in units of the noise, where there was nothing to measure
_MOST_COPIES = 8  # copies of one record in a batch drawn with replacement: more are too rare to matter for a score


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One noisy answer of R repetitions, and a function that computes its exact value.

    Attributes:
        noisy: The release, shape (R, m).
        amount: Standard deviation (or radius) as written down, shape (R,).
        kind: Kind of the recorded noise.
        generators: The repetitions' streams: they tell whose row is whose.
        exact: From a problem to the answer without noise, of all records or of a given one alone, shape (R, m).
        sampling: Sampling of the random batch, or None for all records, or for others that are known.
        place: Of the batch in its epoch, and whether it is the first of a new draw, where batches depend on each other;
            of a row of correlated noise whether it is the first of all, and the first of an epoch.
        records: n.
        dimension: d of the problem that was asked about.
    """

    noisy: Array
    amount: Array
    kind: Kind
    generators: Sequence[np.random.Generator]
    exact: Callable[..., Array]
    sampling: Batch | Poisson | Truncated | Visited | Correlated | None
    records: int
    dimension: int
    place: tuple[int, bool] = (0, False)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The candidate that a private choice returned for R repetitions; not the scores, which are not a release.

    Attributes:
        index: Shape (R,).
        scale: Scale of the noise on the scores: 2Δ/ε.
        generators: The repetitions' streams.
        records: n of the problem that was asked about: a part of the records, maybe.
    """

    index: NDArray[np.int64]
    scale: float
    generators: Sequence[np.random.Generator]
    records: int


Listener = Callable[[Answer | Choice], None]


def listening(hear: Listener) -> AbstractContextManager[object]:
    """Tell ``hear`` of every answer of a gradient, difference or Hessian oracle inside the block, and of every choice.

    Thresholds and whatever else an algorithm releases are not heard: an attack without them is weaker, but no less
    valid.
    """
    return watched_by(_Heard(hear))


class _Heard:
    """A watcher that passes answers to a listener."""

    def __init__(self, hear: Listener) -> None:
        self._hear = hear
        self._past: dict[CorrelatedGradientOracle, list[tuple[Array, Array]]] = {}

    def answer(self, question: Question, answer: Callable[[], Any]) -> Any:
        """Return the oracle's own, unchanged."""
        given = answer()
        if question.kind == "choice":
            scored: Scored = question.about
            self._hear(Choice(given, scored.scale, question.generators, scored.records))
        elif isinstance(question.about, CorrelatedGradientOracle):
            self._hear(self._encoded(question.about, given, *question.points))
        elif question.kind in _DESCRIBED:
            self._hear(_DESCRIBED[question.kind](question.about, given, *question.points))
        return given

    def _encoded(self, oracle: CorrelatedGradientOracle, given: Any, X: Array) -> Answer:
        """Return the row of C x + noise that was released with an answer: given the earlier rows, it is equivalent."""
        past = self._past.setdefault(oracle, [])
        past.append((X.copy(), given.noisy))
        n, m, weights = oracle.problem.records, oracle.scheme.bins, row_of(oracle.scheme.matrix, len(past) - 1)
        terms = [(float(weight), step, *past[step]) for step, weight in enumerate(weights) if weight]
        noisy = sum((weight * each for weight, _, _, each in terms), np.zeros(X.shape))

        def by_group(problem: Any, record: int) -> Array:  # what a record adds that takes part; shape (m, R, p)
            found = np.zeros((m, *X.shape))
            for weight, step, points, _ in terms:
                rows = np.full((len(points), 1), record)
                found[step % m] += weight / float(oracle.divisor) * problem.batch_gradient(points, rows)
            return found

        if oracle.scheme.draws != "fixed-order":  # the records of a batch are secret
            begins = len(past) == 1, (len(past) - 1) % m == 0
            return _answer(oracle, noisy, oracle.scheme, place=begins, exact=by_group)

        def exact(problem: Any) -> Array:
            found = np.zeros(X.shape)
            for weight, step, points, _ in terms:
                members = np.arange(step % m, n, m)
                rows = np.broadcast_to(members, (len(points), len(members)))
                found += weight * len(members) / float(oracle.divisor) * problem.batch_gradient(points, rows)
            return found

        return _answer(oracle, noisy, exact=exact)


def _answer(
    oracle: Any,
    noisy: Array,
    sampling: Batch | Poisson | Truncated | Visited | Correlated | None = None,
    amount: Array | None = None,
    **of: Any,
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


def _of_gradient(oracle: GradientOracle | BatchGradientOracle | VisitGradientOracle, answer: Any, X: Array) -> Answer:
    if isinstance(oracle, VisitGradientOracle):
        return _of_visit(oracle, answer, X)
    return _answer(
        oracle,
        answer.noisy,
        oracle.sampling if isinstance(oracle, BatchGradientOracle) else None,
        exact=partial(gradient, X, rows=_block_of(oracle)),
    )


def _of_visit(oracle: VisitGradientOracle, answer: Any, X: Array) -> Answer:
    scheme, n = oracle.scheme, oracle.problem.records
    visit, place = divmod(oracle.visits - 1, scheme.bins)
    if isinstance(scheme, Cyclic) and scheme.order == "fixed":  # the batches are public
        rows = np.broadcast_to(np.arange(place, n, scheme.bins), (len(X), len(range(place, n, scheme.bins))))
        share = rows.shape[1] / float(oracle.divisor)
        return _answer(oracle, answer.noisy, exact=lambda problem: share * problem.batch_gradient(X, rows))
    drawn = place == 0 and (scheme.redraw or visit == 0)
    return _answer(oracle, answer.noisy, scheme, place=(place, drawn), exact=partial(gradient, X))


def _of_difference(oracle: GradientDifferenceOracle, answer: Any, X: Array, previous: Array) -> Answer:
    rows, kept = _block_of(oracle), float(oracle.kept)
    return _answer(
        oracle,
        answer.noisy,
        oracle.sampling,
        answer.noise_stddev,
        exact=lambda problem, record=None: (
            gradient(X, problem, record, rows) - kept * gradient(previous, problem, record, rows)
        ),
    )


def _of_path(oracle: PathGradientOracle, answer: Any, X: Array, *previous: Array) -> Answer:
    kept = np.exp(-oracle.clock(X, *previous))[:, None] if previous else None

    def exact(problem: Any, record: int | None = None) -> Array:
        here = gradient(X, problem, record)
        return here if kept is None else here - kept * gradient(previous[0], problem, record)

    return _answer(oracle, answer.noisy, None, answer.noise_stddev, exact=exact)


def _of_hessian(oracle: HessianOracle, answer: Any, X: Array) -> Answer:
    return _answer(oracle, as_vectors(answer.noisy), exact=lambda problem: as_vectors(problem.hessian(X)))


def _of_product(oracle: HessianProductOracle, answer: Any, X: Array, V: Array) -> Answer:
    return _answer(oracle, answer.noisy, None, answer.noise_stddev, exact=lambda side: mean_products(side, X, V))


_DESCRIBED: dict[str, Callable[..., Answer]] = {
    GradientOracle.question: _of_gradient,
    BatchGradientOracle.question: _of_gradient,
    GradientDifferenceOracle.question: _of_difference,
    PathGradientOracle.question: _of_path,
    HessianOracle.question: _of_hessian,
    HessianProductOracle.question: _of_product,
}


def _block_of(oracle: Any) -> NDArray[np.int64] | None:
    """Return each repetition's own block of records, if blocks were queried: the steps determine which one."""
    rows: NDArray[np.int64] | None = getattr(oracle.problem, "rows", None)
    return rows


def gradient(X: Array, problem: Any, record: int | None = None, rows: NDArray[np.int64] | None = None) -> Array:
    """Return the mean gradient at points X, shape (R, d), of all records, each repetition's rows, or one record."""
    if rows is not None:
        block: Array = problem.batch_gradient(X, rows)
        return block
    if record is None:
        whole: Array = problem.gradient(X)
        return whole
    alone: Array = problem.batch_gradient(X, np.full((len(X), 1), record))
    return alone


class Witness:
    """Listens to a run and keeps three scores for each of its repetitions.

    - likelihood ratio: of everything heard under the second dataset to that under the first, as a logarithm, with the
      noise that was *written down*. For full-batch Gaussian noise it is, up to constants, the sum of
      <answer, shift>/σ², and no test is better (Neyman & Pearson 1933).
    - residual: the smallest distance between an answer and what it would be without noise on the first dataset, in
      units of the noise: next to nothing if noise was forgotten anywhere
    - repeated noise: the smallest distance between the residuals of two answers in a row: next to nothing if noise was
      used twice

    The last two only hear full-batch answers.

    Args:
        pair: The pair of datasets.
        scores: Returns the scores of an algorithm's candidates from the problem on either side, shape (N,); None if
            choices are not informative.

    Attributes:
        answers: The number of recorded answers.
    """

    def __init__(self, pair: Pair, scores: Callable[[Any], Array] | None = None) -> None:
        self._pair, self._scores = pair, scores
        self._index: dict[np.random.Generator, int] = {}
        self._asked: tuple[Sequence[np.random.Generator], NDArray[np.int64]] | None = None
        self._ratio, self._smallest, self._closest = np.zeros(0), np.zeros(0), np.zeros(0)
        self._last: dict[int, Array] = {}
        self._full = 0
        self._understood = 0
        self._epochs: dict[int, _Epoch] = {}  # by who asks
        self.answers = 0

    def hear(self, answer: Answer | Choice) -> None:
        """Take one answer; answers about projected records, which differ from those of the pair, are ignored."""
        if isinstance(answer, Choice):
            self._hear_choice(answer)
            return
        if answer.dimension != self._pair.first.dimension:
            return
        self.answers += 1
        rows, noisy = self._rows(answer.generators), answer.amount > 0  # else the point did not move: nothing was said
        if isinstance(answer.sampling, Visited):
            self._hear_visit(answer, rows)
            return
        if isinstance(answer.sampling, Correlated):
            self._hear_row(answer, rows)
            return
        if answer.sampling is None:
            first, second = answer.exact(self._pair.first), answer.exact(self._pair.second)
            ratio = _log_density(answer, second) - _log_density(answer, first)
            residual = (answer.noisy - first) / np.where(noisy, answer.amount, 1.0)[:, None]
            self._keep_residual(rows[noisy], residual[noisy])
        else:
            ratio = _log_mixture(answer, self._pair.second) - _log_mixture(answer, self._pair.first)
        self._ratio[rows[noisy]] += ratio[noisy]
        self._understood += int(noisy.sum())

    def _hear_visit(self, answer: Answer, rows: NDArray[np.int64]) -> None:
        """Average over the batch of record 0 in an epoch (in all epochs, if batches are kept)."""
        place, drawn = answer.place
        key = id(answer.generators)
        if drawn or key not in self._epochs:
            if key in self._epochs:
                self._ratio[self._epochs[key].rows] += self._epochs[key].ratio()
            scheme = answer.sampling
            assert isinstance(scheme, Visited)
            self._epochs[key] = (
                _SubsetEpoch(rows, answer.generators, scheme)
                if isinstance(scheme, Allocated)
                else _Epoch(rows, answer.generators, _chances(scheme, answer.records))
            )
        self._epochs[key].add(
            place, *(_with_and_without(answer, side) for side in (self._pair.first, self._pair.second))
        )
        self._understood += len(rows)

    def _hear_row(self, answer: Answer, rows: NDArray[np.int64]) -> None:
        """Average over the record's group, or over the draws in each step of its group 0."""
        scheme, key = answer.sampling, id(answer.generators)
        assert isinstance(scheme, Correlated)
        first, new_epoch = answer.place
        rate = scheme.sample_rate
        blocks = rate is not None  # rows of one step of the record overlap with those of no other
        if first or (blocks and new_epoch):
            if key in self._epochs:
                self._ratio[self._epochs[key].rows] += self._epochs[key].ratio()
            chances = np.full(scheme.bins, 1 / scheme.bins) if rate is None else np.array([float(rate)])
            self._epochs[key] = _Epoch(rows, answer.generators, chances)
        absent = _log_density(answer, np.zeros_like(answer.noisy))
        sides = self._pair.first, self._pair.second
        if any(answer.exact(side, 1).any() for side in sides):  # how many others there are matters, too: no score
            return
        moved = [answer.exact(side, 0) for side in sides]
        for place in range(1 if blocks else scheme.bins):
            self._epochs[key].add(place, *((_log_density(answer, each[place]), absent) for each in moved))
        self._understood += len(rows)

    def _hear_choice(self, choice: Choice) -> None:
        """Add probabilities of the exponential mechanism at the scores of either side (noisy max has others)."""
        if self._scores is None:
            return
        self.answers += 1
        # what differs between the sides is record 0 alone: in a part of the records it weighs more
        larger = self._pair.first.records / choice.records / choice.scale
        logarithms = [larger * self._scores(side) for side in (self._pair.first, self._pair.second)]
        first, second = (each - special.logsumexp(each) for each in logarithms)
        rows = self._rows(choice.generators)
        self._ratio[rows] += (second - first)[choice.index]
        self._understood += len(rows)

    def answers_of_a_run(self, repetitions: int) -> float:
        """Return the mean number of answers with a likelihood, over repetitions."""
        return self._understood / repetitions

    def scores(self, repetitions: int) -> dict[str, Array]:
        """Return the scores, one number per repetition each (0 for who was never heard); those that mean something."""
        ratio = self._ratio.copy()
        for epoch in self._epochs.values():
            ratio[epoch.rows] += epoch.ratio()
        heard = {
            "likelihood ratio": (ratio, self.answers > 0),
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
        """Return the repetitions of these answers, by the streams; some of the repetitions may ask alone."""
        if self._asked is None or self._asked[0] is not generators:
            if self._index and not any(generator in self._index for generator in generators):
                self._index |= {generator: row for row, generator in enumerate(generators)}  # another root: all of them
            for generator in generators:
                self._index.setdefault(generator, len(self._index))
            new = max(0, 1 + max(self._index.values()) - len(self._ratio))
            self._ratio = np.append(self._ratio, np.zeros(new))
            self._smallest = np.append(self._smallest, np.full(new, _FAR))
            self._closest = np.append(self._closest, np.full(new, _FAR))
            self._asked = (generators, np.array([self._index[generator] for generator in generators], dtype=np.int64))
        return self._asked[1]


class _Epoch:
    """The answers since records were dealt to batches: their likelihood by the batch of record 0, on either side.

    Args:
        rows: Rows of the repetitions that take part.
        generators: Their generators.
        chances: Probabilities of record 0 to be in each batch, shape (m,); the rest to 1 is that of no batch.
    """

    def __init__(self, rows: NDArray[np.int64], generators: Sequence[np.random.Generator], chances: Array) -> None:
        self.rows, self.generators, self._chances = rows, generators, np.append(chances, max(0.0, 1 - chances.sum()))
        self._without = np.zeros((2, len(rows)))
        self._lifts = np.zeros((2, len(self._chances), len(rows)))

    def add(self, place: int, *sides: tuple[Array, Array]) -> None:
        """Take the log-likelihoods of an answer, with the record in its batch and without, on either side."""
        for side, (present, absent) in enumerate(sides):
            self._without[side] += absent
            self._lifts[side, place] += present - absent

    def ratio(self) -> Array:
        """Return the logarithm of the likelihood ratio, shape (R,)."""
        first, second = self._without + self._mixed()
        found: Array = second - first
        return found

    def _mixed(self) -> Array:
        """Return the logarithm of the mean, over the record's places, of its likelihood ratio, shape (2, R)."""
        with np.errstate(divide="ignore"):
            weights = np.log(self._chances)[:, None]
        found: Array = special.logsumexp(weights + self._lifts, axis=1)
        return found


class _SubsetEpoch(_Epoch):
    """An epoch in which record 0 is in a uniform K-subset of the batches.

    The mean over subsets of the products of likelihood ratios x_j is e_K(x_1, ..., x_m) / C(m, K), the elementary
    symmetric sum; x_j = 1 in batches that were not asked about.
    """

    def __init__(self, rows: NDArray[np.int64], generators: Sequence[np.random.Generator], scheme: Allocated) -> None:
        super().__init__(rows, generators, np.full(scheme.bins, 1 / scheme.bins))
        self._m, self._k = scheme.bins, scheme.participations

    def _mixed(self) -> Array:
        sums = np.full((self._k + 1, *self._without.shape), -np.inf)  # log e_0, ..., log e_K of the places so far
        sums[0] = 0.0
        for place in range(self._m):
            sums[1:] = np.logaddexp(sums[1:], sums[:-1] + self._lifts[:, place])
        found: Array = sums[-1] - math.log(math.comb(self._m, self._k))
        return found


def _chances(scheme: Visited, records: int) -> Array:
    m = scheme.bins
    if isinstance(scheme, Bins):
        return np.full(m, 1 / m)
    if isinstance(scheme, Shuffle):
        return np.full(m, records // m / records)
    return np.array([len(range(place, records, m)) / records for place in range(m)])


def _with_and_without(answer: Answer, problem: Any) -> tuple[Array, Array]:
    """Log-likelihoods of an answer about a batch with record 0 and without, where all others are alike.

    In bins that differ in size others that are not silent matter, too: no score.
    """
    target, other = answer.exact(problem, 0), answer.exact(problem, 1)
    scheme = answer.sampling
    if isinstance(scheme, Bins | Allocated):
        if other.any():
            return np.zeros(len(target)), np.zeros(len(target))
        by, size = float(scheme.divisor(answer.records)), 1
    else:
        assert isinstance(scheme, Shuffle | Cyclic)
        by = float(scheme.divisor(answer.records))
        size = int(by) if isinstance(scheme, Shuffle) else len(range(answer.place[0], answer.records, scheme.bins))
    present, absent = ((size - 1) * other + target) / by, size * other / by
    return _log_density(answer, present), _log_density(answer, absent)


def _log_density(answer: Answer, exact: Array) -> Array:
    """Log-likelihood of an answer around its exact value, up to terms that are equal for both datasets."""
    distance = np.linalg.norm(answer.noisy - exact, axis=-1)
    amount = np.where(answer.amount > 0, answer.amount, 1.0)
    if answer.kind in ("gaussian", "secure"):
        return np.asarray(-0.5 * (distance / amount) ** 2)
    outside = distance > amount * (1 + 1e-9)
    if answer.kind == "sphere":
        outside |= distance < amount * (1 - 1e-9)
    return np.where(outside, _IMPOSSIBLE, 0.0)


@lru_cache(maxsize=16)
def _kept(sampling: Truncated) -> float:
    """Return the mean number of records that are kept: E min(N, B), N binomial."""
    law = stats.binom(sampling.records, float(sampling.sample_rate))
    return float(law.sf(np.arange(sampling.size)).sum())


def _log_mixture(answer: Answer, problem: Any) -> Array:
    """Return the same for an answer about a random batch: the average over how often record 0 is in it."""
    target, other = answer.exact(problem, 0), answer.exact(problem, 1)
    sampling = answer.sampling
    if isinstance(sampling, Poisson | Truncated):
        if other.any():
            return np.zeros(len(target))  # how many others there are matters, too: no score
        rate = chance = float(sampling.sample_rate)
        if isinstance(sampling, Truncated):
            chance = _kept(sampling) / answer.records
        means, chances = [0 * target, target / (rate * answer.records)], [1 - chance, chance]
    else:
        assert isinstance(sampling, Batch)
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
