"""Groups of records (31)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from dpbounds.privacy.publishing.checker.noises import mixture_profile, per_bound
from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.schemes.draws import of_draws, replaced_draws
from dpbounds.privacy.publishing.checker.schemes.gaussian import gaussian, of_noise
from dpbounds.privacy.publishing.checker.verdicts import NotCovered, require


def of_group(release: dict[str, Any], order: str, relation: str, group: int) -> tuple[Fraction, Profile | None]:
    """(31) What so many records spend at once: a squared shift, or a profile by how many of them a sample holds."""
    kind = release["kind"]
    if kind == "gaussian":
        shift, sampled = gaussian(release, relation)
        if not sampled:
            return group**2 * shift, None
        q, (z, _) = release["sample_rate"], of_noise(release, relation)
        require(group <= 64, "a group on Poisson samples has at most 64 records")
        law = [math.comb(group, j) * q**j * (1 - q) ** (group - j) for j in range(group + 1)]
        return Fraction(0), mixed(law, z, order)
    if kind not in ("without-replacement", "with-replacement") or relation == "zero-out-one":
        raise NotCovered(f"groups of records with {kind} under {relation}")
    b, n, z = release["batch_size"], release["dataset_size"], release["mechanism"]["noise_multiplier"]
    per_bound(release["mechanism"])  # refuses other noise
    one_by_one = kind == "with-replacement" and b > 1
    if n - group < (1 if one_by_one else b):
        raise NotCovered("a group without which no whole batch is left")
    if one_by_one:
        return Fraction(0), of_draws(release, order, relation, group)
    few, many = sorted((group, b))  # which is which does not matter
    require(few <= 64, "a batch holds at most 64 records of a group")
    ways = [math.comb(many, j) * math.comb(n - many, few - j) for j in range(few + 1)]
    law = [Fraction(each, math.comb(n, few)) for each in ways]
    if relation == "replace-one":
        return Fraction(0), replaced_draws(law, z, arb(0))
    return Fraction(0), mixed(law, z / 2, order)


def mixed(law: list[Fraction], z: Fraction, order: str) -> Profile:
    """Σ p_j N(j/z) against N(0), or against Σ p_j N(-j/z) where records are replaced."""
    found = mixture_profile([(Fraction(j), p) for j, p in enumerate(law)], z, replaced=order == "replace")
    return found.reversed() if order == "add" else found
