"""Laplace noise (15), (30)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.fields import COUNTED_OR_NONE, Fields, unread
from dpbounds.privacy.publishing.checker.noises.noise import Noise, demand_one_scale, replaced_alone
from dpbounds.privacy.publishing.checker.profiles import Profile, mirrored
from dpbounds.privacy.publishing.checker.reading import positive


class LaplaceNoise(Noise):
    """Laplace noise in every coordinate; distances in l1 norm."""

    kind = "laplace"
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_scale", "sensitivity"), positive),
        "kind": unread,
        "dimension": COUNTED_OR_NONE,
    }
    displaces = truncates = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse two scales."""
        demand_one_scale(noise, ("noise_multiplier", "noise_scale", "sensitivity"))

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Noise of scale 1, moved by a distance."""
        multiplier, scale, distance = (noise[name] for name in ("noise_multiplier", "noise_scale", "sensitivity"))
        return laplace_profile(times / multiplier if multiplier is not None else distance / scale)

    def replaced(self, noise: dict[str, Any], rate: Fraction) -> Profile:
        """Exactly on the line; with a final distance, of a replacement alone."""
        if noise["sensitivity"] is not None:
            return replaced_alone(self.profile(noise, 2), rate)
        if noise["dimension"] == 1:
            return sampled_laplace(rate, 1 / noise["noise_multiplier"])
        return super().replaced(noise, rate)


def laplace_profile(shift: Fraction) -> Profile:
    """(15) Laplace noise of scale 1, moved by ``shift``."""
    least = (-number(shift) / 2).exp()
    return Profile(lambda alpha: (1 - alpha.sqrt() * least).max(1 - alpha).max(arb(0)))


def sampled_laplace(rate: Fraction, shift: Fraction) -> Profile:
    """(30) The same on the line, for Laplace noise: (1-q)f + qf(· - s) against (1-q)f + qf(· + s)."""
    q, s = number(rate), number(shift)
    still = 1 - q + q * (-s).exp()

    def above(alpha: arb) -> arb:
        grown = (alpha * still - (1 - q)) / q  # e^{2t - s} where the ratio is α, for 0 <= t <= s
        t = ((grown.max((-s).exp()).log() + s) / 2).min(s)
        event = (1 - q) * (-t).exp() / 2 + q * (1 - (t - s).exp() / 2) - alpha * (-t).exp() * still / 2
        return event.max(arb(0))

    return mirrored(above)
