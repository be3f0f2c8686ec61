"""Pairs of few losses: randomised responses, the worst (ε, δ)-private pair, two losses, losses that are listed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.atomic import AtomicPair
from dpbounds.privacy.pairs.core import LargestLoss, Moments, Pair, Product, PublicPair, Writer
from dpbounds.privacy.pairs.losses import (
    ROUNDING_PRECISION,
    LossAtom,
    LossDistribution,
    ball,
    of_atoms,
    rounded_up,
    unbounded,
)

_KAIROUZ = "losses.md, section 2 (Kairouz, Oh & Viswanath 2015)"


@dataclass(frozen=True, slots=True)
class Responses(AtomicPair, PublicPair):
    """Randomised response with k options: losses ε, -ε and (for k > 2) 0. Attained; k = 2 is the worst ε-DP pair."""

    epsilon: Fraction
    options: int = 2

    grows_with = ("epsilon",)
    gathers = True
    proof = _KAIROUZ

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"randomised response of {self.options} options, epsilon {write(self.epsilon)}"

    def distribution(self) -> LossDistribution:
        """Return losses ε, 0 and -ε."""
        epsilon, options = ball(self.epsilon), self.options
        odds = epsilon.exp()
        true, other = odds / (odds + (options - 1)), 1 / (odds + (options - 1))
        rest = (options - 2) * other
        return of_atoms(
            [LossAtom(epsilon, true, other), LossAtom(arb(0), rest, rest), LossAtom(-epsilon, other, true)], arb(0)
        )

    @property
    def lattice(self) -> tuple[Fraction, Fraction]:
        """Losses 2ε apart, or ε apart with the loss 0."""
        return (2 * self.epsilon if self.options == 2 else self.epsilon), -self.epsilon

    def largest_loss(self) -> LargestLoss:
        """Return ε."""
        return self.epsilon

    @property
    def worst_of(self) -> tuple[Fraction, Fraction] | None:
        """(ε, 0) for two options."""
        return (self.epsilon, Fraction(0)) if self.options == 2 else None

    @property
    def atom_count(self) -> int:
        """Two, or three with the loss 0."""
        return 2 if self.options == 2 else 3

    def _enlarged(self, k: int) -> Pair | None:
        return Responses(k * self.epsilon) if self.options == 2 else None

    def zcdp_rho(self) -> Fraction:
        """Return ε tanh(ε/2), the smallest for two options."""
        return rounded_up(lambda: ball(self.epsilon) * (ball(self.epsilon) / 2).tanh())


@dataclass(frozen=True, slots=True)
class TwoResponses(AtomicPair, PublicPair):
    """Two ε-DP steps in a row, a record out and another one in: losses 2ε, 0 and -2ε.

    The P-mass at 2ε is 1/(1 + e^-ε), at -2ε that times e^-2ε. Less than a response with 2ε; derived in ``pairs.md``.
    Attained.
    """

    epsilon: Fraction

    grows_with = ("epsilon",)
    gathers = True
    proof = "pairs.md, section 6 (two links of a pure guarantee, derived there)"
    atom_count = 3

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"two steps of randomised response, epsilon {write(self.epsilon)} each"

    def distribution(self) -> LossDistribution:
        """Return losses 2ε, 0 and -2ε."""
        epsilon = ball(self.epsilon)
        high = 1 / (1 + (-epsilon).exp())
        low = high * (-2 * epsilon).exp()
        rest = -(-epsilon).expm1() / (1 + epsilon.exp())
        return of_atoms(
            [LossAtom(2 * epsilon, high, low), LossAtom(arb(0), rest, rest), LossAtom(-2 * epsilon, low, high)], arb(0)
        )

    @property
    def lattice(self) -> tuple[Fraction, Fraction]:
        """Losses 2ε apart."""
        return 2 * self.epsilon, -2 * self.epsilon

    def largest_loss(self) -> LargestLoss:
        """Return 2ε."""
        return 2 * self.epsilon

    def _enlarged(self, k: int) -> Pair:
        return Responses(2 * k * self.epsilon)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of a response with 2ε, which dominates it."""
        return Responses(2 * self.epsilon).zcdp_rho()


