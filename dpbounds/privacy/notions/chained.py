"""A guarantee for datasets that are several steps apart: its numbers, along a chain of neighbours.

Section numbers refer to ``conversions.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.notions.concentrated import renyi_between, upper_end
from dpbounds.privacy.notions.notions import (
    ApproximateDP,
    BoundedRange,
    GaussianDP,
    Notion,
    Points,
    PureDP,
    RenyiDP,
    TotalVariation,
    ZeroConcentratedDP,
    shown,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import ball


def along_chain(known: Notion, k: int) -> Notion:
    """Return the numbers of the guarantee for datasets k times as far apart (section 7)."""
    match known:
        case PureDP(epsilon=epsilon):
            return replace(known, epsilon=k * epsilon)
        case BoundedRange(eta=eta):
            return replace(known, eta=k * eta)
        case GaussianDP(mu=mu):
            return replace(known, mu=k * mu)
        case TotalVariation(delta=delta):
            return replace(known, delta=min(Fraction(1), k * delta))
        case ZeroConcentratedDP(rho=rho):
            return replace(known, rho=k * k * rho)
        case ApproximateDP(epsilon=epsilon, delta=delta):
            return replace(known, epsilon=k * epsilon, delta=_chained_delta(epsilon, delta, k))
        case RenyiDP(points=points):
            reached = [order / k for order, _ in points if order > k]
            if not reached:
                raise Declined(f"{k} steps need an order above {k}, the largest given is {shown(points[-1][0])}")
            return replace(known, points=tuple((order, _chained_renyi(points, order, k)) for order in reached))
    raise UnsupportedMechanism(f"no guarantee for groups is proven here for {known}")


def _chained_delta(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """Return δ (e^{kε} - 1)/(e^ε - 1), or kδ at ε = 0."""
    if epsilon == 0 or delta == 0 or k == 1:
        return min(Fraction(1), k * delta)
    return min(Fraction(1), delta * upper_end(lambda: ball(k * epsilon).expm1() / ball(epsilon).expm1()))


def _chained_renyi(points: Points, order: Fraction, k: int) -> Fraction:
    """Return kλ times the sum of τ(m)/m over m = k(λ-1) + j, j = 1, ..., k."""
    needed = (k * (order - 1) + j for j in range(1, k + 1))
    return k * order * sum((renyi_between(points, m) / m for m in needed), Fraction(0))
