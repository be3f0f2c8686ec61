"""Pairs of finitely many losses: their Rényi divergences are sums."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import Moments, Pair
from dpbounds.privacy.pairs.lattice_laws import LatticeLaw, ListedLosses
from dpbounds.privacy.pairs.losses import law_at
from dpbounds.privacy.pairs.weighing import INFINITY, Weighing, over_atoms


class AtomicPair(Pair):
    """A pair whose loss has atoms only, listed by ``distribution``."""

    __slots__ = ()
    claims = Moments.EXACT_AND_OWN
    has_integral = True

    @property
    def lattice(self) -> tuple[Fraction, Fraction] | None:
        """The step of a lattice that holds all finite losses, and the least loss; None where none is known."""
        return None

    def on_lattice(self) -> LatticeLaw | None:
        """Return the losses by their indices on ``lattice``."""
        if self.lattice is None or not self.lattice[0] > 0:
            return None
        return ListedLosses.of(law_at(self, working_bits()), *self.lattice)

    def closed_log_moment(self, order: arb) -> arb:
        """Return a sum over the atoms."""
        law = self.distribution()
        if not law.infinite.is_zero():
            return INFINITY
        return sum((point.r * (order * point.loss).exp() for point in law.points), arb(0)).log()

    def expectation(self, f: Weighing) -> arb:
        """Return a sum over the atoms."""
        return over_atoms(self.distribution(), f)
