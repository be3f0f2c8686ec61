"""Pairs with mixtures of Gaussian distributions whose weights are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import arb

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.core import DirectedPair, Direction, LargestLoss, Pair, Product, Writer
from dpbounds.privacy.pairs.gaussian import SampledGaussians, ShiftedGaussians, one_shift
from dpbounds.privacy.pairs.losses import (
    LossDistribution,
    Masses,
    ball,
    diluted_loss,
    mirrored_tail,
    swapped,
    unbounded,
    upper_tail,
)
from dpbounds.privacy.proofs import Declined

_MOST_STEPS, _ROOT_BITS, _ROUGH_STEPS = 400, 12, 100  # steps of Newton's method, bits of a root, steps of a rough root


@dataclass(frozen=True, slots=True)
class MixedGaussians(DirectedPair):
    """Σ_i p_i N(c_i, 1) against N(0, 1), the same swapped (add), or against Σ_i p_i N(-c_i, 1) (replace).

    ``parts``: the pairs (c_i², p_i), c_i >= 0 in units of the noise, p_i that sum to 1. Derived in ``mixtures.md``, by
    the Gaussian comparison; for groups of records on samples in ``groups.md``. Attained.
    """

    direction: Direction
    parts: tuple[tuple[Fraction, Fraction], ...]

    enlarges_exactly = True
    gathers = True
    proof = "mixtures.md (Gaussian comparison, pairs.md, section 5)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        laws = (
            f"a mixture of {len(self.parts)} N(c, 1)",
            "N(0, 1)" if self.direction is not Direction.REPLACE else "its mirror image",
        )
        first, second = laws[::-1] if self.direction is Direction.ADD else laws
        return f"{first} against {second}"

    def distribution(self) -> LossDistribution:
        """Return the distribution by the x at which the loss takes a value: it increases in x."""
        direction, parts = self.direction, self.parts
        shifts = [ball(squared).sqrt() for squared, _ in parts]
        chances = [ball(chance) for _, chance in parts]
        if direction is Direction.REPLACE:
            both = _LogRatio(shifts, chances, opposed=True)

            def tail(loss: arb) -> Masses:
                x = both.root(loss)
                return _mixed_tail(shifts, chances, x), _mixed_tail([-shift for shift in shifts], chances, x)

            return LossDistribution(tail, mirrored_tail(tail), None, None)
        absent = sum((chance for (squared, _), chance in zip(parts, chances, strict=True) if squared == 0), arb(0))
        moved = [index for index, (squared, _) in enumerate(parts) if squared]
        ratio = _LogRatio([shifts[i] for i in moved], [chances[i] for i in moved], opposed=False)

        def position(loss: arb) -> arb | None:
            """Return the x at which the ratio is e^l; None where it is larger everywhere."""
            wanted = loss.exp() - absent
            if wanted <= 0:
                return None
            if not wanted > 0:
                raise Declined(
                    "a loss cannot be distinguished from the logarithm of the probability of norm 0 at this precision"
                )
            return ratio.root(wanted.log())

        def above(loss: arb) -> Masses:
            x = position(loss)
            return (arb(1), arb(1)) if x is None else (_mixed_tail(shifts, chances, x), upper_tail(x))

        def below(loss: arb) -> Masses:
            x = position(loss)
            if x is None:
                return arb(0), arb(0)
            return _mixed_tail([-shift for shift in shifts], chances, -x), upper_tail(-x)

        lowest = None if absent.is_zero() else absent.log()
        law = LossDistribution(above, below, lowest, None, symmetric=False)
        return law if direction is Direction.REMOVE else swapped(law)

    def largest_loss(self) -> LargestLoss:
        """Return ∞; for add -log of the probability of c = 0, far to the left."""
        moved = sum((chance for squared, chance in self.parts if squared), Fraction(0))
        if self.direction is Direction.ADD:
            return -diluted_loss(ball(moved), -unbounded())
        return unbounded() if moved else Fraction(0)

    def revealed(self) -> Product | None:
        """Return the largest shift."""
        return one_shift(self.direction, max(squared for squared, _ in self.parts))

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the largest shift."""
        largest = max(squared for squared, _ in self.parts)
        return ShiftedGaussians(4 * largest if self.direction is Direction.REPLACE else largest).zcdp_rho()


