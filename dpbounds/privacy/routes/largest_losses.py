"""Bounded losses at a tiny δ: ε(δ) is the sum of the largest losses, less what δ buys.

Let no finite loss of release i exceed M_i, and let it be M_i with P-mass p_i > 0. The sum M = Σ T_i M_i bounds the loss
of the composition, which is M with P-mass π = Π p_i^(T_i). With a the probability of an infinite loss,

    a + π (1 - e^(ε - M))  <=  δ(ε)  for ε < M,   and   δ(M) = a.

So ε(δ) lies between M + log(1 - (δ - a)/π) and M where a < δ < a + π. Any atoms in the place of the
largest prove a lower end.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.losses import LossAtom, LossDistribution, ball, law_at
from dpbounds.privacy.pairs.pairs import Product, as_gaussian
from dpbounds.privacy.proofs import Declined, Proof

ROUTE = "largest losses"

_PRECISION = 192


def epsilon_by_largest_losses(product: Product, delta: Fraction) -> Proof:
    """Prove an enclosure of ε(δ) whose upper end is the sum of the largest losses.

    It is narrow where δ is far below the probability that all losses are as large as they can be.

    Raises:
        Declined: A loss is unbounded, or takes its largest value with no probability; or δ is no smaller than the
            probability that all losses do, or cannot be told from that of an infinite loss.
    """
    if as_gaussian(product) is not None:
        raise Declined(f"{ROUTE}: Gaussian noise has no largest loss, or takes it with probability 0")
    with working(_PRECISION):
        largest, attained, log_mass, log_finite = arb(0), arb(0), arb(0), arb(0)
        for pair, count in product:
            law = law_at(pair, working_bits())
            end, top = _ends(law)
            largest += count * end
            attained += count * top.loss
            log_mass += count * top.p.log()
            log_finite += count * (-law.infinite).log1p()
        left = ball(delta) + log_finite.expm1()  # δ - a
        share = left / log_mass.exp()
        if not (left > 0 and share < 1):
            raise Declined(f"{ROUTE}: δ does not lie below the probability that all losses are the largest")
        low = (attained + (-share).log1p()).max(arb(0))
        return Proof(Enclosure.from_balls(low, largest.max(arb(0)), ROUTE, _PRECISION), ROUTE)


def _ends(law: LossDistribution) -> tuple[arb, LossAtom]:
    """The least upper bound of the finite losses, and the atom at (or next to) it."""
    largest = law.largest_loss()
    if largest is None or not law.points:
        raise Declined(f"{ROUTE}: a loss is unbounded, or takes its largest value with probability 0")
    return largest, max(law.points, key=lambda point: point.loss.mid())