@dataclass(frozen=True, slots=True)
class FourPoints(AtomicPair, PublicPair):
    """The worst (ε, δ)-DP pair: δ at infinite loss, the rest a randomised response. Kairouz, Oh & Viswanath 2015."""

    epsilon: Fraction
    delta: Fraction

    grows_with = ("epsilon", "delta")
    gathers = True
    proof = _KAIROUZ
    atom_count = 2

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"the worst (epsilon, delta)-private pair, epsilon {write(self.epsilon)}, delta {write(self.delta)}"

    def distribution(self) -> LossDistribution:
        """Return losses ε, -ε and ∞."""
        epsilon, delta = ball(self.epsilon), ball(self.delta)
        if epsilon.is_zero():
            return of_atoms([LossAtom(arb(0), 1 - delta, 1 - delta)], delta)
        odds = epsilon.exp()
        high, low = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
        return of_atoms([LossAtom(epsilon, high, low), LossAtom(-epsilon, low, high)], delta)

    @property
    def lattice(self) -> tuple[Fraction, Fraction]:
        """Finite losses 2ε apart."""
        return 2 * self.epsilon, -self.epsilon

    def largest_loss(self) -> LargestLoss:
        """Return ε at δ = 0, else ∞."""
        return self.epsilon if self.delta == 0 else unbounded()

    def tied_epsilon(self, delta: Fraction) -> Fraction | None:
        """ε at δ: below ε the profile exceeds δ."""
        return self.epsilon if delta == self.delta else None

    @property
    def worst_of(self) -> tuple[Fraction, Fraction]:
        """(ε, δ)."""
        return self.epsilon, self.delta

    def _enlarged(self, k: int) -> Pair:
        return FourPoints(k * self.epsilon, min(Fraction(1), _grown(self.delta, self.epsilon, k)))

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of a randomised response, at δ = 0 alone."""
        return Responses(self.epsilon).zcdp_rho() if self.delta == 0 else Pair.zcdp_rho(self)


@dataclass(frozen=True, slots=True)
class TwoPoints(AtomicPair):
    """Losses t and t - η only, 0 < t < η, which one exponential mechanism can attain. ``high`` is t, ``span`` is η.

    ``losses.md``, section 2.
    """

    high: Fraction
    span: Fraction

    proof = "losses.md, section 2 (the least upper bound of all two-point pairs)"
    atom_count = 2

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"two losses, {write(self.high)} and {write(self.high - self.span)}"

    def distribution(self) -> LossDistribution:
        """Return P-masses u, 1-u with Q-masses u e^-high, (1-u) e^-low that add up to 1."""
        high, low = ball(self.high), ball(self.high - self.span)
        share = (-low).expm1() / ((-low).exp() - (-high).exp())
        points = (LossAtom(high, share, share * (-high).exp()), LossAtom(low, 1 - share, (1 - share) * (-low).exp()))
        return of_atoms(points, arb(0), symmetric=False)

    @property
    def lattice(self) -> tuple[Fraction, Fraction]:
        """Losses η apart."""
        return self.span, self.high - self.span

    def largest_loss(self) -> LargestLoss:
        """Return the larger of the two."""
        return self.high

    def largest_loss_attained(self) -> LargestLoss:
        """Return the range: an exponential mechanism attains any t below it."""
        return self.span

    def mirrored(self) -> Pair:
        """Return losses η - t and -t."""
        return TwoPoints(self.span - self.high, self.span)

    def revealed(self) -> Product | None:
        """Return None: the pair is not symmetric."""
        return None

    def zcdp_rho(self) -> Fraction:
        """Return η²/8 (Hoeffding's lemma)."""
        return self.span**2 / 8


@dataclass(frozen=True, slots=True)
class Discrete(Pair):
    """Finitely many losses, exact, with exact P-masses; the rest of P at infinite loss, of Q at loss -∞."""

    points: tuple[tuple[Fraction, Fraction], ...]
    infinite: Fraction

    claims = Moments.EXACT_AND_OWN
    proof = "sampling.md"

    def __hash__(self) -> int:
        """Hash a few points only: there may be thousands, and every look-up in a cache hashes."""
        return hash((len(self.points), self.points[:1], self.points[-1:], self.infinite))

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return "finitely many losses"

    def distribution(self) -> LossDistribution:
        """Return the listed losses, and the rest of Q at loss -∞."""
        atoms, infinite = self.points, self.infinite
        points = [LossAtom(ball(loss), ball(p), ball(p) * (-ball(loss)).exp()) for loss, p in atoms]
        rest = 1 - sum((point.r for point in points), arb(0))
        return of_atoms(points, ball(infinite), rest.max(arb(0)), symmetric=False)

    def largest_loss(self) -> LargestLoss:
        """Return the largest that is listed."""
        if self.infinite or not self.points:
            return unbounded()
        return max(loss for loss, p in self.points if p)

    @property
    def atom_count(self) -> int | None:
        """Return as many as are listed."""
        return len(self.points)

    def mirrored(self) -> Pair:
        """Raise an error: the Q-masses are not exact numbers."""
        raise UnsupportedMechanism("finitely many losses with exact P-masses have no mirror image of that kind")

    def revealed(self) -> Product | None:
        """Return None: the pair is not symmetric."""
        return None


def _grown(delta: Fraction, epsilon: Fraction, k: int) -> Fraction:
    if delta == 0:
        return delta
    with working(ROUNDING_PRECISION):
        growth = arb(fmpq(epsilon.numerator, epsilon.denominator)).exp()
        factor = sum((growth**i for i in range(k)), arb(0))
        return ball_end(arb(fmpq(delta.numerator, delta.denominator)) * factor, "up")
