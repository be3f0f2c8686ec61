"""Perturbed gradient descent with noise that is uniform on a ball: closed forms for δ and for the radius.

In each of T steps one of N records is drawn uniformly, and its gradient is published plus noise uniform on the d-ball
of radius r; two gradients lie at most Δ apart, and neighbours replace one record (Tholeti & Kalyani 2020, Algorithm 1).

With τ = I_(Δ/2r)²(1/2, (d+1)/2), 1 for r <= Δ/2, the total variation of two such balls (their eq. 6), the whole run is
(0, 1 - (1 - τ/N)^T)-private, and no better at any ε:

- One step. The likelihood ratio of two balls is 0, 1 or ∞, so that their profile is τ for every α >= 1; what a random
  record keeps of it is (1/N) h(1 + N(α - 1)) = τ/N, again for every α >= 1 (``pairs.py``, ``Sampled``, replace).
- T steps. The dominating loss is then ∞ with probability τ/N and 0 or -∞ otherwise, in every step, hence ∞ in one of
  the steps with probability 1 - (1 - τ/N)^T, and at most 0 in all others: H_α is that for every α >= 1.
- Attained. Let all shared records have the gradient g' and the differing one g, ‖g - g'‖ = Δ, against a dataset of g'
  only: the distributions ((1 - 1/N) Q + P/N, Q) of a step have loss ∞ with probability τ/N, too, and at most 0
  otherwise.

The printed Theorem 1 has T τ/N in its place, the union bound of the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer, to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.mechanisms import Mechanism, SampledWithoutReplacement, UniformBall
from dpbounds.privacy.pairs.balls import overlap_lost
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import positive, promised_delta

_PRECISION = 160
_LARGEST_PRECISION = 1 << 12
_LEAST_RADIUS, _LARGEST_RADIUS = 2.0**-1000, 2.0**1000
_STEPS_DOWN = 64


@dataclass(frozen=True, slots=True, init=False)
class BallDescent:
    """A run of perturbed gradient descent, without the radius of its noise.

    Attributes:
        sensitivity: Δ, the largest distance between two gradients (twice the bound of one), in the units of the radius.
        dimension: d.
        dataset_size: N, the number of records, public.
        steps: T.

    Raises:
        InvalidValue: A value is not positive, or a count is not a whole number.

    >>> run = BallDescent(sensitivity=1, dimension=1, dataset_size=10, steps=20)
    >>> "0.6415" < run.delta(1) < "0.6416"  # 1 - 0.95**20
    True
    """

    sensitivity: Fraction
    dimension: int
    dataset_size: int
    steps: int

    def __init__(self, sensitivity: ExactLike, dimension: int, dataset_size: int, steps: int) -> None:
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        for name, value in (("dimension", dimension), ("dataset_size", dataset_size), ("steps", steps)):
            object.__setattr__(self, name, positive_integer(value, name))

    def mechanism(self, radius: ExactLike) -> Mechanism:
        """Return the run with noise of this radius, for any accountant (under replace-one)."""
        noise = UniformBall(radius, self.dimension, sensitivity=self.sensitivity)
        return SampledWithoutReplacement(noise, 1, self.dataset_size) ** self.steps

    def total_variation(self, radius: ExactLike) -> Enclosure:
        """Enclose τ, the total variation of two balls of this radius with centres at distance Δ, spent by one step."""
        return self._enclosed(radius, lambda lost: lost)

    def delta(self, radius: ExactLike) -> Enclosure:
        """Enclose 1 - (1 - τ/N)^T, the smallest δ of the run, at every ε."""
        return self._enclosed(radius, self._composed)

    def printed_delta(self, radius: ExactLike) -> Enclosure:
        """Enclose T τ/N, as printed in Tholeti & Kalyani 2020, Theorem 1; above 1 it is vacuous."""
        return self._enclosed(radius, lambda lost: lost * ball(Fraction(self.steps, self.dataset_size)))

    def radius(self, target_delta: ExactLike) -> Radius:
        """Find the smallest radius that satisfies a δ.

        Args:
            target_delta: In (0, 1).

        Returns:
            The smallest double that is proven to suffice, and a double below it that is proven not to: the next one,
            unless δ is met with equality, which intervals cannot decide.

        Raises:
            InvalidValue: δ is not in (0, 1).
            NotCertified: The radius, or Δ, is not between 2^-1000 and 2^1000.
        """
        target = promised_delta(target_delta, "target_delta")
        if self._keeps(Fraction(0), target):  # even publishing random gradients as they are
            return Radius(Fraction(0), None)
        if not _LEAST_RADIUS <= self.sensitivity <= _LARGEST_RADIUS:
            raise NotCertified("the radius is a double, and the sensitivity is too far from 1 for it: change the units")
        unsafe = to_float(self.sensitivity / 2, "down")  # the balls do not meet, which is no better than no noise
        safe = 2 * unsafe
        while not self._keeps(Fraction(safe), target):
            unsafe, safe = safe, 2 * safe
            if safe > _LARGEST_RADIUS:
                raise NotCertified("no radius up to 2^1000 could be proven to suffice")
        while math.nextafter(unsafe, math.inf) < safe:
            middle = unsafe + (safe - unsafe) / 2
            unsafe, safe = (unsafe, middle) if self._keeps(Fraction(middle), target) else (middle, safe)
        for _ in range(_STEPS_DOWN):
            if self._keeps(Fraction(unsafe), target) is False:
                return Radius(Fraction(safe), Fraction(unsafe))
            unsafe = math.nextafter(unsafe, 0.0)
        raise NotCertified(f"no radius just below {safe:g} could be proven not to suffice")

    def _enclosed(self, radius: ExactLike, value: Callable[[arb], arb]) -> Enclosure:
        """Return the enclosures that follow from τ at this radius."""
        number = positive(radius, "radius")
        with working(_PRECISION):
            found = value(self._overlap_lost(number))
            return Enclosure.from_balls(found, found, "closed form", _PRECISION)

    def _overlap_lost(self, radius: Fraction) -> arb:
        if 2 * radius <= self.sensitivity:
            return arb(1)
        return overlap_lost((self.sensitivity / radius) ** 2, self.dimension)

    def _composed(self, lost: arb) -> arb:
        if self.dataset_size == 1 and lost == 1:
            return arb(1)
        return -(self.steps * (-lost / self.dataset_size).log1p()).expm1()

    def _keeps(self, radius: Fraction, target: Fraction) -> bool | None:
        """Return whether δ <= target, that is T log(1 - τ/N) >= log(1 - target); None if the precision is too low."""
        if self.steps == 1 and 2 * radius <= self.sensitivity:
            return Fraction(1, self.dataset_size) <= target  # both may well be equal
        precision = _PRECISION
        while precision <= _LARGEST_PRECISION:
            with working(precision):
                lost = self._overlap_lost(radius)
                if self.dataset_size == 1 and lost == 1:
                    return False
                spent, allowed = self.steps * (-lost / self.dataset_size).log1p(), (-ball(target)).log1p()
                if spent >= allowed:
                    return True
                if spent < allowed:
                    return False
            precision *= 2
        return None


@dataclass(frozen=True, slots=True)
class Radius:
    """The radius of the noise for a given δ.

    Attributes:
        value: Suffices, proven. 0: publishing one random gradient per step as it is keeps this δ.
        fails_at: Does not, proven; None where no noise is needed.
    """

    value: Fraction
    fails_at: Fraction | None
