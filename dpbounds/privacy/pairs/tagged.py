"""Pairs whose distribution is drawn and revealed, and an attack on truncated Poisson samples (``truncated.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import and_

from flint import arb

from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.pairs.core import DirectedPair, Direction, LargestLoss, Moments, Other, Pair, Product, Writer
from dpbounds.privacy.pairs.losses import (
    LossAtom,
    LossDistribution,
    as_ball,
    ball,
    of_atoms,
    swapped,
    tagged,
    tagged_apart,
    unbounded,
)
from dpbounds.privacy.pairs.revealed import dearest
from dpbounds.privacy.pairs.weighing import INFINITY

_PROOF = "truncated.md (one tag for a cut sample, derived there)"


@dataclass(frozen=True, slots=True)
class Tagged(Pair):
    """One of several pairs, drawn with weights that sum to 1, and revealed (``truncated.md``).

    Where the weights are the same for both distributions, H_α is the weighted sum of the parts' profiles, and the
    distribution of the loss that of theirs. Else H_α = Σ w_k h_k(α v_k/w_k), and a part's losses are larger by
    log(w_k/v_k).

    Attributes:
        parts: w_k, all positive, with the parts.
        others: v_k under the second distribution, all positive, where they differ from w_k; else empty.
        alike: Where they differ, a pair with one distribution of the tag that dominates the same releases, if one is
        known.
    """

    parts: tuple[tuple[Fraction, Pair], ...]
    others: tuple[Fraction, ...] = ()
    alike: Tagged | None = None

    proof = _PROOF

    @property
    def weighed(self) -> tuple[tuple[Fraction, Fraction, Pair], ...]:
        """Both weights and the pair of each part."""
        others = self.others or tuple(weight for weight, _ in self.parts)
        return tuple((weight, other, part) for (weight, part), other in zip(self.parts, others, strict=True))

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The pairs from which one is drawn."""
        return tuple(part for _, part in self.parts)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the mixture of other pairs with the same weights."""
        return replace(self, parts=tuple((weight, pair) for (weight, _), pair in zip(self.parts, pairs, strict=True)))

    def in_words(self, write: Writer) -> str:
        """Return the two distributions; weights in few digits, rounded up."""
        each = "; ".join(
            f"[{part.in_words(write)}] with weight {to_decimal(weight, 4, 'up')}"
            + (f" ({to_decimal(other, 4, 'up')} under the second distribution)" if other != weight else "")
            for weight, other, part in self.weighed
        )
        return f"one of these, drawn and revealed: {each}"

    def distribution(self) -> LossDistribution:
        """Return the weighted sum of those of the parts, moved where the weights differ."""
        weights, laws = [ball(weight) for weight, _ in self.parts], [part.distribution() for _, part in self.parts]
        if self.others:
            return tagged_apart(weights, [ball(weight) for weight in self.others], laws)
        return tagged(weights, laws)

    def largest_loss(self) -> LargestLoss:
        """Return the largest of the parts, moved where the weights differ."""
        found = [(weight, other, part.largest_loss()) for weight, other, part in self.weighed]
        if not self.others and all(isinstance(loss, Fraction) for _, _, loss in found):
            return max(loss for _, _, loss in found if isinstance(loss, Fraction))
        moved = (as_ball(loss) + (ball(weight) / ball(other)).log() for weight, other, loss in found)
        return reduce(arb.max, moved)

    def mirrored(self) -> Pair:
        """Return each part mirrored, and the weights exchanged."""
        return self._mirrored()

    def _mirrored(self) -> Tagged:
        swapped_parts = tuple((second, part.mirrored()) for _, second, part in self.weighed)
        alike = None if self.alike is None else self.alike._mirrored()
        return Tagged(swapped_parts, tuple(weight for weight, _ in self.parts) if self.others else (), alike)

    def revealed(self) -> Product | None:
        """Return the most expensive part, if there is one."""
        if not self.others:
            return dearest([part.revealed() for _, part in self.parts])
        return None if self.alike is None else self.alike.revealed()

    def zcdp_rho(self) -> Fraction:
        """Return the largest of the parts: E e^((λ-1)L) is a mean of theirs."""
        if not self.others:
            return max(part.zcdp_rho() for _, part in self.parts)
        return Pair.zcdp_rho(self) if self.alike is None else self.alike.zcdp_rho()

    def lost_bits(self, order: Fraction) -> int:
        """Return the most that a part loses."""
        return max(part.lost_bits(order) for _, part in self.parts)

    def log_moment(self, order: Fraction) -> arb:
        """Return the logarithm of the mean of the moments of the parts.

        Where the weights differ, Σ w^λ v^(1-λ) e^moment - Σ v, as all v add up to 1.
        """
        moments = [part.log_moment(order) for _, part in self.parts]
        if not all(moment.is_finite() for moment in moments):
            return INFINITY
        if self.others:
            terms = [
                ball(other) * (moment + ball(order) * (ball(weight) / ball(other)).log()).expm1()
                for (weight, other, _), moment in zip(self.weighed, moments, strict=True)
            ]
            return sum(terms, arb(0)).log1p()
        weighted = (ball(weight) * moment.expm1() for (weight, _), moment in zip(self.parts, moments, strict=True))
        return sum(weighted, arb(0)).log1p()

    @property
    def moments(self) -> Moments:
        """Claims that hold for the moments of all parts."""
        return reduce(and_, (part.moments for _, part in self.parts))


@dataclass(frozen=True, slots=True)
class CrowdedGaussians(DirectedPair):
    """Truncated Poisson samples of a crowd of equal unit vectors u and one record that leans against them.

    The n - 1 others have u; the record x has ⟨x, u⟩ = -lean, its other part lies across. The observer sees groups of
    cells of the two coordinates with about the same loss, which is post-processing, so that it is attained. Direction:
    add is the same, swapped. Dominates nothing but itself. ``truncated.md``, section 4.
    """

    direction: Direction
    sample_rate: Fraction
    most: int
    size: int
    variance: Fraction
    lean: Fraction
    other: Other

    claims = Moments.EXACT_AND_OWN
    proof = _PROOF

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"a record that leans by {write(self.lean)} against {self.size - 1} equal ones, cut to {self.most}"

    def distribution(self) -> LossDistribution:
        """Return one loss for each group of cells."""
        from dpbounds.privacy.pairs.crowds import crowded_masses

        law = of_atoms([LossAtom((p / q).log(), p, q) for p, q in crowded_masses(self)], arb(0), symmetric=False)
        return swapped(law) if self.direction is Direction.ADD else law

    def largest_loss(self) -> LargestLoss:
        """Return the largest loss of a cell, which is attained."""
        return self.distribution().largest_loss() or unbounded()

    def revealed(self) -> Product | None:
        """Return None: no such pair is proven."""
        return None
