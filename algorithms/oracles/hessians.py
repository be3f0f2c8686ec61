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
from dpbounds.algorithms.oracles.constants import at_least, per_distance
from dpbounds.algorithms.oracles.differences import DifferenceAnswer, distances, enforced
from dpbounds.algorithms.oracles.perturbation import (
    Answer,
    HasRecords,
    Perturbing,
    asked_at,
    count_noise,
    demand_points,
    not_finite,
)
from dpbounds.algorithms.oracles.secured import secured_vectors
from dpbounds.algorithms.problems.finite_sum import mean_products
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import positive_integer, to_float

_GRID = 1 << 40


class HasHessians(HasRecords, Protocol):
    """The requirements of the Hessian oracle on a problem."""

    @property
    def smoothness(self) -> sympy.Expr | None:
        """L: one record's Hessian has operator norm at most this."""

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """ρ_H: one record's Hessian changes by at most this times the distance."""

    def hessian(self, X: Array) -> Array:
        """Return the mean Hessian (R, p, p) at every row."""


@dataclass(frozen=True, slots=True, eq=False)
class HessianOracle(Perturbing):
    """Answers with the mean Hessian plus symmetric noise: N(0, stddev²) on, N(0, stddev²/2) off the diagonal.

    The release is the vector of the p(p+1)/2 entries on the diagonal and √2 times those above (``as_vectors``), with
    noise N(0, stddev² I). Its per-record bound: its norm is ‖H‖_F, and one record's Hessian H has at most r = min(p,
    rank) eigenvalues λ other than 0, each |λ| <= L, so that ‖H‖_F² = Σ λ² <= r L². Hence √r L for the sum and √r L/n
    for the mean, attained where r eigenvalues are L. Generalised linear models have rank 1: no factor √p. A problem
    that clips (``difference_clip``) clips each ‖H‖_F at L, which is the same bound with r = 1.

    Secure noise. The mean is a sum of doubles, so that the per-record bound of the sum gets what rounding can do, as
    in ``GradientDifferenceOracle``. With u = 2^-53 and ρ_H the Lipschitz constant of one record's Hessian, that Hessian
    (√2 times entries included) is computed to within (p + 260) u √(2r) (L + ρ_H ‖x‖) in Frobenius norm (an error of the
    margin or of the point by (p + 2) u ‖x‖ moves it by ρ_H times that, and the difference of two has rank 2r), and a
    mean of n of them to within n u √r L more: E = 1.01 (n + p + 260) u √(2r) (L + ρ_H ‖x‖). Two neighbours' sums lie
    2nE further apart than exact ones.

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
        if self.noise == "secure" and enforced(self.problem):
            raise UnsupportedMechanism("no secure noise on Hessians that the problem clips: take noise 'gaussian'")

    @property
    def per_record_bound(self) -> Fraction:
        """√r L/n, rounded up by a relative 2^-40 at most where √r is irrational."""
        r = self._rank
        root = math.isqrt(r)
        above = Fraction(root) if root * root == r else Fraction(math.isqrt(r * _GRID**2) + 1, _GRID)
        return above * per_distance(self.problem) / self.problem.records

    @property
    def _rank(self) -> int:
        """Return r, the largest rank of one record's Hessian."""
        p = self.problem.dimension
        return p if self.rank is None else min(p, self.rank)

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
        L, bend = per_distance(problem), at_least(problem.hessian_lipschitz, "hessian_lipschitz")
        if not np.isfinite(entries).all():
            raise not_finite()
        unit = Fraction(101 * (n + problem.dimension + 260) * (math.isqrt(2 * self._rank) + 1), 100 * 2**53)
        norms = distances(X, np.zeros_like(X))
        return secured_vectors(
            entries,
            bounds=[n * (self.per_record_bound + 2 * unit * (L + bend * Fraction(float(norm)))) for norm in norms],
            records=n,
            noise_multiplier=self.noise_multiplier,
            ledger=self.ledger,
        )


