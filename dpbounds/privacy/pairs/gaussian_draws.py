"""Pairs of Gaussian releases on batches that may hold a record, or some of a group, several times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

from flint import arb

from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.core import (
    Costs,
    DirectedPair,
    Direction,
    Draws,
    LargestLoss,
    Moments,
    Pair,
    Product,
    SymmetricPair,
    Writer,
    changed,
    rough_variance_of_draws,
)
from dpbounds.privacy.pairs.gaussian import ShiftedGaussians, TaggedGaussians
from dpbounds.privacy.pairs.gaussian_mixtures import mixed
from dpbounds.privacy.pairs.gaussian_moments import drawn_gaussians
from dpbounds.privacy.pairs.losses import (
    LossDistribution,
    Masses,
    ball,
    counts_of,
    diluted_loss,
    nothing,
    positive_part,
    swapped,
    symmetrised,
    unbounded,
    upper_tail,
)
from dpbounds.privacy.pairs.sampled import Sampled
from dpbounds.privacy.proofs import Declined

_SPARE_BITS = 24  # bits of the working precision that a place does not need
_ROOT_STEPS = 40
_TERM_BITS = 48  # bits of a term, beyond those that its weight makes visible
_MOST_LOG = 600.0


class GaussianDraws(Pair):
    """Gaussian noise on a sum that contains the record as often as it is drawn."""

    __slots__ = ()

    draws: Draws
    squared_shift: Fraction

    def revealed(self) -> Product | None:
        """Return the pair in which the record is drawn every time."""
        return ((ShiftedGaussians(self.draws.slots**2 * self.squared_shift), 1),)

    def costs(self) -> Costs:
        """Return the rate and the shift."""
        return self.draws.rate, self.squared_shift

    def with_costs(self, costs: Costs) -> Pair:
        """Return the pair with another rate of draws, and another shift."""
        rate, squared = costs
        return changed(self, draws=replace(self.draws, rate=rate), squared_shift=squared)

    def rough_variance(self) -> float:
        """Estimate χ² of one release."""
        return rough_variance_of_draws(self.draws, float(self.squared_shift))

    @property
    def participation(self) -> Draws:
        """Return how often it is drawn."""
        return self.draws


@dataclass(frozen=True, slots=True)
class DrawnGaussians(GaussianDraws, DirectedPair):
    """Gaussian noise, the record drawn k ~ ``draws`` times: Σ_k p_k N(ks, 1) against N(0, 1), s² = ``squared_shift``.

    Remove; add is the same pair, swapped. Derived in ``sampling.md``, section 6, by the Gaussian comparison; for one
    release, and for several adaptive ones on the same batch. Attained.
    """

    direction: Direction
    draws: Draws
    squared_shift: Fraction

    claims = Moments.EXACT_AND_OWN
    enlarges_exactly = True
    gathers = True
    proof = "sampling.md, section 6 (Gaussian comparison, derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        laws = "a mixture of N(ks, 1)", "N(0, 1)"
        first, second = laws[::-1] if self.direction is Direction.ADD else laws
        return (
            f"{first} against {second}, s² = {write(self.squared_shift)}, k the draws of a record "
            f"{self.draws.in_words(write)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the distribution by the x at which the loss takes a value: it increases in x."""
        import numpy as np

        from dpbounds.privacy.pairs.gaussian_sums import Places, RatioSum, Weights, tails_growing, tails_shrinking

        direction, draws, squared_shift = self.direction, self.draws, self.squared_shift
        weights, rest = counts_of(draws)
        shift, rate = ball(squared_shift).sqrt(), ball(draws.rate)
        absent = (draws.slots * (-rate).log1p()).exp()
        slack = arb(0).union(rest)
        ratios = RatioSum(Weights.of(weights), shift)
        everyone = Weights.of([absent, *weights])
        counts = np.arange(len(weights) + 1, dtype=np.float64)

        def position(loss: arb) -> arb | None:
            """Return the x at which Σ_k p_k e^(ksx - k²s²/2) = e^l; None at and below log p_0."""
            wanted = loss.expm1() - (absent - 1)
            if wanted <= 0:
                return None
            if not wanted > 0:
                raise Declined(
                    "a loss cannot be distinguished from the logarithm of the probability of no draw at this precision"
                )
            return ratios.root(wanted.log())

        def places(x: arb, side: int) -> Places:
            return Places.near(
                lambda k: side * (x - k * shift), side * (float(x) - counts * float(shift)), steady=lambda _: True
            )

        def tail(loss: arb) -> Masses:
            x = position(loss)
            if x is None:
                return arb(1), arb(1)
            return tails_growing(everyone, places(x, 1)) + slack, upper_tail(x)

        def head(loss: arb) -> Masses:
            x = position(loss)
            if x is None:
                return arb(0), arb(0)
            return tails_shrinking(everyone, places(x, -1)) + slack, upper_tail(-x)

        # Whether k exceeds what is summed counts as revealed: on the upper side that is an infinite loss. On the lower
        # side cells of x keep their true masses, which lie within the slack.
        infinite = arb(0) if rest.is_zero() else arb(0).union(rest)
        law = LossDistribution(tail, head, absent.log(), None, infinite=infinite, symmetric=False)
        return law if direction is Direction.REMOVE else swapped(law)

    def largest_loss(self) -> LargestLoss:
        """Return ∞; for add -log p_0, far to the left."""
        if self.direction is Direction.ADD:
            return self.draws.slots * -diluted_loss(ball(self.draws.rate), -unbounded())
        return unbounded()

    def log_moment(self, order: Fraction) -> arb:
        """Return a trapezoidal sum."""
        if self.draws.rate == 1:
            return ShiftedGaussians(self.draws.slots**2 * self.squared_shift).log_moment(order)
        return drawn_gaussians(self.direction, self.draws, ball(self.squared_shift), ball(order)).log()


