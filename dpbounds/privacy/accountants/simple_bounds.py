"""Bounds on a product of pairs without composing it: for use if every method declines, or is wide.

*Basic composition.* For a product of pairs (P_i, Q_i) let δ_i = H_{e^(ε_i)}(P_i ‖ Q_i). Then P_i = P_i' + R_i with
0 <= P_i' <= e^(ε_i) Q_i and a measure R_i >= 0 of mass δ_i (the part of P_i above e^(ε_i) Q_i). Replacing one factor
after the other, Π P_i <= Π P_i' + a measure of mass at most Σ δ_i, and Π P_i' <= e^(Σ ε_i) Π Q_i. So the product spends
at most Σ δ_i at Σ ε_i, in this order of the pair (Dwork & Roth 2014, Theorem 3.16, is the same for both). The factors
may be single releases, or compositions of some of them: every partition gives a bound, and every split of δ or of ε.

*From below.* The product spends no less than any of its factors: the others may be ignored.

*Many releases from below.* Let L be the loss of the product under P, and 0 < u < 1. By Markov's inequality
P(L <= ε + t) <= ρ = e^(u(ε + t)) Π_i E e^(-u L_i), and δ(ε) = E (1 - e^(ε - L))_+ >= (1 - e^-t)(1 - ρ) for every t > 0.
Here E e^(-u L_i) = Σ p^(1-u) q^u over the outcomes of a pair. It grows if outcomes are merged (Hölder's inequality), so
that any cells of outcomes give an upper bound.

*Divergences* of a product add up, and their conversion is no less than what the product spends (``renyi.md``), as long
as the divergences are those of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from flint import arb

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, End, ball_end
from dpbounds.expressions.exact import brief
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.questions import CLOSED_FORM_PRECISION, epsilon_by_closed_form
from dpbounds.privacy.pairs.core import MOST_HIDDEN_BITS
from dpbounds.privacy.pairs.losses import ball, law_at
from dpbounds.privacy.pairs.pairs import Moments, Pair, Product, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined, Proof, planned_in_doubles
from dpbounds.privacy.routes.closed_forms import certainly_infinite, closed_form_delta, has_closed_form
from dpbounds.privacy.values import Target

RELEASES = "single release and basic composition"
PARTS = "basic composition of parts"
MANY = "lower tail of the loss"
_MOST_PARTS = 8
_MOST_CELLS = 1000  # ranges of losses
_TRIAL = Fraction(1, 10**9)  # δ at which the ε of the parts are compared, to share a given ε in proportion: a choice

Prove = Callable[[Product, Target], Proof]
Cells = list[tuple[tuple[tuple[arb, arb], ...], int]]  # P- and Q-masses, with the number of releases


def of_releases(product: Product, target: Target) -> Proof:
    """Bound by releases: the most expensive release below, and basic composition of single releases above."""
    return (_epsilon_of_releases if target.for_epsilon else _delta_of_releases)(product, target.value)


def _epsilon_of_releases(product: Product, delta: Fraction) -> Proof:
    """Bound ε(δ) by T releases at δ/T each."""
    total = sum(count for _, count in product)
    low, high = Fraction(0), Fraction(0)
    for pair, count in product:
        single: Product = ((pair, 1),)
        lower = epsilon_by_closed_form(single, delta).enclosure.exact_lower
        upper = epsilon_by_closed_form(single, delta / total).enclosure.exact_upper
        if isinstance(lower, float) or isinstance(upper, float):  # an infinite loss is likelier than δ/T
            raise NotCertified(f"at δ = {brief(delta)} not even basic composition of these releases is finite")
        low, high = max(low, lower), high + count * upper
    return Proof(Enclosure(low, high, RELEASES), "bounds")


def _delta_of_releases(product: Product, epsilon: Fraction) -> Proof:
    """Bound δ(ε) by T releases at ε/T each."""
    total = sum(count for _, count in product)
    low, high = Fraction(0), Fraction(0)
    for pair, count in product:
        if not has_closed_form(((pair, 1),)):
            return Proof(Enclosure(Fraction(0), Fraction(1), "no bound"), "bounds")
        low = max(low, ball_end(closed_form_delta(pair, epsilon)[0], "down"))
        high += count * ball_end(closed_form_delta(pair, epsilon / total)[0], "up")
    return Proof(Enclosure(low, max(low, min(high, Fraction(1))), RELEASES), "bounds")


def of_parts(product: Product, target: Target, prove: Prove) -> Proof:
    """Bound by parts: the most expensive part below, and basic composition of the parts above.

    Args:
        product: Pairs with multiplicities; a part is all Gaussian releases, or all releases of another kind.
        target: δ, which the parts share evenly but for what they spend at any ε; or ε, which they share as they share
            the sum at a small δ.
        prove: Proves what one part spends.

    Raises:
        Declined: There is one part only, or the parts are too many to be fast.
        NotCertified: A part has no proof.
    """
    parts = _parts(product)
    if not 1 < len(parts) <= _MOST_PARTS:
        raise Declined(f"{PARTS}: {len(parts)} parts, not 2 to {_MOST_PARTS}")
    given, lost = target.given, [_lost(part) for part in parts]
    if target.for_epsilon:
        left = (target.value - sum(lost, Fraction(0))) / len(parts)
        if left <= 0:
            raise NotCertified(f"at δ = {brief(target.value)} {PARTS} is not finite")
        shares = [each + left for each in lost]
    else:
        trials = [Target("delta", min(each + _TRIAL, (1 + each) / 2)) for each in lost]
        weights = [_finite(prove(part, at).enclosure.exact_upper) for part, at in zip(parts, trials, strict=True)]
        whole = sum(weights, Fraction(0))
        shares = [target.value * (each / whole if whole else Fraction(1, len(parts))) for each in weights]
    found = [prove(part, Target(given, share)) for part, share in zip(parts, shares, strict=True)]
    uppers = [_finite(proof.enclosure.exact_upper) for proof in found]
    dearest = parts[max(range(len(parts)), key=uppers.__getitem__)]
    low, high = _finite(prove(dearest, target).enclosure.exact_lower), sum(uppers, Fraction(0))
    high = high if target.for_epsilon else min(high, Fraction(1))
    return Proof(Enclosure(low, max(low, high), PARTS), "bounds")


def _parts(product: Product) -> list[Product]:
    gaussian = tuple(each for each in product if isinstance(each[0], ShiftedGaussians | SampledGaussians))
    others: list[Product] = [(each,) for each in product if each not in gaussian]
    return [gaussian, *others] if gaussian else others


def _lost(part: Product) -> Fraction:
    """Return an upper bound on P(infinite loss), where that is known; else 0."""
    (pair, count), *others = part
    if others or not has_closed_form(((pair, 1),)):
        return Fraction(0)
    with working(CLOSED_FORM_PRECISION):
        return min(Fraction(1), ball_end(count * certainly_infinite(pair), "up"))


def _finite(end: End) -> Fraction:
    if isinstance(end, float):
        raise NotCertified(f"{PARTS}: a part spends more than any ε")
    return end


@planned_in_doubles
def of_many(product: Product, target: Target) -> Proof:
    """Bound a product of many releases from below, by the lower tail of its loss.

    Raises:
        Declined: The pairs are many, or one has no known distribution, or nothing is shown.
    """
    if len(product) > _MOST_PARTS or not all(pair.has_distribution for pair, _ in product):
        raise Declined(f"{MANY}: the pairs are too many, or not known")
    with working(CLOSED_FORM_PRECISION):
        try:
            cells = [(_cells(pair), count) for pair, count in product]
        except UnsupportedMechanism as reason:
            raise Declined(f"{MANY}: {reason}") from None
        low = (_epsilon_of_many if target.for_epsilon else _delta_of_many)(cells, target.value)
    if low <= 0:
        raise Declined(f"{MANY}: no loss is shown")
    return Proof(Enclosure(low, math.inf if target.for_epsilon else Fraction(1), MANY), "bounds")


def _epsilon_of_many(cells: Cells, delta: Fraction) -> Fraction:
    """Bound ε(δ) at ρ = 1/2; every u is valid."""
    if delta >= Fraction(1, 4):
        return Fraction(0)
    t = -ball(1 - 2 * delta).log()
    exponents = _exponents(cells)
    u = max(exponents, key=lambda u: (-math.log(2) - exponents[u]) / u)
    return ball_end((-arb(2).log() - _exponent(cells, u)) / u - t, "down")


def _delta_of_many(cells: Cells, epsilon: Fraction) -> Fraction:
    """Bound δ(ε); every u and t is valid."""
    exponents, best = _exponents(cells), (0.0, 0.5, 1.0)
    for u, exponent in exponents.items():
        for t in (4.0**j for j in range(-12, 6)):
            least = -math.expm1(-t) * -math.expm1(min(0.0, u * (float(epsilon) + t) + exponent))
            best = max(best, (least, u, t))
    _, u, t = best
    rest = 1 - (u * (ball(epsilon) + t) + _exponent(cells, u)).exp()
    return ball_end((1 - (-arb(t)).exp()) * rest, "down") if rest > 0 else Fraction(0)


def _exponents(cells: Cells) -> dict[float, float]:
    """Estimate log Π E e^(-u L_i) for several u."""
    import numpy as np

    tilts = 0.9 / 1.3 ** np.arange(70)
    total = np.zeros(len(tilts))
    for masses, count in cells:
        p, q = (np.array([float(each) for each in side]) for side in zip(*masses, strict=True))
        seen = (p > 0) & (q > 0)
        moved = np.expm1(np.multiply.outer(tilts, np.log(q[seen]) - np.log(p[seen]))) @ p[seen]
        total += count * np.log1p(np.maximum(moved, -0.999999))
    return dict(zip(tilts.tolist(), total.tolist(), strict=True))


def _exponent(cells: Cells, u: float) -> arb:
    """Return an upper bound on log Π E e^(-u L_i)."""
    total = arb(0)
    for masses, count in cells:
        total += count * sum((((1 - arb(u)) * p.log() + u * q.log()).exp() for p, q in masses), arb(0)).log()
    return total


@lru_cache(maxsize=64)
def _cells(pair: Pair) -> tuple[tuple[arb, arb], ...]:
    """Return upper bounds on the P- and Q-mass of ranges of the loss that hold all of both, but for Q-mass 0."""
    law = law_at(pair, CLOSED_FORM_PRECISION)
    points = sorted(law.points, key=lambda point: point.loss.mid())
    size = -(-len(points) // _MOST_CELLS) or 1
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    found = [(sum(each.p for each in group), sum(each.r for each in group)) for group in groups]
    found.append((law.infinite, law.vanishing))  # mass that is left out at a precision is below both
    if not law.discrete:
        scale = math.sqrt(max(pair.rough_variance(), 1e-12))
        low, high = (
            sign * 40 * scale if end is None else float(end.mid()) for sign, end in ((-1, law.lowest), (1, law.highest))
        )
        edges = [arb(low + (high - low) * k / _MOST_CELLS) for k in range(1, _MOST_CELLS)]
        above = [law.tail(edge) for edge in edges]
        found += [law.head(edges[0]), above[-1]]
        found += [(left[0] - right[0], left[1] - right[1]) for left, right in pairwise(above)]
    uppers = [(arb(p).upper(), arb(q).upper()) for p, q in found]
    return tuple((p, q) for p, q in uppers if p > 0 and q > 0)


@planned_in_doubles
def of_moments(product: Product, target: Target) -> Proof:
    """Bound a product by its Rényi divergences.

    Raises:
        Declined: A pair has no known divergences, or only those of a class of pairs; or they are so small that it would
            take minutes.
        NotCertified: The divergences are out of reach at every order tried.
    """
    from dpbounds.privacy.renyi.accountant import spent_at_most

    if not all(Moments.OWN in pair.moments for pair, _ in product):
        raise Declined("the divergences known are not those of the pairs")
    if any(pair.lost_bits(Fraction(2)) > MOST_HIDDEN_BITS for pair, _ in product):
        raise Declined("the divergences are too small to be computed quickly")
    try:
        high = spent_at_most(product, target)
    except UnsupportedMechanism as reason:
        raise Declined(f"no divergences are known ({reason})") from None
    if isinstance(high, float):
        raise NotCertified("no Rényi divergence of these releases is finite")
    return Proof(Enclosure(Fraction(0), high, "Rényi divergences"), "bounds")
