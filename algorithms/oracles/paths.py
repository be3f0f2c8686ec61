"""The mean gradient along a path, with a privacy cost per length: changes are released, and errors fade."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import DescribedRelease
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles.constants import at_least, per_distance
from dpbounds.algorithms.oracles.differences import DifferenceAnswer, HasDifferences, changes, distances, enforced
from dpbounds.algorithms.oracles.gradients import Gradients
from dpbounds.algorithms.oracles.perturbation import asked_at, count_noise, demand_points, not_finite
from dpbounds.algorithms.unreleased import closed
from dpbounds.errors import BudgetExceeded
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.mechanisms import Gaussian

_SLACK = 2.0**-30  # more than the rounding of a million additions, and of every cost


class PathPen:
    """Writes one entry for all answers of a path; counts them."""

    def __init__(self, ledger: noise.Records, entry: DescribedRelease) -> None:
        self.ledger, self.last, self.taken = ledger, entry, 0

    def write(self) -> None:
        """Count one more answer; the entry is written with the first."""
        if not self.taken:
            self.ledger.release(self.last.mechanism())
        self.taken += 1

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """See ``OpenLedger``."""
        self.ledger.added(squares, numbers, level)


@dataclass(frozen=True, slots=True, eq=False)
class PathGradientOracle:
    """Oracle that updates an estimate g of ∇F along a path, with one entry of the ledger for all updates.

    First ∇F(x) + √V h. After a move of length l to x', with u = Ll/G: ∇F(x') - e^{-u} ∇F(x) + √(V(1 - e^{-2u})) h, to
    be added to e^{-u} g. One record moves the sum of n of these by C(u) = G(1 - e^{-u} + u e^{-u}) at most, as (1 -
    e^{-u})∇f(x') + e^{-u}(∇f(x') - ∇f(x)), and the first by G.

    The ledger gets one Gaussian release with the noise multiplier z. Every answer takes its share (C/σ)² of 1/z², σ the
    noise on the sum; it is a function of the points, which follow from earlier answers, so it is known before the
    answer is made, and an answer that would take more than is left is refused before anything is drawn. So all answers
    of a path together are no more than that Gaussian (``second_order_path_noise.md``, section 5: fill up by another).
    V = z²(G² + 2GLP)/n² lets a path of length P be afforded, as C² <= 2u(1 - e^{-2u})G².

    Where the problem clips each record's difference, L is what it clips at, as in ``GradientDifferenceOracle``.

    Rounding: as in ``GradientDifferenceOracle``, C is enlarged by what rounding of the two gradients may add, and the
    price with it; V is enlarged by a relative 2^-29, shares by 2^-30. Relative to G, C grows as 4.5e-16 n²; where that
    is more than V is enlarged by, or moves are short, the path that is afforded is shorter than P. Utility bounds leave
    that out.

    Attributes:
        length: P > 0: of the longest path that is afforded.
        gradients: A shared memory of exact gradients, or None.
    """

    question: ClassVar[str] = "path"

    problem: HasDifferences
    noise_multiplier: Fraction
    length: Fraction
    generators: Sequence[np.random.Generator]
    ledger: Any
    gradients: Gradients | None = None
    spent: dict[np.random.Generator, float] = field(default_factory=dict)
    noise: noise.Kind = "gaussian"

    def __post_init__(self) -> None:
        if not isinstance(self.ledger, PathPen):
            entry = DescribedRelease(Gaussian(self.noise_multiplier))
            object.__setattr__(self, "ledger", PathPen(self.ledger, entry))
        if self.gradients is None:
            object.__setattr__(self, "gradients", Gradients(self.problem))

    @property
    def noise_stddev(self) -> float:
        """√V, of the first answer and of every error of g: rounded up."""
        G, L = self._constants
        root = math.sqrt(G * G + 2 * G * L * to_float(self.length, "up")) / self.problem.records
        return root * to_float(self.noise_multiplier, "up") * (1 + _SLACK)

    def clock(self, X: Array, previous: Array) -> Array:
        """Return U = L ‖x - y‖/G of every move, shape (R,), rounded up."""
        G, L = self._constants
        u: Array = distances(X, previous) * (L / G * (1 + 2.0**-50))
        return u

    def afforded(self, X: Array, previous: Array) -> NDArray[np.bool_]:
        """Return whether each repetition, shape (R,), can afford another answer."""
        fits: NDArray[np.bool_] = self._left() >= self._shares(X, previous)
        return fits

    def __call__(self, X: Array, *previous: Array) -> DifferenceAnswer:
        """Answer at every row of ``X``, shape (R, p), after a move from ``previous``, or as the first.

        Raises:
            BudgetExceeded: A repetition has not enough left: ask ``afforded``. Nothing is released.
        """
        share = self._shares(X, *previous)
        if (self._left() < share).any():
            raise BudgetExceeded("the path is longer than planned: nothing was released")
        for generator, part in zip(self.generators, share, strict=True):
            self.spent[generator] = self.spent.get(generator, 0.0) + float(part)
        return asked_at(self, self._answer, X, *previous)

    @property
    def _constants(self) -> tuple[float, float]:
        G, L = at_least(self.problem.lipschitz, "lipschitz"), per_distance(self.problem)
        return to_float(G, "up"), to_float(L, "up")

    def _left(self) -> Array:
        all_of_it = 1 / to_float(self.noise_multiplier, "up") ** 2
        return np.array([all_of_it - self.spent.get(generator, 0.0) for generator in self.generators])

    def _shares(self, X: Array, *previous: Array) -> Array:
        """Return (C/σ)², rounded up, shape (R,)."""
        (G, L), n, p = self._constants, self.problem.records, X.shape[1]
        u = self.clock(X, *previous) if previous else np.full(len(X), np.inf)
        faded = np.exp(-u)
        reach = G * (-np.expm1(-u) + np.where(faded > 0, u, 0.0) * faded)
        sizes = G + L * np.sqrt(np.max([(each * each).sum(axis=1) for each in (X, *previous)], axis=0))
        reach += 4.01 * (n + p + 256) * 2.0**-53 * n * sizes
        sigma = n * self._stddevs(u)
        share: Array = np.where(u > 0, (reach / np.where(u > 0, sigma, 1.0)) ** 2 * (1 + _SLACK), 0.0)
        return share

    def _stddevs(self, u: Array) -> Array:
        stddev: Array = self.noise_stddev * np.sqrt(-np.expm1(-2 * u))
        return stddev

    def _answer(self, X: Array, *previous: Array) -> DifferenceAnswer:
        for points in (X, *previous):
            demand_points(points, self.generators, self.problem.dimension)
        assert self.gradients is not None
        u = self.clock(X, *previous) if previous else np.full(len(X), np.inf)
        exact = self.gradients.known(X)[1].copy()
        if previous:
            faded = np.exp(-u)[:, None]
            if enforced(self.problem):
                exact = (1 - faded) * exact + faded * changes(self.problem, X, *previous)
            else:
                exact -= faded * self.gradients.known(*previous)[1]
        if not np.isfinite(exact).all():
            raise not_finite()
        still = u == 0
        exact[still] = 0.0
        stddev = self._stddevs(u)
        self.ledger.write()
        noisy = exact + stddev[:, None] * noise.standard_gaussian(self.generators, X.shape[1])
        if not still.all():
            level = -float(self.noise_multiplier)
            count_noise("gaussian", (noisy - exact)[~still], stddev[~still, None], self.ledger, level)
        return DifferenceAnswer(noisy, closed(exact), stddev)
