"""Oracles: what an algorithm may ask about the data. They add the noise and write the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import NDArray

from algorithms import noise
from algorithms.problems.problem import Problem
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

Array = NDArray[np.float64]

# Repetitions per matrix product. A fixed width (the last batch is padded with zeros) makes every product the same
# computation, whatever the number of repetitions, so that the r-th result never depends on it.
BATCH_WIDTH = 16


@dataclass(frozen=True, slots=True, eq=False)
class GradientAnswer:
    """One answer of a gradient oracle for R repetitions.

    Attributes:
        noisy: ∇F + e, shape (R, p): what the algorithm may use.
        exact: ∇F, shape (R, p): for measurement only; it is not covered by the ledger and must not steer a run.
        objective: F^r, shape (R,): for measurement only, as well.
    """

    noisy: Array
    exact: Array
    objective: Array


@dataclass(frozen=True, slots=True, eq=False)
class GradientOracle:
    """Answers with the mean gradient of all n records plus N(0, stddev² I).

    The per-record bound of the *sum* of gradients is G, and noise is given per unit of it: standard deviation
    noise_multiplier · G on the sum, that is noise_multiplier · G/n on the mean (n is public).

    Attributes:
        problem: Supplies gradients, n and G.
        noise_multiplier: Greater than 0, exact.
        generators: One stream per repetition.
        ledger: Gets one entry per answer.
    """

    problem: Problem
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records

    @property
    def per_record_bound(self) -> Fraction:
        """G/n: how far adding one record can move the mean with divisor n."""
        return rational(self.problem.lipschitz, "lipschitz") / self.problem.records

    @property
    def noise_stddev(self) -> float:
        """The standard deviation that is drawn on the mean: the planned one, rounded up to a double."""
        return to_float(self.noise_multiplier * self.per_record_bound, "up")

    def __call__(self, X: Array) -> GradientAnswer:
        """Answer at every row of ``X`` (shape (R, p), one row per generator) and write one ledger entry."""
        objective, gradient = in_batches(self.problem, X)
        drawn = noise.gaussian(
            self.generators,
            self.problem.dimension,
            noise_stddev=self.noise_stddev,
            per_record_bound=self.per_record_bound,
            ledger=self.ledger,
        )
        return GradientAnswer(noisy=gradient + drawn, exact=gradient, objective=objective)


def in_batches(problem: Problem, X: Array) -> tuple[Array, Array]:
    """Objective (R,) and mean gradient (R, p), computed ``BATCH_WIDTH`` repetitions at a time."""
    repetitions = len(X)
    padded = np.zeros((-(-repetitions // BATCH_WIDTH) * BATCH_WIDTH, problem.dimension))
    padded[:repetitions] = X
    answers = [
        problem.objective_and_gradient(padded[start : start + BATCH_WIDTH])
        for start in range(0, len(padded), BATCH_WIDTH)
    ]
    objective = np.concatenate([value for value, _ in answers])
    gradient = np.concatenate([slope for _, slope in answers])
    return objective[:repetitions], gradient[:repetitions]


def rational(constant: sympy.Expr, name: str) -> Fraction:
    """Return a rational SymPy constant as a fraction, or raise ``InvalidValue`` where it is irrational."""
    if not isinstance(constant, sympy.Rational):
        raise InvalidValue(name, constant, "a rational number", "round it up to one: a larger bound is still a bound")
    return Fraction(int(constant.p), int(constant.q))
