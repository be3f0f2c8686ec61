"""Pairs of several steps among which a record's place is drawn in secret: shuffled batches, allocated steps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from flint import arb

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.pairs.core import DirectedPair, Direction, LargestLoss, Moments, Pair, Product, Writer
from dpbounds.privacy.pairs.gaussian import SampledGaussians, ShiftedGaussians
from dpbounds.privacy.pairs.losses import LossDistribution, as_ball, least_loss, unbounded
from dpbounds.privacy.pairs.revealed import along, dearest

_ALLOCATION = "allocation.md (any secret choice of steps, derived there)"


@dataclass(frozen=True, slots=True)
class ShuffledBatches(DirectedPair):
    """One epoch over batches of one size, cut from a secret order that is drawn afresh for it.

    With probability ``rest`` the record is in a further, smaller batch, and that is known. ``base`` dominates the batch
    that holds the record, and so the whole epoch: that is the distribution of this pair's loss. The gain of the secret
    order depends on ε and δ, and is not a profile: ``routes/shuffling`` proves it. Derived in ``shuffled.md``.

    - replace: the record's content is replaced.
    - remove: it contributes in the first dataset alone (zero); add: in the second (restore).

    Attributes:
        centred: Replace only: a record at half the distance from all others exists, or could.
    """

    direction: Direction
    base: ShiftedGaussians
    batches: int
    rest: Fraction = Fraction(0)
    centred: bool = False

    claims = Moments.OWN
    proof = "shuffled.md (clones: Feldman, McMillan & Talwar 2021, derived there for adaptive Gaussian batches)"
    has_distribution = False

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The base."""
        return (self.base,)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the same epoch of another Gaussian base."""
        (base,) = pairs
        assert isinstance(base, ShiftedGaussians)
        return replace(self, base=base)

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"[{self.base.in_words(write)}] in one of {self.batches} shuffled batches, which one being secret"

    def distribution(self) -> LossDistribution:
        """Return the distribution of the base, which dominates it."""
        return self.base.distribution()

    def largest_loss(self) -> LargestLoss:
        """Return ∞: the noise of the record's batch may reveal it."""
        return unbounded() if self.base.squared_shift else Fraction(0)

    def revealed(self) -> Product | None:
        """Return the batch that holds the record."""
        return ((self.base, 1),)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the base."""
        return self.base.zcdp_rho()

    def log_moment(self, order: Fraction) -> arb:
        """Return the moment of the base."""
        return self.base.log_moment(order)


class SecretSteps(DirectedPair):
    """Steps with the record in a random, secret subset. ``routes/allocation`` encloses their privacy loss.

    Attributes:
        attained_only: Whether it is an attack, without a proven upper bound.
    """

    __slots__ = ()

    attained_only: ClassVar[bool] = False
    claims = Moments.EXACT_AND_OWN
    has_distribution = False

    @property
    @abstractmethod
    def places(self) -> int:
        """The number of steps in which a record may be."""

    @property
    @abstractmethod
    def times(self) -> int:
        """The number of steps in which it is."""

    @property
    @abstractmethod
    def run(self) -> Product:
        """The steps that are run, by their pairs."""

    @abstractmethod
    def bin_published(self) -> Pair | None:
        """Return a dominating pair for a published step of the record; None if none is proven (``proof.md``, 9)."""

    @abstractmethod
    def one_step_seen(self) -> Pair | None:
        """Return the view of one of the most expensive steps alone, for Gaussian noise; else None."""

    def resolved(self, as_one: Callable[[Product], Pair]) -> Pair:
        """Return the pair itself: combinations are steps of their own kind in ``routes/allocation``."""
        return self

    def distribution(self) -> LossDistribution:
        """Raise an error: it has no closed form."""
        raise UnsupportedMechanism(
            "the loss of steps that are allocated in secret is enclosed; its distribution has no closed form"
        )

    def log_moment(self, order: Fraction) -> arb:
        """Raise an error: none is proven."""
        raise UnsupportedMechanism(
            "no Rényi divergences are proven here for steps that are allocated in secret: ask for their certified ε or "
            "δ, which need none"
        )


@dataclass(frozen=True, slots=True)
class Allocated(SecretSteps):
    """Random allocation: the record is in one of ``bins`` steps, drawn uniformly and in secret.

    ``shares`` lists pairs with their numbers of steps (P: the record is in the step; Q: it is not); the other steps are
    not run. With X_i independent copies of their likelihood ratios and f steps run, the ratio of the whole is R =
    (bins - f + X_1 + ... + X_f) / bins under Q. Remove: (R Q, Q); add: the same two, swapped. Its distribution has no
    closed form; ``routes/allocation`` encloses it. Derived in ``allocation.md``. Attained where the bases are.

    Replace: Gaussian bases alone. With (N(μ), N(0)) the pair of a step: the mean of N(μ e_i) against that of N(-μ e_i);
    the record moves one step, the record in its place moves one the other way. ``allocation.md``, section 6.
    """

    direction: Direction
    bins: int
    shares: Product

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The pairs of the steps, each once."""
        return tuple(pair for pair, _ in self.shares)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return the steps with other pairs, in the same numbers."""
        return replace(self, shares=tuple((pair, count) for pair, (_, count) in zip(pairs, self.shares, strict=True)))

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        alone = len(self.shares) == 1
        steps = ", ".join(
            f"each [{base.in_words(write)}]" if alone else f"{n} of them [{base.in_words(write)}]"
            for base, n in self.shares
        )
        if self.direction is Direction.REPLACE:
            return f"one of {self.bins} steps, at random, moved forth against one of them moved back, {steps}"
        return f"one of {self.bins} steps, at random, with the record against none, {steps}"

    @property
    def proof(self) -> str:
        """Return where it is proven that the pair dominates."""
        if self.direction is Direction.REPLACE:
            return "allocation.md, section 6 (Gaussian comparison, pairs.md, section 5)"
        return _ALLOCATION

    def largest_loss(self) -> LargestLoss:
        """Log of the largest mean of the ratios of the bins (``largest_losses.md``, section 4)."""
        if self.direction is Direction.REPLACE:
            return unbounded()
        remove = self.direction is Direction.REMOVE
        ends = [(base.largest_loss() if remove else least_loss(base), count) for base, count in self.shares]
        not_run = self.bins - sum(count for _, count in ends)
        if len(ends) == 1 and not not_run:  # the mean of equal numbers
            return ends[0][0] if remove else -ends[0][0]
        mean = sum((count * as_ball(loss).exp() for loss, count in ends), arb(not_run)) / self.bins
        if mean.is_zero():
            return unbounded()
        return mean.log() if remove else -mean.log()

    def revealed(self) -> Product | None:
        """Return the most expensive step; under replace-one, the record moves one step and its replacement another."""
        found = dearest([base.revealed() for base, _ in self.shares])
        return along(found, 2 if self.direction is Direction.REPLACE else 1)

    @property
    def places(self) -> int:
        """All bins."""
        return self.bins

    @property
    def shifts(self) -> tuple[tuple[Fraction, int], ...]:
        """The squared shift of each kind of step, and how many there are; empty where noise is not Gaussian."""
        found = tuple((base.squared_shift, n) for base, n in self.shares if isinstance(base, ShiftedGaussians))
        return found if len(found) == len(self.shares) else ()

    def bin_published(self) -> Pair | None:
        """Return the most expensive step; under replace-one, two equal steps, or one in which both records may be."""
        if not self.shifts:
            return None
        in_two = self.direction is Direction.REPLACE
        return ShiftedGaussians(max(squared * (1 if not in_two else 2 if n > 1 else 4) for squared, n in self.shifts))

    def one_step_seen(self) -> Pair | None:
        """Return one of the most expensive steps, in which the record is seldom."""
        if not self.shifts:
            return None
        largest = max(squared for squared, _ in self.shifts)
        return SampledGaussians(self.direction, Fraction(1, self.bins), 1 / largest)

    @property
    def times(self) -> int:
        """One."""
        return 1

    @property
    def run(self) -> Product:
        """All but those that are not run."""
        return self.shares


@dataclass(frozen=True, slots=True)
class AllocatedTo(SecretSteps):
    """Random allocation of a record to ``participations`` of ``steps`` steps: the pair that a known attack attains.

    R = e_k(X_1, ..., X_t) / C(t, k), with e_k the elementary symmetric polynomial. It serves as a lower bound only; the
    upper bound is a product of ``Allocated`` (``allocation.md``, section 4).
    """

    direction: Direction
    steps: int
    participations: int
    base: Pair

    attained_only = True
    proof = _ALLOCATION

    @property
    def inside(self) -> tuple[Pair, ...]:
        """The base."""
        return (self.base,)

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """Return as many steps of another base."""
        (base,) = pairs
        return replace(self, base=base)

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return (
            f"{self.participations} of {self.steps} steps, at random, with the record against none, each "
            f"[{self.base.in_words(write)}]"
        )

    def largest_loss(self) -> LargestLoss:
        """Return the largest loss of all of the record's steps together."""
        remove = self.direction is Direction.REMOVE
        end = self.base.largest_loss() if remove else -least_loss(self.base)
        return self.participations * end

    def revealed(self) -> Product | None:
        """Return None: no such pair is proven."""
        return None

    @property
    def places(self) -> int:
        """All steps."""
        return self.steps

    def bin_published(self) -> Pair | None:
        """Return None: no such pair is proven."""
        return None

    def one_step_seen(self) -> Pair | None:
        """Return the pair of one of the steps, which seldom holds the record."""
        if not isinstance(self.base, ShiftedGaussians):
            return None
        chance = Fraction(self.participations, self.steps)
        return SampledGaussians(self.direction, chance, 1 / self.base.squared_shift)

    @property
    def times(self) -> int:
        """Return the number of steps that the record takes part in."""
        return self.participations

    @property
    def run(self) -> Product:
        """All of them, of one kind."""
        return ((self.base, self.steps),)
