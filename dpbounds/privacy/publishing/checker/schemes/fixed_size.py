"""Batches of a fixed size: b of n records (17), (18), and groups of them (31)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.fields import COUNTED, Fields, unread
from dpbounds.privacy.publishing.checker.noises.gaussian import per_bound
from dpbounds.privacy.publishing.checker.noises.mixtures import mixed
from dpbounds.privacy.publishing.checker.noises.table import noise_profile
from dpbounds.privacy.publishing.checker.profiles import Profile
from dpbounds.privacy.publishing.checker.rules.displacement import displacing, may_displace, replaced_draws
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, require


class WithoutReplacement(Scheme):
    """A uniform subset of b records."""

    kind = "without-replacement"
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("kind", "mechanism"), unread),
        **dict.fromkeys(("batch_size", "dataset_size", "count"), COUNTED),
    }
    groups_under = ("add-or-remove-one", "replace-one")

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse more records than there are."""
        if release["batch_size"] > release["dataset_size"]:
            raise Malformed("a batch is larger than the dataset")

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Return whether the noise is supported: a record may displace another one."""
        return may_displace(noise, relation)

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return a record in the place of another one."""
        return Spent(steps=[(of_fixed_size(release, order, relation), 1)])

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """A batch holds a hypergeometric number of the group."""
        if relation not in self.groups_under:
            return super().of_group(release, order, relation, group)
        demand_rest(release, group, release["batch_size"])
        return Spent(steps=[(group_in_batch(release, order, relation, group), 1)])


def of_fixed_size(release: dict[str, Any], order: str, relation: str) -> Profile:
    """(17), (18) b of n records."""
    rate = Fraction(release["batch_size"], release["dataset_size"])
    if rate == 1 and relation != "add-or-remove-one":
        return noise_profile(release["mechanism"], 2 if relation == "replace-one" else 1)
    if rate == 1:
        raise Malformed("under add-or-remove-one a batch is smaller than the dataset")
    return displacing(release["mechanism"], order, relation, rate)


def demand_rest(release: dict[str, Any], group: int, batch: int) -> None:
    """Refuse groups without which no whole batch is left, and other than Gaussian noise."""
    per_bound(release["mechanism"])
    if release["dataset_size"] - group < batch:
        raise NotCovered("a group without which no whole batch is left")


def group_in_batch(release: dict[str, Any], order: str, relation: str, group: int) -> Profile:
    """(31) Return the profile of ``group`` of n records in a batch of b."""
    b, n, z = release["batch_size"], release["dataset_size"], release["mechanism"]["noise_multiplier"]
    few, many = sorted((group, b))  # the two are interchangeable
    require(few <= 64, "a batch holds at most 64 records of a group")
    ways = [math.comb(many, j) * math.comb(n - many, few - j) for j in range(few + 1)]
    law = [Fraction(each, math.comb(n, few)) for each in ways]
    return replaced_draws(law, z, arb(0)) if relation == "replace-one" else mixed(law, z / 2, order)
