"""Distributions of losses on a lattice, by their Fourier transforms.

A loss takes the values offset + step · j, j a whole number. Tilted by c and turned by t its transform is

    Φ(t) = Σ_j P(L = offset + step · j) e^(c (offset + step · j)) e^(2πi t j),

in balls at the working precision. The bounds on |Φ(t)| are derived in ``../routes/common_lattice.md``, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from flint import acb, arb

from dpbounds.privacy.pairs.losses import LossDistribution, ball
from dpbounds.privacy.proofs import Declined

_PIECE = 16  # losses of one piece
_SLACK = 1e-6  # relative error, far above that of doubles in a sum of positive terms
_STEEPEST = 1e8  # slope beyond which doubles do not place a logit, and no variance is claimed
_REACH = 40  # logits beyond which a Bernoulli variable's variance is negligible: left out, which lowers the sum


@dataclass(frozen=True, slots=True)
class Tilted:
    """The transform of one distribution at a tilt.

    Attributes:
        at: Φ at a turn.
        spread: s >= 0 with |Φ(t)/Φ(0)| <= e^(-2 s sin² πt); if ``lone``, even |Φ(t)/Φ(0)|² <= 1 - 4 s sin² πt.
        lone: Whether the second inequality holds.
    """

    at: Callable[[Fraction], acb]
    spread: float
    lone: bool


class LatticeLaw(Protocol):
    """The distribution of a loss on a lattice."""

    @property
    def step(self) -> Fraction:
        """The distance of neighbouring losses, greater than 0."""

    @property
    def offset(self) -> Fraction:
        """One of the losses."""

    @property
    def infinite(self) -> arb:
        """P-mass at infinite loss."""

    @property
    def cost(self) -> int:
        """The time that one transform takes, relative to others."""

    def moment(self, tilt: Fraction) -> arb:
        """Return E (e^(cL); L finite), which is Φ(0)."""

    def tilted(self, tilt: Fraction) -> Tilted:
        """Return the transform at a tilt."""


@dataclass(frozen=True, slots=True)
class ListedLosses:
    """Finitely many losses: ``masses`` are the P-masses at offset, offset + step, ..."""

    step: Fraction
    offset: Fraction
    masses: tuple[arb, ...]
    infinite: arb

    @classmethod
    def of(cls, law: LossDistribution, step: Fraction, offset: Fraction) -> ListedLosses:
        """Return the distribution of atoms that are known to lie on this lattice, none of them below ``offset``.

        Raises:
            Declined: An atom cannot be distinguished from its neighbours at the working precision.
        """
        masses: dict[int, arb] = {}
        for point in law.points:
            index = ((point.loss - ball(offset)) / ball(step)).unique_fmpz()
            if index is None:
                raise Declined("a loss cannot be distinguished from its neighbours at this precision")
            masses[int(index)] = masses.get(int(index), arb(0)) + point.p
        return cls(step, offset, tuple(masses.get(j, arb(0)) for j in range(max(masses, default=-1) + 1)), law.infinite)

    @property
    def cost(self) -> int:
        """The number of losses, and some for the first."""
        return len(self.masses) + 4

    def moment(self, tilt: Fraction) -> arb:
        """Return a sum over the losses."""
        return sum(self._weights(tilt), arb(0))

    def tilted(self, tilt: Fraction) -> Tilted:
        """Return a polynomial in e^(2πit)."""
        weights = self._weights(tilt)
        return Tilted(lambda turn: _polynomial(weights, turn), _adjacent(weights), lone=True)

    def _weights(self, tilt: Fraction) -> list[arb]:
        weights, factor, power = [], ball(tilt * self.step).exp(), ball(tilt * self.offset).exp()
        for mass in self.masses:
            weights.append(mass * power)
            power *= factor
        return weights


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLosses:
    """The loss (D/v) Y + D²/2v with P(Y = y) proportional to e^(-y²/2v); v = ``variance``, D = ``distance``."""

    variance: Fraction
    distance: int

    @property
    def step(self) -> Fraction:
        """D/v."""
        return self.distance / self.variance

    @property
    def offset(self) -> Fraction:
        """D²/2v, at Y = 0."""
        return self.distance**2 / (2 * self.variance)

    @property
    def infinite(self) -> arb:
        """0: no loss is infinite."""
        return arb(0)

    @property
    def cost(self) -> int:
        """The cost of a dozen listed losses."""
        return 16

    def moment(self, tilt: Fraction) -> arb:
        """Return a quotient of theta functions."""
        return self._transform(tilt)(Fraction(0)).real

    def tilted(self, tilt: Fraction) -> Tilted:
        """Return a quotient of theta functions."""
        spread = least_variance(float(self.variance), float(tilt * self.step))
        return Tilted(self._transform(tilt), spread, lone=False)

    def _transform(self, tilt: Fraction) -> Callable[[Fraction], acb]:
        """Return Σ_y e^(-y²/2v + 2πi z y) is Jacobi's θ₃ at z with the nome of i/2πv, of period 1 in z."""
        lattice = acb(0, 1 / (2 * arb.pi() * ball(self.variance)))
        scale = ball(tilt * self.offset).exp() / _theta(acb(0), lattice).real
        height = -ball(tilt * self.step) / (2 * arb.pi())
        return lambda turn: _theta(acb(ball(turn - round(turn)), height), lattice) * scale


def least_variance(variance: float, slope: float) -> float:
    """Bound the variance of a discrete Gaussian of parameter v, its masses weighed by e^(slope · y), from below.

    >>> least_variance(5.0, 0.3), round(least_variance(0.1, 0.0), 4)
    (4.999995, 0.0133)
    """
    if variance >= 1:
        return variance * (1 - _SLACK)
    if not abs(slope) <= _STEEPEST:
        return 0.0
    first, last = math.floor((slope - _REACH) * variance), math.ceil((slope + _REACH) * variance)
    logits = (slope - (k + 0.5) / variance for k in range(first, last + 1))
    return (1 - _SLACK) * sum(1 / (4 * math.cosh(logit / 2) ** 2) for logit in logits if abs(logit) < 2 * _REACH)


def _theta(place: acb, lattice: acb) -> acb:
    return acb.modular_theta(place, lattice)[2]


def _polynomial(weights: Sequence[arb], turn: Fraction) -> acb:
    """Return Σ_j w_j e^(2πi turn j) by Horner's rule in short pieces: each product of balls loses half a bit."""
    point, total = _on_circle(turn), acb(0)
    for start in range(0, len(weights), _PIECE):
        value = acb(0)
        for weight in reversed(weights[start : start + _PIECE]):
            value = value * point + weight
        total += value * _on_circle(turn * start) if start else value
    return total


def _on_circle(turn: Fraction) -> acb:
    return acb(ball(2 * (turn - round(turn)))).exp_pi_i()


def _adjacent(weights: Sequence[arb]) -> float:
    """Return Σ_j w_j w_{j+1} of the weights over their sum, rounded down."""
    total = sum(weights, arb(0))
    shares = [max(0.0, float((weight / total).lower())) for weight in weights]
    return (1 - _SLACK) * sum(one * other for one, other in pairwise(shares))
