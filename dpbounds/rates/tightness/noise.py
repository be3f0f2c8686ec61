"""Gaussian noise, conditioned on a bounded norm, which keeps a run where its loss is quadratic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.expressions.backends import to_arb

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True)
class Capped:
    """A standard Gaussian vector ζ, given that |ζ| <= cap: its direction is uniform still.

    Attributes:
        chance: P(|ζ| <= cap).
        second: E|ζ|², given that.
        fourth: E|ζ|⁴.
    """

    chance: arb
    second: arb
    fourth: arb


def capped(dimension: int, cap: Fraction) -> Capped:
    """Return the capped noise, by the distribution of |ζ|²/2, that of a Gamma variable of shape d/2."""
    half = to_arb(cap) ** 2 / 2
    shape = to_arb(Fraction(dimension, 2))

    def below(more: int) -> arb:
        return 1 - half.gamma_upper(shape + more, regularized=1)

    chance = below(0)
    return Capped(chance, dimension * below(1) / chance, dimension * (dimension + 2) * below(2) / chance)