@dataclass(frozen=True, slots=True, eq=False)
class HessianProductOracle:
    """Answers with ∇²F(x) v over all records plus Gaussian noise in proportion of ‖v‖.

    Per-record bound. One record's ∇²f(x, z) v is no longer than L ‖v‖ by smoothness, or clipped to that where the
    problem clips (``difference_clip``), so that one record moves the mean by L ‖v‖/n. v is the algorithm's, a function
    of what was released before, as x is; given both, the noise in units of the bound is a constant, fixed in advance,
    as for ``GradientDifferenceOracle``. Where v = 0 answer and noise are 0.

    Rounding. A record's product is computed to within (p + 256) u (L + ρ_H ‖x‖) ‖v‖, u = 2^-53 and ρ_H the Lipschitz
    constant of its Hessian, and a mean of n of them to within n u L ‖v‖ more; four such means enter (a mean and its
    rounding, of two neighbours), so that 4 (n + p + 256) u (L + ρ_H ‖x‖) ‖v‖ is added to the bound of the mean, as
    there. Where the problem clips its products nothing is added: a computed product is no longer than L ‖v‖.

    Raises:
        UnsupportedMechanism: The problem clips differences, and no products.
        InvalidValue: It does not, and has no L.
    """

    question: ClassVar[str] = "product"

    problem: Any
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind = "gaussian"

    def __post_init__(self) -> None:
        if enforced(self.problem) and not hasattr(self.problem, "summed_products"):
            raise UnsupportedMechanism("a problem that clips has to clip its products with Hessians, too")
        per_distance(self.problem)
        if self.noise != "gaussian":
            raise InvalidValue("noise", repr(self.noise), "'gaussian' on products with Hessians")

    def __call__(self, X: Array, V: Array) -> DifferenceAnswer:
        """Answer at every row of ``X`` in the direction of the same row of ``V``, (R, p) each: one ledger entry."""
        return asked_at(self, self._answer, X, V)

    def exact(self, X: Array, V: Array) -> Array:
        """Return ∇²F(x) v at every row, shape (R, p): unreleased."""
        return closed(self._exact(X, V))

    def _exact(self, X: Array, V: Array) -> Array:
        if not enforced(self.problem):
            return mean_products(self.problem, X, V)
        every = np.arange(self.problem.records)
        sums = [self.problem.summed_products(x, v, every) for x, v in zip(X, V, strict=True)]
        found: Array = np.stack(sums) / self.problem.records
        return found

    def _bounds(self, X: Array) -> Array:
        """Return the sensitivity of the mean per length of v, rounded up, shape (R,)."""
        L, n = per_distance(self.problem), self.problem.records
        bound = np.full(len(X), to_float(L / n, "up"))
        if enforced(self.problem):
            return bound
        bend = to_float(at_least(self.problem.hessian_lipschitz, "hessian_lipschitz"), "up")
        ulps = 4.01 * (n + X.shape[1] + 256) * 2.0**-53
        floored: Array = bound + ulps * (to_float(L, "up") + bend * distances(X, np.zeros_like(X)))
        return floored

    def _answer(self, X: Array, V: Array) -> DifferenceAnswer:
        demand_points(X, self.generators, self.problem.dimension)
        demand_points(V, self.generators, self.problem.dimension, "V")
        exact = self._exact(X, V)
        if not np.isfinite(exact).all():
            raise not_finite()
        stddev = distances(V, np.zeros_like(V)) * self._bounds(X) * float(self.noise_multiplier) * (1 + 2.0**-48)
        entry = noise.described("gaussian", self.noise_multiplier, X.shape[1])
        drawn = noise.per_unit(
            "gaussian",
            self.generators,
            X.shape[1],
            noise_multiplier=self.noise_multiplier,
            described=entry,
            ledger=self.ledger,
        )
        drawn *= (stddev / float(self.noise_multiplier))[:, None]
        noisy, moved = exact + drawn, stddev > 0
        if moved.any():
            level = -float(self.noise_multiplier)
            count_noise("gaussian", (noisy - exact)[moved], stddev[moved, None], self.ledger, level)
        return DifferenceAnswer(noisy, closed(exact), stddev)


def as_vectors(matrices: Array) -> Array:
    """Return symmetric matrices, shape (R, p, p), as vectors of the same norm, shape (R, p(p+1)/2)."""
    above, scale = _upper(matrices.shape[-1])
    vectors: Array = matrices[:, above[0], above[1]] * scale
    return vectors


def _upper(dimension: int) -> tuple[tuple[Any, Any], Array]:
    """Return the indices of the entries on and above the diagonal, and 1 or √2 for each."""
    above = np.triu_indices(dimension)
    return above, np.where(above[0] == above[1], 1.0, math.sqrt(2))
