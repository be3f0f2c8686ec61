"""Poisson samples of no more records than stated (19)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from flint import arb

from dpbounds.privacy.publishing.checker.aim import Aim, Sizes
from dpbounds.privacy.publishing.checker.balls import chance_of_at_least, number, only_whole, rounded_up
from dpbounds.privacy.publishing.checker.fields import COUNTED, Fields, unread
from dpbounds.privacy.publishing.checker.limits import CLASSES
from dpbounds.privacy.publishing.checker.noises.table import NOISES, joining
from dpbounds.privacy.publishing.checker.profiles import Profile, averaged, weighed
from dpbounds.privacy.publishing.checker.reading import field, positive, rational
from dpbounds.privacy.publishing.checker.rules.displacement import displacing, may_displace
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme, demand_rate
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, require
from dpbounds.privacy.publishing.checker.work import effort


class TruncatedPoisson(Scheme):
    """A Poisson sample, cut to a uniform choice of B records."""

    kind = "truncated-poisson"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "sample_rate": positive,
        **dict.fromkeys(("max_batch_size", "dataset_size", "count"), COUNTED),
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse a rate above 1."""
        demand_rate(release)

    def is_attained(self, release: dict[str, Any]) -> bool:
        """The pairs only dominate."""
        return False

    def holds(self, noise: dict[str, Any], relation: str) -> bool:
        """Return whether the noise is supported: a record may displace another one, or join as in a Poisson sample."""
        return NOISES[noise["kind"]].truncates and may_displace(noise, relation)

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the loss for the sizes of one class of neighbours; the mass to move is a hint."""
        n = release["dataset_size"]
        low, high = aim.sizes.get(n, (1 if relation == "add-or-remove-one" else n, n))
        amount = rational(aim.moved.pop(0), 0) if aim.moved else Fraction(0)
        return Spent(steps=[(of_truncated(release, order, relation, low, high, amount), 1)])


def of_truncated(
    release: dict[str, Any], order: str, relation: str, low: int, high: int, moved: Fraction = Fraction(0)
) -> Profile:
    """(19) A Poisson sample of at most B records, of datasets of ``low`` to ``high`` records."""
    rate, most, noise = release["sample_rate"], release["max_batch_size"], release["mechanism"]
    if not NOISES[noise["kind"]].truncates:
        raise NotCovered(f"{noise['kind']} noise on truncated samples")
    whole = joining(noise, order, relation, rate)
    if high <= most:
        return whole
    often, _ = cut_chances(rate, most, high)
    seldom, kept = cut_chances(rate, most, low, least=True)
    just = Fraction(0)
    if moved:
        just = min(just_not_cut(rate, most, low), just_not_cut(rate, most, high), 1 - often)
        require(0 < moved < seldom * least_kept(rate, most, high), "no more is moved than is cut and held the record")
        require(just > 0, "something just is not cut")
    by_size = relation == "add-or-remove-one"
    rest, share = often - seldom, moved / seldom if moved and by_size else Fraction(0)
    arrives = moved + share * rest
    parts = [(1 - often - just, 1 - often - just, whole)]
    parts.append((rest * (1 - share), rest, displacing(noise, order, relation, (rate - share) / (1 - share))))
    if seldom:
        chance = (seldom * kept - moved) / (seldom - moved)
        parts.append((seldom - moved, seldom, displacing(noise, order, relation, chance)))
    if moved:
        near = joining(noise, order, relation, (just * rate + arrives) / (just + arrives))
        parts.append((just + arrives, just, near))
    if not by_size:  # the tag has one distribution
        return averaged([(first, profile) for first, _, profile in parts])
    swapped = order == "add"
    return weighed([(second, first, p) if swapped else (first, second, p) for first, second, p in parts])


def just_not_cut(rate: Fraction, most: int, size: int) -> Fraction:
    """(19) Not more than P(Bin(n-1, q) = B-1)."""
    if size <= most or rate == 1:
        return Fraction(0)
    ways = arb(size).lgamma() - arb(most).lgamma() - arb(size - most + 1).lgamma()
    chance = (ways + (most - 1) * number(rate).log() + (size - most) * (1 - number(rate)).log()).exp()
    return Fraction(max(0, only_whole((chance * 2**200).lower().floor(), "the probability of just no cut")), 2**200)


def least_kept(rate: Fraction, most: int, size: int) -> Fraction:
    """(19) Not more than a record's probability to be kept where others fill the batch."""
    if rate == 1:
        return Fraction(most, size)
    q, scale = number(rate), 2**200
    tau, beyond = chance_of_at_least(size - 1, q, most), chance_of_at_least(size, q, most + 1)
    if not tau > arb(2) ** -180:
        return Fraction(0)
    return Fraction(max(0, only_whole((most * beyond / (size * tau) * scale).lower().floor(), "κ")), scale)


def cut_chances(rate: Fraction, most: int, size: int, *, least: bool = False) -> tuple[Fraction, Fraction]:
    """(19) τ from above (or below), and from above a record's probability to be kept where others fill the batch."""
    if size <= most:
        return Fraction(0), rate
    if rate == 1:
        return Fraction(1), Fraction(most, size)
    effort.spend(200)
    q, scale = number(rate), 2**200
    tau, beyond = chance_of_at_least(size - 1, q, most), chance_of_at_least(size, q, most + 1)
    end = (tau * scale).lower().floor() if least else (tau * scale).upper().ceil()
    chance = min(Fraction(1), max(Fraction(0), Fraction(only_whole(end, "the probability of a cut"), scale)))
    if not tau > arb(2) ** -180:
        return (Fraction(0) if least else max(chance, Fraction(1, scale))), rate
    return chance, min(rate, Fraction(rounded_up(most * beyond / (size * tau), 200), scale))


def size_classes(releases: list[dict[str, Any]], relation: str, hints: dict[str, Any]) -> list[Sizes]:
    """(19) Classes of neighbours: a range of sizes of datasets for each of the largest sizes that are promised.

    Releases that promise the same are of one dataset, others may be of another one, so that every choice of ranges is
    a class. The ranges of one promise cover its sizes from 1 on; a hint says where they end, else there is one.
    """
    promised = {release["dataset_size"] for release in releases if release["kind"] == TruncatedPoisson.kind}
    if relation != "add-or-remove-one" or not promised:
        return [{}]
    ranges = {size: [(1, size)] for size in sorted(promised)}
    for ends in ends_of(hints):
        whole = ends and all(type(end) is int for end in ends)
        if not whole or sorted({0, *ends}) != [0, *ends] or ends[-1] not in promised:
            raise Malformed("the ranges of sizes do not end in increasing order, the last at dataset_size")
        ranges[ends[-1]] = [(low + 1, high) for low, high in pairwise((0, *ends))]
    if math.prod(map(len, ranges.values())) > CLASSES:
        raise NotCovered(f"more than {CLASSES} classes of sizes of datasets")
    return [dict(zip(ranges, each, strict=True)) for each in itertools.product(*ranges.values())]


def ends_of(hints: dict[str, Any]) -> list[list[Any]]:
    """Return the ends of ranges of sizes: a list for each promise with several, or this list itself if it is one."""
    if "sizes" not in hints:
        return []
    given = field(hints, "sizes", list)
    return given if given and all(isinstance(each, list) for each in given) else [given]
