"""Pairs of guarantees: the worst that a range, a Rényi curve or two profiles allow.

Mechanisms that keep such a guarantee have Rényi divergences that can be smaller than those of the pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from flint import arb

from dpbounds.privacy.pairs.core import Costs, Pair, Product, SymmetricPair, Writer
from dpbounds.privacy.pairs.losses import (
    NEGLIGIBLE_LOG,
    LossDistribution,
    Masses,
    ProfileBound,
    ball,
    envelope_law,
    mirrored_tail,
    reach_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class BoundedRangeProfile(SymmetricPair):
    """The least upper bound of all two-point pairs with losses t and t - η, 0 <= t <= η (exponential mechanism).

    H at α = e^ε is (1 - e^((ε-η)/2))² / (1 - e^(-η)) for |ε| <= η. Derived in ``losses.md``, section 2; attained at
    each ε by one of the two-point pairs, not by one pair for all ε. It stands for releases whose loss lies in such a
    range, which is more than that it dominates them (``many_choices.md``).
    """

    span: Fraction

    grows_with = ("span",)

    def in_words(self, write: Writer) -> str:
        """The two laws."""
        return f"the worst losses within a range of {write(self.span)}"

    @property
    def proof(self) -> str:
        """Where it is proven that the pair dominates."""
        return "losses.md, section 2 (the least upper bound of all two-point pairs)"

    def distribution(self) -> LossDistribution:
        """P-density e^((l-η)/2) / (2 (1 - e^-η)) on [-η, η]."""
        span = ball(self.span)
        norm = -(-span).expm1()

        def tail(loss: arb) -> Masses:
            if loss >= span:
                return arb(0), arb(0)
            inner = loss.min(span).max(-span)
            return -((inner - span) / 2).expm1() / norm, ((-(inner + span) / 2).exp() - (-span).exp()) / norm

        return LossDistribution(tail, mirrored_tail(tail), -span, span)

    def _enlarged(self, k: int) -> Pair:
        return BoundedRangeProfile(k * self.span)

    def zcdp_rho(self) -> Fraction:
        """η²/8 (Hoeffding's lemma), of every pair with such a range."""
        return self.span**2 / 8


@dataclass(frozen=True, slots=True)
class RenyiProfile(SymmetricPair):
    """The profile that D_λ <= ε(λ) allows, at finitely many orders λ or (``rho``) D_λ <= λρ at all λ > 1.

    H_α <= inf_λ e^((λ-1)(ε(λ) - log α)) λ^(-1) (1 - 1/λ)^(λ-1) for α >= 1 (Canonne, Kamath & Steinke 2020), mirrored
    for α < 1. Not attained: composing it is sound, and looser than adding up the Rényi divergences. ``losses.md``.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction | None = None

    def in_words(self, write: Writer) -> str:
        """The two laws."""
        return "the largest profile that the Rényi divergences allow"

    @property
    def proof(self) -> str:
        """Where it is proven that the pair dominates."""
        return "losses.md, section 2 (Canonne, Kamath & Steinke 2020)"

    def distribution(self) -> LossDistribution:
        """The envelope of the profile at many losses."""
        return envelope_law(_renyi_profile(self.points, self.rho))

    def _enlarged(self, k: int) -> Pair | None:
        return RenyiProfile((), k**2 * self.rho) if self.rho is not None and not self.points else None

    def costs(self) -> Costs | None:
        """ρ, where nothing else is known."""
        return None if self.points or self.rho is None else (self.rho,)

    def with_costs(self, costs: Costs) -> Pair:
        """Another ρ."""
        (rho,) = costs
        return RenyiProfile((), rho)

    def zcdp_rho(self) -> Fraction:
        """ρ, where it is given."""
        return SymmetricPair.zcdp_rho(self) if self.rho is None else self.rho

    @property
    def given_orders(self) -> tuple[Fraction, ...]:
        """Those of the curve."""
        return tuple(order for order, _ in self.points)

    @property
    def spread(self) -> Fraction:
        """1/ρ."""
        return Fraction(1) if self.rho is None else 1 / self.rho


@dataclass(frozen=True, slots=True)
class TwoGuarantees(Pair):
    """A mechanism on a Poisson sample under replace-one, known by what presence and what replacement costs.

    With h1 the profile of ``present`` (with the record against without), h2 that of ``replaced``, α'' = 1 + (α-1)/q and
    β = α/α'': H_α <= q ((1-β) h1(α'') + β h2(α'')) for α >= 1 (Balle, Barthe & Gaboardi 2018), mirrored below, and the
    convex envelope of that. Sound, not attained in general. ``sampling.md``, section 4.
    """

    sample_rate: Fraction
    present: Pair
    replaced: Pair

    @property
    def inside(self) -> tuple[Pair, ...]:
        """Presence, then replacement."""
        return self.present, self.replaced

    def with_inside(self, pairs: Sequence[Pair]) -> Pair:
        """The same rate with other guarantees."""
        present, replaced = pairs
        return TwoGuarantees(self.sample_rate, present, replaced)

    def in_words(self, write: Writer) -> str:
        """The two laws."""
        return (
            f"[{self.present.in_words(write)}] for presence and [{self.replaced.in_words(write)}] for replacement, on "
            f"samples at rate {write(self.sample_rate)}"
        )

    @property
    def proof(self) -> str:
        """Where it is proven that the pair dominates."""
        return "sampling.md (Balle, Barthe & Gaboardi 2018, advanced joint convexity)"

    def distribution(self) -> LossDistribution:
        """The envelope of the profile at many losses."""
        rate, present, replaced = ball(self.sample_rate), self.present.distribution(), self.replaced.distribution()
        return envelope_law(_two_guarantees(rate, present, replaced))

    def mirrored(self) -> Pair:
        """The pair itself: its profile is made symmetric."""
        return self

    def revealed(self) -> Product | None:
        """The full batch."""
        return self.replaced.revealed()

    def zcdp_rho(self) -> Fraction:
        """That of the full batch."""
        return self.replaced.zcdp_rho()


def _renyi_profile(points: Sequence[tuple[Fraction, Fraction]], rho: Fraction | None) -> ProfileBound:
    """H_α <= e^((λ-1)(ε(λ) - log α)) λ^-1 (1-1/λ)^(λ-1) at the best λ (Canonne, Kamath & Steinke 2020, Prop. 12)."""

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
    concentrated = ball(rho)

    import numpy as np

    def tight(loss: arb) -> arb:
        # any order is sound; a good one is found in floating point
        u, reached = _excess_orders(), float(loss)
        exponents = u * ((1 + u) * float(concentrated) - reached) - np.log1p(u) - u * np.log1p(1 / u)
        order = 1 + arb(float(u[int(np.argmin(exponents))]))
        return at(order, order * concentrated, loss).min(arb(1))

    return ProfileBound(tight, concentrated + 2 * (-NEGLIGIBLE_LOG * concentrated).sqrt())


@cache
def _excess_orders() -> NDArray[np.float64]:
    """λ - 1, to choose from."""
    import numpy as np

    return np.geomspace(1e-5, 1e7, 1500)


def _two_guarantees(rate: arb, present: LossDistribution, replaced: LossDistribution) -> ProfileBound:
    def value(loss: arb) -> arb:
        inner = (loss.expm1() / rate).log1p()  # α'' = 1 + (α-1)/q
        share = (loss - inner).exp()
        return rate * ((1 - share) * present.delta(inner) + share * replaced.delta(inner))

    top = reach_of(replaced)
    return ProfileBound(value, (rate * top.expm1()).log1p())
