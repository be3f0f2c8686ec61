"""Schedules of very many levels, enclosed between two of few: each release is rounded up and down in cost.

Every route takes time for each distinct pair of a product. Here the pairs of one family (the same mechanism and
sampling, other noise and rates) are put into groups; if each pair is replaced by the most expensive point of its
group's box, the product spends at least as much; with the cheapest, at most as much. That is monotonicity in the noise,
the rate and the other costs, proven in ``pairs.md``, section 7, for one step, for whole compositions and where single
steps of many are changed. How the groups are chosen is free; each further group splits one of those before it, so that
more groups enclose no less narrowly.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.pairs.pairs import Costs, Pair, Product
from dpbounds.privacy.proofs import Proof


@dataclass(frozen=True, slots=True)
class Between:
    """Two products of few pairs: one that the product in question dominates, and one that dominates it."""

    cheaper: Product
    dearer: Product


@dataclass(frozen=True, slots=True)
class _Group:
    members: tuple[tuple[Pair, Costs, int], ...]

    @property
    def box(self) -> tuple[Costs, Costs]:
        """The least and the largest of each cost."""
        columns = list(zip(*(costs for _, costs, _ in self.members), strict=True))
        return tuple(min(column) for column in columns), tuple(max(column) for column in columns)

    @property
    def count(self) -> int:
        """The number of releases."""
        return sum(number for _, _, number in self.members)

    def widths(self) -> list[float]:
        """Estimate the effect of rounding in each cost alone, in floating point; no proof depends on it."""
        (low, high), (pair, _, _), count = self.box, self.members[0], self.count
        top = pair.with_costs(high).rough_variance()
        return [
            count * (top - pair.with_costs((*high[:index], low[index], *high[index + 1 :])).rough_variance())
            if low[index] < high[index]
            else -1.0
            for index in range(len(high))
        ]

    def halves(self) -> tuple[_Group, _Group]:
        """Split in the middle of the cost that matters most."""
        widths, (low, high) = self.widths(), self.box
        index = widths.index(max(widths))
        middle = (low[index] + high[index]) / 2
        below = tuple(member for member in self.members if member[1][index] <= middle)
        above = tuple(member for member in self.members if member[1][index] > middle)
        return _Group(below), _Group(above)


def between(product: Product, most: int) -> Between:
    """Round a product's pairs both ways, so that each of the two products has about ``most`` distinct pairs at most.

    Args:
        product: Pairs with multiplicities, one class of neighbours.
        most: At least 1. Pairs without proven monotonicity stay as they are, and each family has one group at least;
            there may be more than ``most`` for either reason.

    >>> from fractions import Fraction
    >>> from dpbounds.privacy.pairs.pairs import SampledLaplaces
    >>> some = tuple((SampledLaplaces(Fraction(1, 10), Fraction(k)), 1) for k in (4, 5, 9))
    >>> [count for _, count in between(some, 2).dearer]
    [2, 1]
    """
    families: dict[Hashable, list[tuple[Pair, Costs, int]]] = {}
    kept: list[tuple[Pair, int]] = []
    for pair, count in product:
        costs = pair.costs()
        if costs is None:
            kept.append((pair, count))
        else:
            family = pair.with_costs((Fraction(1),) * len(costs))
            families.setdefault(family, []).append((pair, costs, count))
    whole = [_Group(tuple(members)) for members in families.values()]
    waiting = [(-max(group.widths()), number, group) for number, group in enumerate(whole)]
    heapq.heapify(waiting)
    names = itertools.count(len(waiting))
    while len(waiting) + len(kept) < most and waiting and len(set(waiting[0][2].box)) == 2:
        for half in heapq.heappop(waiting)[2].halves():
            heapq.heappush(waiting, (-max(half.widths()), next(names), half))
    groups = [group for _, _, group in sorted(waiting, key=lambda entry: entry[1])]
    return Between(_rounded(groups, kept, 0), _rounded(groups, kept, 1))


def by_groups(product: Product, most: int, prove: Callable[[Product], Proof]) -> Proof:
    """Enclose a product's loss by those of two products of about ``most`` pairs."""
    ends = between(product, most)
    below, above = prove(ends.cheaper).enclosure, prove(ends.dearer).enclosure
    enclosure = Enclosure(below.exact_lower, above.exact_upper, f"{above.method}, levels in groups", above.precision)
    return Proof(enclosure, "groups", {"levels": len(product), "groups": len(ends.dearer)})


def _rounded(groups: Sequence[_Group], kept: Sequence[tuple[Pair, int]], end: int) -> Product:
    found: Counter[Pair] = Counter()
    for group in groups:
        found[group.members[0][0].with_costs(group.box[end])] += group.count
    for pair, count in kept:
        found[pair] += count
    return tuple(found.items())
