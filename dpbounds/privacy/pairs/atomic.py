"""Pairs of finitely many losses: their Rényi divergences are sums."""

from __future__ import annotations

from flint import arb

from dpbounds.privacy.pairs.core import Moments, Pair
from dpbounds.privacy.pairs.weighing import INFINITY, Weighing, over_atoms


class AtomicPair(Pair):
    """A pair whose loss has atoms only, listed by ``distribution``."""

    __slots__ = ()
    claims = Moments.EXACT_AND_OWN
    has_integral = True

    def closed_log_moment(self, order: arb) -> arb:
        """Return a sum over the atoms."""
        law = self.distribution()
        if not law.infinite.is_zero():
            return INFINITY
        return sum((point.r * (order * point.loss).exp() for point in law.points), arb(0)).log()

    def expectation(self, f: Weighing) -> arb:
        """Return a sum over the atoms."""
        return over_atoms(self.distribution(), f)
