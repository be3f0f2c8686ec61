"""Closed forms of the pairs that spend most among those of a notion: pure, approximate, of bounded range.

Section numbers refer to ``conversions.md`` beside this file.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.privacy.notions.concentrated import upper_end
from dpbounds.privacy.notions.notions import ApproximateDP, shown
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.closed_forms import ball


def randomised_response_renyi(epsilon: Fraction, order: Fraction) -> Fraction:
    """Return D_λ of ε-randomised response, log(cosh((λ-1/2)ε)/cosh(ε/2))/(λ-1), rounded up (section 1)."""
    if epsilon == 0:
        return Fraction(0)

    def curve() -> arb:
        small, large = (-ball(epsilon)).exp(), (-ball((2 * order - 1) * epsilon)).exp()
        return ball(epsilon) + (large.log1p() - small.log1p()) / ball(order - 1)

    return min(epsilon, upper_end(curve))


def least_rho(epsilon: Fraction) -> Fraction:
    """Return ρ of an ε-DP mechanism (section 1)."""
    sharper = upper_end(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh()) if epsilon else Fraction(0)
    return min(sharper, epsilon**2 / 2)


def traded_epsilon(known: ApproximateDP, delta: Fraction) -> Fraction:
    """Return the ε at which the extremal pair of (ε, δ) spends a larger δ (section 2)."""
    if delta < known.delta:
        raise Declined(f"delta = {shown(delta)} is smaller than the {shown(known.delta)} that the guarantee itself has")
    if delta == 1 or known.epsilon == 0:
        return Fraction(0)
    if delta == known.delta:
        return known.epsilon
    rest = (delta - known.delta) / (1 - known.delta)

    def bound() -> arb:
        taken = ball(rest) * (1 + (-ball(known.epsilon)).exp())
        return arb(0) if taken >= -(-ball(known.epsilon)).expm1() else ball(known.epsilon) + (-taken).log1p()

    return min(known.epsilon, max(Fraction(0), upper_end(bound)))


def traded_delta(known: ApproximateDP, epsilon: Fraction) -> Fraction:
    """Return the δ that the extremal pair of (ε, δ) spends at a smaller ε (section 2)."""
    if epsilon >= known.epsilon:
        return known.delta

    def bound() -> arb:
        return -ball(epsilon - known.epsilon).expm1() / (1 + (-ball(known.epsilon)).exp())

    return min(Fraction(1), known.delta + (1 - known.delta) * upper_end(bound))


def bounded_range_epsilon(eta: Fraction, delta: Fraction) -> Fraction:
    """Return ε(δ) of range η (section 3)."""
    if eta == 0 or delta >= 1:
        return Fraction(0)

    def bound() -> arb:
        root = (-ball(delta) * (-ball(eta)).expm1()).sqrt()
        return ball(eta) + 2 * (-root).log1p()

    return min(eta, max(Fraction(0), upper_end(bound)))


def bounded_range_delta(eta: Fraction, epsilon: Fraction) -> Fraction:
    """Return δ(ε) of range η (section 3)."""
    if epsilon >= eta:
        return Fraction(0)
    return upper_end(lambda: (ball(epsilon - eta) / 2).expm1() ** 2 / -(-ball(eta)).expm1())


def total_variation_of(divergence: Fraction) -> Fraction:
    """Bound the total variation where KL(P ‖ Q) is at most this (section 6)."""
    if divergence == 0:
        return Fraction(0)
    pinsker = upper_end(lambda: ball(divergence / 2).sqrt())
    return min(Fraction(1), pinsker, upper_end(lambda: (-(-ball(divergence)).expm1()).sqrt()))
