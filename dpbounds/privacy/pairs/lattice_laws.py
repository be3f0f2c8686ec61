"""Distributions of losses on a lattice, by their Fourier transforms.

A loss takes the values offset + step · j, j a whole number. Tilted by c > 0 and turned by t its transform is

    Φ(t) = Σ_j P(L = offset + step · j) e^(c (offset + step · j)) e^(2πi t j),

in balls at the working precision. The bounds on |Φ| are derived in ``lattice_laws.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb

from dpbounds.privacy.pairs.losses import LossDistribution, ball
from dpbounds.privacy.proofs import Declined

_SLACK = 1e-6  # relative: more than doubles lose in a sum of positive terms
_REACH = 40.0  # logits beyond which a Bernoulli number has next to no variance: left out, which lowers the sum


@dataclass(frozen=True, slots=True)
class Tilted:
    """The transform of one distribution at a tilt.

    Attributes:
        at: Φ at a turn.
        spread: s > 0 with |Φ(t)/Φ(0)| <= e^(-2 s sin² πt), and, if ``lone``, |Φ(t)/Φ(0)|² <= 1 - 4 s sin² πt.
        lone: Whether the second, stronger inequality holds.
    """

    at: Callable[[Fraction], acb]
    spread: float
    lone: bool


class LatticeLaw(ABC):
    """The distribution of a loss on a lattice.

    Attributes:
        step: The distance of neighbouring losses, greater than 0.
        offset: One of the losses.
        infinite: P-mass at infinite loss.
        size: The number of terms of one transform, about.
    """

    step: Fraction
    offset: Fraction
    infinite: arb
    size: int

    @abstractmethod
    def tilted(self, tilt: Fraction) -> Tilted:
        """Return the transform at a tilt, at the working precision."""


@dataclass(frozen=True, slots=True)
class ListedLosses(LatticeLaw):
    """Finitely many losses: ``masses`` are the P-masses at offset, offset + step, ..."""

    step: Fraction
    offset: Fraction
    masses: tuple[arb, ...]
    infinite: arb

    @classmethod
    def of(cls, law: LossDistribution, step: Fraction, offset: Fraction) -> ListedLosses:
        """Return the law of atoms that are known to lie on this lattice, from ``offset`` on."""
        found: dict[int, arb] = {}
        for point in law.points:
            index = ((point.loss - ball(offset)) / ball(step)).unique_fmpz()
            if index is None:
                raise Declined("a loss cannot be distinguished from its neighbours at this precision")
            found[int(index)] = found.get(int(index), arb(0)) + point.p
        return cls(step, offset, tuple(found.get(j, arb(0)) for j in range(max(found) + 1)), law.infinite)

    @property
    def size(self) -> int:  # type: ignore[override]
        """As many as there are losses."""
        return len(self.masses)

    def tilted(self, tilt: Fraction) -> Tilted:
        """Return a polynomial in e^(2πit)."""
        factor = ball(tilt * self.step).exp()
        weights, power = [], ball(tilt * self.offset).exp()
        for mass in self.masses:
            weights.append(mass * power)
            power *= factor
        return Tilted(lambda turn: _polynomial(weights, turn), _adjacent(weights), lone=True)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianLosses(LatticeLaw):
    """The loss DX/v + D²/2v with discrete Gaussian X of parameter v, ``variance``, centred at 0; D = ``distance``."""

    variance: Fraction
    distance: int

    size = 16

    @property
    def step(self) -> Fraction:  # type: ignore[override]
        """D/v."""
        return self.distance / self.variance

    @property
    def offset(self) -> Fraction:  # type: ignore[override]
        """D²/2v."""
        return self.distance**2 / (2 * self.variance)

    @property
    def infinite(self) -> arb:  # type: ignore[override]
        """None."""
        return arb(0)

    def tilted(self, tilt: Fraction) -> Tilted:
        """Return a quotient of Jacobi's θ₃, as Σ_x e^(-x²/2v + 2πixz) = θ₃(z, i/2πv)."""
        nome = acb(0, 1 / (2 * arb.pi() * ball(self.variance)))
        scale = ball(tilt * self.offset).exp() / acb(0).modular_theta(nome)[2].real
        height = -ball(tilt * self.step) / (2 * arb.pi())

        def at(turn: Fraction) -> acb:
            near = turn - round(turn)
            return acb(ball(near), height).modular_theta(nome)[2] * scale

        return Tilted(at, bernoulli_variance(float(self.variance), float(tilt * self.step)), lone=False)


def bernoulli_variance(variance: float, slope: float) -> float:
    """Bound the variance of a discrete Gaussian of parameter v, weighed by e^(slope · x), from below.

    It is Σ 1/(4 cosh²(y/2)) over y = slope - j/v, j = ±1/2, ±3/2, ...; from v = 1 on, next to v.

    >>> bernoulli_variance(5.0, 0.3), round(bernoulli_variance(0.1, 0.0), 4)
    (4.999995, 0.0134)
    """
    if variance >= 1:
        return variance * (1 - _SLACK)
    lowest, highest = math.floor((slope - _REACH) * variance), math.ceil((slope + _REACH) * variance)
    logits = (slope - (k + 0.5) / variance for k in range(lowest, highest + 1))
    return (1 - _SLACK) * sum(1 / (4 * math.cosh(logit / 2) ** 2) for logit in logits if abs(logit) < 2 * _REACH)


def _polynomial(weights: Sequence[arb], turn: Fraction) -> acb:
    point, value = acb(ball(2 * turn)).exp_pi_i(), acb(0)
    for weight in reversed(weights):
        value = value * point + weight
    return value


def _adjacent(weights: Sequence[arb]) -> float:
    """Σ_j w_j w_{j+1} of the weights over their sum, rounded down."""
    total = sum(weights, arb(0))
    shares = [float((weight / total).lower()) for weight in weights]
    return (1 - _SLACK) * sum(max(0.0, one) * max(0.0, other) for one, other in pairwise(shares))
