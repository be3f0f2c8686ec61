"""Many releases: exact integers on a lattice (10), upper bounds only."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from flint import arb, ctx, fmpz_poly

from dpbounds.privacy.publishing.checker.balls import log, number, repeated, rounded_up
from dpbounds.privacy.publishing.checker.profiles import Profile, gaussian_profile, sampled_profile
from dpbounds.privacy.publishing.checker.spent import Sampled
from dpbounds.privacy.publishing.checker.verdicts import NotCovered
from dpbounds.privacy.publishing.checker.work import effort

Atoms = tuple[fmpz_poly, int, int]  # masses in units of 2^-bits, the index of the first one, the mass at infinity


def step_atoms(profile: Profile, spacing: Fraction, enough: arb, bits: int) -> Atoms:
    """(10) Connect the dots: δ, as a function of α = e^ε, made linear between the points e^{jh} and constant beyond.

    It grows by that, for δ is convex in α. It is then the curve of a distribution with P-mass α_j (slope after - slope
    before) at the loss jh and the last value of δ at infinity; rounded up. Stops where the last value is below
    ``enough``.
    """
    last, limit = 1, 60_000
    while not profile(number(last * spacing).exp()) <= enough:
        last *= 2
        if last > limit:
            raise NotCovered("a lattice with more than 60000 points in one step")
    for step in (last // 4, last // 8, last // 16):  # the last of them may lie far beyond
        if step and profile(number((last - step) * spacing).exp()) <= enough:
            last -= step
    first = -1  # what is below moves up to it: hardly anything
    while first > -limit and not profile(alpha := number(first * spacing).exp()) + alpha - 1 <= enough * 2**12:
        first *= 2
    effort.spend(4 * (last - first), last - first)
    alphas = [number(j * spacing).exp() for j in range(first, last + 1)]
    values = [profile(alpha) for alpha in alphas]
    slopes = [(values[0] - profile.total) / alphas[0]]
    slopes += [(v - u) / (b - a) for (u, v), (a, b) in zip(pairwise(values), pairwise(alphas), strict=True)] + [arb(0)]
    masses = [alpha * (after - before) for alpha, (before, after) in zip(alphas, pairwise(slopes), strict=True)]
    return fmpz_poly([rounded_up(mass, bits) for mass in masses]), first, rounded_up(values[-1], bits)


def product(first: Atoms, second: Atoms, drop: int, bits: int) -> Atoms:
    """The distribution of a sum, masses rounded up; up to ``drop`` units at either end go to infinity (and raise δ)."""
    (p, start, lost), (r, begin, gone) = first, second
    effort.spend((len(p) + len(r)) / 2, len(p) + len(r))
    coefficients = [int(c) for c in (p * r).coeffs()]
    lost = lost * (int(sum(r.coeffs())) + gone) + gone * int(sum(p.coeffs()))
    low, high, left, right = 0, len(coefficients), 0, 0
    while low < high and left + coefficients[low] <= drop << bits:
        left, low = left + coefficients[low], low + 1
    while low < high and right + coefficients[high - 1] <= drop << bits:
        right, high = right + coefficients[high - 1], high - 1
    kept = fmpz_poly([-(-c >> bits) for c in coefficients[low:high]])
    return kept, start + begin + low, -(-(lost + left + right) >> bits)


def composed(parts: list[tuple[Atoms, int]], delta: Fraction, bits: int) -> Atoms:
    """Return the distribution of a sum of independent losses, with multiplicities."""
    drop = rounded_up(number(delta), bits) >> 30

    def both(one: Atoms, other: Atoms) -> Atoms:
        return product(one, other, drop, bits)

    total: Atoms = reduce(both, [repeated(atoms, count, both) for atoms, count in parts])
    return total


def above(total: Atoms, spacing: Fraction, epsilon: Fraction, bits: int) -> arb:
    """δ(ε) of such a distribution: the mass at infinity + Σ_{jh > ε} mass_j (1 - e^{ε - jh})."""
    atoms, start, lost = total
    bound = arb(lost)
    effort.spend(len(atoms))
    for j, mass in enumerate(atoms.coeffs(), start):
        if j * spacing > epsilon:
            bound = bound - mass * number(epsilon - j * spacing).expm1()
    return (bound * arb(2) ** -bits).upper()


def lattice_at_most(
    order: str, squared_shift: Fraction, sampled: Sampled, spacing: Fraction, at: tuple[Fraction, Fraction]
) -> bool:
    """Return whether δ(ε) <= δ is shown by composing lattice distributions as exact integers."""
    epsilon, delta = at
    releases = sum(sampled.values()) + 1
    bits = math.ceil((math.log(releases) - log(delta)) / math.log(2)) + 60
    with ctx.workprec(2 * bits + 64 + 3 * spacing.denominator.bit_length()):
        steps = [(sampled_profile(order, q, 1 / variance), count) for (q, variance), count in sampled.items()]
        steps += [(gaussian_profile(squared_shift), 1)] if squared_shift else []
        enough = number(delta) / releases / 2**30
        total = composed([(step_atoms(each, spacing, enough, bits), count) for each, count in steps], delta, bits)
        return (above(total, spacing, epsilon, bits) <= number(delta)) is True
