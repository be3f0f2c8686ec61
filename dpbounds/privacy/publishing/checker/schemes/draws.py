"""Draws with replacement (27), (28), and groups of records (31)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

from flint import arb

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import chance_of_at_least, number, rounded_up
from dpbounds.privacy.publishing.checker.fields import Fields
from dpbounds.privacy.publishing.checker.noises.gaussian import per_bound
from dpbounds.privacy.publishing.checker.noises.mixtures import mixture_profile
from dpbounds.privacy.publishing.checker.profiles import Profile, mirrored
from dpbounds.privacy.publishing.checker.rules.displacement import replaced_draws, zeroed_profile
from dpbounds.privacy.publishing.checker.schemes.fixed_size import (
    WithoutReplacement,
    demand_rest,
    group_in_batch,
    of_fixed_size,
)
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered
from dpbounds.privacy.publishing.checker.work import effort


class WithReplacement(Scheme):
    """b independent draws of n records."""

    kind = "with-replacement"
    fields: ClassVar[Fields] = WithoutReplacement.fields
    groups_under = WithoutReplacement.groups_under

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse draws from an empty set of other records."""
        if release["dataset_size"] < 2:
            raise Malformed("draws with replacement from fewer than two records")

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return a record that is drawn several times."""
        return Spent(steps=[(of_draws(release, order, relation), 1)])

    def of_group(self, release: dict[str, Any], order: str, relation: str, group: int) -> Spent:
        """A batch holds a binomial number of draws of the group; a single draw is a batch of one record."""
        if relation not in self.groups_under:
            return super().of_group(release, order, relation, group)
        demand_rest(release, group, 1)
        if release["batch_size"] == 1:
            return Spent(steps=[(group_in_batch(release, order, relation, group), 1)])
        return Spent(steps=[(of_draws(release, order, relation, group), 1)])


def of_draws(release: dict[str, Any], order: str, relation: str, group: int = 1) -> Profile:
    """(27), (28), (31) b draws with replacement: Σ p_k N(2k/z) against N(0) for records that come and go."""
    draws, n, one = release["batch_size"], release["dataset_size"], per_bound(release["mechanism"])
    if draws == 1 and relation != "add-or-remove-one":
        return of_fixed_size(release, order, relation)
    chance, scale = number(Fraction(group, n)), 2**240
    tails = [Fraction(1)]  # P(k or more draws), from above
    while tails[-1] > Fraction(1, 2**200) and len(tails) <= draws:
        if len(tails) > 1000:
            raise NotCovered("a record that is drawn more than 1000 times")
        effort.spend(1)
        tails.append(min(tails[-1], Fraction(rounded_up(chance_of_at_least(draws, chance, len(tails)), 240), scale)))
    beyond = tails.pop() if len(tails) <= draws else Fraction(0)
    chances = [a - b for a, b in pairwise([*tails, Fraction(0)])]
    lost = number(beyond)
    if relation == "replace-one":
        return replaced_draws(chances, release["mechanism"]["noise_multiplier"], lost)
    if relation == "zero-out-one":
        return zeroed_draws(chances, one, chance_of_at_least(draws, chance, 1), order, lost)
    norms = [(Fraction(2 * k), p) for k, p in enumerate(chances) if p]
    mixture = mixture_profile(norms, release["mechanism"]["noise_multiplier"], replaced=False)
    whole = Profile(lambda alpha: mixture(alpha) + lost, 1 + lost, exact=False)
    return whole if order == "remove" else whole.reversed()


def zeroed_draws(chances: list[Fraction], one: Fraction, some: arb, order: str, lost: arb) -> Profile:
    """(28) Σ_{k >= 1} p_k/η times (18) at the rate η and k shifts, for α >= 1; the other order, mirrored, below."""
    both = [
        [(number(p), zeroed_profile(k * k * one, some, way)) for k, p in enumerate(chances) if k and p]
        for way in (order, "add" if order == "remove" else "remove")
    ]

    def above(way: int, alpha: arb) -> arb:
        return sum((p * each(alpha) for p, each in both[way]), arb(0)) / some + lost

    return mirrored(partial(above, 0), partial(above, 1), total=1 + lost, exact=False)
