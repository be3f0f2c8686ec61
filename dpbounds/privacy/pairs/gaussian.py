"""Pairs of Gaussian releases: on the full batch, with a shift that is drawn in public, and on a Poisson sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import acb, arb

from dpbounds.privacy.pairs.core import (
    MOST_EXPONENT,
    Costs,
    DirectedPair,
    Direction,
    Draws,
    LargestLoss,
    Moments,
    Pair,
    Product,
    PublicPair,
    SymmetricPair,
    Writer,
    hidden_bits,
)
from dpbounds.privacy.pairs.gaussian_moments import replaced_drawn_gaussians, sampled_gaussians
from dpbounds.privacy.pairs.gaussian_profiles import delta_at, sampled_delta
from dpbounds.privacy.pairs.losses import (
    LossAtom,
    LossDistribution,
    Masses,
    ball,
    diluted_loss,
    mirrored_tail,
    mixture,
    of_atoms,
    plain_sums,
    swapped,
    unbounded,
    upper_tail,
)
from dpbounds.privacy.pairs.weighing import Branch, Weighing, density, integral, nats, need, through_sample, up_to


@dataclass(frozen=True, slots=True)
class ShiftedGaussians(PublicPair):
    """P = N(μ, 1), Q = N(0, 1) with μ² = ``squared_shift``: one or many full-batch Gaussian releases.

    The same curve in both orders. Balle & Wang 2018 (single release, any dimension); μ² adds up under adaptive
    composition: Dong, Roth & Su 2022; ``pairs.md``, section 4.
    """

    squared_shift: Fraction

    grows_with = ("squared_shift",)
    claims = Moments.EXACT_AND_OWN
    enlarges_exactly = True
    gathers = True
    proof = "pairs.md, section 4 (Balle & Wang 2018; Dong, Roth & Su 2022)"
    has_integral = True

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"N(m, 1) against N(0, 1), m² = {write(self.squared_shift)}"

    def distribution(self) -> LossDistribution:
        """Return L ~ N(μ²/2, μ²) under P and N(-μ²/2, μ²) under Q."""
        mu = ball(self.squared_shift).sqrt()

        def tail(loss: arb) -> Masses:
            return upper_tail(loss / mu - mu / 2), upper_tail(loss / mu + mu / 2)

        return LossDistribution(tail, mirrored_tail(tail), None, None)

    def largest_loss(self) -> LargestLoss:
        """Return ∞: the loss grows with x."""
        return unbounded() if self.squared_shift else Fraction(0)

    def _enlarged(self, k: int) -> Pair:
        return ShiftedGaussians(k**2 * self.squared_shift)

    @property
    def addends(self) -> tuple[Hashable, Costs]:
        """The squared shift."""
        return ShiftedGaussians, (self.squared_shift,)

    def with_sums(self, sums: Costs) -> Pair:
        """Return the pair of another squared shift."""
        return ShiftedGaussians(*sums)

    def rough_variance(self) -> float:
        """Return the squared shift."""
        return float(self.squared_shift)

    def zcdp_rho(self) -> Fraction:
        """Return μ²/2, the smallest (Bun & Steinke 2016)."""
        return self.squared_shift / 2

    @property
    def spread(self) -> Fraction:
        """The variance at a shift of 1."""
        return 1 / self.squared_shift

    def closed_log_moment(self, order: arb) -> arb:
        """Return λ(λ-1) μ²/2."""
        return order * (order - 1) * ball(self.squared_shift) / 2

    def log_moment_on_samples(self, direction: Direction, draws: Draws, order: arb) -> arb | None:
        """Return, under replace-one, a moment for each number of draws; else None."""
        if direction is not Direction.REPLACE:
            return None
        return replaced_drawn_gaussians(draws, ball(self.squared_shift), order)

    def expectation(self, f: Weighing) -> arb:
        """Return an integral over x ~ N(0, 1)."""
        squared = ball(self.squared_shift)
        mu = squared.sqrt()

        def weighed(branch: Branch) -> Branch:
            return lambda x, analytic: density(x) * branch((mu * x - squared / 2).exp(), analytic)

        room = nats() + max(0.0, float(f.scale.log().mid()))
        left = arb(-math.ceil(math.sqrt(2 * room)) - 1)
        moment = f.growth * (f.growth - 1) * squared / 2
        centre = f.growth * mu
        far = math.sqrt(2 * (room + max(0.0, float(moment.mid()))))
        right = arb(math.ceil(float(centre.mid()) + far) + 1)
        # left of its end r <= 1, so that f <= c; right of its end r^e is a shifted Gaussian
        tails = f.scale * (upper_tail(-left) + moment.exp() * upper_tail(right - centre))
        need(left < mu / 2, "the left end lies where r < 1")
        need(right > mu / 2, "the right end lies where r > 1")
        bulk = integral(weighed(f.below), left, mu / 2, moment) + integral(weighed(f.above), mu / 2, right, moment)
        return bulk + up_to(tails)

    def closed_delta(self, epsilon: Fraction) -> arb:
        """Return δ(ε) of Balle & Wang 2018."""
        return delta_at(self.squared_shift, epsilon)

    @property
    def dominating_shift(self) -> Fraction:
        """The shift itself."""
        return self.squared_shift


@dataclass(frozen=True, slots=True)
class TaggedGaussians(SymmetricPair):
    """One of several shifts μ², drawn with known probabilities and revealed: the same tag under both distributions.

    ``atoms`` are (μ², probability) pairs with μ² >= 0 in increasing order; the probabilities add up to 1. The profile
    is the average of those of ``ShiftedGaussians``. Dominates where a shift depends on a draw that may be given away
    (joint convexity): ``last_iterate.md``.
    """

    atoms: tuple[tuple[Fraction, Fraction], ...]

    claims = Moments.EXACT_AND_OWN
    proof = "last_iterate.md, section 4 (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        least, most = write(self.atoms[0][0]), write(self.atoms[-1][0])
        return f"N(m, 1) against N(0, 1), m² drawn in public, {len(self.atoms)} values from {least} to {most}"

    def distribution(self) -> LossDistribution:
        """Return the mean of those of its shifts."""
        parts = [(ball(weight), ball(squared).sqrt()) for squared, weight in self.atoms if squared > 0]

        def tail(loss: arb) -> Masses:
            p, r = arb(0), arb(0)
            for weight, mu in parts:
                p += weight * upper_tail(loss / mu - mu / 2)
                r += weight * upper_tail(loss / mu + mu / 2)
            return p, r

        still = ball(sum((weight for squared, weight in self.atoms if squared == 0), Fraction(0)))
        points = (LossAtom(arb(0), still, still),) if still > 0 else ()
        if not parts:
            return of_atoms(points, arb(0))
        return LossDistribution(tail, mirrored_tail(tail), None, None, points)

    def largest_loss(self) -> LargestLoss:
        """Return ∞, unless every shift is 0."""
        return unbounded() if self.atoms[-1][0] else Fraction(0)

    def revealed(self) -> Product | None:
        """Return the largest shift."""
        return ((ShiftedGaussians(max(squared for squared, _ in self.atoms)), 1),)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the largest shift: the tag may always show it."""
        return self.atoms[-1][0] / 2

    def closed_log_moment(self, order: arb) -> arb:
        """Return the logarithm of the mean of the moments of the shifts."""
        k = order - 1
        terms = (ball(weight) * (order * k * ball(squared) / 2).expm1() for squared, weight in self.atoms)
        return sum(terms, arb(0)).log1p()

    def closed_delta(self, epsilon: Fraction) -> arb:
        """Return the mean of those of its shifts."""
        moving = ((weight, squared) for squared, weight in self.atoms if squared > 0)
        return sum((ball(weight) * delta_at(squared, epsilon) for weight, squared in moving), arb(0))

    @property
    def dominating_shift(self) -> Fraction:
        """The largest shift."""
        return self.atoms[-1][0]


