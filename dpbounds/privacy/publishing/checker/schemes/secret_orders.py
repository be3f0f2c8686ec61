"""Last iterates in secret orders (22)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any

from flint import arb, ctx, fmpz_poly

from dpbounds.privacy.publishing.checker.balls import number, repeated, rounded_up
from dpbounds.privacy.publishing.checker.limits import MOST_WORK
from dpbounds.privacy.publishing.checker.schemes.windows import is_scheduled, scheduled_costs, window, windows_of
from dpbounds.privacy.publishing.checker.verdicts import NotCovered
from dpbounds.privacy.publishing.checker.work import effort

Costs = list[tuple[Fraction, Fraction]]  # probabilities, rounded up, with squared shifts


def secret_costs(release: dict[str, Any], one: Fraction) -> Costs:
    """(22) Of a last iterate whose record has a position drawn once, or anew in each epoch; ``one`` is S."""
    m = release["batches"]
    if release["order"] == "shuffled":
        return Shuffles(release, one).law()
    size = -(-m // 400)
    if is_scheduled(release):  # positions of similar cost are grouped, each as its most expensive one
        costs = sorted(scheduled_costs(release), reverse=True)
        return [(Fraction(min(size, m - at), m), one * costs[at]) for at in range(0, m, size)]
    rise, pieces = release["smoothness_step"] - release["weight_decay_step"], len(release["checkpoints"]) + 1
    several = (release["epochs"] - pieces) * window(rise, m)
    blocks = [(start, min(start + size, m)) for start in range(0, m, size)]
    return [(Fraction(end - start, m), one * (several + pieces * window(rise, m - end + 1))) for start, end in blocks]


def blocks_of(batches: int, rise: float, most: int) -> list[tuple[int, int]]:
    """Return positions in about ``most`` blocks, narrow where costs change quickly: at either end of an epoch."""
    effort.spend(batches / 4, batches)
    power = -2 * math.log1p(max(rise, -0.999))
    costs = [math.expm1(power) / math.expm1(min(700.0, power * g)) if rise else 1 / g for g in range(1, batches + 1)]
    changes = [math.sqrt(max(0.0, one - two)) for one, two in pairwise(costs)]
    sums = list(accumulate(map(max, changes, reversed(changes)), initial=0.0))
    groups = [math.floor(each * most / sums[-1]) if batches > most else k for k, each in enumerate(sums)]
    starts = [0, *(k + 1 for k, (one, two) in enumerate(pairwise(groups)) if one != two), batches]
    return list(pairwise(starts))


class Shuffles:
    """(22) Positions drawn anew in each epoch, in blocks; costs on multiples of a unit, masses in units of 2^-96.

    Unit, blocks and places are choices. A run of many epochs is cut, as if iterates between had been published.
    """

    def __init__(self, release: dict[str, Any], one: Fraction) -> None:
        self.m, self.epochs, self.one = release["batches"], release["epochs"], one
        self.cost, self.changing = windows_of(release), is_scheduled(release)
        self.pieces = Counter[tuple[int, int]]()  # first epoch (0 where all are alike) and length
        for start, end in pairwise((0, *release["checkpoints"], self.epochs)):
            parts = -(-(end - start) // 32)
            short, longer = divmod(end - start, parts)
            if not self.changing:
                self.pieces += Counter({(0, short): parts - longer, (0, short + 1): longer})
                continue
            for part in range(parts):
                self.pieces[start, short + (part < longer)] += 1
                start += short + (part < longer)
        grid = range(0, self.m, -(-self.m // 12))
        looked_at = range(self.epochs if self.changing else 1)
        effort.spend(len(looked_at) * len(grid) ** 2)
        rough = sum(float(self.window(e, p, q).mid()) for e in looked_at for p in grid for q in grid) / len(grid) ** 2
        each = max(rough / len(looked_at), 2.0**-40)
        mean = each * self.epochs
        self.unit = Fraction(2) ** math.floor(math.log2(min(mean / 256, each / 2)))
        self.most = math.ceil(min(Fraction(self.epochs), 4 + 4 * Fraction(mean)) / self.unit)
        self.fall = (-number(self.unit * one) / 8).exp()
        taken, sizes = sum(count for _, count in self.pieces), release["smoothness_step"]
        slope = sum(sizes) / len(sizes) if self.changing else sizes - release["weight_decay_step"]
        rise = float(min(slope, 10**9))
        self.blocks = blocks_of(self.m, rise, min(200, max(8, math.isqrt(MOST_WORK * 60 // (taken * self.most)))))
        effort.spend(taken * len(self.blocks) ** 2 * self.most / 100, self.most * len(self.blocks))
        effort.spend(taken * self.m * len(self.blocks) / 10 if self.changing else 0)
        self.chances = [math.ceil(Fraction(end - start, self.m) * 2**64) for start, end in self.blocks]
        self.known: dict[int, list[list[tuple[int, fmpz_poly]]]] = {}

    def window(self, epoch: int, first: int, second: int) -> arb:
        """Return the window from a position to the next epoch (0 if an iterate is published between), or to the end."""
        return self.cost(epoch * self.m + first, min((epoch + 1) * self.m + second, self.m * self.epochs))

    def dearest(self, epoch: int, block: tuple[int, int], second: int) -> tuple[int, fmpz_poly]:
        """Return the lower of two multiples of the unit around a block's cost, and the shares of 2^32 of both."""
        places = range(block[0] if self.changing else block[1] - 1, block[1])
        found = reduce(arb.max, (self.window(epoch, p, second) for p in places)) / number(self.unit)
        k, rest = divmod(rounded_up(found, 40), 1 << 40)
        if not k or not rest:
            return max(k, 1), fmpz_poly([1 << 32])
        up = self.moved_up(k + arb(rest) / 2**40, k, k + 1)
        return k, fmpz_poly([(1 << 32) - up, up])

    def moved_up(self, at: arb, low: int, high: int) -> int:
        """Return the part, in units of 2^-32, of a mass between two places that goes to the higher one."""
        low_root, root, high_root = arb(low).sqrt(), at.sqrt(), arb(high).sqrt()
        share = 1 / (1 + self.fall ** (high - low) * (high_root - root) / (root - low_root))
        return min(1 << 32, rounded_up(share, 32))

    def steps(self, epoch: int) -> list[list[tuple[int, fmpz_poly]]]:
        """Return the steps from every block to every block in the next epoch."""
        key = epoch if self.changing else 0
        if key not in self.known:
            with ctx.workprec(512):
                self.known = {key: [[self.dearest(key, block, to) for to, _ in self.blocks] for block in self.blocks]}
        return self.known[key]

    def piece(self, first: int, count: int) -> tuple[fmpz_poly, int]:
        """Return the masses of ``count`` epochs, the last followed by publication; and the mass beyond."""
        laws, beyond, nothing = [fmpz_poly([mass << 32]) for mass in self.chances], 0, fmpz_poly([0])
        for epoch in range(first, first + count - 1):
            gathered = [nothing] * len(self.blocks)
            for law, row in zip(laws, self.steps(epoch), strict=True):
                for j, (k, shares) in enumerate(row):
                    gathered[j] = gathered[j] + law.left_shift(k) * shares
            kept = [rounded_poly(law * mass, 96, self.most) for law, mass in zip(gathered, self.chances, strict=True)]
            laws, beyond = [law for law, _ in kept], beyond + sum(over for _, over in kept)
        last = [self.dearest(first + count - 1, block, 0) for block in self.blocks]
        total = sum((law.left_shift(k) * shares for law, (k, shares) in zip(laws, last, strict=True)), nothing)
        found, over = rounded_poly(total, 32, self.most)
        return found, beyond + over

    def both(self, one: tuple[fmpz_poly, int], other: tuple[fmpz_poly, int]) -> tuple[fmpz_poly, int]:
        """Return the distribution of a sum."""
        found, over = rounded_poly(one[0] * other[0], 96, self.most)
        return found, one[1] + other[1] + over

    def law(self) -> Costs:
        """On few places, farther apart where costs are large; the mass beyond has the largest cost."""
        parts = [repeated(self.piece(*each), times, self.both) for each, times in self.pieces.items()]
        total, beyond = reduce(self.both, parts)
        masses = [int(mass) for mass in total.coeffs()]
        if not any(masses):
            raise NotCovered("a run whose costs lie beyond the table")
        low, high = next(k for k, mass in enumerate(masses) if mass), len(masses) - 1
        roots = [math.sqrt(low) + (math.sqrt(high) - math.sqrt(low)) * i / 255 for i in range(256)]
        places = sorted({low, high, *(min(high, max(low, round(root**2))) for root in roots)})
        found = Counter[int]()
        for k in range(low, high + 1):
            at = bisect_right(places, k) - 1
            up = self.moved_up(arb(k), places[at], places[at + 1]) if places[at] < k else 0
            found[places[at]] += -(-masses[k] * ((1 << 32) - up) >> 32)
            if up:
                found[places[at + 1]] += -(-masses[k] * up >> 32)
        costs = [(Fraction(mass, 2**96), self.one * self.unit * k) for k, mass in sorted(found.items()) if mass]
        return [*costs, (Fraction(2 * beyond, 2**96), self.one * self.epochs)]


def rounded_poly(masses: fmpz_poly, bits: int, most: int) -> tuple[fmpz_poly, int]:
    """Coefficients divided by 2^bits, rounded up; and the sum of those beyond x^most."""
    found = [-(-int(c) >> bits) for c in masses.coeffs()]
    return fmpz_poly(found[: most + 1]), sum(found[most + 1 :])