def mixed(direction: Direction, chances: Sequence[Fraction], squared_shift: Fraction) -> Pair:
    """Return the pair in which j records of a group take part with the j-th probability, for j shifts of the sum."""
    if len(chances) == 2:
        return SampledGaussians(direction, chances[1], 1 / squared_shift)
    return MixedGaussians(direction, tuple((j**2 * squared_shift, chance) for j, chance in enumerate(chances)))


def _mixed_tail(shifts: Sequence[arb], chances: Sequence[arb], x: arb) -> arb:
    """Return P(c + N(0, 1) > x) for c drawn from the shifts."""
    return sum((chance * upper_tail(x - shift) for shift, chance in zip(shifts, chances, strict=True)), arb(0))


@dataclass(frozen=True, slots=True)
class _LogRatio:
    """log G(x), G(x) = Σ_i p_i e^(c_i x - c_i²/2), or (opposed) log G(x)/G(-x); where it takes a value.

    The slope of log G is the mean of c under weights that move to the right with x: at least the smallest c, and that
    of log G(x)/G(-x) at least its value for log G at 0 (``mixtures.md``).
    """

    shifts: Sequence[arb]
    chances: Sequence[arb]
    opposed: bool

    def _log_and_slope(self, x: arb) -> tuple[arb, arb]:
        exponents = [shift * x - shift * shift / 2 for shift in self.shifts]
        top = max(exponents, key=lambda exponent: float(exponent.mid()))
        terms = [chance * (exponent - top).exp() for chance, exponent in zip(self.chances, exponents, strict=True)]
        total = sum(terms, arb(0))
        slope = sum((shift * term for shift, term in zip(self.shifts, terms, strict=True)), arb(0)) / total
        return total.log() + top, slope

    def value_and_slope(self, x: arb) -> tuple[arb, arb]:
        """Return the function and its derivative."""
        value, slope = self._log_and_slope(x)
        if not self.opposed:
            return value, slope
        other, back = self._log_and_slope(-x)
        return value - other, slope + back

    def root(self, goal: arb) -> arb:
        """Return the x at which the function is ``goal``, by Newton's method with a proven radius."""
        least = self._log_and_slope(arb(0))[1] if self.opposed else reduce(arb.min, self.shifts)
        x, known = arb(self._start(float(goal)) if self.opposed and goal != 0 else 0), arb("inf")
        for _ in range(_MOST_STEPS):
            value, slope = self.value_and_slope(x)
            gap = value - goal
            radius = arb((gap / least).abs_upper())
            if radius < arb(2) ** (_ROOT_BITS - working_bits()) * (1 + abs(x)):
                break
            if self.opposed and 2 * radius > known:  # from that start on, it halves until rounding hides the rest
                break
            known = radius
            x = (x - gap / slope).mid()
        return x + (-radius).union(radius)

    def _start(self, goal: float) -> float:
        """Return a start near that x in floats; Newton's method oscillates where small probabilities make it steep."""
        terms = [
            (float(chance.log()) - float(shift) ** 2 / 2, float(shift))
            for chance, shift in zip(self.chances, self.shifts, strict=True)
            if chance > 0
        ]

        def log_and_slope(x: float) -> tuple[float, float]:
            top = max(offset + shift * x for offset, shift in terms)
            weights = [math.exp(offset + shift * x - top) for offset, shift in terms]
            total = math.fsum(weights)
            slope = math.fsum(weight * shift for weight, (_, shift) in zip(weights, terms, strict=True)) / total
            return top + math.log(total), slope

        low, x, high = 0.0, 1.0, math.inf  # the function is odd
        for _ in range(_ROUGH_STEPS):
            (value, slope), (other, back) = log_and_slope(x), log_and_slope(-x)
            gap = value - other - abs(goal)
            low, high = (low, x) if gap > 0 else (x, high)
            following = x - gap / (slope + back) if slope + back > 0 else math.inf
            if not low < following < high:
                following = 2 * x if high == math.inf else (low + high) / 2
            if abs(following - x) <= 1e-9 * x:
                break
            x = min(following, 4 * x)
        return math.copysign(x, goal)