@dataclass(frozen=True, slots=True)
class SampledGaussians(DirectedPair):
    """One Gaussian release on a Poisson sample; lengths in units of the per-record bound, variance z².

    With N(m) = N(m, z²) and q the sample rate:

    - remove: P = (1-q) N(0) + q N(1), Q = N(0); add: the same two, swapped. Zhu, Dong & Wang 2022 (the
      mixture split H_α(ω‖ω₀) = q H_{(α-1+q)/q}(ω₁‖ω₀) is an identity); any dimension. Attained.
    - replace: P = (1-q) N(0) + q N(1), Q = (1-q) N(0) + q N(-1). Derived in ``pairs.md``, section 5 (Gaussian
      comparison: the divergence grows with both variances of the log-likelihoods and falls with their covariance).
      Attained.
    """

    direction: Direction
    sample_rate: Fraction
    variance: Fraction

    claims = Moments.EXACT_AND_OWN
    enlarges_exactly = True
    gathers = True
    has_integral = True

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        match self.direction:
            case Direction.REMOVE:
                laws = "(1-q) N(0, z²) + q N(1, z²) against N(0, z²)"
            case Direction.ADD:
                laws = "N(0, z²) against (1-q) N(0, z²) + q N(1, z²)"
            case Direction.REPLACE:
                laws = "(1-q) N(0, z²) + q N(1, z²) against (1-q) N(0, z²) + q N(-1, z²)"
        return f"{laws}, q = {write(self.sample_rate)}, z² = {write(self.variance)}"

    @property
    def proof(self) -> str:
        """Return where it is proven that the pair dominates."""
        if self.direction is Direction.REPLACE:
            return "pairs.md, section 5, replace one (derived there)"
        return "pairs.md, section 5, add or remove one (Zhu, Dong & Wang 2022)"

    def distribution(self) -> LossDistribution:
        """Return the distribution by the general mixture, or (replace) by its threshold on x."""
        if self.direction is not Direction.REPLACE:
            rate, base = ball(self.sample_rate), ShiftedGaussians(1 / self.variance).distribution()
            law = mixture([rate], [base], plain_sums([rate], [base]), arb(0), rate, 1)
            return law if self.direction is Direction.REMOVE else swapped(law)
        # With y = e^{x/v}: (1-q + b y) = e^l (1-q + b/y), b = q e^{-1/2v}; the positive root of b y² - c y - b e^l = 0.
        q, v = ball(self.sample_rate), ball(self.variance)
        z = v.sqrt()
        b = q * (-1 / (2 * v)).exp()

        def position(loss: arb) -> arb:
            if loss < 0:
                return -position(-loss)
            c = (1 - q) * loss.expm1()
            return v * ((c + (c * c + 4 * b * b * loss.exp()).sqrt()) / (2 * b)).log()

        def tail(loss: arb) -> Masses:
            x = position(loss)
            without = (1 - q) * upper_tail(x / z)
            return without + q * upper_tail((x - 1) / z), without + q * upper_tail((x + 1) / z)

        return LossDistribution(tail, mirrored_tail(tail), None, None)

    def largest_loss(self) -> LargestLoss:
        """Return ∞; for add -log(1-q), far to the left."""
        if self.direction is Direction.ADD:
            return -diluted_loss(ball(self.sample_rate), -unbounded())
        return unbounded()

    def revealed(self) -> Product | None:
        """Return the full batch."""
        return one_shift(self.direction, 1 / self.variance)

    def costs(self) -> Costs:
        """Return the rate, and how little noise there is."""
        return self.sample_rate, 1 / self.variance

    def with_costs(self, costs: Costs) -> Pair:
        """Return the same direction at other costs."""
        rate, precision = costs
        return replace(self, sample_rate=rate, variance=1 / precision)

    def rough_variance(self) -> float:
        """Return χ² of one release."""
        return float(self.sample_rate) ** 2 * math.expm1(min(1 / float(self.variance), MOST_EXPONENT))

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the full batch: a sample has no gain at large orders."""
        return (4 if self.direction is Direction.REPLACE else 1) / (2 * self.variance)

    def lost_bits(self, order: Fraction) -> int:
        """Estimate the lost bits by the rate and the variance."""
        return hidden_bits(order, self.sample_rate, self.variance)

    def log_moment(self, order: Fraction) -> arb:
        """Return a trapezoidal sum."""
        rate, variance = ball(self.sample_rate), ball(self.variance)
        return sampled_gaussians(self.direction, rate, variance, ball(order)).log()

    @property
    def add_spends_less(self) -> bool:
        """Return True, also for add, by the lemma on reversal."""
        return self.direction is Direction.ADD or self.mirrored() == self

    def expectation(self, f: Weighing) -> arb:
        """Return the expectation of the full batch with another function, or (replace) a separate integral."""
        if self.direction is Direction.REPLACE:
            return self._expectation_when_replaced(f)
        base = ShiftedGaussians(1 / self.variance)
        return base.expectation(through_sample(f, self.direction, ball(self.sample_rate)))

    def _expectation_when_replaced(self, f: Weighing) -> arb:
        """Integrate in t = x/z: Q-density φ A(-t), ratio r = A(t)/A(-t), A(t) = 1-q + q e^(t/z - 1/2z²); r(0) = 1."""
        q, v = ball(self.sample_rate), ball(self.variance)
        z = v.sqrt()

        def mixture(t: acb) -> acb:
            return 1 - q + q * (t / z - 1 / (2 * v)).exp()

        def weighed(branch: Branch) -> Branch:
            def value(t: acb, analytic: bool) -> acb:
                there = mixture(-t)
                result: acb = density(t) * there * branch(mixture(t) / there, analytic)
                return result

            return value

        need(q < 1, "the sample rate is below 1")
        # right: r^e A(-t) <= A(t)^e (1-q)^(1-e) and A(t) <= e^(t/z) for t >= 0; left: f <= c
        e = f.growth
        scale = f.scale * (-(e - 1) * (1 - q).log()).exp()
        room = nats() + max(0.0, float(scale.log().mid()))
        left = arb(-math.ceil(math.sqrt(2 * room) + float((1 / z).mid())) - 1)
        far = math.sqrt(2 * (room + float((e * e / (2 * v)).mid())))
        right = arb(math.ceil(float((e / z).mid()) + far) + 1)
        tails = f.scale * ((1 - q) * upper_tail(-left) + q * upper_tail(-left - 1 / z))
        tails = tails + scale * (e * e / (2 * v)).exp() * upper_tail(right - e / z)
        size = e * e / (2 * v)
        bulk = integral(weighed(f.below), left, arb(0), size) + integral(weighed(f.above), arb(0), right, size)
        return bulk + up_to(tails)

    def closed_delta(self, epsilon: Fraction) -> arb:
        """Return δ by the threshold on x (``pairs.md``, section 5)."""
        if self.sample_rate == 1:
            return delta_at(self.dominating_shift, epsilon)
        return sampled_delta(self.direction, self.sample_rate, self.variance, epsilon)

    @property
    def dominating_shift(self) -> Fraction:
        """The full batch; where a record is replaced, the two contributions point away from each other."""
        return (4 if self.direction is Direction.REPLACE else 1) / self.variance


def one_shift(direction: Direction, squared: Fraction) -> Product:
    """Return the pair of one shift; under replace-one the two contributions have opposite directions."""
    return ((ShiftedGaussians(4 * squared if direction is Direction.REPLACE else squared), 1),)


def together(pairs: Iterable[tuple[Pair, int]]) -> Product:
    """Return independent pairs as a product: pairs whose costs add up are merged, equal ones counted together."""
    sums: dict[Hashable, tuple[Pair, Costs]] = {}
    counts: Counter[Pair] = Counter()
    for pair, count in pairs:
        if pair.addends is None:
            counts[pair] += count
        else:
            key, costs = pair.addends
            _, before = sums.get(key, (pair, (Fraction(0),) * len(costs)))
            sums[key] = pair, tuple(old + count * new for old, new in zip(before, costs, strict=True))
    merged = tuple((pair.with_sums(costs), 1) for pair, costs in sums.values() if any(costs))
    return merged + tuple(counts.items())
