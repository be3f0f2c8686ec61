"""The regularised Gibbs distribution on a ball, and its exact sampler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from dpbounds.algorithms.oracles import at_least
from dpbounds.algorithms.problems.finite_sum import Array, FiniteSum
from dpbounds.algorithms.selection.balls import demand_fit, objective_in_batches, steepest
from dpbounds.algorithms.selection.nets import LARGEST_NET, Net, grid
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

# A point of a cube is kept with probability at least e^(-2βSr), at βSr = 1 one in seven (but for ball and regulariser).
_STEEPNESS = 1


@dataclass(frozen=True, slots=True, eq=False)
class Gibbs:
    """The density proportional to exp(-β(F(x) + (μ/2)‖x‖²)) on the ball {‖x‖ <= R} in R^p, with μ = p/(D²β), D = 2R.

    Attributes:
        problem: Supplies F.
        radius: R > 0.
        inverse_temperature: β > 0, in units of 1/loss; a double, exactly.

    Raises:
        InvalidValue: The problem has another dimension, a smaller ball, or no Lipschitz constant.
    """

    problem: FiniteSum
    radius: Fraction
    inverse_temperature: Fraction

    def __post_init__(self) -> None:
        demand_fit(self.problem, self.dimension, self.radius)
        at_least(steepest(self.problem), "lipschitz")

    @property
    def dimension(self) -> int:
        """The dimension p."""
        return self.problem.dimension

    @property
    def diameter(self) -> sympy.Rational:
        """D = 2R."""
        return sympy.Rational(2 * self.radius)

    @property
    def slope(self) -> Fraction:
        """βS: at least the Lipschitz constant of βF on the ball."""
        return self.inverse_temperature * at_least(steepest(self.problem), "lipschitz")

    @property
    def precision(self) -> Fraction:
        """βμ = p/D²."""
        return Fraction(self.dimension) / (2 * self.radius) ** 2

    def exponent(self, X: Array) -> Array:
        """Return βF at every row of ``X``, without the regulariser."""
        return float(self.inverse_temperature) * objective_in_batches(self.problem, X)


def net_for(target: Gibbs, largest: int = LARGEST_NET) -> Net:
    """Return a net of the ball on whose cubes βF differs by at most 1 from its value at the net's point."""
    return grid(target.dimension, target.radius, min(target.radius, _STEEPNESS / target.slope), largest)


def sample_exactly(target: Gibbs, generators: Sequence[np.random.Generator], largest: int = LARGEST_NET) -> Array:
    """Draw from the Gibbs distribution by rejection from a function that is constant on the cubes of a net.

    On the part of cube c that lies in the ball, βF >= βF(w_c) - βSr, as no point of it is farther than r from the net's
    point w_c. So exp(βSr - βF(w_c)), c being a cube, is above the unnormalised density. Draw a cube with probability
    proportional to it (the cubes are of equal volume), a point x of the cube uniformly, refuse it outside the ball, and
    keep it with probability exp(βF(w_c) - βSr - βF(x) - βμ‖x‖²/2) <= 1: what is kept has the target's distribution,
    exactly. How long it takes depends on the data: who may see a clock must not see this one. Each repetition draws
    what it needs from a generator of its own; returns shape (R, p).

    Raises:
        InvalidValue: The net would be too large, or the objective is steeper than the problem's constants say.
    """
    net = net_for(target, largest)
    heights = float(target.inverse_temperature) * target.problem.objective_at(net.points)
    weights = np.cumsum(np.exp(heights.min() - heights))
    slack = to_float(target.slope * net.covering_radius, "up")
    radius, precision = to_float(target.radius, "down"), float(target.precision)
    found = np.empty((len(generators), target.dimension))
    waiting = np.arange(len(generators))
    while len(waiting):
        uniform = np.stack([generators[r].random(target.dimension + 2) for r in waiting.tolist()])
        cubes = np.minimum(np.searchsorted(weights, uniform[:, 0] * weights[-1], side="right"), net.size - 1)
        points = net.centres[cubes] + (uniform[:, 1:-1] - 0.5) * net.side
        squares = (points * points).sum(axis=1)
        inside = squares <= radius**2
        level = target.exponent(np.where(inside[:, None], points, 0.0))
        logarithm = heights[cubes] - level - slack
        if (logarithm[inside] > 1e-6 * (1 + np.abs(level[inside]))).any():
            raise InvalidValue("lipschitz", float(steepest(target.problem)), "a Lipschitz constant of the objective")
        kept = inside & (np.log1p(-uniform[:, -1]) <= logarithm - precision / 2 * squares)
        found[waiting[kept]] = points[kept]
        waiting = waiting[~kept]
    return found
