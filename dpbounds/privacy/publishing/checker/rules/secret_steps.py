"""One of many steps, in secret: (20), and (24) where the record is replaced."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import reduce
from itertools import accumulate, pairwise, zip_longest

from flint import arb, fmpz_poly

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import log, normal_tail, number, only_whole, repeated, rounded_up
from dpbounds.privacy.publishing.checker.profiles import Profile, gaussian_profile
from dpbounds.privacy.publishing.checker.reading import field
from dpbounds.privacy.publishing.checker.verdicts import Malformed, NotCovered, require
from dpbounds.privacy.publishing.checker.work import effort

GRID = {"points": 2048, "shift": 4}


class Ratios:
    """(20) Q-masses in units of 2^-bits at levels[l][k], the ratio k 2^l in units of 2^-shift; ``lost``: mean at oo."""

    def __init__(self, levels: list[list[int]], lost: int) -> None:
        self.levels, self.lost = levels, lost

    @property
    def mass(self) -> int:
        """All Q-mass."""
        return sum(map(sum, self.levels))


class Grid:
    """(20) Level 0 has the points 0, ..., 2 half - 1, each further one half, ..., 2 half - 1, twice as far apart."""

    def __init__(self, half: int, shift: int, levels: int, bits: int) -> None:
        self.half, self.shift, self.levels, self.bits = half, shift, levels, bits

    def law(self, base: Profile, negligible: arb) -> Ratios:
        """Return the distribution of dP/dQ under Q: its E (X - x)_+ is made linear between the points."""
        places = [(level, k) for level in range(self.levels) for k in range(self.half if level else 1, 2 * self.half)]
        found: list[list[int]] = [[0] * (2 * self.half) for _ in range(self.levels)]
        unit = number(Fraction(1, 2**self.shift))
        at, above, slope, here = arb(0), arb(base.total), arb(-1), (0, 0)
        effort.spend(0, len(places))
        for level, k in places:
            place = arb(k << level) * unit
            value = base(place)
            rise = (value - above) / (place - at)
            found[here[0]][here[1]] = rounded_up(rise - slope, self.bits)
            at, above, slope, here = place, value, rise, (level, k)
            if value <= negligible:
                break
        found[here[0]][here[1]] = rounded_up(-slope, self.bits)
        return Ratios(found[: here[0] + 1], rounded_up(above / unit, self.bits))

    def constant(self, value: int) -> Ratios:
        """Return a whole number, spread to two points."""
        level, place = 0, value << self.shift
        while place >= (2 * self.half - 1) << level:
            level += 1
        require(level < self.levels, "what is certain lies on the grid")
        found: list[list[int]] = [[0] * (2 * self.half) for _ in range(level + 1)]
        k, rest = divmod(place, 1 << level)
        part = -(-(rest << self.bits) >> level)
        found[level][k] = (1 << self.bits) - (rest << self.bits >> level)
        found[level][k + 1] += part
        return Ratios(found, 0)

    def lowered(self, found: Ratios, by: int) -> Ratios:
        """(24) Less ``by`` units, and at least 0: points stay points, because ``by`` is a multiple of all spacings."""
        require(by >= 0 and by % (1 << self.levels) == 0, "what is taken off is a whole number of spacings")
        if not by:
            return found
        effort.spend(len(found.levels) * self.half / 8)
        below = (2 * self.half).bit_length() - 1
        levels: list[list[int]] = [[0] * (2 * self.half) for _ in range(len(found.levels))]
        for level, masses in enumerate(found.levels):
            for k, mass in enumerate(masses):
                if mass:
                    left = max(0, (k << level) - by)
                    at = max(0, left.bit_length() - below)
                    levels[at][left >> at] += mass
        return Ratios(levels, found.lost)

    def coarser(self, masses: list[int]) -> list[int]:
        """On points twice as far apart: those between are spread to both sides, in halves rounded up."""
        found = [*masses[0::2], 0]
        for i, mass in enumerate(masses[1::2]):
            if mass:
                found[i] += mass + 1 >> 1
                found[i + 1] += mass + 1 >> 1
        return found

    def sum(self, one: Ratios, other: Ratios) -> Ratios:
        """Return the distribution of a sum; a product of two levels goes to the coarser one."""
        top = 2 * self.half
        nothing: list[int] = []
        levels, over, low_one, low_other = list[list[int]](), nothing, nothing, nothing
        lost = one.lost * other.mass + other.lost * one.mass
        for level in range(self.levels):
            first = one.levels[level] if level < len(one.levels) else []
            second = other.levels[level] if level < len(other.levels) else []
            size = len(first) + len(second) + len(over)
            effort.spend(size / 4, 4 * size)
            low_one_poly, low_other_poly = fmpz_poly(low_one), fmpz_poly(low_other)
            both = (low_one_poly + fmpz_poly(first)) * (low_other_poly + fmpz_poly(second))
            both -= low_one_poly * low_other_poly
            masses = [-(-int(c) >> self.bits) for c in both.coeffs()]
            masses = [a + b for a, b in zip_longest(masses, over, fillvalue=0)]
            levels.append(masses[:top])
            over = self.coarser([0] * top + masses[top:]) if len(masses) > top else []
            low_one = self.coarser([a + b for a, b in zip_longest(low_one, first, fillvalue=0)])
            low_other = self.coarser([a + b for a, b in zip_longest(low_other, second, fillvalue=0)])
            if level + 1 >= max(len(one.levels), len(other.levels)) and not over:
                break
        if over:  # Q-mass from the last level to the last point, the mean beyond it to infinity
            levels[-1] += [0] * (top - len(levels[-1]))
            levels[-1][-1] += sum(over)
            excess = sum(
                mass * ((k << len(levels)) - (top - 1 << len(levels) - 1)) for k, mass in enumerate(over) if mass
            )
            lost += excess << self.bits
        return Ratios(levels, -(-lost >> self.bits))


def grid_for(aim: Aim, bases: list[tuple[Fraction, int]], bins: int) -> Grid:
    """(20) Points and unit are hints; levels reach values that one ratio, or all together, hardly ever exceed."""
    half, shift = (field(aim.hints, name, int) if name in aim.hints else least for name, least in GRID.items())
    if not (16 <= half <= 2**18 and 0 <= shift <= 40 and half & (half - 1) == 0):
        raise Malformed(f"a grid of {half} points and unit 2^-{shift}")
    mu = math.sqrt(max(float(shift) for shift, _ in bases))
    farthest = math.exp(min(500.0, mu * mu / 2 + mu * math.sqrt(2 * (20 - log(aim.share))))) + 4 * bins
    levels = max(1, math.ceil(math.log2(farthest * 2**shift / half)))
    return Grid(half, shift, levels, math.ceil(math.log2(bins * farthest) - log(aim.share) / math.log(2)) + 60)


def mean_profile(grid: Grid, found: Ratios, bins: int, order: str) -> Profile:
    """(20) The profile of R = (X_1 + … + X_m)/m times Q against Q, or the other way round."""
    points = [(k << level, mass) for level, masses in enumerate(found.levels) for k, mass in enumerate(masses) if mass]
    places = [place for place, _ in points]
    require(all(a < b for a, b in pairwise(places)), "the points of all levels increase")
    masses = list(accumulate((mass for _, mass in points), initial=0))
    means = list(accumulate((place * mass for place, mass in points), initial=0))
    scale, q_unit = number(Fraction(1, bins * 2 ** (grid.shift + grid.bits))), number(Fraction(1, 2**grid.bits))
    lost = found.lost * scale

    def below(at: arb) -> int:
        """Return the number of points below, ``at`` in units."""
        return bisect_right(places, only_whole(at.floor(), "a threshold between points of the grid"))

    def removed(alpha: arb) -> arb:
        i = below(alpha * bins * 2**grid.shift)
        return (means[-1] - means[i]) * scale - alpha * (masses[-1] - masses[i]) * q_unit + lost

    def added(alpha: arb) -> arb:
        i = below(bins * 2**grid.shift / alpha)
        return masses[i] * q_unit - alpha * means[i] * scale

    if order == "remove":
        return Profile(removed, means[-1] * scale + lost, exact=False)
    return Profile(added, masses[-1] * q_unit, exact=False)


def allocated(bases: list[tuple[Fraction, int]], bins: int, order: str, aim: Aim) -> Profile:
    """(20) One of ``bins`` steps holds the record; the squared shifts, with how many steps have each (0: not run)."""
    if bins == 1:
        return gaussian_profile(bases[0][0] * (4 if order == "replace" else 1))
    if order == "replace":
        asked = (tuple(bases), bins, aim.exchange_points, aim.finer, aim.share)
        if asked not in aim.known:
            aim.known[asked] = Exchanged(bases, bins, aim)
        exchanged: Exchanged = aim.known[asked]
        return Profile(exchanged, exact=False)
    grid = grid_for(aim, bases, bins)
    key = (tuple(bases), bins, grid.half, grid.shift, grid.bits, grid.levels)
    if key not in aim.known:
        laws = [
            repeated(grid.law(gaussian_profile(shift), aim.negligible), count, grid.sum)
            if shift
            else grid.constant(count)
            for shift, count in bases
            if count
        ]
        aim.known[key] = reduce(grid.sum, laws)
    return mean_profile(grid, aim.known[key], bins, order)


class Exchanged:
    """(24) α -> H_α of Σ_j N(μ_j e_j)/m against Σ_j N(-μ_j e_j)/m: a record replaced in one of m secret steps.

    One α is one sum of m bounded values; choices are the number of points, where values begin, and where sums do.
    """

    def __init__(self, bases: list[tuple[Fraction, int]], bins: int, aim: Aim) -> None:
        self.moving = [(shift, count) for shift, count in bases if shift and count]
        self.idle = sum(count for shift, count in bases if not shift)
        self.bins, self.aim, self.known = bins, aim, dict[int, arb]()
        mu = math.sqrt(max(float(shift) for shift, _ in self.moving))
        rare = math.sqrt(2 * (math.log(bins) + 9 - log(aim.share)))
        self.most = mu * rare - mu * mu / 2  # logarithm of what a value hardly ever exceeds
        self.farthest = self.most + mu * mu  # farthest point, for values weighted by themselves
        self.least = mu * (4.25 + aim.finer / 2) - mu * mu / 2  # smallest value of -value/α
        if max(self.farthest, self.least) > 300:
            raise NotCovered("steps allocated in secret with so little noise, under replace-one")

    def __call__(self, alpha: arb) -> arb:
        """Return the value by symmetry from α >= 1; then at the next number e^(k 2^-30) below, to use fewer."""
        if alpha < 1:
            return 1 - alpha + alpha * self(1 / alpha)
        k = math.floor(float(alpha.log().mid()) * 2**30 + 0.5) - 1
        at = max(k, 0)
        if at not in self.known:
            lower = number(Fraction(at, 2**30)).exp()
            self.known[at] = self.bound(lower)
        require(at == 0 or number(Fraction(at, 2**30)).exp() <= alpha, "a profile is looked up at a smaller threshold")
        return self.known[at]

    def bound(self, alpha: arb) -> arb:
        """E (V_1 + … + V_m)_+ / m from above, V = dP_j/dN(0) - α dQ_j/dN(0)."""
        half, size = self.aim.exchange_points, float(alpha.mid())
        start = math.exp(self.least) * size
        shift = max(0, math.ceil(math.log2(half / start)))
        farthest = 4 * (start + math.exp(self.farthest))
        levels = max(1, math.ceil(math.log2(farthest * 2**shift / half)))
        bits = math.ceil(math.log2(self.bins * farthest) - log(self.aim.share) / math.log(2)) + 60
        grid, step = Grid(half, shift, levels, bits), 1 << levels
        first = math.ceil(start * 2**shift / step) * step  # values begin at -first units
        enough = max(first, math.ceil((start + math.exp(self.most)) * 2**shift / step) * step)  # and sums at -enough

        def added(one: tuple[Ratios, int], other: tuple[Ratios, int]) -> tuple[Ratios, int]:
            offset = one[1] + other[1]
            return grid.lowered(grid.sum(one[0], other[0]), max(0, offset - enough)), min(offset, enough)

        values = [self.value_above(squared, alpha, number(Fraction(first, 2**shift))) for squared, _ in self.moving]
        laws = [(grid.law(value, self.aim.negligible), first) for value in values]
        sums = [repeated(law, count, added) for law, (_, count) in zip(laws, self.moving, strict=True)]
        found, offset = reduce(added, sums)
        edge = offset + self.idle * (alpha - 1) * 2**shift  # those that are not run add 1 - α each
        above = only_whole(edge.lower().floor(), "a threshold between points of the grid")
        mass = mean = 0
        for level, masses in enumerate(found.levels):
            for k, each in enumerate(masses):
                if each and k << level > above:
                    mass, mean = mass + each, mean + (k << level) * each
        scale = number(Fraction(1, self.bins * 2 ** (shift + bits)))
        value: arb = (((mean - mass * edge).max(arb(0)) + found.lost) * scale).upper()
        return value

    @staticmethod
    def value_above(squared_shift: Fraction, alpha: arb, start: arb) -> Profile:
        """Return E (max(V, -start) + start - x)_+, V = e^(μy - μ²/2) - α e^(-μy - μ²/2): V > v is a half-line in y."""
        mu = number(squared_shift).sqrt()
        c = (-mu * mu / 2).exp()

        def value(x: arb) -> arb:
            v = x - start
            root = (v * v + 4 * alpha * c * c).sqrt()
            w = (v + root) / (2 * c) if v >= 0 else 2 * alpha * c / (root - v)  # c w - αc/w = v
            t = w.log() / mu
            return normal_tail(t - mu) - alpha * normal_tail(t + mu) - v * normal_tail(t)

        return Profile(value, value(arb(0)))