@dataclass(frozen=True, slots=True)
class ReplacedGaussians(GaussianDraws, SymmetricPair):
    """Gaussian noise, a record that is drawn k ~ ``draws`` times is replaced; s² = ``squared_shift`` for one link.

    With F̄ the tail of N(0, 1): H_α = sup_t Σ_k p_k max_{t-ks<=y<=t} (F̄(y) - α F̄(y+ks)) for α >= 1, mirrored below.
    How often it was drawn is not revealed, as it is by ``Sampled``. Derived in ``sampling.md``, section 6.
    """

    draws: Draws
    squared_shift: Fraction

    claims = Moments.OWN
    proof = "sampling.md, section 6 (three distributions, the number of draws hidden, derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"three Gaussian distributions, at most ks from each other, s² = {write(self.squared_shift)}, k the draws "
            f"of a record {self.draws.in_words(write)}"
        )

    def distribution(self) -> LossDistribution:
        """Return the distribution by the t of the supremum."""
        absent = (self.draws.slots * (-ball(self.draws.rate)).log1p()).exp()
        return _replaced(absent, *counts_of(self.draws), ball(self.squared_shift).sqrt())

    def largest_loss(self) -> LargestLoss:
        """Return ∞, at the ends of the line."""
        return unbounded()

    def log_moment(self, order: Fraction) -> arb:
        """Return the moment of the pair in which the number of draws is revealed."""
        return Sampled(Direction.REPLACE, self.draws, ShiftedGaussians(self.squared_shift)).log_moment(order)

    def attack(self, direction: Direction) -> Pair:
        """Return the record in the batch as often, against none."""
        return DrawnGaussians(direction, self.draws, self.squared_shift)


@dataclass(frozen=True, slots=True)
class ReplacedGroup(SymmetricPair):
    """A replaced group in a fixed-size batch, which holds j of its records with the j-th of ``chances``.

    They sum to 1. Derived in ``groups.md``.
    """

    chances: tuple[Fraction, ...]
    squared_shift: Fraction

    grows_with = ("squared_shift",)
    claims = Moments.OWN
    proof = "groups.md (three distributions, how many of the group are in the batch hidden, derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"three Gaussian distributions, at most js from each other, s² = {write(self.squared_shift)}, j of 0 to "
            f"{len(self.chances) - 1} the number of a group's records in a batch"
        )

    def distribution(self) -> LossDistribution:
        """Return the distribution by the t of the supremum."""
        absent, *weights = map(ball, self.chances)
        return _replaced(absent, weights, arb(0), ball(self.squared_shift).sqrt())

    def largest_loss(self) -> LargestLoss:
        """Return ∞, at the ends of the line."""
        return unbounded()

    @property
    def tagged(self) -> TaggedGaussians:
        """Return the pair in which the number of group members is known, which spends no less."""
        return TaggedGaussians(tuple((j**2 * self.squared_shift, chance) for j, chance in enumerate(self.chances)))

    def revealed(self) -> Product | None:
        """Return the pair with all of the group in the batch."""
        return ((ShiftedGaussians((len(self.chances) - 1) ** 2 * self.squared_shift), 1),)

    def log_moment(self, order: Fraction) -> arb:
        """Return the moment of the pair in which the number of group members in the batch is revealed."""
        return self.tagged.log_moment(order)

    def attack(self, direction: Direction) -> Pair:
        """Return the attack: all members of the group in the batch against none."""
        return mixed(direction, self.chances, self.squared_shift)


