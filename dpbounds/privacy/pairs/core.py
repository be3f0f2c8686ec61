"""The common interface of all dominating pairs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union, assert_never

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.relations import Order

if TYPE_CHECKING:
    from flint import arb

    from dpbounds.privacy.pairs.lattice_laws import LatticeLaw
    from dpbounds.privacy.pairs.losses import LossDistribution
    from dpbounds.privacy.pairs.weighing import Weighing

Writer = Callable[[Fraction], str]  # a number as text
MOST_EXPONENT = 40.0  # exponent of a rough variance
LargestLoss = Union[Fraction, "arb"]
Costs = tuple[Fraction, ...]  # costs of a pair: larger in each component implies no smaller ε


class Direction(StrEnum):
    """The distribution of a sampled pair that is the mixture."""

    REMOVE = "remove"  # the first distribution, with the record's contribution
    ADD = "add"  # the second distribution
    REPLACE = "replace"  # both distributions, with different contributions

    @classmethod
    def of(cls, order: Order) -> Direction:
        """Return the direction of a pair that stands for such neighbours."""
        match order:
            case Order.REMOVE | Order.ZERO:
                return cls.REMOVE
            case Order.ADD | Order.RESTORE:
                return cls.ADD
            case Order.REPLACE:
                return cls.REPLACE
        assert_never(order)

    @property
    def mirrored(self) -> Direction:
        """The direction of the same pair with its distributions exchanged."""
        swap = {Direction.REMOVE: Direction.ADD, Direction.ADD: Direction.REMOVE}
        return swap.get(self, self)


class Other(StrEnum):
    """The replacement of a record in the second dataset."""

    NOTHING = "nothing"  # one record less
    NULL = "null"  # a record that contributes nothing
    OPPOSITE = "opposite"  # the record with the opposite vector


@dataclass(frozen=True, slots=True)
class Draws:
    """The number of participations of the record: Binomial(slots, rate), at most 1 with one slot."""

    rate: Fraction
    slots: int = 1

    def in_words(self, write: Writer) -> str:
        """Describe the number of participations."""
        rate = write(self.rate)
        return (
            f"with probability {rate}" if self.slots == 1 else f"drawn {self.slots} times with probability {rate} each"
        )


class Moments(Flag):
    """Kinds of claims on a pair's Rényi divergences.

    If one profile represents a class of pairs, their divergences can be smaller than those of the profile.
    """

    BOUND = 0  # upper bounds, which may be smaller than the pair's own
    EXACT = 1  # the numbers themselves, of the pair or of the worst of a class of pairs
    OWN = 2  # moments of the pair itself, or of one that spends no less: converting is never better than composing
    EXACT_AND_OWN = 3


_P = TypeVar("_P", bound="Pair")


class Pair(ABC):
    """A dominating pair: two distributions P and Q that are at least as distinguishable as any neighbours' outputs.

    A property of a pair is abstract wherever a default would be a guess. A default claims nothing: no part, no cost, no
    pair for several records.

    Attributes:
        grows_with: The fields that increase what the pair spends (``pairs.md``, section 7).
        claims: The claims on ``log_moment``, if they do not depend on the fields.
        gathers: Whether, of equal blocks, one that holds all records of a group spends the most: proven in
            ``pairs.md``, section 6.
        enlarges_exactly: Whether the pair for several records is attained.
    """

    __slots__ = ()

    grows_with: ClassVar[tuple[str, ...]] = ()
    claims: ClassVar[Moments] = Moments.BOUND
    gathers: ClassVar[bool] = False
    enlarges_exactly: ClassVar[bool] = False

    # --- in words

    @abstractmethod
    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""

    @property
    @abstractmethod
    def proof(self) -> str:
        """Return where it is proven that the pair dominates."""

    # --- its parts

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The pairs that this one is made of."""
        return ()

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the same pair, made of others, in the order of ``inside``."""
        if pairs:
            raise ValueError(f"{type(self).__name__} is made of no pairs")
        return self

    def nested(self) -> Iterator[Pair]:
        """Yield this pair and all that are inside it."""
        yield self
        for each in self.inside:
            yield from each.nested()

    def resolved(self, as_one: Callable[[Product], Pair]) -> Pair:
        """Return the pair with every combination in it made one pair by a function."""
        return self.with_inside([each.resolved(as_one) for each in self.inside])

    # --- its loss

    @abstractmethod
    def distribution(self) -> LossDistribution:
        """Return the distribution of the loss, at the working precision.

        Raises:
            UnsupportedMechanism: It has no closed form.
        """

    @abstractmethod
    def largest_loss(self) -> LargestLoss:
        """Return the least upper bound of the loss, which is ε at δ = 0 (``largest_losses.md``).

        It is smaller if a smaller bound is proven for the mechanisms that the pair represents. It is an exact number if
        possible, else a ball at the working precision; ∞ if the loss is unbounded, or infinite with positive
        probability.

        Raises:
            UnsupportedMechanism: None is proven.
        """

    def largest_loss_attained(self) -> LargestLoss:
        """Return the least upper bound of the losses of the mechanisms that the pair represents as an attack."""
        return self.largest_loss()

    @property
    def has_distribution(self) -> bool:
        """Whether ``distribution`` is that of the pair itself, and known."""
        return all(each.has_distribution for each in self.inside)

    def closed_delta(self, epsilon: Fraction) -> arb | None:
        """Return δ(ε) for ε >= 0 by a sum of accurate terms, at the working precision; None if there is none.

        NaN where it is undecided at that precision.
        """
        return None

    def tied_epsilon(self, delta: Fraction) -> Fraction | None:
        """ε(δ) where δ < 1 is exactly the probability of an infinite loss, which δ(ε') reaches first at ε' = ε.

        None elsewhere, and where it is reached nowhere or not known exactly.
        """
        return None

    @property
    def dominating_shift(self) -> Fraction | None:
        """μ² of a shift of Gaussians that spends no less and is near enough to begin a search with; else None."""
        return None

    @property
    def participation(self) -> Draws:
        """The number of participations of the record."""
        return Draws(Fraction(1))

    def on_lattice(self) -> LatticeLaw | None:
        """Return the distribution of the loss where all losses lie on a lattice of rational step; else None."""
        return None

    @property
    def worst_of(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ), if it is the worst (ε, δ)-private pair: a randomised response, and δ at infinite loss; else None."""
        return None

    @property
    def atom_count(self) -> int | None:
        """About how many losses there are, where there are finitely many and they may be listed; else None."""
        return None

    # --- pairs that dominate it, or more than it

    @abstractmethod
    def mirrored(self) -> Pair:
        """Return the pair (Q, P), or one with the same profile."""

    def enlarged(self, k: int) -> Pair:
        """Return a pair that dominates for any two datasets that are k steps of one relation apart.

        Shifts grow k-fold; a pure ε, a range η and (for zCDP) sqrt(ρ), too; (ε, δ) becomes (kε, δ (e^(kε)-1)/(e^ε-1)),
        rounded up. Dwork & Roth 2014 (group privacy), Bun & Steinke 2016, Proposition 1.9; ``pairs.md``, section 6.

        Raises:
            UnsupportedMechanism: No such pair is proven here.
        """
        found = self if k == 1 else self._enlarged(k)
        if found is None:
            raise UnsupportedMechanism(
                f"what {k} records cost together is not proven here for {self}: sample single releases, and compose "
                "afterwards"
            )
        return found

    def _enlarged(self, k: int) -> Pair | None:
        """Return the pair for k > 1 records; None where no such pair is proven."""
        return None

    @abstractmethod
    def revealed(self) -> Product | None:
        """Return symmetric pairs without secret draws that together dominate the pair; None if none are proven."""

    def attack(self, direction: Direction) -> Pair | None:
        """Return the pair that a replaced record attains if all others act like those in their places."""
        return None

    # --- its costs

    def costs(self) -> Costs | None:
        """Return the costs of the pair: its profile grows with each while the rest stays. None: nothing is claimed."""
        return tuple(getattr(self, name) for name in self.grows_with) or None

    def with_costs(self, costs: Costs) -> Pair:
        """Return the pair of the same family with other costs: ``pair.with_costs(pair.costs()) == pair``."""
        return changed(self, **dict(zip(self.grows_with, costs, strict=True)))

    @property
    def addends(self) -> tuple[Hashable, Costs] | None:
        """A key and additive costs: releases whose pairs share a key are one pair, with the sums of their costs."""
        return None

    def with_sums(self, sums: Costs) -> Pair:
        """Return the pair with such sums in place of its own ``addends``."""
        raise ValueError(f"the costs of {type(self).__name__} do not add up to {sums}")

    def rough_variance(self) -> float:
        """Estimate the variance of the loss, or a quantity that grows with it; no proof depends on it."""
        return math.prod((float(cost) for cost in self.costs() or ()), start=1.0) ** 2

    # --- its Rényi divergences

    def log_moment(self, order: Fraction) -> arb:
        """Log E_P e^((λ-1)L) = log E_Q (dP/dQ)^λ, or an upper bound (``moments``), for λ > 1 at the working precision.

        ∞ where P has mass at infinite loss, or a curve gives no bound.

        Raises:
            NotCertified: It is out of reach of the work allowed.
            UnsupportedMechanism: No bound is proven.
        """
        from dpbounds.privacy.pairs.losses import ball

        return self.closed_log_moment(ball(order))

    def closed_log_moment(self, order: arb) -> arb:
        """Return the same where it is a formula.

        Raises:
            UnsupportedMechanism: It is not.
        """
        raise UnsupportedMechanism(f"the Rényi divergence of {self} is not known")

    def log_moment_on_samples(self, direction: Direction, draws: Draws, order: arb) -> arb | None:
        """Return the same for the pair on a sample, where its own proof gives more than the general one; else None."""
        return None

    @property
    def moments(self) -> Moments:
        """The claims on ``log_moment``."""
        return self.claims

    @property
    def has_integral(self) -> bool:
        """Whether ``expectation`` is known: the loss is known, not only a guarantee that it keeps."""
        return False

    def expectation(self, f: Weighing) -> arb:
        """Return E_Q f(dP/dQ) for convex f; P-mass at loss ∞ counts with the slope of f, Q-mass at -∞ with f(0).

        Raises:
            UnsupportedMechanism: The pair is known by a guarantee only.
            NotCertified: A record may be drawn so often that the sum is out of reach.
        """
        raise UnsupportedMechanism(f"{self} is known by its guarantee only: it has no integral")

    @property
    def is_known(self) -> bool:
        """Whether the moments are integrals over the pair itself, not over a class of pairs."""
        return self.has_integral and Moments.OWN in self.moments

    @property
    def concentration(self) -> Fraction | None:
        """ρ, if D_λ <= λρ is the known bound; else None."""
        return None

    @property
    def add_spends_less(self) -> bool:
        """Whether no Rényi divergence exceeds that of the mirror image: by symmetry, or as ``renyi/renyi.md`` says."""
        return self.mirrored() == self

    def zcdp_rho(self) -> Fraction:
        """Return a ρ with D_λ <= λρ for all λ > 1, rounded up (``renyi/renyi.md``).

        Raises:
            UnsupportedMechanism: None is proven.
        """
        raise UnsupportedMechanism(
            f"no ρ is proven here with which {self} is ρ-zCDP: ask for its Rényi divergences (renyi_curve), or for ε "
            "at a δ"
        )

    @property
    def given_orders(self) -> tuple[Fraction, ...]:
        """The orders at which the Rényi divergences are given; those of pairs inside it not counted."""
        return ()

    @property
    def spread(self) -> Fraction:
        """About the variance of the noise where a record moves a sum by 1; a hint, which proves nothing."""
        return Fraction(1)

    def lost_bits(self, order: Fraction) -> int:
        """Estimate the bits of E_Q (dP/dQ)^λ that are lost next to 1; a hint, which proves nothing."""
        return hidden_bits(order, Fraction(1), Fraction(1))


Product = tuple[tuple[Pair, int], ...]  # independent pairs with multiplicities


class DirectedPair(Pair):
    """A pair whose distributions change places with its direction."""

    __slots__ = ()

    direction: Direction

    def mirrored(self) -> Pair:
        """Return the other direction."""
        return changed(self, direction=self.direction.mirrored)


class SymmetricPair(Pair):
    """A pair with (P, Q) and (Q, P) of one profile."""

    __slots__ = ()

    def mirrored(self) -> Pair:
        """Return the pair itself."""
        return self


class PublicPair(SymmetricPair):
    """A symmetric pair of releases in which nothing is drawn in secret."""

    __slots__ = ()

    def revealed(self) -> Product | None:
        """Return the pair itself."""
        return ((self, 1),)


def changed(pair: _P, **fields: object) -> _P:
    """Return the pair with other values of some fields."""
    record: Any = pair
    found: _P = replace(record, **fields)
    return found


MOST_HIDDEN_BITS = 512  # most bits that a divergence of order 2 may lose next to 1; more take seconds


def hidden_bits(order: Fraction, rate: Fraction, spread: Fraction) -> int:
    """Return about -log2 of λ(λ-1) q²/z²; 0 if that is above 1."""
    small = math.log2(min(1.0, float(order) * float(order - 1))) + 2 * _log2(rate) - _log2(max(Fraction(1), spread))
    return max(0, -math.floor(small))


def _log2(number: Fraction) -> float:
    """Return a logarithm, also of numbers beyond the range of doubles."""
    return math.log2(number.numerator) - math.log2(number.denominator)


def rough_variance_of_draws(draws: Draws, squared: float) -> float:
    """Estimate χ² of a release that sees the record as often as ``draws``; the noise alone has ``squared``."""
    return (float(draws.rate) * draws.slots) ** 2 * math.expm1(min(squared, MOST_EXPONENT))


def product_in_words(product: Product, write: Writer) -> str:
    """Describe independent pairs, each with its count."""
    return "; and ".join(
        pair.in_words(write) if count == 1 else f"{count} x {pair.in_words(write)}" for pair, count in product
    )
