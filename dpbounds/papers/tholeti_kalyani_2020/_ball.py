"""Two balls of noise, and the run of Algorithm 1 for the accountant."""

from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, UniformBall
from dpbounds.theorems.language import Expr, Numbers, Piecewise, Rational, betainc_regularized, q


def lost(apart: Expr, size: Expr = q.r_u) -> Expr:
    """The share of a ball of that size that lies outside another one whose centre is so far apart."""
    inside = betainc_regularized(Rational(1, 2), (q.d + 1) / 2, 0, (apart / (2 * size)) ** 2)
    return Piecewise((inside, apart < 2 * size), (1, True))


def run(at: Numbers, apart: Expr = q.Delta) -> Mechanism:
    """T steps, each on one uniformly random record; the radius is given per unit of the per-record bound, Δ/2."""
    noise = UniformBall(at.down(2 * q.r_u / apart), int(at[q.d]))
    return SampledWithoutReplacement(noise, 1, int(at[q.n])) ** at.count(q.T)
