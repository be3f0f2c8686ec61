"""The mean of m likelihood ratios, from above in the convex order: masses on a geometric grid.

Every ratio is spread to the two grid points around it so that its mean stays; what lies beyond the grid is spread to 0
and infinity. So no expectation of a convex function falls, and all that is rounded is rounded up (``proof.md``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation.rounding import Floats, at_least, double_above, growth, powers, raised, table
from dpbounds.privacy.routes.lattice.discretisation import upper_atoms, working_precision
from dpbounds.privacy.routes.lattice.steps import AnyStep, Lattice, cut

LARGEST_GRID = 30_000  # points


@dataclass(frozen=True, slots=True)
class UpperDistribution:
    """A measure of ratios under Q that dominates a distribution for every convex function that is not negative.

    Attributes:
        spacing: h > 0.
        first: The index of the first point.
        masses: Q-masses at e^(jh), j = first, first + 1, ...
        zero: Q-mass at ratio 0.
        infinite: P-mass at infinity, in units of the ratio.
        terms: The number of ratios in the sum.
    """

    spacing: Fraction
    first: int
    masses: Floats
    zero: float
    infinite: float
    terms: int

    @property
    def total(self) -> float:
        """At least the Q-mass of everything."""
        return (float(self.masses.sum()) + self.zero) * growth(len(self.masses) + 1)

    @property
    def finite(self) -> float:
        """At least the P-mass on the grid, in units of the ratio."""
        rising = powers(self.spacing, len(self.masses))
        some = self.masses > 0
        found = float((self.masses[some] * rising[some]).sum()) * _at_least_ratio(self.spacing, self.first)
        return found * growth(len(self.masses) + 4)

    def trimmed(self, negligible: float) -> UpperDistribution:
        """Spread negligible masses on either side: to 0 and the first point that stays, to 0 and infinity.

        Args:
            negligible: Q-mass below and, relative to the mean, P-mass above that may go. A choice.
        """
        masses, h = self.masses, float(self.spacing)
        used = np.flatnonzero(masses)
        if not len(used):
            raise Declined("allocation: no mass is left on the grid")
        weights = masses * np.exp(np.minimum((self.first + np.arange(len(masses))) * h, 700.0))
        low = int(np.searchsorted(np.cumsum(masses), negligible))
        high = len(masses) - int(np.searchsorted(np.cumsum(weights[::-1]), negligible * self.terms))
        low = min(max(low, int(used[0])), int(used[-1]))
        high = max(min(high, int(used[-1]) + 1), low + 1)
        kept = masses[low:high].copy()
        zero, infinite = self.zero, self.infinite
        below, above = masses[:low], masses[high:]
        rounded = growth(2 * len(masses) + 8)
        if below.any():  # e^((i - low) h) <= 1, and the mean goes to the first point that stays
            zero = (zero + float(below.sum())) * rounded
            falling = _at_least_ratios(self.spacing, low)
            kept[0] = (kept[0] + float((below * falling).sum())) * rounded
        if above.any():
            zero = (zero + float(above.sum())) * rounded
            rising = powers(self.spacing, len(above))[above > 0]
            lost = float((above[above > 0] * rising).sum()) * _at_least_ratio(self.spacing, self.first + high)
            infinite = (infinite + lost) * rounded
        if not np.isfinite(infinite):
            raise Declined("allocation: ratios are too large for doubles")
        return UpperDistribution(
            self.spacing, self.first + low, raised(kept), at_least(zero), at_least(infinite), self.terms
        )


def _at_least_ratio(spacing: Fraction, index: int) -> float:
    """Return a double at least e^(index h), and not so small that products with it could underflow."""
    with working(64):
        return max(double_above((ball(spacing) * index).exp()), 2.0**-60)


def _at_least_ratios(spacing: Fraction, length: int) -> Floats:
    """Return doubles at least e^((i - length) h), i = 0, ..., length - 1."""
    found = np.ones(length)
    with working(64):
        falling, power = (-ball(spacing)).exp(), arb(1)
        for d in range(1, length + 1):
            power = power * falling
            if power <= 2.0**-60:
                found[: length - d + 1] = 2.0**-60
                break
            found[length - d] = double_above(power)
    return found


def one_ratio(step: AnyStep, spacing: Fraction, ends: tuple[int, int]) -> UpperDistribution:
    """Return the distribution of one step's ratio, cut at the grid points from the first to the second index."""
    lattice = Lattice(Fraction(0), spacing)
    with working(working_precision(spacing, step.extra_bits)):
        cells = cut(step, lattice, range(ends[0], ends[1] + 1))
        atoms = upper_atoms(cells, lattice)
        masses, placed = np.zeros(ends[1] - ends[0] + 1), arb(0)
        for index, p in atoms:
            if not ends[0] <= index <= ends[1]:  # an atom that two points of the grid do not hold between them
                raise Declined("allocation: an atom of the loss lies beyond the grid")
            r = p * lattice.ratio(index)
            placed = placed + r
            masses[index - ends[0]] = max(0.0, double_above(r))
        zero = at_least(double_above(1 - placed))
        infinite = at_least(double_above(cells.above + step.infinite()))
    return UpperDistribution(spacing, ends[0], raised(masses), zero, infinite, 1)


