"""Gaussian noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.fields import Fields, unread
from dpbounds.privacy.publishing.checker.noises.noise import Noise, demand_one_scale
from dpbounds.privacy.publishing.checker.profiles import Profile, gaussian_profile, sampled_profile
from dpbounds.privacy.publishing.checker.reading import positive
from dpbounds.privacy.publishing.checker.verdicts import NotCovered


class GaussianNoise(Noise):
    """N(0, σ²) in every coordinate."""

    kind = "gaussian"
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_stddev", "sensitivity"), positive),
        "kind": unread,
    }
    displaces = truncates = True

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse two scales."""
        demand_one_scale(noise, ("noise_multiplier", "noise_stddev", "sensitivity"))

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """One Gaussian against another."""
        return gaussian_profile(times**2 * per_bound(noise))

    def sampled(self, noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
        """Mixtures of two Gaussians."""
        return sampled_profile(order, rate, per_bound(noise))


def per_bound(noise: dict[str, Any]) -> Fraction:
    """Return the squared shift of Gaussian noise per unit of the per-record bound."""
    if not has_multiplier(noise):
        raise NotCovered("other than Gaussian noise, given by its noise_multiplier, with records drawn so")
    return 1 / Fraction(noise["noise_multiplier"]) ** 2


def has_multiplier(noise: dict[str, Any]) -> bool:
    """Return whether it is Gaussian noise that is known per unit of the per-record bound."""
    return noise["kind"] == GaussianNoise.kind and noise["noise_multiplier"] is not None
