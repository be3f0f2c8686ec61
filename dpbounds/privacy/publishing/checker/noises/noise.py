"""Common interface of all noises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.balls import number
from dpbounds.privacy.publishing.checker.fields import Fields
from dpbounds.privacy.publishing.checker.profiles import Profile, averaged, gaussian_profile, thinned, two_guarantees
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed


class Noise:
    """One kind of noise, drawn on all records or on a sample of them.

    Attributes:
        kind: Its name in certificates.
        version: The first version of the format that has it.
        fields: The fields of its object, each with what reads it.
        scales: Fields of which smaller values spend more, so that they are rounded down in words.
        symmetric: Whether both orders of the neighbours have one profile.
        displaces: Whether a record that takes another one's place is covered.
        truncates: Whether it is covered on truncated samples.
    """

    kind = ""
    version = 5
    fields: ClassVar[Fields] = {}
    scales: tuple[str, ...] = ("noise_multiplier", "noise_stddev", "noise_scale", "noise_variance")
    symmetric = True
    displaces = False
    truncates = False

    def form(self, noise: object) -> tuple[Fields, int]:
        """Return the fields that noise given in this way has, and the first version of the format that has it."""
        return self.fields, self.version

    def demand(self, noise: dict[str, Any]) -> None:
        """Refuse parameters that do not go together."""

    def profile(self, noise: dict[str, Any], times: int) -> Profile:
        """Return the profile on all records, if one moves by ``times`` times its bound: 2 if it is replaced."""
        raise NotImplementedError

    def spent(self, noise: dict[str, Any], times: int) -> Spent:
        """Return the profile of vectors, several coordinates of which may move."""
        return Spent(steps=[(self.profile(noise, times), 1)])

    def sampled(self, noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
        """(14), (30) A record that is in a Poisson sample with probability ``rate``, beside the others."""
        if relation == "replace-one":
            return self.replaced(noise, rate)
        sample = thinned(self.profile(noise, 1), rate)
        return sample if order == "remove" else sample.reversed()

    def replaced(self, noise: dict[str, Any], rate: Fraction) -> Profile:
        """(30) The same where the record is replaced."""
        return two_guarantees(self.profile(noise, 1), self.profile(noise, 2), rate)

    def on_poisson_samples(self, noise: dict[str, Any]) -> bool:
        """Return whether it is covered on Poisson samples, as closely as on all records."""
        return True

    def is_attained(self, noise: dict[str, Any]) -> bool:
        """Return whether some run attains the pair, which then shows lower bounds."""
        return True


def demand_given(noise: dict[str, Any], name: str) -> None:
    """Refuse noise without its scale."""
    if noise[name] is None:
        raise Malformed(f"{noise['kind']} noise needs {name}")


def demand_one_scale(noise: dict[str, Any], names: tuple[str, str, str]) -> None:
    """Refuse noise that is not given by its multiplier, or by its scale with a final distance."""
    if [noise[name] is None for name in names] not in ([False, True, True], [True, False, False]):
        raise Malformed(f"noise is given by {names[0]}, or by {names[1]} with {names[2]}")


def replaced_alone(replaced: Profile, rate: Fraction) -> Profile:
    """(30) A replaced record in a Poisson sample, where nothing else is covered."""
    q = number(rate)
    return averaged([(1 - rate, gaussian_profile(Fraction(0))), (rate, replaced)]) if q < 1 else replaced
