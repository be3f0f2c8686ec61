"""Pairs of mechanisms that see a record as often as it is drawn, and of several mechanisms on one sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.pairs.core import (
    Costs,
    DirectedPair,
    Direction,
    Draws,
    LargestLoss,
    Moments,
    Pair,
    Product,
    Writer,
    changed,
    hidden_bits,
    product_in_words,
    rough_variance_of_draws,
)
from dpbounds.privacy.pairs.gaussian import SampledGaussians, ShiftedGaussians
from dpbounds.privacy.pairs.losses import (
    LossDistribution,
    ball,
    counts_of,
    diluted,
    diluted_loss,
    least_loss,
    mixture,
    plain_sums,
    sum_of_losses,
    swapped,
    symmetrised,
)
from dpbounds.privacy.pairs.revealed import along, revealed
from dpbounds.privacy.pairs.sampled_moments import sampled_guarantee
from dpbounds.privacy.pairs.weighing import (
    INFINITY,
    Weighing,
    draw_masses,
    drawn_at_all,
    integrated,
    need,
    through_sample,
    up_to,
    visible_terms,
)


class OnDraws(DirectedPair):
    """A base that is seen as often as a record is drawn."""

    __slots__ = ()

    draws: Draws
    base: Pair

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The base."""
        return (self.base,)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the same draws of another base."""
        (base,) = pairs
        return changed(self, base=base)

    def revealed(self) -> Product | None:
        """Return the base, as if drawn every time."""
        return along(self.base.revealed(), self.draws.slots)

    def costs(self) -> Costs:
        """Return the rate, and the costs of the base."""
        return self.draws.rate, *(self.base.costs() or ())

    def with_costs(self, costs: Costs) -> Pair:
        """Return the pair with another rate of draws, and the base with other costs."""
        rate, *others = costs
        base = self.base.with_costs(tuple(others)) if others else self.base
        return changed(self, draws=replace(self.draws, rate=rate), base=base)

    def rough_variance(self) -> float:
        """Estimate χ² of one release."""
        return rough_variance_of_draws(self.draws, self.base.rough_variance())

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the base, for at most one draw: a sample has no gain at large orders."""
        if self.draws.slots > 1:
            return Pair.zcdp_rho(self)
        return (self.base.mirrored() if self.direction is Direction.ADD else self.base).zcdp_rho()

    def lost_bits(self, order: Fraction) -> int:
        """Estimate the lost bits by the rate and the noise of the base."""
        return hidden_bits(order, min(Fraction(1), self.draws.rate * self.draws.slots), self.base.spread)

    @property
    def participation(self) -> Draws:
        """Return how often it is drawn."""
        return self.draws


