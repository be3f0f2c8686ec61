"""Bounds for a published bin of the record (``proof.md``, section 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball, law_of
from dpbounds.privacy.pairs.pairs import Allocated, Direction, ShiftedGaussians
from dpbounds.privacy.routes.allocation.convex_hulls import Point
from dpbounds.privacy.routes.allocation.rounding import MASS_PRECISION

LARGEST_THRESHOLD = 60.0  # loss up to which thresholds are tried one by one
_SPACING = 0.1  # distance of thresholds, in deviations of the published bin's loss


def profile_if_published(pair: Allocated, alpha: float) -> Fraction:
    """Bound the profile from above as if the bin were published, and that of the replacement, too.

    Steps that are not run reveal nothing.
    """
    with working(MASS_PRECISION):
        value, loss = arb(0), ball(Fraction(alpha)).log()
        assert pair.shifts
        for squared, count in pair.shifts:
            apart = 1 if pair.direction is not Direction.REPLACE else 4 if count == 1 else 2  # (2μ)², or μ² in two bins
            value = value + count * law_of(ShiftedGaussians(apart * squared)).delta(loss)
        return ball_end(value / pair.bins, "up")


def points_if_published(pair: Allocated, loss: float, least: Fraction, negligible: float) -> Iterator[Point]:
    """Yield thresholds from a loss on at which the bin counts as published; ``least`` bounds the profile already."""
    reach = max(float(squared) for squared, _ in pair.shifts)
    while loss < LARGEST_THRESHOLD + 4 * reach:
        alpha = math.exp(loss)
        bound = profile_if_published(pair, alpha)
        if bound < least:
            least = bound
            yield Point(Fraction(alpha), bound, Fraction(0), Fraction(0))
        if bound <= negligible:
            return
        loss += _SPACING * math.sqrt(reach)
