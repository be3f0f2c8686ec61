"""Batches of a fixed size (17), (18)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpbounds.privacy.publishing.checker.noises import noise_profile
from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.samples import displacing
from dpbounds.privacy.publishing.checker.verdicts import Malformed


def of_fixed_size(release: dict[str, Any], order: str, relation: str) -> Profile:
    """(17), (18) b of n records."""
    rate = Fraction(release["batch_size"], release["dataset_size"])
    if rate == 1 and relation != "add-or-remove-one":
        return noise_profile(release["mechanism"], 2 if relation == "replace-one" else 1)
    if rate == 1:
        raise Malformed("under add-or-remove-one a batch is smaller than the data set")
    return displacing(release["mechanism"], order, relation, rate)
