"""The integrand F(t; s) a second time, from the definition of the pairs, in mpmath and in NumPy (real and complex t).

And nodes chosen by hand: symmetric about 0, their cells half as far out again.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
from flint import arb, ctx
from scipy.special import wofz

from dpbounds.privacy.pairs.pairs import SampledGaussians
from dpbounds.privacy.routes.contour.choices import Nodes
from dpbounds.privacy.routes.contour.landscape import RepeatedPair
from tests.privacy.routes.twins import real


def hand_made(
    direction,
    q,
    z,
    *,
    step=0.125,
    nodes_reach=None,
    strip=None,
    edge=9.0,
    softness=0.75,
    cells=400,
    turn=None,
    bulk=None,
    lifted=False,
):
    """Nodes chosen without the planner."""
    part = RepeatedPair(SampledGaussians(direction, Fraction(q), Fraction(z) ** 2), 1)
    outermost = max(14.0, edge + 3 * softness, 1 / z)
    last = math.ceil((outermost if nodes_reach is None else nodes_reach) / step)
    beyond = math.ceil(1.5 * outermost / step)
    ends = (-beyond * step, -last * step, last * step, beyond * step)
    corners = tuple(sorted({*ends, *(float(t) for t in np.linspace(ends[0], ends[-1], cells + 1))}))
    half_width = min(1.0, 0.4 * math.pi * z) if strip is None else strip
    return Nodes(part, step, -last, last, half_width, corners, edge, softness, turn, bulk, lifted)


def exact_integrand(nodes, s, t, share="all"):
    """F(t; s), ψF ("bulk") or (1-ψ)F ("jumps"); t real or complex."""
    pair = nodes.part.pair
    q, z = real(pair.sample_rate), mpmath.sqrt(real(pair.variance))

    def ratio(sign):
        return 1 - q + q * mpmath.exp(sign * t / z - 1 / (2 * z * z))

    density = mpmath.exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)
    if pair.direction == "add":
        return density * mpmath.exp(-s * mpmath.log(ratio(1)))
    loss = mpmath.log(ratio(1)) - (mpmath.log(ratio(-1)) if pair.direction == "replace" else 0)
    kept = mpmath.erfc((t - nodes.edge) / nodes.softness) / 2
    value = density * ratio(1) * kept * mpmath.exp(s * loss)
    if share == "all":
        return value
    sign = 1 if share == "bulk" else -1
    return value * mpmath.erfc(sign * (t - nodes.bulk.edge) / nodes.bulk.softness) / 2


def exact_moment(nodes, s, share="all"):
    """∫ F(t; s) dt by Gauss-Legendre with 40 digits; beyond ±16 the integrand is below 1e-45 of its peak here."""
    with mpmath.workdps(40):
        exponent, pieces = mpmath.mpc(s), list(range(-16, 17, 2))
        return mpmath.quad(
            lambda t: exact_integrand(nodes, exponent, t, share), pieces, method="gauss-legendre", maxdegree=6
        )


def encloses(value, truth):
    """Whether the ball (real or complex) can hold the number, which is good to 30 digits of 1 or of itself."""
    if not isinstance(value, arb):
        return encloses(value.real, truth.real) and encloses(value.imag, truth.imag)
    with ctx.workprec(200):
        number = arb(mpmath.nstr(truth.real, 40))
        return bool(value.overlaps(number + arb(0, max(1.0, abs(float(truth.real))) * 1e-30)))


def _soft_step(x):
    """erfc(x)/2 for complex x, from the Faddeeva function."""
    near = np.where(x.real > 0, x, -x)
    small = np.exp(-near * near) * wofz(1j * near)
    return np.where(x.real > 0, small, 2 - small) / 2


def numerical_loss(nodes, t):
    """L(t) in doubles."""

    def log_ratio(sign):
        return np.log(1 - part.q + part.q * np.exp(sign * t / part.z - 0.5 / part.z**2))

    part = nodes.part
    if part.direction == "add":
        return -log_ratio(1)
    return log_ratio(1) - (log_ratio(-1) if part.direction == "replace" else 0)


def numerical_integrand(nodes, s, t, share="all"):
    """The same as ``exact_integrand``, in double precision, for arrays."""
    part, t = nodes.part, np.asarray(t, dtype=complex)
    exponent = -0.5 * t * t + s * numerical_loss(nodes, t)
    if part.direction != "add":
        exponent = exponent + np.log(1 - part.q + part.q * np.exp(t / part.z - 0.5 / part.z**2))
    value = np.exp(exponent) / math.sqrt(2 * math.pi)
    if part.direction != "add":
        value = value * _soft_step((t - nodes.edge) / nodes.softness)
    if share == "all":
        return value
    sign = 1 if share == "bulk" else -1
    return value * _soft_step(sign * (t - nodes.bulk.edge) / nodes.bulk.softness)


def integrated(nodes, s, share="all", points=3001):
    """∫ F(t; s) dt on a fine grid."""
    t = np.linspace(-15.0, 15.0, points)
    return numerical_integrand(nodes, s, t, share).sum() * (t[1] - t[0])


def integrated_modulus(nodes, s, y, share="all"):
    """∫ |F(t + iy; s)| dt on a fine grid over all that matters."""
    t = np.linspace(-16.0, 16.0, 12801)
    return float(np.abs(numerical_integrand(nodes, s, t + 1j * y, share)).sum() * (t[1] - t[0]))
