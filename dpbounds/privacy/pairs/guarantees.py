"""Pairs of guarantees: the worst that a range, a Rényi curve or two profiles allow.

Mechanisms that keep such a guarantee have Rényi divergences that can be smaller than those of the pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from flint import arb

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import (
    Costs,
    Direction,
    Draws,
    LargestLoss,
    Moments,
    Pair,
    Product,
    PublicPair,
    SymmetricPair,
    Writer,
)
from dpbounds.privacy.pairs.gaussian import ShiftedGaussians
from dpbounds.privacy.pairs.laplace import ShiftedLaplaces
from dpbounds.privacy.pairs.losses import (
    NEGLIGIBLE_LOG,
    LossDistribution,
    Masses,
    ProfileBound,
    as_ball,
    ball,
    diluted_loss,
    envelope_law,
    hull_law,
    least_loss,
    mirrored_tail,
    positive_part,
    reach_of,
    unbounded,
    upper_tail,
)
from dpbounds.privacy.pairs.responses import Responses
from dpbounds.privacy.pairs.sampled_moments import (
    between,
    from_integers,
    least,
    moments_of,
    ternary_sum,
    unamplified,
    worst_two_points,
)
from dpbounds.privacy.pairs.weighing import INFINITY, Branch, Weighing, draw_masses, drawn_at_all, over_atoms, peaked

_CHORDS = 1500

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class BoundedRangeProfile(PublicPair):
    """The least upper bound of all two-point pairs with losses t and t - η, 0 <= t <= η (exponential mechanism).

    H at α = e^ε is (1 - e^((ε-η)/2))² / (1 - e^(-η)) for |ε| <= η. Derived in ``losses.md``, section 2; attained at
    each ε by one of the two-point pairs, not by one pair for all ε. It stands for releases whose loss lies in such a
    range, which is more than that it dominates them (``many_choices.md``).
    """

    span: Fraction

    grows_with = ("span",)
    claims = Moments.EXACT
    proof = "losses.md, section 2 (the least upper bound of all two-point pairs)"
    has_integral = True

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"the worst losses within a range of {write(self.span)}"

    def distribution(self) -> LossDistribution:
        """Return P-density e^((l-η)/2) / (2 (1 - e^-η)) on [-η, η]."""
        span = ball(self.span)
        norm = -(-span).expm1()

        def tail(loss: arb) -> Masses:
            if loss >= span:
                return arb(0), arb(0)
            inner = loss.min(span).max(-span)
            return -((inner - span) / 2).expm1() / norm, ((-(inner + span) / 2).exp() - (-span).exp()) / norm

        return LossDistribution(tail, mirrored_tail(tail), -span, span)

    def largest_loss(self) -> LargestLoss:
        """Return the range."""
        return self.span

    def _enlarged(self, k: int) -> Pair:
        return BoundedRangeProfile(k * self.span)

    def zcdp_rho(self) -> Fraction:
        """Return η²/8 (Hoeffding's lemma), of every pair with such a range."""
        return self.span**2 / 8

    def closed_log_moment(self, order: arb) -> arb:
        """Return the largest over all two-point pairs, attained at e^t = y (``renyi/renyi.md``)."""
        k, eta = order - 1, ball(self.span)
        one, whole, part = (-eta).expm1(), (-order * eta).expm1(), (-k * eta).expm1()
        y = k * whole * eta.exp() / (order * part)
        return (whole / (order * one)).log() + k * y.log()

    def log_moment_on_samples(self, direction: Direction, draws: Draws, order: arb) -> arb | None:
        """Bound the moment where a record is added or removed: each number of draws at its own worst two-point pair."""
        if direction is Direction.REPLACE:
            return None
        eta = drawn_at_all(draws)
        exponent = order if direction is Direction.REMOVE else 1 - order
        total = arb(0)
        for k, mass in enumerate(draw_masses(draws)[1:], start=1):
            total = total + mass / eta * worst_two_points(ball(k * self.span), eta, exponent)
        return total.log1p()

    def expectation(self, f: Weighing) -> arb:
        """Integrate over the Q-density e^(-(l+η)/2) / (2 (1 - e^-η)) of the loss on [-η, η]."""
        span = ball(self.span)
        norm = -2 * (-span).expm1()

        def weighed(branch: Branch) -> Branch:
            return lambda loss, analytic: (-(loss + span) / 2).exp() / norm * branch(loss.exp(), analytic)

        size = f.growth * span
        return peaked(weighed(f.below), -span, arb(0), size) + peaked(weighed(f.above), arb(0), span, size)


@dataclass(frozen=True, slots=True)
class RenyiProfile(PublicPair):
    """The profile that D_λ <= ε(λ) allows, at finitely many orders λ or (``rho``, ``xi``) D_λ <= ξ + λρ at all λ > 1.

    H_α <= inf_λ e^((λ-1)(ε(λ) - log α)) λ^(-1) (1 - 1/λ)^(λ-1) for α >= 1 (Canonne, Kamath & Steinke 2020), mirrored
    for α < 1. Not attained: composing it is sound, and looser than adding up the Rényi divergences. ``losses.md``.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction | None = None
    xi: Fraction = Fraction(0)

    proof = "losses.md, section 2 (Canonne, Kamath & Steinke 2020)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return "the largest profile that the Rényi divergences allow"

    def distribution(self) -> LossDistribution:
        """Return the envelope of the profile at many losses."""
        return envelope_law(self.bound())

    def bound(self) -> ProfileBound:
        """Return the profile."""
        return _renyi_profile(self.points, self.rho, self.xi)

    def largest_loss(self) -> LargestLoss:
        """Return ∞: no finite ε follows."""
        return unbounded() if self.points or self.rho or self.xi else Fraction(0)

    def _enlarged(self, k: int) -> Pair | None:
        return RenyiProfile((), k**2 * self.rho) if self.rho is not None and not self.points and not self.xi else None

    def costs(self) -> Costs | None:
        """Return ρ if nothing else is known; else None."""
        return None if self.points or self.rho is None else (self.rho,)

    def with_costs(self, costs: Costs) -> Pair:
        """Return the profile of another ρ."""
        (rho,) = costs
        return RenyiProfile((), rho, self.xi)

    def zcdp_rho(self) -> Fraction:
        """Return ρ + ξ, where ρ is given: ξ <= λξ."""
        return Pair.zcdp_rho(self) if self.rho is None else self.rho + self.xi

    @property
    def given_orders(self) -> tuple[Fraction, ...]:
        """Return the claims of the curve."""
        return tuple(order for order, _ in self.points)

    @property
    def spread(self) -> Fraction:
        """1/ρ."""
        return 1 / self.rho if self.rho else Fraction(1)

    def log_moment(self, order: Fraction) -> arb:
        """Return the moment of the curve, which is smaller than that of the profile."""
        return _from_curve(self, order)

    def closed_log_moment(self, order: arb) -> arb:
        """Return (λ-1)(ξ + λρ) if nothing else is known."""
        if self.rho is None or self.points:
            return Pair.closed_log_moment(self, order)
        return (order - 1) * (ball(self.xi) + order * ball(self.rho))

    @property
    def concentration(self) -> Fraction | None:
        """ρ, where it is given, without ξ."""
        return self.rho if self.xi == 0 else None


@dataclass(frozen=True, slots=True)
class ProfilePoints(PublicPair):
    """The largest profile with H_{e^ε} <= δ at finitely many (ε, δ), in both orders.

    It is the lower convex hull of these points, of their mirror images and of (0, 1), and has the guarantee itself:
    ``losses.md``, section 2. The points have increasing ε >= 0.
    """

    points: tuple[tuple[Fraction, Fraction], ...]

    claims = Moments.EXACT_AND_OWN
    has_integral = True
    proof = "losses.md, section 2 (the convex hull of given points)"

    def __hash__(self) -> int:
        """Hash a few points only: there may be thousands, and every look-up in a cache hashes."""
        return hash((len(self.points), self.points[:1], self.points[-1:]))

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return "the largest profile through the given points"

    def distribution(self) -> LossDistribution:
        """Return the corners of the hull."""
        given = [(ball(epsilon), ball(delta)) for epsilon, delta in self.points]
        return hull_law(given, given, attained=True)

    def largest_loss(self) -> LargestLoss:
        """The first ε with δ = 0; ∞ where there is none."""
        return next((epsilon for epsilon, delta in self.points if delta == 0), unbounded())

    def tied_epsilon(self, delta: Fraction) -> Fraction | None:
        """The first ε with the least δ: below it the hull exceeds that one."""
        if delta != min(least for _, least in self.points):
            return None
        return next(epsilon for epsilon, least in self.points if least == delta)

    @property
    def atom_count(self) -> int | None:
        """Twice as many as there are points."""
        return 2 * len(self.points)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of a randomised response with the largest loss, where that is finite."""
        largest = self.largest_loss()
        return Responses(largest).zcdp_rho() if isinstance(largest, Fraction) else Pair.zcdp_rho(self)

    def closed_log_moment(self, order: arb) -> arb:
        """Return a sum over the corners."""
        law = self.distribution()
        if any(delta == 0 for _, delta in self.points):
            return sum((point.r * (order * point.loss).exp() for point in law.points), arb(0)).log()
        return INFINITY

    def expectation(self, f: Weighing) -> arb:
        """Return a sum over the corners."""
        return over_atoms(self.distribution(), f)


@dataclass(frozen=True, slots=True)
class TwoGuarantees(SymmetricPair):
    """A mechanism on a Poisson sample under replace-one, known by its guarantees for presence and for replacement.

    With h1 the profile of ``present`` (with the record against without), h2 that of ``replaced``, α'' = 1 + (α-1)/q and
    β = α/α'': H_α <= q ((1-β) h1(α'') + β h2(α'')) for α >= 1 (Balle, Barthe & Gaboardi 2018), mirrored below, and the
    convex envelope of that. Sound, not attained in general. ``sampling.md``, section 4.
    """

    sample_rate: Fraction
    present: Pair
    replaced: Pair

    proof = "sampling.md (Balle, Barthe & Gaboardi 2018, advanced joint convexity)"

    @property
    def inside(self) -> tuple[Pair, ...]:
        """Presence, then replacement."""
        return self.present, self.replaced

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the same rate with other guarantees."""
        present, replaced = pairs
        return TwoGuarantees(self.sample_rate, present, replaced)

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"[{self.present.in_words(write)}] for presence and [{self.replaced.in_words(write)}] for replacement, on "
            f"samples at rate {write(self.sample_rate)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the envelope of the profile at many losses."""
        rate, present, replaced = ball(self.sample_rate), self.present.distribution(), self.replaced.distribution()
        return envelope_law(_two_guarantees(rate, present, replaced))

    def largest_loss(self) -> LargestLoss:
        """Return less than the profile's largest loss: each guarantee bounds a ratio (``largest_losses.md``, 3)."""
        there, apart = as_ball(self.present.largest_loss()), as_ball(self.replaced.largest_loss())
        if not there.is_finite():
            return apart
        rate, other = ball(self.sample_rate), as_ball(least_loss(self.present)).max(there - apart)
        return diluted_loss(rate, there) - diluted_loss(rate, other)

    def revealed(self) -> Product | None:
        """Return the full batch."""
        return self.replaced.revealed()

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the full batch."""
        return self.replaced.zcdp_rho()

    def log_moment(self, order: Fraction) -> arb:
        """Return the least of the bounds of several proofs."""
        return _moment_of_two_guarantees(self, order)


def _renyi_profile(points: Sequence[tuple[Fraction, Fraction]], rho: Fraction | None, xi: Fraction) -> ProfileBound:
    """Bound H_α by e^((λ-1)(ε(λ) - log α)) λ^-1 (1-1/λ)^(λ-1) at the best λ (Canonne et al. 2020, Prop. 12)."""

    def at(order: arb, value: arb, loss: arb) -> arb:
        return ((order - 1) * (value - loss)).exp() / order * ((order - 1) * (1 - 1 / order).log()).exp()

    if rho is None:
        curve = [(ball(order), ball(value)) for order, value in points]

        def value(loss: arb) -> arb:
            best = arb(1)
            for order, level in curve:
                best = best.min(at(order, level, loss))
            return best

        largest, level = curve[-1]
        return ProfileBound(value, level + (-NEGLIGIBLE_LOG) / (largest - 1))
    concentrated, more = ball(rho), ball(xi)

    import numpy as np

    def tight(loss: arb) -> arb:
        # any order is sound; a good one is found in floating point
        u, reached = _excess_orders(), float(loss - more)
        exponents = u * ((1 + u) * float(concentrated) - reached) - np.log1p(u) - u * np.log1p(1 / u)
        order = 1 + arb(float(u[int(np.argmin(exponents))]))
        return at(order, more + order * concentrated, loss).min(arb(1))

    return ProfileBound(tight, more + concentrated + 2 * (-NEGLIGIBLE_LOG * concentrated).sqrt())


@cache
def _excess_orders() -> NDArray[np.float64]:
    """Return values of λ - 1 to choose from."""
    import numpy as np

    return np.geomspace(1e-5, 1e7, 1500)


def _two_guarantees(rate: arb, present: LossDistribution, replaced: LossDistribution) -> ProfileBound:
    def value(loss: arb) -> arb:
        inner = (loss.expm1() / rate).log1p()  # α'' = 1 + (α-1)/q
        share = (loss - inner).exp()
        return rate * ((1 - share) * present.delta(inner) + share * replaced.delta(inner))

    top = reach_of(replaced)
    return ProfileBound(value, (rate * top.expm1()).log1p())


# --- Rényi divergences of guarantees ----------------------------------------------------------------------------------


def _from_curve(curve: RenyiProfile, order: Fraction) -> arb:
    """Bound (λ-1) D_λ: between given orders by convexity, below them by monotonicity; ∞ above the largest."""
    if curve.rho is not None:
        return ball((order - 1) * (curve.xi + order * curve.rho))
    k = order - 1
    points = [  # D_λ increases with λ: larger orders bound smaller ones
        (given, min(value for _, value in curve.points[index:])) for index, (given, _) in enumerate(curve.points)
    ]
    above = next((index for index, (given, _) in enumerate(points) if given >= order), None)
    if above is None:
        return INFINITY
    (right, high) = points[above]
    if above == 0 or order == right:
        return ball(k * high)
    left, low = points[above - 1]
    return between(order, (left, ball((left - 1) * low)), (right, ball((right - 1) * high)))


def _moment_of_two_guarantees(pair: TwoGuarantees, order: Fraction) -> arb:
    """Bound log E_Q r^λ for a Poisson sample under replace-one, from the guarantees of presence and replacement."""
    q = ball(pair.sample_rate)
    candidates = [unamplified(q, pair.replaced.log_moment(order))]
    bases = (pair.present, pair.replaced)
    bounded = all(isinstance(base, ShiftedLaplaces | Responses | BoundedRangeProfile) for base in bases)
    if bounded or all(isinstance(base, ShiftedGaussians) for base in bases):
        candidates.append(_from_two_profiles(pair, ball(order)))
    else:
        present, replaced = moments_of(pair.present), moments_of(pair.replaced)
        candidates.append(from_integers(lambda n: ternary_sum(q, present, replaced, n), order))
    return least(candidates)


def _from_two_profiles(pair: TwoGuarantees, order: arb) -> arb:
    """Bound log E_Q r^λ from upper bounds on the (symmetric, convex) profile: the integral over its chords."""
    points, tail_from = _profile_points(pair, working_bits())
    total = arb(0)
    k = order - 1
    (a0, l0, h0) = points[0]
    up0, down0 = (k * l0).exp(), (-order * l0).exp()
    for a1, l1, h1 in points[1:]:
        up1, down1 = (k * l1).exp(), (-order * l1).exp()
        # ∫ (a^(λ-2) + a^(-λ-1)) (c + m a) da over [a0, a1]
        m = (h1 - h0) / (a1 - a0)
        c = h0 - m * a0
        total = total + c * ((up1 - up0) / k - (down1 - down0) / order)
        total = total + m * ((a1 * up1 - a0 * up0) / order - (a1 * down1 - a0 * down0) / k)
        a0, l0, h0, up0, down0 = a1, l1, h1, up1, down1
    if tail_from is not None:
        q = ball(pair.sample_rate)
        e = order.max(arb(2))
        for base in (pair.present, pair.replaced):
            assert isinstance(base, ShiftedGaussians)
            squared = ball(base.squared_shift)
            mu = squared.sqrt()
            moment = (e * (e - 1) * squared / 2).exp() * upper_tail(tail_from / mu + mu / 2 - e * mu)
            total = total + 2 * q * q * moment
    return arb((order * k * total).log1p().upper())


@lru_cache(maxsize=16)
def _profile_points(pair: TwoGuarantees, precision: int) -> tuple[list[tuple[arb, arb, arb]], arb | None]:
    """Return (α, log α, bound on H_α) from α = 1 on, and the log α'' beyond which the last chord is not a bound."""
    present, replaced = pair.present.distribution(), pair.replaced.distribution()
    q = ball(pair.sample_rate)
    tops = [top for law in (present, replaced) if (top := law.largest_loss()) is not None]
    if len(tops) == 2:
        inner, tail = max(tops, key=lambda top: float(top.mid())).max(tops[0]).max(tops[1]), None
    else:
        assert isinstance(pair.present, ShiftedGaussians)
        assert isinstance(pair.replaced, ShiftedGaussians)
        squared = max(float(pair.present.squared_shift), float(pair.replaced.squared_shift))
        inner = tail = arb(squared / 2 + math.sqrt(1600 * squared))
    reach = (q * inner.expm1()).log1p().upper()
    points = []
    for j in range(_CHORDS):
        loss = (reach * j * j / _CHORDS**2).mid()
        beyond = (loss.expm1() / q).log1p()
        share = (loss - beyond).exp()
        value = q * (1 - share) * positive_part(present.delta(beyond)) + q * share * positive_part(
            replaced.delta(beyond)
        )
        points.append((loss.exp(), loss, value.upper().min(arb(1))))
    last = arb(0) if tail is None else points[-1][2]  # H falls; where losses end it is 0
    points.append((reach.exp(), reach, last))
    return points, tail
