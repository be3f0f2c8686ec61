"""Disjoint bumps: the choice of a coin, or the search for one marked place, as a Lipschitz loss.

On the l2 ball of radius R, the points c_v = R v/√p for v in {-1, +1}^p lie on the sphere, at mutual distances of at
least 2R/√p, which exceeds R/2 for p <= 15. So b_v(x) = max(0, R/4 - ‖x - c_v‖) are 2^p bumps with disjoint supports.
A record is a row of weights w_v in {0, 1}, and

    f(x, w) = -G Σ_v w_v b_v(x):

G-Lipschitz (at most one bump differs from 0 near any x; between two of them f is 0), with values in [-GR/4, 0].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.problems.points import checked_points, checked_rows, positive
from dpbounds.algorithms.problems.surfaces import lengths, no_hessian
from dpbounds.errors import InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import theorem_5_9_explicit, theorem_5_11_explicit

_LARGEST_DIMENSION = 15  # 2/√p > 1/2
_LARGEST_TABLE = 1 << 28  # bytes of weights
_BLOCK = 1 << 20  # coins flipped at once

Weights = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Bumps(FiniteSum):
    """F(x) = -G Σ_v w̄_v b_v(x) on the ball of radius R, where w̄ is the mean of the records' weights.

    Not smooth (at the tips and where a bump meets the plain; the gradient there is returned as 0). From x₁ = 0, where F
    and its gradient are 0, no gradient shows the way to a bump.

    Attributes:
        weights: w, shape (n, 2^p) of 0 and 1, read-only. Bump v has the index Σ_j 2^j [v_j = +1].
        slope: G > 0.
        radius: R > 0.
        notes: The origin of the records.
    """

    weights: Weights = field(repr=False)
    slope: Fraction
    radius: Fraction
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        table = self.weights
        if table.dtype != np.uint8 or table.ndim != 2 or 0 in table.shape or table.max() > 1:
            raise InvalidValue("weights", "others", "bytes, 0 or 1, of shape (n, 2^p)")
        if table.shape != (self.records, 2**self.dimension):
            raise InvalidValue("weights.shape", table.shape, "(n, 2^p)")
        _sizes(self.records, self.dimension)
        positive(self.slope, "slope")
        positive(self.radius, "radius")
        if table.flags.writeable:
            table = table.copy()
            table.flags.writeable = False
            object.__setattr__(self, "weights", table)

    @property
    def records(self) -> int:
        """n, public."""
        return int(self.weights.shape[0])

    @property
    def candidates(self) -> int:
        """The number of bumps k = 2^p."""
        return int(self.weights.shape[1])

    @property
    def dimension(self) -> int:
        """The dimension p."""
        return self.candidates.bit_length() - 1

    @property
    def initial_point(self) -> Array:
        """x₁ = 0, shape (p,), at distance R from all bumps' centres."""
        return np.zeros(self.dimension)

    @property
    def lipschitz(self) -> sympy.Expr:
        """G, attained on every bump of weight 1."""
        return sympy.Rational(self.slope)

    @property
    def smoothness(self) -> sympy.Expr | None:
        """None: the gradient jumps."""
        return None

    @property
    def hessian_lipschitz(self) -> sympy.Expr | None:
        """None: there is no Hessian."""
        return None

    @property
    def loss_range(self) -> sympy.Expr:
        """GR/4, attained by a record with a bump: 0 at x = 0 and -GR/4 at its tip."""
        return sympy.Rational(self.slope * self.radius / 4)

    @property
    def initial_gap(self) -> sympy.Expr:
        """GR/4 >= F(0) - inf F, for every dataset."""
        return self.loss_range

    @property
    def centres(self) -> Array:
        """c_v, shape (2^p, p), by index."""
        return self.centre(np.arange(self.candidates))

    def centre(self, indices: ArrayLike) -> Array:
        """Return c_v of these indices, shape (..., p)."""
        bits = (np.asarray(indices)[..., None] >> np.arange(self.dimension)) & 1
        corners: Array = np.where(bits == 1, 1.0, -1.0)
        return corners * (float(self.radius) / math.sqrt(self.dimension))

    def nearest(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the index of the centre nearest to each row, by the signs of its coordinates; shape (R,)."""
        return self._bump(self._points(X))[0]

    def heights(self, X: ArrayLike) -> Array:
        """Return b_v(x) of the nearest bump v, shape (R,): all others are 0."""
        return self._bump(self._points(X))[1]

    def objective_and_gradient(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return F and ∇F in one pass."""
        nearest, height, towards = self._bump(self._points(X))
        mean = self.weights[:, nearest].mean(axis=0, dtype=np.float64)
        return -float(self.slope) * mean * height, float(self.slope) * mean[:, None] * towards

    def objective_at(self, points: ArrayLike) -> Array:
        """Return F at N points, shape (N,)."""
        nearest, height, _ = self._bump(self._points(points))
        values: Array = -float(self.slope) * self.weights.mean(axis=0)[nearest] * height
        return values

    def batch_gradient(self, X: ArrayLike, rows: ArrayLike) -> Array:
        """Return the mean gradient over each repetition's own records, ``rows`` of shape (R, b); returns (R, p)."""
        points = self._points(X)
        chosen = checked_rows(rows, len(points), self.records)
        nearest, _, towards = self._bump(points)
        mean = self.weights[chosen, nearest[:, None]].mean(axis=1)
        means: Array = float(self.slope) * mean[:, None] * towards
        return means

    def hessian(self, X: ArrayLike) -> Array:
        """Raise ``InvalidValue``: there is none."""
        raise no_hessian("disjoint bumps")

    def population_risk(self, X: ArrayLike, probabilities: ArrayLike) -> Array:
        """Return F_P - min F_P = G (max p R/4 - p_v b_v(x)) at every row, shape (R,), with p_v = P(w_v = 1)."""
        chances = _checked_probabilities(probabilities, self.candidates)
        nearest, height, _ = self._bump(self._points(X))
        risks: Array = float(self.slope) * (chances.max() * float(self.radius) / 4 - chances[nearest] * height)
        return risks

    def _bump(self, points: Array) -> tuple[NDArray[np.int64], Array, Array]:
        """Return the nearest bump's index, its height at the point, and the direction from its centre (0 outside)."""
        nearest: NDArray[np.int64] = ((points > 0) << np.arange(self.dimension)).sum(axis=1)
        away = points - self.centre(nearest)
        distance = lengths(away)
        height = float(self.radius) / 4 - distance
        inside = (height > 0) & (distance > 0)
        return nearest, np.maximum(height, 0.0)[:, 0], np.where(inside, away / np.where(inside, distance, 1.0), 0.0)

    def _points(self, X: ArrayLike) -> Array:
        return checked_points(X, self.dimension, self.radius)


def coins(
    records: int,
    dimension: int,
    probabilities: ArrayLike | None = None,
    slope: ExactLike = 1,
    radius: ExactLike = 1,
    seed: int = 0,
) -> Bumps:
    """Return n records of 2^p coin flips: the case behind the lower bound √(p/n) that holds without privacy.

    Args:
        records: n.
        dimension: p, from 1 to 15.
        probabilities: P(w_v = 1), shape (2^p,); None for ``hard_coins``, with the special bump drawn by the seed.
        slope: G > 0.
        radius: R > 0.
        seed: The seed of the records.

    Raises:
        InvalidValue: A number is not allowed, or n 2^p weights are too many (here and below).

    Source: Ganesh, Liu, Oh & Thakurta 2023, Theorem 5.10 made explicit (there a weight is one minus a coin).
    """
    n, p = _sizes(records, dimension)
    generator = np.random.default_rng(seed)
    special = int(generator.integers(2**p))
    chances = hard_coins(n, p, special) if probabilities is None else _checked_probabilities(probabilities, 2**p)
    weights = np.empty((n, 2**p), dtype=np.uint8)
    height = max(1, _BLOCK >> p)
    for start in range(0, n, height):
        block = weights[start : start + height]
        block[:] = generator.random(block.shape) < chances
    return _bumps(weights, slope, radius, f"{2**p} coins, flipped {n} times (seed {seed})")


def hard_coins(records: int, dimension: int, special: int) -> Array:
    """Return P(w_v = 1) of the lower bound's proof: 1/2, and 1/2 + γ for the special bump; shape (2^p,).

    γ = min(1/4, (√3/8)√(ln k/n)), k = 2^p, is twice the risk of choosing a coin that the proof arrives at; it asks for
    k >= 16, below which γ is a mere choice.
    """
    n, p = _sizes(records, dimension)
    values = {symbols.candidates: sympy.Integer(2**p), symbols.dataset_size: sympy.Integer(n)}
    gap = 2 * evaluate(theorem_5_9_explicit.bound.subs(values), {}).lower
    chances = np.full(2**p, 0.5)
    chances[_checked_index(special, 2**p)] += gap
    return chances


def marked(
    records: int,
    dimension: int,
    mark: int,
    probability: float,
    slope: ExactLike = 1,
    radius: ExactLike = 1,
    seed: int = 0,
) -> Bumps:
    """Return n records that carry the bump of index ``mark`` with probability q in [0, 1] and are empty otherwise.

    The case behind the lower bound for what privacy costs: see ``hard_probability``. Other arguments as for ``coins``.

    Source: Ganesh, Liu, Oh & Thakurta 2023, Theorem 5.11 made explicit.
    """
    n, p = _sizes(records, dimension)
    if not 0 <= probability <= 1:
        raise InvalidValue("probability", probability, "a number from 0 to 1")
    weights = np.zeros((n, 2**p), dtype=np.uint8)
    weights[:, _checked_index(mark, 2**p)] = np.random.default_rng(seed).random(n) < probability
    return _bumps(weights, slope, radius, f"records carry bump {mark} with probability {probability:g} (seed {seed})")


def hard_probability(records: int, dimension: int, epsilon: ExactLike, delta: ExactLike) -> float:
    """Return the q at which no (ε, δ)-DP algorithm finds the mark: min(1, λ/(n(e^ε - 1))) of the lower bound's proof.

    Read off that bound, GD q/16, at G = D = 1, for ε > 0 and δ in [0, 1); 0 where it says nothing.
    """
    n, p = _sizes(records, dimension)
    level, slack = positive(epsilon, "epsilon"), exact(delta, "delta")
    if not 0 <= slack < 1:
        raise InvalidValue("delta", delta, "at least 0 and less than 1")
    formula = theorem_5_11_explicit.pure if slack == 0 else theorem_5_11_explicit.approximate
    values = {
        symbols.lipschitz: sympy.Integer(1),
        symbols.diameter: sympy.Integer(1),
        symbols.dataset_size: sympy.Integer(n),
        symbols.dimension: sympy.Integer(p),
        symbols.epsilon: sympy.Rational(level),
        symbols.delta: sympy.Rational(slack),
    }
    return 16 * max(0.0, evaluate(formula.subs(values), {}).lower)


def _bumps(weights: Weights, slope: ExactLike, radius: ExactLike, note: str) -> Bumps:
    weights.flags.writeable = False  # else a copy would be made
    return Bumps(weights, positive(slope, "slope"), positive(radius, "radius"), (note,))


def _sizes(records: int, dimension: int) -> tuple[int, int]:
    n, p = positive_integer(records, "records"), positive_integer(dimension, "dimension")
    if p > _LARGEST_DIMENSION:
        allowed = f"at most {_LARGEST_DIMENSION}"
        raise InvalidValue("dimension", dimension, allowed, "beyond, the corners of a cube are too close to each other")
    if n * 2**p > _LARGEST_TABLE:
        raise InvalidValue("records", records, f"at most {_LARGEST_TABLE >> p} in dimension {p}", "the table is n 2^p")
    return n, p


def _checked_index(index: int, candidates: int) -> int:
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < candidates:
        raise InvalidValue("index of the bump", index, f"a whole number from 0 to {candidates - 1}")
    return index


def _checked_probabilities(probabilities: ArrayLike, candidates: int) -> Array:
    chances = np.asarray(probabilities, dtype=np.float64)
    if chances.shape != (candidates,):
        raise InvalidValue("probabilities.shape", chances.shape, f"({candidates},), one per bump")
    if not ((chances >= 0) & (chances <= 1)).all():
        raise InvalidValue("probabilities", "one outside", "numbers from 0 to 1")
    return chances
