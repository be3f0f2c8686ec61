"""Two balls of noise, and the run of Algorithm 1 for the accountant."""

from sympy import Expr, Piecewise, Rational, betainc_regularized

from dpbounds.expressions.symbols import dataset_size, dimension, radius, sensitivity, steps
from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, UniformBall
from dpbounds.theorems.spending import Numbers


def lost(apart: Expr, size: Expr = radius) -> Expr:
    """The share of a ball of that size that lies outside another one whose centre is so far apart."""
    inside = betainc_regularized(Rational(1, 2), (dimension + 1) / 2, 0, (apart / (2 * size)) ** 2)
    return Piecewise((inside, apart < 2 * size), (1, True))


def run(at: Numbers, apart: Expr = sensitivity) -> Mechanism:
    """T steps, each on one uniformly random record; the radius is given per unit of the per-record bound, Δ/2."""
    noise = UniformBall(at.down(2 * radius / apart), int(at[dimension]))
    return SampledWithoutReplacement(noise, 1, int(at[dataset_size])) ** at.count(steps)
