"""Pairs of Laplace releases: on the full batch, and on a Poisson sample under replace-one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from dpbounds.privacy.pairs.core import LargestLoss, Moments, Pair, Product, PublicPair, SymmetricPair, Writer
from dpbounds.privacy.pairs.losses import (
    LossAtom,
    LossDistribution,
    Masses,
    ball,
    mirrored_about_zero,
    mirrored_tail,
    rounded_up,
)
from dpbounds.privacy.pairs.weighing import Branch, Weighing, integrated, over_atoms, peaked


@dataclass(frozen=True, slots=True)
class ShiftedLaplaces(PublicPair):
    """P = Lap(s, 1), Q = Lap(0, 1): one full-batch release with Laplace noise, s = l1 distance / scale.

    Any dimension: an l1 step is a chain of steps along the axes, and for the Laplace distribution chains of shifts in
    one direction are no worse than one shift (``pairs.md``, section 6). Attained by a step along one axis.
    """

    shift: Fraction

    grows_with = ("shift",)
    claims = Moments.EXACT_AND_OWN
    enlarges_exactly = True
    gathers = True
    proof = "losses.md, section 2 (chains of shifts along the axes)"
    has_integral = True

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"Lap(s, 1) against Lap(0, 1), s = {write(self.shift)}"

    def distribution(self) -> LossDistribution:
        """Return the distribution of the loss: -s left of 0, s right of s, and 2x - s between them."""
        shift = ball(self.shift)
        edge = (-shift).exp() / 2

        def tail(loss: arb) -> Masses:
            if loss <= -shift:
                return arb(1) / 2 - edge, arb(1) / 2 - edge
            if loss >= shift:
                return arb(0), arb(0)
            inner = loss.min(shift).max(-shift)
            return -((inner - shift) / 2).expm1() / 2, (-(shift + inner) / 2).exp() / 2 - edge

        points = (LossAtom(shift, arb(1) / 2, edge), LossAtom(-shift, edge, arb(1) / 2))
        return LossDistribution(tail, mirrored_tail(tail), -shift, shift, points)

    def largest_loss(self) -> LargestLoss:
        """Return the shift."""
        return self.shift

    def _enlarged(self, k: int) -> Pair:
        return ShiftedLaplaces(k * self.shift)

    def zcdp_rho(self) -> Fraction:
        """Return S + e^-s - 1, the smallest."""
        return rounded_up(lambda: ball(self.shift) + (-ball(self.shift)).expm1())

    def closed_log_moment(self, order: arb) -> arb:
        """Return the logarithm of (λ e^((λ-1)s) + (λ-1) e^(-λs)) / (2λ-1)."""
        k, s = order - 1, ball(self.shift)
        return ((order * (k * s).exp() + k * (-order * s).exp()) / (order + k)).log()

    def expectation(self, f: Weighing) -> arb:
        """Return the mass at both extreme losses, and an integral over 0 < x < s, where L = 2x - s."""
        shift = ball(self.shift)

        def weighed(branch: Branch) -> Branch:
            return lambda x, analytic: (-x).exp() / 2 * branch((2 * x - shift).exp(), analytic)

        size = f.growth * shift
        bulk = peaked(weighed(f.below), arb(0), shift / 2, size) + peaked(weighed(f.above), shift / 2, shift, size)
        return over_atoms(self.distribution(), f) + bulk


@dataclass(frozen=True, slots=True)
class SampledLaplaces(SymmetricPair):
    """Scalar Laplace noise on a Poisson sample under replace-one: (1-q) f(x) + q f(x-s) against (1-q) f(x) + q f(x+s).

    f is the density of Lap(0, 1), s = per-record bound / scale. Derived in ``sampling.md``, section 4 (dimension one
    only). Attained.
    """

    sample_rate: Fraction
    shift: Fraction

    grows_with = ("sample_rate", "shift")
    claims = Moments.EXACT_AND_OWN
    proof = "sampling.md, section 4 (derived there)"
    has_integral = True

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"(1-q) Lap(0) + q Lap(s) against (1-q) Lap(0) + q Lap(-s), q = {write(self.sample_rate)}, "
            f"s = {write(self.shift)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the distribution; e^L = (1-q + q e^(2x-s)) / (1-q + q e^-s) for 0 <= x <= s, constant beyond s."""
        rate, shift = ball(self.sample_rate), ball(self.shift)
        below, largest = 1 - rate + rate * (-shift).exp(), self.largest_loss()
        # mass beyond s of the unmoved and of the opposite distribution
        near, far = (
            (-shift).exp() / 2,
            (-2 * shift).exp() / 2,
        )

        def above(loss: arb) -> Masses:
            if loss >= largest:
                return arb(0), arb(0)
            x = (shift + ((loss.min(largest).exp() * below - (1 - rate)) / rate).log()) / 2
            unmoved = (1 - rate) * ((-x).exp() / 2 - near)
            return (
                unmoved + rate * (arb(1) / 2 - (x - shift).exp() / 2),
                unmoved + rate * ((-x - shift).exp() / 2 - far),
            )

        tail = mirrored_about_zero(above)
        p, r = (1 - rate) * near + rate / 2, (1 - rate) * near + rate * far
        return LossDistribution(
            tail, mirrored_tail(tail), -largest, largest, (LossAtom(largest, p, r), LossAtom(-largest, r, p))
        )

    def largest_loss(self) -> arb:
        """Return the loss beyond s, where it is constant."""
        rate, shift = ball(self.sample_rate), ball(self.shift)
        return ((1 - rate + rate * shift.exp()) / (1 - rate + rate * (-shift).exp())).log()

    def revealed(self) -> Product | None:
        """Return the full batch, where the contributions point away from each other."""
        return ((ShiftedLaplaces(2 * self.shift), 1),)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the full batch."""
        return ShiftedLaplaces(2 * self.shift).zcdp_rho()

    def log_moment(self, order: Fraction) -> arb:
        """Return an integral."""
        return integrated(self, ball(order))

    def expectation(self, f: Weighing) -> arb:
        """Return the mass at both extreme losses, and an integral over 0 < |x| < s.

        Right of 0 dP/dQ = (1-q + q e^(2x-s)) / c with c = 1-q + q e^-s, left of it its mirror.
        """
        rate, shift = ball(self.sample_rate), ball(self.shift)
        c = 1 - rate + rate * (-shift).exp()

        def right(x: acb, analytic: bool) -> acb:
            grown = 1 - rate + rate * (2 * x - shift).exp()
            value: acb = (-x).exp() / 2 * (c * f.above(grown / c, analytic) + grown * f.below(c / grown, analytic))
            return value

        return over_atoms(self.distribution(), f) + peaked(right, arb(0), shift, f.growth * shift)
