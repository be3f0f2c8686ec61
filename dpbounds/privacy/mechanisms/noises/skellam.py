"""Skellam noise: the difference of two Poisson numbers, whose sums over clients are Skellam noise again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import Writer
from dpbounds.privacy.mechanisms.noises.whole_numbers import WholeNumberNoise, bounded_vectors, in_dimensions
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.relations import Order
from dpbounds.privacy.values import positive


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Skellam(WholeNumberNoise):
    """Add the difference of two independent Poisson numbers of mean μ to each coordinate of a sum of whole numbers.

    Sums of independent Skellam noise are Skellam noise, and variances add up: if m clients add noise of variance v each
    before a secure sum, the sum has noise of variance m v, exactly (:class:`NoiseInShares`).

    Args:
        variance: 2μ, the variance of the noise in the sum, greater than 0.
        bound: C, at least 1: one record's vector has l2 norm at most C. In one dimension it counts as ⌊C⌋.
        dimension: d, or None if unknown. One dimension has an exact answer at any distance; in several, neighbours'
            sums have to be closer than 2 in the l2 norm (histograms are).

    Raises:
        InvalidValue: A value is out of its domain.

    Source: Agarwal, Kairouz & Liu 2021 (the mechanism); ``skellam.md`` has the proof.

    >>> from dpbounds.privacy.accountants.certified import epsilon
    >>> epsilon(Skellam(100) ** 10, "1e-6").at_most("1.46")
    True
    """

    name = "skellam"

    variance: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    bound: Fraction = field(metadata=parameter(NUMBER))
    dimension: int | None = field(metadata=parameter(COUNT, optional=True))

    def __init__(self, variance: ExactLike, bound: ExactLike = 1, *, dimension: int | None = None) -> None:
        self._hold(variance=positive(variance, "variance"), **bounded_vectors(bound, dimension))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of one coordinate that moves by the whole distance, or several by 1 (``skellam.md``)."""
        times, scalar = 2 if order.moves_twice else 1, self.dimension == 1
        if scalar:
            distance = times * math.floor(self.bound)
            self._demand_listed(distance)
            return pairs.StepBound.attained(pairs.ShiftedSkellams(self.variance, distance))
        squared = math.floor((times * self.bound) ** 2)
        if squared >= 4:
            raise UnsupportedMechanism(
                "Skellam noise on vectors is proven for neighbours' sums closer than 2 in the l2 norm, and not for "
                f"{times} x {self.bound}: take dimension=1, a smaller bound, another relation, or DiscreteGaussian"
            )
        self._demand_listed(1)
        moved = min(squared, self.dimension or squared)
        one = pairs.ShiftedSkellams(self.variance, 1, scalar=False)
        return pairs.StepBound.attained(one if moved == 1 else pairs.Combined(((one, moved),)))

    def _demand_listed(self, distance: int) -> None:
        if not pairs.skellam.is_listed(self.variance, distance):
            raise UnsupportedMechanism(
                f"Skellam noise of variance {self.variance} that moves by {distance} has too many losses to be listed: "
                "take DiscreteGaussian, or a coarser unit"
            )

    def in_words(self, write: Writer) -> str:
        """Describe the noise, the sums, and the dimension if it is known."""
        noise = "Skellam noise of variance {variance}, whole numbers, per-record l2 bound {bound}"
        return self.filled(noise + in_dimensions(self.dimension), write)
