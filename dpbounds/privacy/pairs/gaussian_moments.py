"""Rényi moments of Gaussian releases on samples: trapezoidal sums with an error that is proven relative to the value.

The integrands are positive on the real line and analytic in a strip around it, on whose edges they are at most a known
multiple of their values on the line: the trapezoidal rule then errs by a known share of the value itself. Derivations:
``renyi/renyi.md``. Everything happens at the working precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import acb, arb, arb_poly

from dpbounds.errors import NotCertified
from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import Direction, Draws
from dpbounds.privacy.pairs.losses import upper_tail
from dpbounds.privacy.pairs.weighing import (
    Branch,
    density,
    draw_masses,
    drawn_at_all,
    integral,
    nats,
    need,
    up_to,
    visible_terms,
)

_MOST_NODES_PER_BIT = 1_000  # nodes per bit of precision


# --- Gaussians on a Poisson sample: trapezoidal sums ------------------------------------------------------------------


def sampled_gaussians(direction: Direction, q: arb, v: arb, order: arb) -> arb:
    """Return E_Q (dP/dQ)^λ for one release of rate q and variance v, by a trapezoidal sum with a relative error.

    With A(t) = 1-q + q e^(t/z - 1/2z²): ∫ φ(t) A(t)^a A(-t)^-b dt with (a, b) = (λ, 0), (0, λ-1), (λ, λ-1) for remove,
    add, replace. The integrand is analytic for |Im t| < πz, and on the line Im t = d at most
    e^(d²/2) cos(d/2z)^-b times its value on the real line (``renyi/renyi.md``).

    Raises:
        NotCertified: There would be too many nodes.
    """
    z = v.sqrt()
    a = arb(0) if direction is Direction.ADD else order
    b = arb(0) if direction is Direction.REMOVE else order - 1
    if direction is Direction.REMOVE:
        known = _from_norms([1 - q, q * ((order - 1) / (2 * v)).exp()], order)
        if known is not None:
            return known
    step, strip = _step(float(z), float(b.mid()))
    first, last = _nodes(float(q), float(z), float(a.mid()), float(b.mid()), step)
    if last - first > _MOST_NODES_PER_BIT * working_bits():
        raise NotCertified(f"a trapezoidal sum of {last - first} terms is too long (λ = {float(order.mid()):g})")
    h, d = arb(step), arb(strip)
    rest, kappa = 1 - q, 1 / (2 * v)

    def value(t: arb) -> arb:
        exponent = -t * t / 2
        if not a.is_zero():
            exponent = exponent + a * (rest + q * (t / z - kappa).exp()).log()
        if not b.is_zero():
            exponent = exponent - b * (rest + q * (-t / z - kappa).exp()).log()
        return exponent.exp()

    values = [value(h * j) for j in range(first, last + 1)]
    # beyond the nodes log of the integrand falls at least linearly
    start, end = h * first, h * last
    opposite = q * (-end / z - kappa).exp()
    fall = end - (a + b * opposite / (rest + opposite)) / z
    need(start < 0, "the first node lies left of 0")
    need(fall > 0, "the integrand falls right of the last node")
    total = h * sum(values, arb(0)) + up_to(values[0] / -start + values[-1] / fall)
    return total / (2 * arb.pi()).sqrt() / (1 + _trapezoidal_error(h, d, d / z, b))


def _trapezoidal_error(h: arb, d: arb, v: arb, turns: arb) -> arb:
    """Return [-ρ, ρ] with |sum - value| <= ρ value, ρ = 2 e^(d²/2) cos(v/2)^-turns / (e^(2πd/h) - 1), and ρ < 1."""
    need(v < arb.pi(), "the strip ends before the branch points")
    turn = (v / 2).cos()
    need(turn > 0, "the cosine is positive")
    error = 2 * (d * d / 2 - turns * turn.log()).exp() / (2 * arb.pi() * d / h).expm1()
    need(error < 1, "the trapezoidal error is below the value")
    return up_to(error).union(-error.upper())


def _from_norms(norms: Sequence[arb], order: arb) -> arb | None:
    """Return E (Σ f_k)^λ for f_k >= 0 from the norms of f_k in L^λ, where the last one outweighs all others; else None.

    The norm of the sum lies between the last one and the sum of them all (Minkowski).
    """
    total = sum(norms, arb(0))
    if order * (total / norms[-1] - 1) < arb(2) ** (24 - working_bits()):
        return (order * norms[-1].union(total).log()).exp()
    return None


def _step(z: float, b: float) -> tuple[float, float]:
    """Return the widest step whose error is invisible, and the strip that shows it; both with few bits."""
    best = (0.0, 1.0)
    limit = min(math.pi * z, 60.0)
    for k in range(1, 40):
        d = limit * k / 40.0
        growth = d * d / 2 - b * math.log(math.cos(d / (2 * z)))
        best = max(best, (2 * math.pi * d / (nats() + 2 + growth), d))
    mantissa, exponent = math.frexp(best[0])
    return math.ldexp(math.floor(mantissa * 4096), exponent - 12), best[1]


def _nodes(q: float, z: float, a: float, b: float, step: float) -> tuple[int, int]:
    """Return the first and the last node: R left of 0, and R right of the point where the integrand starts to fall."""
    reach = math.sqrt(2 * nats()) + 1

    def weight(t: float) -> float:
        exponent = -t / z - 1 / (2 * z * z)
        odds = math.exp(exponent) * q / (1 - q) if q < 1 and exponent < 700 else math.inf
        return odds / (1 + odds) if odds < math.inf else 1.0

    low, high = 0.0, (a + b) / z
    for _ in range(60):
        middle = (low + high) / 2
        if middle < (a + b * weight(middle)) / z:
            low = middle
        else:
            high = middle
    return math.floor(-reach / step) - 1, math.ceil((high + reach) / step) + 1


# --- Gaussians, the record drawn several times ------------------------------------------------------------------------


def drawn_gaussians(direction: Direction, draws: Draws, squared: arb, order: arb) -> arb:
    """Return E A^λ (remove) or E A^(1-λ) (add) over x ~ N(0, 1), A(x) = dP/dQ = Σ p_k e^(ksx - k²s²/2).

    A is a polynomial in e^(sx) whose roots are all negative (``renyi.md``), so that A^λ is analytic for |Im x| < π/s:
    a trapezoidal sum, as for one draw.

    Raises:
        NotCertified: There would be too many nodes, or there are too many slots.
    """
    s = squared.sqrt()
    masses = draw_masses(draws)
    removed = direction is Direction.REMOVE
    if removed:
        norms = [mass * ((order - 1) * k * k * squared / 2).exp() for k, mass in enumerate(masses)]
        known = _from_norms(norms, order)
        if known is not None:
            return known
    mixture = arb_poly([mass * (-squared * k * k / 2).exp() for k, mass in enumerate(masses)])
    exponent = order if removed else 1 - order
    side = 1 if removed else -1  # the integrand is φ(t) A(±t)^exponent, its second factor increasing
    turns = arb(0) if removed else (order - 1) * draws.slots
    step, strip = _step(float((1 / s).mid()), float(turns.mid()))
    h, d = arb(step), arb(strip)
    lost = -(order - 1) * masses[0].log()  # A >= p_0
    moments = [order * (order - 1) * k * k * squared / 2 for k in range(len(masses))]
    first = math.floor((-math.sqrt(2 * nats()) - 1) / step)
    end = math.sqrt(2 * (nats() + float(lost.mid())))
    if removed:
        end = max(
            float((k * order * s).mid()) + math.sqrt(2 * (nats() + height))
            for k, height in enumerate(
                float((mass.log() + moment).mid()) for mass, moment in zip(masses, moments, strict=True)
            )
            if nats() + height > 0
        )
    last = math.ceil((end + 1) / step)
    if (last - first) * len(masses) > 10 * _MOST_NODES_PER_BIT * working_bits():
        raise NotCertified(f"{last - first} nodes of {len(masses)} terms are too many (λ = {float(order.mid()):g})")
    values = []
    for j in range(first, last + 1):
        t = h * j
        values.append((exponent * mixture((side * s * t).exp()).log() - t * t / 2).exp())
    start, stop = h * first, h * last
    need(start < 0, "the first node lies left of 0")
    total = (h * sum(values, arb(0)) + up_to(values[0] / -start)) / (2 * arb.pi()).sqrt()
    if removed:  # A^λ <= Σ p_k r_k^λ, and φ r_k^λ is a multiple of a shifted Gaussian density
        for k, (mass, moment) in enumerate(zip(masses, moments, strict=True)):
            distance = stop - k * order * s
            share = upper_tail(distance) if distance > 0 else 1 + h
            total = total + up_to(mass * moment.exp() * share)
    else:
        need(stop > 0, "the last node lies right of 0")
        total = total + up_to(lost.exp() * upper_tail(stop))
    return total / (1 + _trapezoidal_error(h, d, d * s, turns))


def replaced_gaussians(eta: arb, squared: arb, order: arb) -> arb:
    """Return the moment of fixed-size samples under replace-one.

    It is 1 + E_Q[a^λ + a^(1-λ) - a - 1; r > 1] with a = 1-η + ηr and r = dN(μ, 1)/dN(0, 1). E[a^λ; r > 1] is the whole
    less the part with r < 1, so that only bounded functions are integrated piecewise.
    """
    mu = squared.sqrt()
    whole = sampled_gaussians(Direction.REMOVE, eta, 1 / squared, order)
    if whole > arb(2) ** (2 * working_bits()):
        return whole + arb(0).union(arb(-3)).union(arb(2))  # the other terms lie in [-3, 2]
    left, right = (
        arb(-math.ceil(math.sqrt(2 * nats())) - 1),
        arb(math.ceil(math.sqrt(2 * nats()) + float(mu.mid())) + 1),
    )

    def weighed(exponent: arb) -> Branch:
        def value(x: acb, analytic: bool) -> acb:
            mixture = 1 + eta * ((mu * x - squared / 2).exp() - 1)
            result: acb = density(x) * (exponent * mixture.log(analytic=analytic)).exp()
            return result

        return value

    need(left < mu / 2, "the left end lies where r < 1")
    need(right > mu / 2, "the right end lies where r > 1")
    below = integral(weighed(order), left, mu / 2, arb(0)) + up_to(upper_tail(-left))
    above = integral(weighed(1 - order), mu / 2, right, arb(0)) + up_to(upper_tail(right))
    # E[a; r > 1] and Q(r < 1)
    drawn = (1 - eta) * upper_tail(mu / 2) + eta * upper_tail(-mu / 2)
    return whole - below + above - drawn + upper_tail(-mu / 2)


def replaced_drawn_gaussians(draws: Draws, squared: arb, order: arb) -> arb:
    """Log of Σ_k p_k/η times the moment for k draws.

    Each lies between (η ‖r_k‖)^λ and (1-η + η ‖r_k‖)^λ + 2; the smallest are bounded only.
    """
    eta = drawn_at_all(draws)
    shares = [mass / eta for mass in draw_masses(draws)[1:]]
    norms = [((order - 1) * k * k * squared / 2).exp() for k in range(1, draws.slots + 1)]
    at_most = [
        share * ((order * (eta * (norm - 1)).log1p()).exp() + 2) for share, norm in zip(shares, norms, strict=True)
    ]
    scale = arb(1)
    for share, norm in zip(shares, norms, strict=True):
        scale = scale.max(share * (order * (eta * norm).log()).exp())
    seen, rest = visible_terms(at_most, arb(scale.lower()))
    parts = (shares[j] * replaced_gaussians(eta, (j + 1) ** 2 * squared, order) for j in seen)
    return (sum(parts, arb(0)) + up_to(rest)).log()
