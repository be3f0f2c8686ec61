"""The mean gradient of all records, with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.perturbation import Answer, HasRecords, Perturbing, demand_points
from dpbounds.privacy.relations import Relation

# Repetitions per matrix product. A fixed width (the last batch is padded with zeros) makes every product the same
# computation, whatever the number of repetitions, so that the r-th result never depends on it.
BATCH_WIDTH = 32


class HasGradients(HasRecords, Protocol):
    """What the full-batch oracle asks of a problem."""

    def objective_and_gradient(self, X: Array) -> tuple[Array, Array]:
        """Objective (R,) and mean gradient (R, p) at every row."""


@dataclass(frozen=True, slots=True, eq=False)
class GradientAnswer(Answer):
    """∇F, shape (R, p), and F^r, shape (R,): for measurement only, too."""

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
        """Objective (R,) and mean gradient (R, p); do not change them."""
        if self._last is None or not np.array_equal(self._last[0], X):
            self._last = (X.copy(), *in_batches(self.problem, X))
        return self._last[1], self._last[2]


@dataclass(frozen=True, slots=True, eq=False)
class GradientOracle(Perturbing):
    """Answers with the mean gradient of all n records plus noise: N(0, stddev² I), unless another kind is asked for.

    The per-record bound of the *sum* of gradients is G, and noise is given per unit of it: standard deviation (or
    radius) noise_multiplier · G on the sum, that is noise_multiplier · G/n on the mean (n is public). Proof: a record
    that is added contributes one vector of norm at most G; one that is replaced, a difference of two. ∎

    Attributes:
        gradients: A shared memory of exact gradients, or None.
    """

    problem: HasGradients
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind = "gaussian"
    relation: Relation | None = None
    gradients: Gradients | None = None

    @property
    def per_record_bound(self) -> Fraction:
        """G/n: how far adding one record can move the mean with divisor n."""
        return at_least(self.problem.lipschitz, "lipschitz") / self.problem.records

    def __call__(self, X: Array) -> GradientAnswer:
        """Answer at every row of ``X`` (shape (R, p), one row per generator) and write one ledger entry."""
        demand_points(X, self.generators, self.problem.dimension)
        objective, gradient = in_batches(self.problem, X) if self.gradients is None else self.gradients.at(X)
        return GradientAnswer(self._perturbed(gradient, relation=self.relation), gradient, objective)


def in_batches(problem: HasGradients, X: Array) -> tuple[Array, Array]:
    """Objective (R,) and mean gradient (R, p), computed ``BATCH_WIDTH`` repetitions at a time."""
    repetitions = len(X)
    padded = np.zeros((-(-repetitions // BATCH_WIDTH) * BATCH_WIDTH, problem.dimension))
    padded[:repetitions] = X
    starts = range(0, len(padded), BATCH_WIDTH)
    answers = [problem.objective_and_gradient(padded[start : start + BATCH_WIDTH]) for start in starts]
    objective, gradient = map(np.concatenate, zip(*answers, strict=True))
    return objective[:repetitions], gradient[:repetitions]
