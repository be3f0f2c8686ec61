"""Shuffled batches, by labels and clones (21)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from flint import arb, ctx

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import chance_of_at_least, number, only_whole
from dpbounds.privacy.publishing.checker.fields import COUNTED, MANY, Fields, unread
from dpbounds.privacy.publishing.checker.noises.gaussian import per_bound
from dpbounds.privacy.publishing.checker.profiles import Profile, averaged, gaussian_profile
from dpbounds.privacy.publishing.checker.reading import field, nonnegative, rational
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme
from dpbounds.privacy.publishing.checker.spent import Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed, require
from dpbounds.privacy.publishing.checker.work import effort


class Shuffled(Scheme):
    """Batches cut from a uniform permutation, drawn afresh in each epoch."""

    kind = "shuffled"
    fields: ClassVar[Fields] = {
        "kind": unread,
        "mechanism": unread,
        "batches": MANY,
        "rest": nonnegative,
        "count": COUNTED,
    }
    by_position = True
    halves = True

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse a rest that is a batch."""
        if release["rest"] * (release["batches"] + 1) >= 1:
            raise Malformed("the rest of an epoch is no smaller than a batch")

    def is_attained(self, release: dict[str, Any]) -> bool:
        """The pairs only dominate."""
        return False

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """One epoch; clones are hints."""
        profile, lost = of_shuffled(release, order, aim.choice("clones"), aim)
        return Spent(steps=[(profile, 1)], variation=lost)


class Clones:
    """(21) The choices of one epoch: s, (p, p') and (t, t'), with their conditions."""

    def __init__(self, record: object) -> None:
        self.odds = rational(field(record, "odds", str), 1)
        self.shares = [rational(each, 0) for each in field(record, "shares", list)]
        self.clone_odds = [rational(each, 1) for each in field(record, "clone_odds", list)]
        require(len(self.shares) == len(self.clone_odds) == 2, "there are two kinds of clones")
        require(self.odds > 1, "labels have odds above 1")
        taken = sum((p * t for p, t in zip(self.shares, self.clone_odds, strict=True)), Fraction(0))
        require(0 < taken <= 1, "clones take no more than all of another record")

    def lost(self, squared_shift: Fraction, batches: int, order: str) -> arb:
        """η: the total variation between an epoch and one with labels and clones."""
        own = gaussian_profile(squared_shift)
        other = own if order == "replace" else gaussian_profile(4 * squared_shift)
        found = labels = own(number(self.odds))
        for share, odds, law in zip(self.shares, self.clone_odds, (other, own), strict=True):
            if share:
                found += (batches - 1) * number(share) * (labels + law(number(odds)))
        return found.upper()

    def profile(self, batches: int, order: str, negligible: arb) -> Profile:
        """(21) Distribution of (C, K); numbers of clones in a row count as the least of them, too few as revealed."""
        p, unlike = self.shares
        s, share = number(self.odds), number(p + unlike)
        first = number((p * self.odds + unlike) / ((p + unlike) * (1 + self.odds)))  # θ
        require(order != "replace" or p == unlike, "neither content of a replaced record is special")
        o, few = (1 - first) / first, batches - 1
        if p + unlike < 1:
            mean, log_small = float((few * share).mid()), -float(negligible.log().mid())
            reach = math.sqrt(2 * log_small * mean) + log_small / 3 + 2
            few = max(0, math.floor(mean - reach))
            step, most = max(1, math.floor(mean / 400)), min(batches - 1, math.ceil(mean + reach))
            starts = list(range(few, most + 1, step))
            tails = [chance_of_at_least(batches - 1, share, start) for start in starts] + [arb(0)]
            groups = [(start, a - b) for start, (a, b) in zip(starts, pairwise(tails), strict=True)]
            revealed = 1 - tails[0]
        else:
            groups, revealed = [(few, arb(1))], arb(0)
        effort.spend(sum(clones for clones, _ in groups) / 2, 2 * sum(clones for clones, _ in groups))
        tables = [(clones, weight, *binomial(clones, first)) for clones, weight in groups]
        up, down = s / (1 + s), 1 / (1 + s)

        def at_least(k: int, clones: int, masses: list[arb], tails: list[arb], coin: arb) -> arb:
            if k <= 0 or k > clones + 1:
                return arb(1 if k <= 0 else 0)
            return tails[k] + coin * masses[k - 1]

        def counted(alpha: arb) -> arb:
            effort.spend(len(tables) / 2)
            found = revealed
            low, high = 1 / s < alpha, alpha < s
            if low is False or high is False:
                found += (1 - revealed) * (1 - alpha).max(arb(0))
                require(alpha <= 1 / s or alpha >= s, "α is distinguished from the odds of the labels")
                return found
            cut = (s * alpha - 1) / (s * o - 1 + alpha * (s - o))
            for clones, weight, masses, tails in tables:
                at = (clones + 1) * cut
                ends = [only_whole(end.floor(), "the threshold of counts") for end in (at.lower(), at.upper())]
                require(ends[1] - ends[0] <= 1, "the threshold of the counts is narrow")
                best = arb(0)
                for end in set(ends):
                    p_mass = at_least(end + 1, clones, masses, tails, up)
                    best = best.max(p_mass - alpha * at_least(end + 1, clones, masses, tails, down))
                found += weight * best
            return found

        if order != "add":
            return Profile(counted, exact=False)
        # restored: P and Q change places; what is revealed stays at an infinite loss
        return Profile(
            lambda alpha: revealed + (1 - revealed) * (1 - alpha) + alpha * (counted(1 / alpha) - revealed), exact=False
        )


def binomial(trials: int, chance: arb) -> tuple[list[arb], list[arb]]:
    """P(Bin = k) for k = 0..trials, and P(Bin >= k) for k = 0..trials + 1."""
    masses, odds = [(1 - chance) ** trials], chance / (1 - chance)
    for k in range(trials):
        masses.append(masses[-1] * odds * (trials - k) / (k + 1))
    return masses, list(accumulate(reversed(masses), initial=arb(0)))[::-1]


def of_shuffled(release: dict[str, Any], order: str, clones: object, aim: Aim) -> tuple[Profile, arb]:
    """(21) One epoch, and the total variation that its clones cost; without clones the record's batch is revealed."""
    squared, batches = per_bound(release["mechanism"]) * (4 if order == "replace" else 1), release["batches"]
    base = gaussian_profile(squared)
    if clones is None or batches == 1:
        return base, arb(0)
    choice = Clones(clones)
    key = (order, batches, choice.odds, *choice.shares, ctx.prec)
    if key not in aim.known:
        aim.known[key] = choice.profile(batches, order, aim.negligible)
    counts = aim.known[key]
    return averaged([(release["rest"], base), (1 - release["rest"], counts)]), choice.lost(squared, batches, order)