@dataclass(frozen=True, slots=True)
class Sampled(OnDraws):
    """A mechanism that sees the record k times with probability p_k, k ~ ``draws``; ``base`` dominates one time.

    With η = 1 - p_0 and h_k the profile of the base enlarged k times (``enlarged``):

    - remove: H_α = Σ_{k>=1} p_k h_k((α-1+η)/η) for α > 1-η, else 1-α. Add: the same pair, swapped. For at most one
      draw this is the mixture ((1-q)Q + qP, Q), an identity: Zhu, Dong & Wang 2022. For more it follows by convexity.
    - replace: Σ_{k>=1} p_k h_k(1 + (α-1)/η) for α >= 1, mirrored for α < 1: Balle, Barthe & Gaboardi 2018 (advanced
      joint convexity), Zhu, Dong & Wang 2022. Attained in a single step, by one of *two* pairs of datasets; composed,
      it is sound under adaptivity, where the two composed separately are not. The base must be symmetric.

    ``sampling.md``, sections 2, 5 and 6.
    """

    direction: Direction
    draws: Draws
    base: Pair

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"[{self.base.in_words(write)}] seen by a record {self.draws.in_words(write)}"

    @property
    def proof(self) -> str:
        """Return where it is proven that the pair dominates."""
        if self.direction is Direction.REPLACE:
            return "sampling.md (Balle, Barthe & Gaboardi 2018, advanced joint convexity)"
        return "sampling.md (Zhu, Dong & Wang 2022, mixture split)"

    def distribution(self) -> LossDistribution:
        """Return the mixture over the number of draws."""
        weights, rest = counts_of(self.draws)
        laws = [self.base.enlarged(k + 1).distribution() for k in range(len(weights))]
        sums = plain_sums(weights, laws)
        if isinstance(self.base, ShiftedGaussians) and self.draws.slots > 1:
            from dpbounds.privacy.pairs.gaussian_sums import sums_over_draws

            sums = sums_over_draws(weights, ball(self.base.squared_shift).sqrt())
        law = mixture(weights, laws, sums, rest, ball(self.draws.rate), self.draws.slots)
        match self.direction:
            case Direction.REMOVE:
                return law
            case Direction.ADD:
                return swapped(law)
            case Direction.REPLACE:
                return symmetrised(law)

    def largest_loss(self) -> LargestLoss:
        """Return the sum over all slots of the largest loss of one draw: slots are exchanged one by one."""
        loss = least_loss(self.base) if self.direction is Direction.ADD else self.base.largest_loss()
        found = loss if self.draws.rate == 1 else diluted_loss(ball(self.draws.rate), loss)
        return self.draws.slots * (-found if self.direction is Direction.ADD else found)

    @property
    def atom_count(self) -> int | None:
        """Return as many as the base has."""
        return self.base.atom_count

    def log_moment(self, order: Fraction) -> arb:
        """Return the moment by the base's proof for samples, by an integral, or by a bound from its moments."""
        if self.draws.rate == 1:
            whole = self.base.enlarged(self.draws.slots)
            return (whole.mirrored() if self.direction is Direction.ADD else whole).log_moment(order)
        known = self.base.log_moment_on_samples(self.direction, self.draws, ball(order))
        if known is not None:
            return known
        if self.base.has_integral:
            return integrated(self, ball(order))
        return sampled_guarantee(self.direction, self.draws, self.base, order)

    @property
    def moments(self) -> Moments:
        """Kind of the moments: of the pair, or of the worst of a class of pairs, if the base has an integral."""
        return self.base.moments | Moments.EXACT if self.base.has_integral else Moments.BOUND

    @property
    def add_spends_less(self) -> bool:
        """Return whether add spends less, also for a symmetric base, by the lemma on reversal."""
        if self.direction is Direction.ADD:
            return self.base.is_known and self.base.mirrored() == self.base
        return self.mirrored() == self

    @property
    def has_integral(self) -> bool:
        """Whether the base has an integral; not for several draws of a sample."""
        nested = isinstance(self.base, Sampled | SampledGaussians)
        return self.base.has_integral and (self.draws.slots == 1 or not nested)

    def expectation(self, f: Weighing) -> arb:
        """Return Σ_k p_k/η E g, with E g over the base enlarged k times."""
        draws, base = self.draws, self.base
        need(draws.rate < 1, "the sample rate is below 1")
        eta = drawn_at_all(draws)
        g = through_sample(f, self.direction, eta)
        if draws.slots == 1:
            return base.expectation(g)
        shares = [mass / eta for mass in draw_masses(draws)[1:]]

        def at_most(k: int) -> arb:
            """Return an upper bound on E g: g <= c max(1, r)^e <= c (1 + r^e)."""
            grown = base.enlarged(k).closed_log_moment(g.growth) if g.growth > 1 else arb(0)
            return g.scale * (1 + grown.exp())

        seen, rest = visible_terms([share * at_most(k) for k, share in enumerate(shares, start=1)], arb(1))
        parts = (shares[j] * base.enlarged(j + 1).expectation(g) for j in seen)
        return sum(parts, arb(0)) + up_to(rest)


