"""The mean Hessian of all records, with symmetric noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.differences import distances
from dpbounds.algorithms.oracles.perturbation import (
    Answer,
    HasRecords,
    Perturbing,
    asked_at,
    demand_points,
    not_finite,
)
from dpbounds.algorithms.oracles.secured import secured_vectors
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer

_GRID = 1 << 40


class HasHessians(HasRecords, Protocol):
    """What the Hessian oracle asks of a problem."""

    @property
    def smoothness(self) -> sympy.Expr | None:
        """L: one record's Hessian has operator norm at most this."""

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """H: one record's Hessian changes by at most this times the distance."""

    def hessian(self, X: Array) -> Array:
        """Mean Hessian (R, p, p) at every row."""


@dataclass(frozen=True, slots=True, eq=False)
class HessianOracle(Perturbing):
    """Answers with the mean Hessian plus symmetric noise: N(0, stddev²) on, N(0, stddev²/2) off the diagonal.

    What is released is the vector of the p(p+1)/2 entries on the diagonal and √2 times those above (``as_vectors``),
    with noise N(0, stddev² I). Its per-record bound: its norm is ‖H‖_F, and one record's Hessian H has at most r =
    min(p, rank) eigenvalues λ other than 0, each |λ| <= L, so that ‖H‖_F² = Σ λ² <= r L². Hence √r L for the sum and
    √r L/n for the mean, attained where r eigenvalues are L. Generalised linear models have rank 1: no factor √p.

    Secure noise. The mean is a sum of doubles, so that the per-record bound of the sum gets what rounding can do, as
    in ``GradientDifferenceOracle``. With u = 2^-53 and H the Lipschitz constant of one record's Hessian, this (√2
    times entries included) is computed to within (p + 260) u √(2r) (L + H ‖x‖) in Frobenius norm (an error of the
    margin or of the point by (p + 2) u ‖x‖ moves it by H times that, and the difference of two has rank 2r), and a
    mean of n of them to within n u √r L more: E = 1.01 (n + p + 260) u √(2r) (L + H ‖x‖). Two neighbours' sums lie 2nE
    further apart than exact ones.

    Attributes:
        rank: A public bound on the rank of one record's Hessian, or None for p.
        noise: As everywhere; balls and spheres have the p(p+1)/2 dimensions of the vector.

    Raises:
        InvalidValue: The rank is not a positive whole number, or the problem has no smoothness constant.
    """

    question: ClassVar[str] = "Hessian"

    problem: HasHessians
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    rank: int | None = None
    noise: Kind = "gaussian"

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
        return asked_at(self, self._answer, X)

    def _answer(self, X: Array) -> Answer:
        demand_points(X, self.generators, self.problem.dimension)
        p = self.problem.dimension
        # one at a time, so that no repetition's numbers depend on how many there are
        exact = np.concatenate([np.asarray(self.problem.hessian(row[None])) for row in X])
        if exact.shape != (len(X), p, p):
            raise InvalidValue("hessian.shape", exact.shape, f"({len(X)}, {p}, {p})")
        entries = as_vectors(exact)
        noisy = self._secured_vector(X, entries) if self.noise == "secure" else self._perturbed(entries)
        above, scale = _upper(p)
        matrices = np.empty_like(exact)
        matrices[:, above[0], above[1]] = matrices[:, above[1], above[0]] = noisy / scale
        return Answer(matrices, closed(exact))

    def _secured_vector(self, X: Array, entries: Array) -> Array:
        problem, n = self.problem, self.problem.records
        r = problem.dimension if self.rank is None else min(problem.dimension, self.rank)
        L = at_least(problem.smoothness, "smoothness")
        H = at_least(problem.hessian_lipschitz, "hessian_lipschitz")
        if not np.isfinite(entries).all():
            raise not_finite()
        unit = Fraction(101 * (n + problem.dimension + 260) * (math.isqrt(2 * r) + 1), 100 * 2**53)
        norms = distances(X, np.zeros_like(X))
        return secured_vectors(
            entries,
            bounds=[n * (self.per_record_bound + 2 * unit * (L + H * Fraction(float(norm)))) for norm in norms],
            records=n,
            noise_multiplier=self.noise_multiplier,
            ledger=self.ledger,
        )


def as_vectors(matrices: Array) -> Array:
    """Symmetric matrices, shape (R, p, p), as vectors of the same norm, shape (R, p(p+1)/2)."""
    above, scale = _upper(matrices.shape[-1])
    vectors: Array = matrices[:, above[0], above[1]] * scale
    return vectors


def _upper(dimension: int) -> tuple[tuple[Any, Any], Array]:
    """Where the entries on and above the diagonal are, and 1 or √2 for each."""
    above = np.triu_indices(dimension)
    return above, np.where(above[0] == above[1], 1.0, math.sqrt(2))
