"""The total variation of two balls of noise, and the mechanism of Algorithm 1."""

from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, UniformBall
from dpbounds.theorems.language import Expr, Numbers, Piecewise, Rational, betainc_regularized, q


def lost(apart: Expr, size: Expr = q.r_u) -> Expr:
    """Return the share of a ball of radius ``size`` outside an equal ball whose centre is at distance ``apart``."""
    inside = betainc_regularized(Rational(1, 2), (q.d + 1) / 2, 0, (apart / (2 * size)) ** 2)
    return Piecewise((inside, apart < 2 * size), (1, True))


def run(at: Numbers, apart: Expr = q.Delta) -> Mechanism:
    """Return T steps on one uniformly random record each, with the radius in units of the clipping norm Δ/2."""
    noise = UniformBall(at.down(2 * q.r_u / apart), int(at[q.d]))
    return SampledWithoutReplacement(noise, 1, int(at[q.n])) ** at.count(q.T)
