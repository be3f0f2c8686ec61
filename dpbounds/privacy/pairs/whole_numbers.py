"""Pairs of discrete noise: discrete Laplace and discrete Gaussian distributions on the whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.expressions.working import working_bits
from dpbounds.privacy.pairs.atomic import AtomicPair
from dpbounds.privacy.pairs.core import LargestLoss, Moments, Pair, PublicPair, Writer
from dpbounds.privacy.pairs.lattice_laws import DiscreteGaussianLosses, LatticeLaw
from dpbounds.privacy.pairs.losses import NEGLIGIBLE_BITS, LossAtom, LossDistribution, ball, of_atoms, unbounded
from dpbounds.privacy.pairs.responses import Responses
from dpbounds.privacy.pairs.weighing import up_to
from dpbounds.privacy.proofs import Declined

_MOST_LOSSES = 5_000  # losses of discrete Laplace noise that are listed
_MOST_WHOLE_NUMBERS = 25_000  # on either side, that discrete Gaussian noise is listed on
_MOST_VISIBLE = 40_000  # whole numbers; more than needed at any usual precision


@dataclass(frozen=True, slots=True)
class ShiftedDiscreteLaplaces(AtomicPair, PublicPair):
    """P(x) proportional to e^(-a|x-D|), Q(x) to e^(-a|x|) on the whole numbers; a = ``parameter``, D = ``distance``.

    Any dimension, l1 distance D. Derived in ``whole_numbers.md``, section 2. Attained by a step along one axis.
    """

    parameter: Fraction
    distance: int

    grows_with = ("parameter",)
    proof = "whole_numbers.md (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"discrete Laplace distributions, e^(-a|x|), {self.distance} apart, a = {write(self.parameter)}"

    def distribution(self) -> LossDistribution:
        """Return the losses: -aD left of 0, aD right of D, and a(2j - D) at j = 1, ..., D - 1 between them."""
        parameter, distance = self.parameter, self.distance
        a, whole = ball(parameter), ball(parameter * distance)
        inside = -(-a).expm1() / (1 + (-a).exp())
        edge = 1 / (1 + (-a).exp())
        points = [
            LossAtom(ball(parameter * (2 * j - distance)), inside * (a * (j - distance)).exp(), inside * (-a * j).exp())
            for j in range(1, distance)
        ]
        far = edge * (-whole).exp()
        return of_atoms([LossAtom(whole, edge, far), *points, LossAtom(-whole, far, edge)], arb(0))

    @property
    def lattice(self) -> tuple[Fraction, Fraction]:
        """Losses 2a apart, from -aD on."""
        return 2 * self.parameter, -self.parameter * self.distance

    def largest_loss(self) -> LargestLoss:
        """Return the loss right of D."""
        return self.parameter * self.distance

    @property
    def atom_count(self) -> int | None:
        """Two at the ends, and those between them."""
        return self.distance + 1

    def _enlarged(self, k: int) -> Pair:
        return discrete_laplaces(self.parameter, k * self.distance)

    def zcdp_rho(self) -> Fraction:
        """Return the ρ of the pure pair, which dominates it."""
        return Responses(self.parameter * self.distance).zcdp_rho()


@dataclass(frozen=True, slots=True)
class ShiftedDiscreteGaussians(PublicPair):
    """P(x) proportional to e^(-(x-D)²/2σ²), Q(x) to e^(-x²/2σ²) on the whole numbers; σ² = ``variance``.

    One coordinate moves, by at most D. Derived in ``whole_numbers.md``, section 3. Attained. ``scalar``: the answer has
    one coordinate, so that k records move it by kD; else nothing is said of several records.
    """

    variance: Fraction
    distance: int
    scalar: bool = True

    claims = Moments.EXACT_AND_OWN
    proof = "whole_numbers.md (derived there)"

    def in_words(self, write: Writer) -> str:
        """Return the two distributions, in words."""
        return f"discrete Gaussian distributions, e^(-x²/2s), {self.distance} apart, s = {write(self.variance)}"

    def distribution(self) -> LossDistribution:
        """Return the distribution of the loss, (2xD - D²)/2σ² at x.

        Beyond R on either side the mass of both distributions is negligible: it is revealed.
        """
        variance, distance = ball(self.variance), self.distance
        masses, rest = discrete_gaussian_masses(variance, distance)
        return shifted_losses(
            masses, rest, distance, lambda x: ball(Fraction(2 * x * distance - distance**2, 2)) / variance
        )

    def on_lattice(self) -> LatticeLaw:
        """Return the losses (2yD + D²)/2σ² at x = D + y, with y from the centred distribution."""
        return DiscreteGaussianLosses(self.variance, self.distance)

    def largest_loss(self) -> LargestLoss:
        """Return ∞: the loss grows with x."""
        return unbounded()

    def _enlarged(self, k: int) -> Pair | None:
        if self.scalar and are_listed(self.variance, k * self.distance):
            return ShiftedDiscreteGaussians(self.variance, k * self.distance)
        return None

    def zcdp_rho(self) -> Fraction:
        """Return D²/2σ²."""
        return self.distance**2 / (2 * self.variance)

    def closed_log_moment(self, order: arb) -> arb:
        """Return λ(λ-1)D²/2σ² + log Z(λD)/Z(0), Z the sum of the weights (``whole_numbers.md``, section 4)."""
        variance, distance = ball(self.variance), self.distance
        return order * (order - 1) * distance**2 / (2 * variance) + _log_theta(order * distance, variance)


def shifted_losses(masses: Sequence[arb], rest: arb, distance: int, loss: Callable[[int], arb]) -> LossDistribution:
    """Return the losses of symmetric noise on the whole numbers against itself, moved by D.

    Args:
        masses: P(X = 0), ..., P(X = R), R >= D.
        rest: A bound on P(X > R).
        distance: D.
        loss: The loss at a whole number.

    Returns:
        The distribution of the loss: what lies left of D - R or right of R is revealed, or left out.
    """
    reach = len(masses) - 1
    points = [LossAtom(loss(x), masses[abs(x - distance)], masses[abs(x)]) for x in range(distance - reach, reach + 1)]
    # lost mass of P; that of Q is the same, mirrored
    lost = arb(0).union(2 * rest + sum(masses[reach + 1 - distance :], arb(0)))
    return of_atoms(points, lost, lost)


def discrete_gaussian_masses(variance: arb, further: int = 0) -> tuple[list[arb], arb]:
    """Return P(X = 0), ..., P(X = R) of the discrete Gaussian for negligible P(X > R), and a bound on that.

    The ratio of neighbouring masses falls, so that beyond R they are below a geometric series (``whole_numbers.md``).
    """
    step = (-1 / (2 * variance)).exp()  # e^(-(x+1)²/2σ²) / e^(-x²/2σ²) = step^(2x+1)
    square, ratio, mass = step * step, step, arb(1)
    negligible = arb(2) ** -max(2 * working_bits(), NEGLIGIBLE_BITS)
    masses = [mass]
    while further or not mass < negligible:
        if mass < negligible:
            further -= 1
        mass, ratio = mass * ratio, ratio * square
        masses.append(mass)
        if len(masses) > _MOST_VISIBLE:
            raise Declined(f"a discrete Gaussian of more than {_MOST_VISIBLE} visible whole numbers")
    rest = mass * ratio / (1 - ratio)
    total = 2 * sum(masses, arb(0)) - 1 + arb(0).union(2 * rest)
    return [mass / total for mass in masses], rest / total


def discrete_laplaces(parameter: Fraction, distance: int) -> Pair:
    """Return shifted discrete Laplace noise, or the pure pair, which dominates it, for too many losses to list."""
    if distance > _MOST_LOSSES:
        return Responses(parameter * distance)
    return ShiftedDiscreteLaplaces(parameter, distance)


def are_listed(variance: Fraction, distance: int) -> bool:
    """Return whether the losses of a shifted discrete Gaussian, where they matter, are few enough to be listed."""
    return bool(80**2 * variance <= (_MOST_WHOLE_NUMBERS - distance) ** 2 and distance < _MOST_WHOLE_NUMBERS)


def _log_theta(shift: arb, variance: arb) -> arb:
    """Enclose log Z(s)/Z(0), Z(s) = Σ_x e^(-(x-s)²/2σ²): by Poisson's formula a ratio of series of cosines."""
    pi = arb.pi()
    base = (-2 * pi * pi * variance).exp()  # e^(-2π²σ²k²) cos(2πks), k = 1, 2, ...
    if variance < ball(Fraction(1, 8)):
        return (_weights_around(shift, variance) / _weights_around(arb(0), variance)).log()
    cosines, ones, term, ratio = arb(0), arb(0), base, base**3
    k = 1
    while not term < arb(2) ** (-2 * working_bits()):
        cosines, ones = cosines + term * (2 * pi * k * shift).cos(), ones + term
        term, ratio, k = term * ratio, ratio * base * base, k + 1
    rest = 2 * term  # the ratios fall, and are below 1/2
    return ((1 + 2 * (cosines + (-rest).union(rest))) / (1 + 2 * (ones + up_to(rest)))).log()


def _weights_around(shift: arb, variance: arb) -> arb:
    """Return Z(s) for small σ: the whole numbers within some distance of s, and a bound on the others."""
    middle = round(float(shift.mid()))
    reach = 4 + math.ceil(math.sqrt(2 * working_bits()))
    inside = sum(
        ((-((x - shift) ** 2) / (2 * variance)).exp() for x in range(middle - reach, middle + reach + 1)), arb(0)
    )
    rest = 4 * (-(arb(reach - 1) ** 2) / (2 * variance)).exp()
    return inside + up_to(rest)