def constant(value: int, spacing: Fraction) -> UpperDistribution:
    """Return a ratio that is known: a positive whole number."""
    if value == 1:
        return UpperDistribution(spacing, 0, np.array([1.0]), 0.0, 0.0, 1)
    with working(128):
        h = ball(spacing)
        place = (arb(value).log() / h).mid().floor().unique_fmpz()
        assert place is not None
        x = (value * (-(h * int(place))).exp() - 1) / h.expm1()
        if not (x >= 0 and x <= 1):
            raise Declined("allocation: a whole number cannot be distinguished from a point of the grid")
        masses = np.array([double_above(1 - x), double_above(x)])
    return UpperDistribution(spacing, int(place), raised(masses), 0.0, 0.0, value)


def refined(part: UpperDistribution, spacing: Fraction) -> UpperDistribution:
    """Return the same on a grid that is finer by a whole factor: every point stays a point."""
    factor = int(part.spacing / spacing)
    if factor * spacing != part.spacing:
        raise ValueError("the grid must be finer a whole number of times")
    if factor == 1:
        return part
    masses = np.zeros((len(part.masses) - 1) * factor + 1)
    masses[::factor] = part.masses
    return replace(part, spacing=spacing, first=part.first * factor, masses=masses)


def added(one: UpperDistribution, other: UpperDistribution) -> UpperDistribution:
    """Return the sum of two independent ratios."""
    if one.spacing != other.spacing:
        raise ValueError("both measures must lie on one grid")
    same = one is other
    first = min(one.first, other.first)
    last = max(one.first + len(one.masses), other.first + len(other.masses)) - 1
    length = last - first + 1
    if length > LARGEST_GRID:
        raise Declined(f"allocation: a grid of {length} points is beyond the work limit")
    sums = table(one.spacing, length)
    found = np.zeros(length + int(sums.places[0]) + 2)
    u, v = np.zeros(length), np.zeros(length)
    u[one.first - first : one.first - first + len(one.masses)] = one.masses
    v[other.first - first : other.first - first + len(other.masses)] = other.masses
    for d in range(length):
        products = u[d:] * v[: length - d]
        if d > 0:
            products = products + (products if same else v[d:] * u[: length - d])
        start = d + int(sums.places[d])
        stop = start + length - d
        found[start:stop] += products * sums.near[d]
        found[start + 1 : stop + 1] += products * sums.far[d]
        if not d % 512:
            checkpoint()
    found[:length] += u * other.zero
    found[:length] += v * one.zero
    rounded = growth(4 * length + 16)
    found = found * rounded
    infinite = (one.infinite * other.total + other.infinite * one.total) * rounded
    zero = one.zero * other.zero * rounded
    return UpperDistribution(
        one.spacing, first, raised(found), at_least(zero), at_least(infinite), one.terms + other.terms
    )


def multiplied(one: UpperDistribution, other: UpperDistribution) -> UpperDistribution:
    """Return the product of two independent ratios, for two releases on the same records, point by point."""
    if one.spacing != other.spacing:
        raise ValueError("both measures must lie on one grid")
    few, many = sorted((one.masses, other.masses), key=len)
    if len(few) + len(many) > LARGEST_GRID:
        raise Declined(f"allocation: a grid of {len(few) + len(many)} points is beyond the work limit")
    found = np.zeros(len(few) + len(many) - 1)
    for i, mass in enumerate(few):
        if mass > 0:
            found[i : i + len(many)] += mass * many
        if not i % 512:
            checkpoint()
    rounded = growth(2 * len(few) + 16)
    zero = (one.zero * other.total + other.zero * float(one.masses.sum()) * growth(len(one.masses))) * rounded
    infinite = (one.infinite * (other.finite + other.infinite) + other.infinite * one.finite) * rounded
    if not np.isfinite(infinite):
        raise Declined("allocation: ratios are too large for doubles")
    first = one.first + other.first
    return UpperDistribution(one.spacing, first, raised(found * rounded), at_least(zero), at_least(infinite), one.terms)
