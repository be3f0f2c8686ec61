"""The mean Hessian of all records, with symmetric noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.perturbation import Answer, HasRecords, Perturbing, demand_points
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.relations import Relation

_GRID = 1 << 40


class HasHessians(HasRecords, Protocol):
    """What the Hessian oracle asks of a problem."""

    @property
    def smoothness(self) -> sympy.Expr | None:
        """L: one record's Hessian has operator norm at most this."""

    def hessian(self, X: Array) -> Array:
        """Mean Hessian (R, p, p) at every row."""


@dataclass(frozen=True, slots=True, eq=False)
class HessianOracle(Perturbing):
    """Answers with the mean Hessian plus symmetric noise: independent N(0, stddev²) on and above the diagonal.

    What is released is the vector of the p(p+1)/2 entries on and above the diagonal; the rest is a copy. Its per-record
    bound: one record's Hessian H has at most r = min(p, rank) eigenvalues λ other than 0, each |λ| <= L, so that
    ‖H‖_F² = Σ λ² <= r L²; the vector's squared norm Σ_i H_ii² + Σ_{i<j} H_ij² is at most ‖H‖_F² (which counts the
    second sum twice). Hence √r L for the sum and √r L/n for the mean, attained for r = p at H = L I, where nothing lies
    off the diagonal. Generalised linear models have rank 1: no factor √p.

    Attributes:
        rank: A public bound on the rank of one record's Hessian, or None for p.
        noise: As everywhere; balls and spheres have the p(p+1)/2 dimensions of the vector.

    Raises:
        InvalidValue: The rank is not a positive whole number, or the problem has no smoothness constant.
    """

    problem: HasHessians
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    rank: int | None = None
    noise: Kind = "gaussian"
    relation: Relation | None = None

    def __post_init__(self) -> None:
        if self.rank is not None:
            positive_integer(self.rank, "rank")

    @property
    def per_record_bound(self) -> Fraction:
        """√r L/n, rounded up by a relative 2^-40 at most where √r is irrational."""
        p = self.problem.dimension
        r = p if self.rank is None else min(p, self.rank)
        root = math.isqrt(r)
        above = Fraction(root) if root * root == r else Fraction(math.isqrt(r * _GRID**2) + 1, _GRID)
        return above * at_least(self.problem.smoothness, "smoothness") / self.problem.records

    def __call__(self, X: Array) -> Answer:
        """Answer ∇²F, shape (R, p, p), at every row of ``X`` (one row per generator) and write one ledger entry."""
        demand_points(X, self.generators, self.problem.dimension)
        p = self.problem.dimension
        # one at a time, so that no repetition's numbers depend on how many there are
        exact = np.concatenate([np.asarray(self.problem.hessian(row[None])) for row in X])
        if exact.shape != (len(X), p, p):
            raise InvalidValue("hessian.shape", exact.shape, f"({len(X)}, {p}, {p})")
        above = np.triu_indices(p)
        vector = self._perturbed(exact[:, above[0], above[1]], relation=self.relation)
        noisy = np.empty_like(exact)
        noisy[:, above[0], above[1]] = vector
        noisy[:, above[1], above[0]] = vector
        return Answer(noisy, exact)
