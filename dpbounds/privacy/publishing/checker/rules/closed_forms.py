"""Closed forms: one pair."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.profiles import Curve, gaussian_profile, sampled_profile
from dpbounds.privacy.publishing.checker.spent import Sampled


def closed_form(order: str, squared_shift: Fraction, sampled: Sampled) -> Curve:
    """δ(ε) = H_{e^ε} of one pair: the loss is monotone in the observation t, and {L > ε} a half-line."""
    found = gaussian_profile(squared_shift)
    if sampled:
        ((q, variance),) = sampled
        found = sampled_profile(order, q, 1 / variance)

    def curve(epsilon: Fraction) -> tuple[arb, arb]:
        value = found(number(epsilon).exp())
        return value, value

    return curve