@dataclass(frozen=True, slots=True)
class Diluted(Pair):
    """A pair with probability ``rate``, else nothing, and the draw is published: H_α = (1-q) (1-α)_+ + q h(α).

    A mechanism on a sample that may publish how many records it holds, neighbours having equally many: one that is
    private when a record is replaced or zeroed, and only then (``sampling.md``, section 4). Or a sample of users, whose
    other records show that they are drawn (``by_user.md``). Attained where ``base`` is.
    """

    rate: Fraction
    base: Pair

    proof = "sampling.md, section 4, or by_user.md (whether the record is drawn may show)"

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The base."""
        return (self.base,)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the same probability of another base."""
        (base,) = pairs
        return Diluted(self.rate, base)

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        base, rate = self.base.in_words(write), write(self.rate)
        return f"[{base}] with probability {rate}, else nothing; which of the two is known"

    def distribution(self) -> LossDistribution:
        """Return the distribution of the base with all masses times the rate, and the other mass at loss 0."""
        return diluted(ball(self.rate), self.base.distribution())

    def largest_loss(self) -> LargestLoss:
        """Return the largest loss of the base."""
        return self.base.largest_loss()

    @property
    def atom_count(self) -> int | None:
        """Return as many as the base has."""
        return self.base.atom_count

    def mirrored(self) -> Pair:
        """Return the base mirrored."""
        return Diluted(self.rate, self.base.mirrored())

    def revealed(self) -> Product | None:
        """Return the base, always."""
        return self.base.revealed()

    def costs(self) -> Costs:
        """Return the rate, and the costs of the base."""
        return self.rate, *(self.base.costs() or ())

    def with_costs(self, costs: Costs) -> Pair:
        """Return the pair with another rate, and the base at other costs."""
        rate, *others = costs
        return Diluted(rate, self.base.with_costs(tuple(others)) if others else self.base)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the base: there is no gain at large orders."""
        return self.base.zcdp_rho()

    def log_moment(self, order: Fraction) -> arb:
        """Return a mean of the base's moment and 1."""
        inner = self.base.log_moment(order)
        return (ball(self.rate) * inner.expm1()).log1p() if inner.is_finite() else inner

    @property
    def moments(self) -> Moments:
        """Return those of the base."""
        return self.base.moments if Moments.EXACT in self.base.moments else Moments.BOUND


@dataclass(frozen=True, slots=True)
class Combined(Pair):
    """Several independent pairs taken as one: the releases on one sample.

    Its distribution has no closed form; the accountants replace it by a ``Discrete`` pair that dominates it
    (``sampling.md``, section 7).
    """

    product: Product

    proof = "sampling.md"
    has_distribution = False

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The pairs of the product, each once."""
        return tuple(pair for pair, _ in self.product)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the product of other pairs with the same counts."""
        return Combined(tuple((pair, count) for pair, (_, count) in zip(pairs, self.product, strict=True)))

    def resolved(self, as_one: Callable[[Product], Pair]) -> Pair:
        """Return the product made one pair."""
        return as_one(self.product)

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"[{product_in_words(self.product, write)}] on one sample"

    def distribution(self) -> LossDistribution:
        """Raise an error: it has no closed form."""
        raise UnsupportedMechanism(f"the distribution of several pairs taken as one has no closed form: {self}")

    def largest_loss(self) -> LargestLoss:
        """Return the sum."""
        return sum_of_losses((pair.largest_loss(), count) for pair, count in self.product)

    def mirrored(self) -> Pair:
        """Return the product of the mirrored pairs."""
        return Combined(tuple((pair.mirrored(), count) for pair, count in self.product))

    def revealed(self) -> Product | None:
        """Return the composition of all pairs."""
        return revealed(self.product)

    def zcdp_rho(self) -> Fraction:
        """Return the sum."""
        return sum((count * pair.zcdp_rho() for pair, count in self.product), Fraction(0))

    def log_moment(self, order: Fraction) -> arb:
        """Return the sum."""
        total = arb(0)
        for pair, count in self.product:
            value = pair.log_moment(order)
            if not value.is_finite():
                return INFINITY if value == INFINITY else value
            total = total + count * value
        return total

    @property
    def is_known(self) -> bool:
        """Whether all pairs are known."""
        return all(pair.is_known for pair, _ in self.product)
