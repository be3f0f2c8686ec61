"""The mean gradient of all records, with noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.perturbation import Answer, HasRecords, Perturbing, asked_at, demand_points
from dpbounds.algorithms.unreleased import closed

# Where batches of repetitions end: the first is computed alone, those up to the 8th and to the 32nd side by side, and
# then 32 at a time; one that is not full is padded with zeros. So the r-th result comes from the same computation
# whatever the number of repetitions, and a single one costs what one costs.
BATCH_WIDTH = 32
_FIRST_ENDS = (1, 8)


class HasGradients(HasRecords, Protocol):
    """The requirements of the full-batch oracle on a problem."""

    def objective_and_gradient(self, X: Array) -> tuple[Array, Array]:
        """Objective (R,) and mean gradient (R, p) at every row."""


@dataclass(frozen=True, slots=True, eq=False)
class GradientAnswer(Answer):
    """∇F, shape (R, p), and F^r, shape (R,): ``Unreleased``, too."""

    objective: Array


class Gradients:
    """Exact gradients of all records; the last answer is remembered, for who asks at the same points again.

    Share one between oracles that ask at the same points (a difference after an anchor): each pass over the records is
    then made once.
    """

    def __init__(self, problem: HasGradients) -> None:
        self.problem = problem
        self._last: tuple[Array, Array, Array] | None = None

    def at(self, X: Array) -> tuple[Array, Array]:
        """Objective (R,) and mean gradient (R, p), unreleased: for measurement."""
        return closed(self.known(X))

    def known(self, X: Array) -> tuple[Array, Array]:
        """Return the same for oracles, who do not change them."""
        if self._last is None or not np.array_equal(self._last[0], X):
            self._last = (X.copy(), *in_batches(self.problem, X))
        return self._last[1], self._last[2]


@dataclass(frozen=True, slots=True, eq=False)
class GradientOracle(Perturbing):
    """Oracle of the mean gradient of all n records plus noise: N(0, stddev² I), or of another kind.

    The per-record bound of the *sum* of gradients is G, and noise is given per unit of it: standard deviation (or
    radius) noise_multiplier · G on the sum, that is noise_multiplier · G/n on the mean (n is public). Proof: a record
    that is added contributes one vector of norm at most G; one that is replaced, a difference of two. ∎

    Attributes:
        gradients: A shared memory of exact gradients, or None.
    """

    question: ClassVar[str] = "gradient"

    problem: HasGradients
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind = "gaussian"
    gradients: Gradients | None = None

    @property
    def per_record_bound(self) -> Fraction:
        """G/n: how far adding one record can move the mean with divisor n."""
        return self._bound

    @cached_property  # asked for at every step of a run
    def _bound(self) -> Fraction:
        return at_least(self.problem.lipschitz, "lipschitz") / self.problem.records

    def __call__(self, X: Array) -> GradientAnswer:
        """Answer at every row of ``X`` (shape (R, p), one row per generator) and write one ledger entry."""
        return asked_at(self, self._answer, X)

    def _answer(self, X: Array) -> GradientAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        objective, gradient = in_batches(self.problem, X) if self.gradients is None else self.gradients.known(X)
        noisy = self._secured((X,)) if self.noise == "secure" else self._perturbed(gradient)
        return GradientAnswer(noisy, closed(gradient), closed(objective))


def in_batches(problem: HasGradients, X: Array) -> tuple[Array, Array]:
    """Objective (R,) and mean gradient (R, p); no row's bits depend on how many there are."""
    if len(X) == 1:
        return problem.objective_and_gradient(X)
    objective, gradient = np.empty(len(X)), np.empty(X.shape)
    for rows, points in batches(X):
        values, slopes = problem.objective_and_gradient(points)
        count = rows.stop - rows.start
        objective[rows], gradient[rows] = values[:count], slopes[:count]
    return objective, gradient


def batches(X: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the rows of X, shape (R, p), in batches of queries, each batch padded to its width."""
    start = 0
    for end in (*_FIRST_ENDS, *range(BATCH_WIDTH, len(X) + BATCH_WIDTH, BATCH_WIDTH)):
        if start >= len(X):
            return
        points = X[start:end]
        missing = end - start - len(points)
        yield slice(start, start + len(points)), np.pad(points, ((0, missing), (0, 0))) if missing else points
        start = end
