"""Bounded losses at a tiny δ, or at an ε next to the sum of the largest losses: closed forms of ε(δ) and δ(ε).

Let no finite loss of release i exceed M_i, and let it be M_i with P-mass p_i > 0. The sum M = Σ T_i M_i bounds the loss
of the composition, which is M with P-mass π = Π p_i^(T_i). With a the probability of an infinite loss,

    a + π (1 - e^(ε - M))  <=  δ(ε)  for ε < M,   and   δ(M) = a.

So ε(δ) lies between M + log(1 - (δ - a)/π) and M where a < δ < a + π. Any atoms in the place of the
largest prove a lower bound.

From above, let ε = M - s with s > 0. As no other loss exceeds its M_j, Σ L_j > ε needs L_i > M_i - s of every release,
so that

    δ(ε)  <=  a + (1 - e^(-s)) Π P(M_i - s < L_i < ∞)^(T_i),

which is as narrow as losses next to the largest are rare.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.losses import LossAtom, LossDistribution, ball, law_at, positive_part
from dpbounds.privacy.pairs.pairs import Product, as_gaussian
from dpbounds.privacy.proofs import Declined, Proof

ROUTE = "largest losses"

_PRECISION, _FINE = 192, 4096  # the other where ε cannot be distinguished from the sum of the largest losses


def epsilon_by_largest_losses(product: Product, delta: Fraction) -> Proof:
    """Prove an enclosure of ε(δ) whose upper bound is the sum of the largest losses.

    It is narrow where δ is far below the probability that all losses are as large as they can be.

    Raises:
        Declined: A loss is unbounded, or takes its largest value with no probability; or δ is no smaller than the
            probability that all losses do, or cannot be distinguished from that of an infinite loss.
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


def delta_by_largest_losses(product: Product, epsilon: Fraction) -> Proof:
    """Prove an enclosure of δ(ε), narrow where ε lies little below the sum of the largest losses, or above it.

    Raises:
        Declined: A loss is unbounded, or takes its largest value with no probability.
        NotCertified: A loss so far from its largest one cannot be computed.
    """
    if as_gaussian(product) is not None:
        raise Declined(f"{ROUTE}: Gaussian noise has no largest loss, or takes it with probability 0")
    for precision in (_PRECISION, _FINE):
        with working(precision):
            laws = [(law_at(pair, working_bits()), count) for pair, count in product]
            ends = [(law, *_ends(law), count) for law, count in laws]
            infinite = -sum((count * (-law.infinite).log1p() for law, count in laws), arb(0)).expm1()
            missing = sum((count * end for _, end, _, count in ends), arb(0)) - ball(epsilon)
            if missing <= 0:
                return Proof(Enclosure.from_balls(infinite, infinite, ROUTE, precision), ROUTE)
            if precision == _PRECISION and not missing > 0:
                continue
            short = missing.max(arb(0))
            above, attained, log_mass = arb(1), -ball(epsilon), arb(0)
            for law, end, top, count in ends:
                above *= _above(law, end - short) ** count
                attained += count * top.loss
                log_mass += count * top.p.log()
            low = infinite + log_mass.exp() * positive_part(-(-attained).expm1())
            high = infinite - above * (-short).expm1()
    return Proof(Enclosure.from_balls(low.max(arb(0)), high.min(arb(1)), ROUTE, precision), ROUTE)


def _above(law: LossDistribution, loss: arb) -> arb:
    """Return P(the loss is finite and larger), or a little more: of atoms all that are not certainly smaller."""
    tail, _ = law.tail(loss)
    return sum((point.p for point in law.points if not point.loss <= loss), tail).min(arb(1))


def _ends(law: LossDistribution) -> tuple[arb, LossAtom]:
    """Return the least upper bound of the finite losses, and the atom at (or next to) it."""
    largest = law.largest_loss()
    if largest is None or not law.points:
        raise Declined(f"{ROUTE}: a loss is unbounded, or takes its largest value with probability 0")
    return largest, max(law.points, key=lambda point: point.loss.mid())
