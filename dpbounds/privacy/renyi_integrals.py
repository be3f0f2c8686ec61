"""E_Q f(dP/dQ) for convex f, in balls: the integrals behind the Rényi divergences.

A sample changes dP/dQ by an affine map or by a reflection, so every sampled pair is its base seen through another
convex function (``Weighing``). What is left to integrate is one analytic function per base, over a range whose ends
are proven not to matter. The derivations are in ``renyi.md``; everything happens at the working precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flint import acb, arb, arb_poly, arb_series, ctx

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.privacy.laws import Law, ball, law_of, positive_part, upper_tail
from dpbounds.privacy.pairs import (
    BoundedRange,
    DrawnGaussians,
    Draws,
    FourPoints,
    Order,
    Pair,
    Responses,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    TwoGuarantees,
    TwoPoints,
    UniformBalls,
    enlarged,
)

Branch = Callable[[acb, bool], acb]  # (r, whether it must be analytic there) -> f(r)
ClosedForm = Callable[[Pair, arb], arb]  # (pair, order) -> log E_Q r^order

_MOST_NODES = 400_000
_MOST_SLOTS = 5_000
_MOST_CELLS = 4_000
_CHORDS = 1500

INFINITY = arb("inf")


def up_to(bound: arb) -> arb:
    """The ball [0, bound]."""
    return arb(0).union(bound.upper())


def nats() -> float:
    """How small, as -log, what is left out may be without being seen at the working precision."""
    return 0.69 * (ctx.prec - 10)


# --- Convex functions of the likelihood ratio -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weighing:
    """A convex f >= 0 on [0, ∞], by one formula for r >= 1 and one for r <= 1.

    Attributes:
        above: f for r >= 1.
        below: f for r <= 1; the same object where there is one formula.
        at_zero: f(0), maybe ∞.
        slope: lim f(r)/r for r -> ∞, maybe ∞.
        scale: c, with
        growth: e >= 1 such that f(r) <= c max(1, r)^e.
    """

    above: Branch
    below: Branch
    at_zero: arb
    slope: arb
    scale: arb
    growth: arb

    def __call__(self, ratio: arb) -> arb:
        """Return f at a real ratio."""
        if ratio >= 1:
            return self.above(acb(ratio), False).real
        if ratio <= 1:
            return self.below(acb(ratio), False).real
        return self.above(acb(ratio), False).real.union(self.below(acb(ratio), False).real)


def power(order: arb) -> Weighing:
    """f(r) = r^λ, λ > 1."""

    def branch(ratio: acb, analytic: bool) -> acb:
        return (order * ratio.log(analytic=analytic)).exp()

    return Weighing(branch, branch, arb(0), INFINITY, arb(1), order)


def through_sample(f: Weighing, order: Order, eta: arb) -> Weighing:
    """Return g such that E g(dP/dQ) over a base is E f over the base on a sample that holds the record at rate η."""
    rest = 1 - eta
    zero = f.below(acb(rest), False).real  # f at the smallest ratio of the mixture

    def mixed(branch: Branch) -> Branch:
        return lambda ratio, analytic: branch(rest + eta * ratio, analytic)

    def swapped(branch: Branch) -> Branch:
        def value(ratio: acb, analytic: bool) -> acb:
            mixture = rest + eta * ratio
            return mixture * branch(1 / mixture, analytic)

        return value

    match order:
        case Order.REMOVE:
            above = mixed(f.above)
            below = above if f.below is f.above else mixed(f.below)
            return Weighing(above, below, zero, _times(eta, f.slope), f.scale, f.growth)
        case Order.ADD:
            above = swapped(f.below)
            below = above if f.below is f.above else swapped(f.above)
            scale = f.scale * (-(f.growth - 1) * rest.log()).exp()
            return Weighing(above, below, rest * f(1 / rest), _times(eta, f.at_zero), scale, arb(1))
        case Order.REPLACE:
            centre = f(arb(1))

            def both(ratio: acb, analytic: bool) -> acb:
                mixture = rest + eta * ratio
                here, there = f.above(mixture, analytic), mixture * f.below(1 / mixture, analytic)
                return centre + (here - centre) + (there - mixture * centre)

            def constant(ratio: acb, analytic: bool) -> acb:
                return acb(centre)

            slope = _times(eta, f.slope + f.at_zero - centre)
            return Weighing(both, constant, centre, slope, 3 * f.scale, f.growth.max(arb(1)))


def _times(positive: arb, value: arb) -> arb:
    return positive * value if value.is_finite() else INFINITY


# --- E_Q f over the pairs ---------------------------------------------------------------------------------------------


def has_integral(pair: Pair) -> bool:
    """Whether ``expectation`` knows the pair: its loss is known, not only a guarantee that it keeps."""
    match pair:
        case Sampled(draws=Draws(slots=slots), base=base):
            return has_integral(base) and (slots == 1 or not isinstance(base, Sampled | SampledGaussians))
        case (
            ShiftedGaussians()
            | ShiftedLaplaces()
            | UniformBalls()
            | Responses()
            | FourPoints()
            | BoundedRange()
            | TwoPoints()
            | SampledGaussians()
            | SampledLaplaces()
            | SampledBalls()
        ):
            return True
    return False


def expectation(pair: Pair, f: Weighing, closed_form: ClosedForm) -> arb:
    """E_Q f(dP/dQ), with P-mass at infinite loss weighed by the slope of f and Q-mass at loss -∞ by f(0).

    Args:
        pair: One that ``has_integral``.
        f: The convex function.
        closed_form: Bounds what records that are drawn more often than is integrated contribute.

    Raises:
        UnsupportedMechanism: The pair is known by a guarantee only.
        NotCertified: A record may be drawn so often that the sum is out of reach.
    """
    match pair:
        case ShiftedGaussians(squared_shift=squared):
            return _shifted_gaussians(ball(squared), f)
        case ShiftedLaplaces(shift=shift):
            return _atoms(law_of(pair), f) + _shifted_laplaces(ball(shift), f)
        case UniformBalls() | Responses() | FourPoints() | TwoPoints() | SampledBalls():
            return _atoms(law_of(pair), f)
        case BoundedRange(span=span):
            return _bounded_range(ball(span), f)
        case SampledGaussians(order=Order.REPLACE):
            return _replaced_gaussians(pair, f)
        case SampledGaussians(order=order, sample_rate=rate, variance=variance):
            return expectation(ShiftedGaussians(1 / variance), through_sample(f, order, ball(rate)), closed_form)
        case SampledLaplaces(sample_rate=rate, shift=shift):
            return _atoms(law_of(pair), f) + _sampled_laplaces(ball(rate), ball(shift), f)
        case Sampled(order=order, draws=draws, base=base):
            return _sampled(order, draws, base, f, closed_form)
    raise UnsupportedMechanism(f"{pair} is known by its guarantee only: it has no integral")


def _integral(integrand: Branch, start: arb, end: arb, size: arb) -> arb:
    """The integral; ``size`` is about the largest exponent in it, whose rounding no subdivision can undo."""
    tolerance = arb(2) ** (14 - ctx.prec) * (1 + abs(size).mid())
    return acb.integral(integrand, acb(start), acb(end), rel_tol=tolerance).real


def _atoms(law: Law, f: Weighing) -> arb:
    total = sum((point.r * f(point.loss.exp()) for point in law.points), arb(0))
    if not law.infinite.is_zero():
        total = total + _times(law.infinite, f.slope)
    if not law.vanishing.is_zero():
        total = total + _times(law.vanishing, f.at_zero)
    return total


def _density(x: acb) -> acb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _shifted_gaussians(squared: arb, f: Weighing) -> arb:
    mu = squared.sqrt()

    def weighed(branch: Branch) -> Branch:
        return lambda x, analytic: _density(x) * branch((mu * x - squared / 2).exp(), analytic)

    room = nats() + max(0.0, float(f.scale.log().mid()))
    left = arb(-math.ceil(math.sqrt(2 * room)) - 1)
    moment = f.growth * (f.growth - 1) * squared / 2
    centre = f.growth * mu
    far = math.sqrt(2 * (room + max(0.0, float(moment.mid()))))
    right = arb(math.ceil(float(centre.mid()) + far) + 1)
    # left of its end r <= 1, so that f <= c; right of its end r^e is a shifted Gaussian
    tails = f.scale * (upper_tail(-left) + moment.exp() * upper_tail(right - centre))
    _need(left < mu / 2, "the left end lies where r < 1")
    _need(right > mu / 2, "the right end lies where r > 1")
    bulk = _integral(weighed(f.below), left, mu / 2, moment) + _integral(weighed(f.above), mu / 2, right, moment)
    return bulk + up_to(tails)


def _shifted_laplaces(shift: arb, f: Weighing) -> arb:
    """The part with |L| < s: L = 2x - s for 0 < x < s."""

    def weighed(branch: Branch) -> Branch:
        return lambda x, analytic: (-x).exp() / 2 * branch((2 * x - shift).exp(), analytic)

    size = f.growth * shift
    return _integral(weighed(f.below), arb(0), shift / 2, size) + _integral(weighed(f.above), shift / 2, shift, size)


def _bounded_range(span: arb, f: Weighing) -> arb:
    """Q-density e^(-(l+η)/2) / (2 (1 - e^-η)) of the loss on [-η, η]."""
    norm = -2 * (-span).expm1()

    def weighed(branch: Branch) -> Branch:
        return lambda loss, analytic: (-(loss + span) / 2).exp() / norm * branch(loss.exp(), analytic)

    size = f.growth * span
    return _integral(weighed(f.below), -span, arb(0), size) + _integral(weighed(f.above), arb(0), span, size)


def _sampled_laplaces(rate: arb, shift: arb, f: Weighing) -> arb:
    """The part with 0 < |x| < s; right of 0 dP/dQ = (1-q + q e^(2x-s)) / c with c = 1-q + q e^-s, left its mirror."""
    c = 1 - rate + rate * (-shift).exp()

    def right(x: acb, analytic: bool) -> acb:
        grown = 1 - rate + rate * (2 * x - shift).exp()
        value: acb = (-x).exp() / 2 * (c * f.above(grown / c, analytic) + grown * f.below(c / grown, analytic))
        return value

    return _integral(right, arb(0), shift, f.growth * shift)


def _replaced_gaussians(pair: SampledGaussians, f: Weighing) -> arb:
    """In t = x/z: Q-density φ A(-t), ratio A(t)/A(-t), A(t) = 1-q + q e^(t/z - 1/2z²); r = 1 at t = 0."""
    q, v = ball(pair.sample_rate), ball(pair.variance)
    z = v.sqrt()

    def mixture(t: acb) -> acb:
        return 1 - q + q * (t / z - 1 / (2 * v)).exp()

    def weighed(branch: Branch) -> Branch:
        def value(t: acb, analytic: bool) -> acb:
            there = mixture(-t)
            result: acb = _density(t) * there * branch(mixture(t) / there, analytic)
            return result

        return value

    _need(q < 1, "the sample rate is below 1")
    # right: r^e A(-t) <= A(t)^e (1-q)^(1-e) and A(t) <= e^(t/z) for t >= 0; left: f <= c
    e = f.growth
    scale = f.scale * (-(e - 1) * (1 - q).log()).exp()
    room = nats() + max(0.0, float(scale.log().mid()))
    left = arb(-math.ceil(math.sqrt(2 * room) + float((1 / z).mid())) - 1)
    far = math.sqrt(2 * (room + float((e * e / (2 * v)).mid())))
    right = arb(math.ceil(float((e / z).mid()) + far) + 1)
    tails = f.scale * ((1 - q) * upper_tail(-left) + q * upper_tail(-left - 1 / z))
    tails = tails + scale * (e * e / (2 * v)).exp() * upper_tail(right - e / z)
    size = e * e / (2 * v)
    bulk = _integral(weighed(f.below), left, arb(0), size) + _integral(weighed(f.above), arb(0), right, size)
    return bulk + up_to(tails)


def draw_masses(draws: Draws) -> list[arb]:
    """p_0, p_1, ..., p_slots of Binomial(slots, rate), rate < 1.

    Raises:
        NotCertified: There are more slots than can be summed.
    """
    if draws.slots > _MOST_SLOTS:
        raise NotCertified(f"{draws.slots} draws are too many for a sum over all counts: at most {_MOST_SLOTS}")
    rate = ball(draws.rate)
    masses = [(draws.slots * (-rate).log1p()).exp()]
    for k in range(1, draws.slots + 1):
        masses.append(masses[-1] * rate / (1 - rate) * (draws.slots - k + 1) / k)
    return masses


def drawn_at_all(draws: Draws) -> arb:
    """η = 1 - p_0."""
    return -(draws.slots * (-ball(draws.rate)).log1p()).expm1()


def _sampled(order: Order, draws: Draws, base: Pair, f: Weighing, closed_form: ClosedForm) -> arb:
    """Σ_k p_k/η E g over the base enlarged k times."""
    _need(draws.rate < 1, "the sample rate is below 1")
    eta = drawn_at_all(draws)
    g = through_sample(f, order, eta)
    if draws.slots == 1:
        return expectation(base, g, closed_form)
    shares = [mass / eta for mass in draw_masses(draws)[1:]]

    def at_most(k: int) -> arb:
        """An upper bound on E g: g <= c max(1, r)^e <= c (1 + r^e)."""
        grown = closed_form(enlarged(base, k), g.growth) if g.growth > 1 else arb(0)
        return g.scale * (1 + grown.exp())

    seen, rest = visible_terms([share * at_most(k) for k, share in enumerate(shares, start=1)], arb(1))
    parts = (shares[j] * expectation(enlarged(base, j + 1), g, closed_form) for j in seen)
    return sum(parts, arb(0)) + up_to(rest)


def visible_terms(bounds: Sequence[arb], scale: arb) -> tuple[list[int], arb]:
    """Indices of the terms that can be seen in a sum of that size, and an upper bound on the sum of all others."""
    least = scale * arb(2) ** (16 - ctx.prec) / len(bounds)
    seen, rest = [], arb(0)
    for index, bound in enumerate(bounds):
        if bound < least:
            rest = rest + bound
        else:
            seen.append(index)
    return seen, rest


def _need(condition: object, what: str) -> None:
    """Assert a condition of the derivation; ball comparisons are True only where every point agrees."""
    if condition is not True:
        raise NotCertified(f"condition not proven at {ctx.prec} bits: {what}")


# --- Gaussians on a Poisson sample: trapezoidal sums ------------------------------------------------------------------


def sampled_gaussians(way: Order, q: arb, v: arb, order: arb) -> arb:
    """E_Q (dP/dQ)^λ for one release, rate q and variance v, by a trapezoidal sum with an error relative to the value.

    With A(t) = 1-q + q e^(t/z - 1/2z²): ∫ φ(t) A(t)^a A(-t)^-b dt with (a, b) = (λ, 0), (0, λ-1), (λ, λ-1) for remove,
    add, replace. The integrand is analytic for |Im t| < πz, and on the line Im t = d at most
    e^(d²/2) cos(d/2z)^-b times its value on the real line (``renyi.md``).

    Raises:
        NotCertified: There would be too many nodes.
    """
    z = v.sqrt()
    a = arb(0) if way is Order.ADD else order
    b = arb(0) if way is Order.REMOVE else order - 1
    if way is Order.REMOVE:
        known = _from_norms([1 - q, q * ((order - 1) / (2 * v)).exp()], order)
        if known is not None:
            return known
    step, strip = _step(float(z), float(b.mid()))
    first, last = _nodes(float(q), float(z), float(a.mid()), float(b.mid()), step)
    if last - first > _MOST_NODES:
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
    _need(start < 0, "the first node lies left of 0")
    _need(fall > 0, "the integrand falls right of the last node")
    total = h * sum(values, arb(0)) + up_to(values[0] / -start + values[-1] / fall)
    return total / (2 * arb.pi()).sqrt() / (1 + _trapezoidal_error(h, d, d / z, b))


def _trapezoidal_error(h: arb, d: arb, v: arb, turns: arb) -> arb:
    """[-ρ, ρ] with |sum - value| <= ρ value, ρ = 2 e^(d²/2) cos(v/2)^-turns / (e^(2πd/h) - 1), and ρ < 1."""
    _need(v < arb.pi(), "the strip ends before the branch points")
    turn = (v / 2).cos()
    _need(turn > 0, "the cosine is positive")
    error = 2 * (d * d / 2 - turns * turn.log()).exp() / (2 * arb.pi() * d / h).expm1()
    _need(error < 1, "the trapezoidal error is below the value")
    return up_to(error).union(-error.upper())


def _from_norms(norms: Sequence[arb], order: arb) -> arb | None:
    """E (Σ f_k)^λ for f_k >= 0 from the norms of f_k in L^λ, where the last one outweighs all others; else None.

    The norm of the sum lies between the last one and the sum of them all (Minkowski).
    """
    total = sum(norms, arb(0))
    if order * (total / norms[-1] - 1) < arb(2) ** (24 - ctx.prec):
        return (order * norms[-1].union(total).log()).exp()
    return None


def _step(z: float, b: float) -> tuple[float, float]:
    """The widest step whose error is invisible, and the strip that shows it; both with few bits."""
    best = (0.0, 1.0)
    limit = min(math.pi * z, 60.0)
    for k in range(1, 40):
        d = limit * k / 40.0
        growth = d * d / 2 - b * math.log(math.cos(d / (2 * z)))
        best = max(best, (2 * math.pi * d / (nats() + 2 + growth), d))
    mantissa, exponent = math.frexp(best[0])
    return math.ldexp(math.floor(mantissa * 4096), exponent - 12), best[1]


def _nodes(q: float, z: float, a: float, b: float, step: float) -> tuple[int, int]:
    """Indices of the first and the last node: R left of 0, and R right of where the integrand starts to fall."""
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


def drawn_gaussians(pair: DrawnGaussians, order: arb) -> arb:
    """E (dP/dQ)^λ with dP/dQ = A(x) = Σ p_k e^(ksx - k²s²/2): E A^λ (remove) or E A^(1-λ) (add) over x ~ N(0, 1).

    A is a polynomial in e^(sx) whose roots are all negative (``renyi.md``), so that A^λ is analytic for |Im x| < π/s:
    a trapezoidal sum, as for one draw.

    Raises:
        NotCertified: There would be too many nodes, or there are too many slots.
    """
    squared = ball(pair.squared_shift)
    s = squared.sqrt()
    masses = draw_masses(pair.draws)
    removed = pair.order is Order.REMOVE
    if removed:
        norms = [mass * ((order - 1) * k * k * squared / 2).exp() for k, mass in enumerate(masses)]
        known = _from_norms(norms, order)
        if known is not None:
            return known
    mixture = arb_poly([mass * (-squared * k * k / 2).exp() for k, mass in enumerate(masses)])
    exponent = order if removed else 1 - order
    side = 1 if removed else -1  # the integrand is φ(t) A(±t)^exponent, its second factor increasing
    turns = arb(0) if removed else (order - 1) * pair.draws.slots
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
    if (last - first) * len(masses) > 10 * _MOST_NODES:
        raise NotCertified(f"{last - first} nodes of {len(masses)} terms are too many (λ = {float(order.mid()):g})")
    values = []
    for j in range(first, last + 1):
        t = h * j
        values.append((exponent * mixture((side * s * t).exp()).log() - t * t / 2).exp())
    start, stop = h * first, h * last
    _need(start < 0, "the first node lies left of 0")
    total = (h * sum(values, arb(0)) + up_to(values[0] / -start)) / (2 * arb.pi()).sqrt()
    if removed:  # A^λ <= Σ p_k r_k^λ, and φ r_k^λ is a multiple of a shifted Gaussian density
        for k, (mass, moment) in enumerate(zip(masses, moments, strict=True)):
            distance = stop - k * order * s
            share = upper_tail(distance) if distance > 0 else 1 + h
            total = total + up_to(mass * moment.exp() * share)
    else:
        _need(stop > 0, "the last node lies right of 0")
        total = total + up_to(lost.exp() * upper_tail(stop))
    return total / (1 + _trapezoidal_error(h, d, d * s, turns))


def replaced_gaussians(eta: arb, squared: arb, order: arb) -> arb:
    """1 + E_Q[a^λ + a^(1-λ) - a - 1; r > 1], a = 1-η + ηr, r = dN(μ, 1)/dN(0, 1): fixed-size samples, replace-one.

    E[a^λ; r > 1] is the whole less the part with r < 1, so that only bounded functions are integrated piecewise.
    """
    mu = squared.sqrt()
    whole = sampled_gaussians(Order.REMOVE, eta, 1 / squared, order)
    if whole > arb(2) ** (2 * ctx.prec):
        return whole + arb(0).union(arb(-3)).union(arb(2))  # the other terms lie in [-3, 2]
    left, right = (
        arb(-math.ceil(math.sqrt(2 * nats())) - 1),
        arb(math.ceil(math.sqrt(2 * nats()) + float(mu.mid())) + 1),
    )

    def weighed(exponent: arb) -> Branch:
        def value(x: acb, analytic: bool) -> acb:
            mixture = 1 + eta * ((mu * x - squared / 2).exp() - 1)
            result: acb = _density(x) * (exponent * mixture.log(analytic=analytic)).exp()
            return result

        return value

    _need(left < mu / 2, "the left end lies where r < 1")
    _need(right > mu / 2, "the right end lies where r > 1")
    below = _integral(weighed(order), left, mu / 2, arb(0)) + up_to(upper_tail(-left))
    above = _integral(weighed(1 - order), mu / 2, right, arb(0)) + up_to(upper_tail(right))
    # E[a; r > 1] and Q(r < 1)
    drawn = (1 - eta) * upper_tail(mu / 2) + eta * upper_tail(-mu / 2)
    return whole - below + above - drawn + upper_tail(-mu / 2)


# --- The worst two-point pair of a bounded range ----------------------------------------------------------------------


def worst_two_points(span: arb, eta: arb, exponent: arb) -> arb:
    """The largest over t in [0, η'] of E_Q f(r) - 1, Q having losses t and t - η', f(r) = (1-η + ηr)^p, convex.

    Because E_Q r = 1, f may lose its tangent at 1. With y = e^t and ρ = e^-η' the value is then
    V(y) = (f(y) (1/y - ρ) + f(ρy) (1 - 1/y)) / (1-ρ). Cells of y are halved until Taylor's formula of degree one with
    its remainder decides, or V is seen to be concave on what is left: branch and bound.

    Raises:
        NotCertified: The search does not end.
    """
    rho = (-span).exp()

    def taylor(r: arb, inner: arb) -> arb_series:
        """Expand f less its tangent at 1, composed with a linear function of slope ``inner``, to degree 2."""
        middle, base = r.mid(), (eta * (r - 1)).log1p()
        start = (exponent * (eta * (middle - 1)).log1p()).expm1() - exponent * eta * (middle - 1)
        slope = exponent * eta * ((exponent - 1) * base).expm1()
        bend = exponent * (exponent - 1) / 2 * eta * eta * ((exponent - 2) * base).exp()
        return arb_series([start + slope * (r - middle), slope * inner, bend * inner * inner], 3)

    def around(y: arb) -> arb_series:
        """V, V' and V''/2 at y."""
        inverse = 1 / arb_series([y, arb(1)], 3)
        return (taylor(y, arb(1)) * (inverse - rho) + taylor(rho * y, rho) * (1 - inverse)) * (1 / (1 - rho))

    top = span.exp()
    cells = [(1 + (top - 1) * j / 4, 1 + (top - 1) * (j + 1) / 4) for j in range(4)]
    best = highest = arb(0)
    for _ in range(4 * ctx.prec):
        bounded = []
        for left, right in cells:
            middle, whole = ((left + right) / 2).mid(), left.union(right)
            here, bend = around(middle), around(whole)[2]
            reach = (whole - middle).abs_upper()
            best = best.max(arb(here[0].lower()))
            bound = here[0] + here[1].abs_upper() * reach + bend.max(arb(0)) * reach * reach
            bounded.append((left, right, middle, bound.upper()))
        goal = best * (1 + arb(2) ** (24 - ctx.prec))
        cells = []
        for left, right, middle, bound in bounded:
            if bound <= goal:
                highest = highest.max(bound)
            else:
                cells += [(left, middle), (middle, right)]
        summit = _summit(around, cells[0][0].union(cells[-1][1])) if cells else arb(best)
        if summit is not None:
            lower = best.max(arb(summit.lower()))
            return lower.union(highest.max(lower).max(arb(summit.upper())))
        if len(cells) > _MOST_CELLS:
            break
    raise NotCertified("the worst two-point pair was not located at this precision")


def _summit(around: Callable[[arb], arb_series], hull: arb) -> arb | None:
    """A ball around the largest V over the hull, where V is concave on all of it; else None."""
    if not around(hull)[2] < 0:
        return None
    at = hull.mid()
    for _ in range(ctx.prec.bit_length() + 2):
        here = around(at)
        at = (at - here[1] / (2 * here[2])).mid()
        if not hull.contains(at):
            return None
    here = around(at)
    return here[0] + up_to(here[1].abs_upper() * (hull - at).abs_upper())


# --- Profiles bounded at finitely many points -------------------------------------------------------------------------


def from_two_profiles(pair: TwoGuarantees, order: arb) -> arb:
    """Upper bound on log E_Q r^λ from upper bounds on the (symmetric, convex) profile: the integral over its chords.

    Raises:
        UnsupportedMechanism: The two guarantees are not of a kind whose profile ends or falls like a Gaussian's.
    """
    points, tail_from = _profile_points(pair, ctx.prec)
    total = arb(0)
    k = order - 1
    (a0, l0, h0) = points[0]
    up0, down0 = (k * l0).exp(), (-order * l0).exp()
    for a1, l1, h1 in points[1:]:
        up1, down1 = (k * l1).exp(), (-order * l1).exp()
        # ∫ (a^(λ-2) + a^(-λ-1)) (c + m a) da over [a0, a1]
        m = (h1 - h0) / (a1 - a0)
        c = h0 - m * a0
        total = total + c * ((up1 - up0) / k - (down1 - down0) / order)
        total = total + m * ((a1 * up1 - a0 * up0) / order - (a1 * down1 - a0 * down0) / k)
        a0, l0, h0, up0, down0 = a1, l1, h1, up1, down1
    if tail_from is not None:
        q = ball(pair.sample_rate)
        e = order.max(arb(2))
        for base in (pair.present, pair.replaced):
            assert isinstance(base, ShiftedGaussians)
            squared = ball(base.squared_shift)
            mu = squared.sqrt()
            moment = (e * (e - 1) * squared / 2).exp() * upper_tail(tail_from / mu + mu / 2 - e * mu)
            total = total + 2 * q * q * moment
    return arb((order * k * total).log1p().upper())


@lru_cache(maxsize=16)
def _profile_points(pair: TwoGuarantees, precision: int) -> tuple[list[tuple[arb, arb, arb]], arb | None]:
    """(α, log α, bound on H_α) from α = 1 on; and log α'' beyond which the profile is not bounded by the last chord."""
    present, replaced = law_of(pair.present), law_of(pair.replaced)
    q = ball(pair.sample_rate)
    tops = [law.largest_loss() for law in (present, replaced)]
    if all(top is not None for top in tops):
        inner = max((top for top in tops if top is not None), key=lambda top: float(top.mid()))
        for top in tops:
            assert top is not None
            inner = inner.max(top)
        tail = None
    elif isinstance(pair.present, ShiftedGaussians) and isinstance(pair.replaced, ShiftedGaussians):
        squared = max(float(pair.present.squared_shift), float(pair.replaced.squared_shift))
        inner = tail = arb(squared / 2 + math.sqrt(1600 * squared))
    else:
        raise UnsupportedMechanism(f"the profile of {pair} is not bounded here all the way")
    reach = (q * inner.expm1()).log1p().upper()
    points = []
    for j in range(_CHORDS):
        loss = (reach * j * j / _CHORDS**2).mid()
        beyond = (loss.expm1() / q).log1p()
        share = (loss - beyond).exp()
        value = q * (1 - share) * positive_part(present.delta(beyond)) + q * share * positive_part(
            replaced.delta(beyond)
        )
        points.append((loss.exp(), loss, value.upper().min(arb(1))))
    last = arb(0) if tail is None else points[-1][2]  # H falls; where losses end it is 0
    points.append((reach.exp(), reach, last))
    return points, tail
