"""Base class of kinds of releases: fields, conditions, words, and profiles."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.fields import Fields
from dpbounds.privacy.publishing.checker.noises.gaussian import has_multiplier
from dpbounds.privacy.publishing.checker.noises.table import NOISES
from dpbounds.privacy.publishing.checker.profiles import sampled_profile
from dpbounds.privacy.publishing.checker.spent import Sampled, Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered


class Scheme:
    """One kind of releases: how records are drawn, around a noise.

    Attributes:
        kind: Its name in certificates.
        version: The first version of the format that has it.
        fields: The fields of its object, each with what reads it.
        refused_noises: Noises that it does not hold, because these are kinds of their own.
        by_position: Whether records go by their positions, which shift where others come and go.
        halves: Whether a replacement may be shown in two halves, to a record that is zeroed, and back.
        groups_under: Relations under which groups of records are covered, with Gaussian noise.
    """

    kind = ""
    version = 5
    fields: ClassVar[Fields] = {}
    refused_noises: tuple[str, ...] = ()
    by_position = False
    halves = False
    groups_under: tuple[str, ...] = ()

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Return whether its profile around a noise is covered."""
        return has_multiplier(noise)

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse parameters that do not go together, and read those that depend on others."""

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Return whether it takes the profiles of version 5."""
        return True

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return whether some run attains the release's pair, which then shows lower bounds; others only dominate."""
        noise = release["mechanism"]
        return NOISES[noise["kind"]].is_attained(noise)

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """Return, for a release that is not drawn, a squared shift and pairs on samples."""
        raise NotImplementedError

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the loss of one release, as pairs or profiles."""
        shift, sampled = self.product(release, relation)
        return Spent(shift, [(sampled_profile(order, q, 1 / z2), times) for (q, z2), times in sampled.items()])

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """(31) Return the loss of ``group`` records at once."""
        raise NotCovered(f"groups of records with {self.kind} under {relation}")

    def sampling(self, release: dict[str, Any]) -> str | None:
        """Return the name of the scheme in the digest, beside that of the noise."""
        return self.kind

    def words(self, release: dict[str, Any]) -> str:
        """One line for a person; exact numbers are rounded so that the stated release spends no less."""
        return drawn_in_words(release)


def of_noise(release: dict[str, Any], relation: str) -> tuple[Fraction, int]:
    """z, in units of the distance 1, and the distance: 2 under replace-one, unless the final one is given."""
    z, stddev, distance = (release[name] for name in ("noise_multiplier", "noise_stddev", "sensitivity"))
    if z is not None and stddev is None and distance is None:
        return z, 2 if relation == "replace-one" else 1
    if z is None and stddev is not None and distance is not None:
        return stddev / distance, 1
    raise Malformed("a release gives either noise_multiplier, or noise_stddev with sensitivity")


def demand_positions(relation: str) -> None:
    """Refuse schemes that depend on positions where positions shift."""
    if relation == "add-or-remove-one":
        raise Malformed("batches by position have no pair under add-or-remove-one, where all positions shift")


def demand_rate(release: dict[str, Any]) -> None:
    """Refuse a rate above 1, and none."""
    if release["sample_rate"] is None or release["sample_rate"] > 1:
        raise Malformed(f"{release['kind']} needs a sample_rate of at most 1")


def drawn_in_words(read: dict[str, Any]) -> str:
    """Noise and sampling; exact numbers are rounded so that the stated release spends no less."""
    noise, left = read["mechanism"], ("kind", "mechanism", "count")

    def told(name: str, value: Any) -> str:
        down = name in (*NOISES[noise["kind"]].scales, "rest")
        word = shown(value, ROUND_FLOOR if down else ROUND_CEILING) if isinstance(value, Fraction) else str(value)
        if name == "norms":
            word = ", ".join(f"{shown(c)} with probability {shown(p)}" for c, p in value)
        return f"{name.replace('_', ' ')} {word}"

    of_noise = [told(name, value) for name, value in noise.items() if name not in left and value is not None]
    drawn = [told(name, value) for name, value in read.items() if name not in left]
    how = f"{read['kind'].replace('-', ' ')}{' (' if drawn else ''}{', '.join(drawn)}{')' if drawn else ''}"
    return f"{read['count']} x {noise['kind'].replace('-', ' ')} noise, {', '.join(of_noise)}, on {how}"


def noise_in_words(release: dict[str, Any]) -> str:
    """Gaussian noise of a release that holds its parameters itself, rounded down; distances are rounded up."""
    z, stddev, distance = (release.get(name) for name in ("noise_multiplier", "noise_stddev", "sensitivity"))
    if stddev is not None and distance is not None:
        return f"standard deviation {shown(stddev, ROUND_FLOOR)} at sensitivity {shown(distance)}"
    return "" if z is None else f"standard deviation {shown(z, ROUND_FLOOR)} per unit of the per-record bound"
