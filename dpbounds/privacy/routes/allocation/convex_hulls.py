"""Two discrete pairs from bounds at finitely many thresholds: convex hulls (``proof.md``, section 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Discrete
from dpbounds.privacy.routes.allocation.rounding import MASS_PRECISION

_MASS_BITS = 1100  # bits of a P-mass after the binary point


@dataclass(frozen=True, slots=True)
class Point:
    """The proven values at one threshold.

    Attributes:
        alpha: α, exact.
        profile: At least H_α(P ‖ Q).
        seen: At most the P-mass of some test.
        mistaken: At least its Q-mass.
    """

    alpha: Fraction
    profile: Fraction
    seen: Fraction
    mistaken: Fraction

    @property
    def width(self) -> float:
        """Return the unknown part of the profile, as a share of it; at most 1."""
        known = max(Fraction(0), self.seen - self.alpha * self.mistaken)
        return float((self.profile - known) / self.profile) if self.profile else 0.0


def hull_of_bounds(points: Sequence[Point], reverse: Sequence[Point]) -> Discrete:
    """Return the atoms of the convex curve below the chords of upper bounds on the profile.

    ``reverse``: those of the pair with its distributions swapped.
    """
    mirrored = [(1 / each.alpha, 1 - (1 - each.profile) / each.alpha) for each in reverse if each.alpha > 1]
    corners = [(Fraction(0), Fraction(1)), *reversed(mirrored), *((each.alpha, each.profile) for each in points)]
    least = Fraction(1)
    falling = []
    for alpha, value in corners:
        least = min(least, value)  # a profile does not increase
        falling.append((alpha, least))
    hull = _lower_hull(falling)
    slopes = [(second[1] - first[1]) / (second[0] - first[0]) for first, second in pairwise(hull)] + [Fraction(0)]
    atoms: dict[Fraction, Fraction] = {}
    for (alpha, _), (before, after) in zip(hull[1:], pairwise(slopes), strict=True):
        mass = _down((after - before) * alpha)
        if mass > 0:
            with working(MASS_PRECISION):
                atoms[ball_end(ball(alpha).log(), "up")] = mass
    return Discrete(tuple(sorted(atoms.items())), 1 - sum(atoms.values(), Fraction(0)))


def hull_of_tests(points: Sequence[Point], reverse: Sequence[Point]) -> Discrete:
    """Return the outcomes of tests and mirrored tests, with false positive rates. A segment is an outcome."""
    tests = [(each.mistaken, each.seen) for each in points]
    tests += [(1 - each.seen, 1 - each.mistaken) for each in reverse]
    hull = [
        (mistaken, -missed)
        for mistaken, missed in _lower_hull(
            sorted((mistaken, -seen) for mistaken, seen in [(Fraction(0), Fraction(0)), *tests, (Fraction(1),) * 2])
        )
    ]
    atoms: dict[Fraction, Fraction] = {}
    with working(MASS_PRECISION):
        for (mistaken, seen), (then_mistaken, then_seen) in pairwise(hull):
            p, r = then_seen - seen, then_mistaken - mistaken
            if p > 0:
                loss = ball_end((ball(p) / ball(r)).log(), "down")
                atoms[loss] = atoms.get(loss, Fraction(0)) + _down(p)
    return Discrete(tuple(sorted(atoms.items())), Fraction(0))


def _lower_hull(corners: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the corners of the lower convex hull of points in increasing order; of equal abscissae, the lowest."""
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in corners:
        if hull and hull[-1][0] == x:
            if y >= hull[-1][1]:
                continue
            hull.pop()
        while len(hull) >= 2:
            (first, low), (second, high) = hull[-2], hull[-1]
            if (second - first) * (y - low) > (high - low) * (x - first):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _down(mass: Fraction) -> Fraction:
    return Fraction(math.floor(mass * (1 << _MASS_BITS)), 1 << _MASS_BITS)
