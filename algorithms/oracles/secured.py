"""Answers with secure noise: records' parts one by one, to be added as whole numbers (``secure_noise``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms import noise, secure_noise
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles.choices import WhichChoice, choice
from dpbounds.algorithms.problems.finite_sum import record_gradients
from dpbounds.algorithms.sampling import Sampling, sampled
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.relations import Relation

Rows = NDArray[np.int64]

_NUMBERS_AT_ONCE = 1 << 18


def secured_means(
    problem: Any,
    points: Sequence[Array],
    rows: Sequence[Rows] | None,
    *,
    bounds: Sequence[Fraction],
    divisor: Fraction,
    noise_multiplier: Fraction,
    sampling: Sampling,
    ledger: noise.Records,
    kept: Fraction = Fraction(1),
) -> Array:
    """Write the release, then answer with noisy means of records' gradients, or of how these changed.

    Args:
        problem: Has ``record_gradients`` or ``batch_gradient``.
        points: X, shape (R, p), or X and previous.
        rows: Each repetition's records; None for all, or those of the problem where it is a part of one.
        bounds: C per repetition, of the sum; 0 for what is 0 on both neighbours.
        divisor: The public divisor of the sum.
        noise_multiplier: Per unit of C.
        sampling: The sampling of the records.
        ledger: Gets the Gaussian, per unit of C, that dominates what is drawn.
        kept: The part of the gradient at ``previous`` that is subtracted.

    Raises:
        InvalidValue: The multiplier is not allowed, a number is not finite, or the problem has no single records.
        MissingSampler: The extra ``secure`` is not installed. Nothing was written.
    """
    secure_noise.demand_multiplier(noise_multiplier)
    p = points[0].shape[1]
    own = _every_row(problem, len(points[0])) if rows is None else rows
    grids = [secure_noise.grid(bound, p) if bound else (0, 0) for bound in bounds]
    totals = [
        secure_noise.whole_sum(_parts(problem, at, each, float(kept)), k, most) if most else np.zeros(p, np.int64)
        for at, each, (k, most) in zip(zip(*points, strict=True), own, grids, strict=True)
    ]
    ledger.release(sampled(Gaussian(noise_multiplier), sampling))
    noisy = secure_noise.gaussian(
        totals, [most for _, most in grids], [k for k, _ in grids], noise_multiplier=noise_multiplier, ledger=ledger
    )
    noisy /= float(divisor)
    return noisy


def secured_vectors(
    means: Array, *, bounds: Sequence[Fraction], records: int, noise_multiplier: Fraction, ledger: noise.Records
) -> Array:
    """Write the release, then answer with computed means, rounded to whole numbers, and noise.

    Args:
        means: Shape (R, d).
        bounds: Per repetition, at least how far one record can move the sum plus how far the computed sums of two
            neighbours can lie from the exact ones, together.
        records: n, the divisor.
        noise_multiplier: Per unit of the bound.
        ledger: Gets the Gaussian, per unit of the bound.

    Raises:
        InvalidValue: The multiplier is not allowed, or an answer is not finite or too large for the grid.
        MissingSampler: The extra ``secure`` is not installed. Nothing was written.
    """
    secure_noise.demand_multiplier(noise_multiplier)
    grids = [secure_noise.grid(bound, means.shape[1]) for bound in bounds]
    totals = [secure_noise.whole(mean * records, k) for mean, (k, _) in zip(means, grids, strict=True)]
    ledger.release(Gaussian(noise_multiplier))
    noisy = secure_noise.gaussian(
        totals, [most for _, most in grids], [k for k, _ in grids], noise_multiplier=noise_multiplier, ledger=ledger
    )
    noisy /= records
    return noisy


def secured_choice(
    parts: Callable[[int], Iterable[Array]],
    repetitions: int,
    bound: Fraction,
    public: Array | None,
    epsilon: Fraction,
    relation: Relation,
    method: WhichChoice,
    ledger: noise.Records,
) -> NDArray[np.int64]:
    """Write the choice, then choose one of N candidates per repetition by exact sums of records' scores.

    Args:
        parts: From a repetition to blocks of records' parts of the scores, shape (b, N), the higher the better.
        repetitions: R.
        bound: C: a record's parts are kept to [-C, C].
        public: Terms that are added to the sums for any records, shape (N,), or None.
        epsilon: ε > 0.
        relation: The neighbouring relation.
        method: The mechanism of the choice.
        ledger: Gets the mechanism of ``choices.choice``.

    Raises:
        MissingSampler: The extra ``secure`` is not installed. Nothing was written.
    """
    secure_noise.library()
    k, most = secure_noise.grid(bound, 1)
    totals = [secure_noise.whole_sum(parts(r), k, most, entries=True) for r in range(repetitions)]
    if public is not None:
        totals = [total + secure_noise.whole(public, k) for total in totals]
    ledger.release(choice(epsilon, relation, method))
    drawn = [
        secure_noise.choice(
            total,
            most,
            factor=relation.sensitivity_factor,
            epsilon=epsilon,
            gumbel=method != "noisy-max",
            ledger=ledger,
        )
        for total in totals
    ]
    return np.array(drawn, dtype=np.int64)


def blocks_of(records: int, numbers: int) -> Iterator[Rows]:
    """Yield all records in order, in blocks small enough for ``numbers`` numbers per record."""
    width = max(1, _NUMBERS_AT_ONCE // numbers)
    for start in range(0, records, width):
        yield np.arange(start, min(start + width, records))


def _every_row(problem: Any, repetitions: int) -> Sequence[Rows]:
    """Return all records, for each repetition; of a part of a problem those that it says are its own."""
    own = getattr(problem, "rows", None)
    if isinstance(own, np.ndarray) and own.shape == (repetitions, problem.records):
        return list(own)
    return [np.arange(problem.records)] * repetitions


def _parts(problem: Any, at: Sequence[Array], rows: Rows, kept: float) -> Iterator[Array]:
    """Yield blocks of records' gradients at a point, or of their differences at two; 0 if no record was drawn."""
    if not len(rows):
        yield np.zeros((1, len(at[0])))
    width = max(1, _NUMBERS_AT_ONCE // len(at[0]))
    for start in range(0, len(rows), width):
        own = rows[start : start + width]
        here, *before = (record_gradients(problem, x, own) for x in at)
        yield here - kept * before[0] if before else here