def _replaced(absent: arb, weights: Sequence[arb], rest: arb, shift: arb) -> LossDistribution:
    """Return the distribution of losses where a sum that grows with t reaches (α-1) p_0 (``sampling.md``, section 6).

    Args:
        absent: p_0.
        weights: p_1, p_2, ..., all positive.
        rest: An upper bound on the sum of those that are left out.
        shift: s.
    """
    import numpy as np

    terms = [(weight, k * shift, (-k * k * shift * shift / 2).exp()) for k, weight in enumerate(weights, start=1)]
    logs = np.array([float(weight.log()) for weight in weights])
    steps = np.arange(1, len(weights) + 1) * float(shift)
    further = tuple(accumulate(reversed(weights)))[::-1]  # from each term on
    negligible = arb(2) ** -working_bits()

    def excess(t: arb, alpha: arb) -> tuple[arb, arb]:
        """Return the sum less (α-1) p_0, and its derivative."""
        factor, power, value, slope = (shift * t).exp(), arb(1), -(alpha - 1) * absent, arb(0)
        for weight, step, shrunk in terms:
            power = power * factor
            low, high = power * shrunk, alpha * shrunk / power
            if not low <= alpha:
                value, slope = value + weight * positive_part(low - alpha), slope + weight * step * low
            if not high <= 1:
                value, slope = value - weight * positive_part(high - 1), slope + weight * step * high
            elif low <= alpha and t > 0 and step >= t:  # both exponents fall from here on
                break
        return value, slope

    def exceeds(t: float, loss: float) -> bool:
        """Return whether the excess is positive, roughly."""
        gains = np.clip(steps * t - steps**2 / 2 - loss, 0.0, _MOST_LOG)
        losses = np.clip(loss - steps * t - steps**2 / 2, 0.0, _MOST_LOG)
        found = np.exp(logs) @ np.expm1(gains) - np.exp(logs - loss) @ np.expm1(losses)
        return bool(found > -math.expm1(-loss) * float(absent))

    def place(loss: arb) -> arb:
        """Return the t of the supremum, for a loss above 0."""
        near, alpha = float(loss), loss.exp()
        low = float((near / steps + steps / 2).min())
        high = low + 1
        while not exceeds(high, near):
            high = low + 2 * (high - low)
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (low, middle) if exceeds(middle, near) else (middle, high)
        t, width = arb(high), arb(1)
        for step in range(_ROOT_STEPS):
            bits = min(working_bits(), _TERM_BITS << step)
            with working(bits):
                value, slope = excess(t, alpha)
                move = (value / slope).mid()
            t, before, width = (t - move).mid(), width, arb(abs(move))
            if bits == working_bits() and width >= before / 2:
                break
        for _ in range(_ROOT_STEPS):
            width = (4 * width + arb(2) ** (_SPARE_BITS - working_bits())).mid()
            if excess(t - width, alpha)[0] < 0 and excess(t + width, alpha)[0] > 0:
                return (t - width).union(t + width)
        raise Declined("the place of a supremum cannot be found at this precision")

    def tail(loss: arb) -> Masses:
        if not (loss <= 0 or loss > 0):
            raise Declined("a loss cannot be distinguished from 0 at this precision")
        t = place(loss) if loss > 0 else shift / 2
        whole = upper_tail(t)
        p = r = absent * whole
        for index, (weight, step, _) in enumerate(terms):
            if further[index] < r * negligible:  # F̄(y + D) is at most F̄(t)
                return p + arb(0).union(further[index]), r + arb(0).union(further[index] * whole)
            bits = working_bits() + math.ceil(logs[index] / math.log(2)) + _TERM_BITS
            with working(min(working_bits(), max(bits, _TERM_BITS))):
                y = (loss / step - step / 2).max(t - step).min(t)
                first, second = weight * upper_tail(y), weight * upper_tail(y + step)
            p, r = p + first, r + second
        return p, r

    infinite = arb(0) if rest.is_zero() else arb(0).union(rest)  # drawn more often than is summed: revealed
    return symmetrised(LossDistribution(tail, nothing, arb(0), None, infinite=infinite))
