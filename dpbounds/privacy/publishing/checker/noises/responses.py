"""Randomised response (15)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.fields import COUNTED, Fields, unread
from dpbounds.privacy.publishing.checker.noises.noise import Noise, demand_given, replaced_alone
from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.reading import positive
from dpbounds.privacy.publishing.checker.verdicts import Malformed


class RandomizedResponseNoise(Noise):
    """One of several options for each record: the truth, or any."""

    kind = "randomized-response"
    fields: ClassVar[Fields] = {"kind": unread, "epsilon": positive, "options": COUNTED}

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse fewer than two options, and none of them distinguished."""
        if noise["options"] < 2:
            raise Malformed("randomised response has two options or more")
        demand_given(noise, "epsilon")

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Return the profile of a record that is replaced."""
        if times != 2:
            raise Malformed("randomised response has a pair under replace-one only")
        return response_profile(noise["epsilon"], noise["options"])

    def replaced(self, noise: dict[str, Any], rate: Fraction) -> Profile:
        """Return the profile of a replacement alone."""
        return replaced_alone(self.profile(noise, 2), rate)


def response_profile(epsilon: Fraction, options: int) -> Profile:
    """(15) Randomised response: the truth with odds e^ε against each of the other options."""
    odds = number(epsilon).exp()
    atoms = [(odds, arb(1)), (arb(1), odds), (arb(options - 2), arb(options - 2))]
    return Profile(lambda alpha: sum(((p - alpha * q).max(arb(0)) for p, q in atoms), arb(0)) / (odds + options - 1))
