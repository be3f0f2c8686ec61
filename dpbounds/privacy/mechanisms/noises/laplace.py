"""Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import Loss, Writer
from dpbounds.privacy.mechanisms.noises.sums import RealNoise, one_way_of_giving
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.relations import Order


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Laplace(RealNoise):
    """Release a d-dimensional sum plus Laplace noise of scale b in each coordinate (density e^(-|x|/b)/2b).

    Args:
        noise_multiplier: Scale b divided by the clipping norm C (l1), greater than 0; under replace-one, one record
            changes the sum by up to 2C, which is taken into account. Or None, and instead of it
        noise_scale: scale b in the units of the answer, greater than 0, together with
        sensitivity: l1 distance between the answers of two neighbours in the same units, greater than 0; under the
            relation of the account, without any factor.
        dimension: d, or None if unknown; only Poisson sampling under replace-one spends less for d = 1.

    Raises:
        InvalidValue: A value is out of its domain, or both ways of giving the noise (or neither) are used.
    """

    name = "laplace"

    noise_multiplier: Fraction | None = field(metadata=parameter(NUMBER, rounds="down", optional=True))
    noise_scale: Fraction | None = field(metadata=parameter(NUMBER, rounds="down", optional=True))
    sensitivity: Fraction | None = field(metadata=parameter(NUMBER, optional=True))
    dimension: int | None = field(metadata=parameter(COUNT, optional=True))

    def __init__(
        self,
        noise_multiplier: ExactLike | None = None,
        *,
        noise_scale: ExactLike | None = None,
        sensitivity: ExactLike | None = None,
        dimension: int | None = None,
    ) -> None:
        self._hold(**one_way_of_giving("Laplace", noise_multiplier, ("noise_scale", noise_scale), sensitivity))
        known = None if dimension is None else positive_integer(dimension, "dimension")
        self._hold(dimension=known)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return two Laplace distributions as far apart as one record moves the answer (``losses.md``, section 2)."""
        scale = self.noise_multiplier or self.noise_scale
        assert scale is not None
        return pairs.StepBound.attained(pairs.ShiftedLaplaces(self._distance(order) / scale))

    def poisson_replaced(self, rate: Fraction) -> pairs.StepBound | None:
        """Return a mixture of three Laplace distributions for d = 1; else two guarantees, the mixture as an attack."""
        assert self.noise_multiplier is not None
        tight = pairs.SampledLaplaces(rate, 1 / self.noise_multiplier)
        if self.dimension == 1:
            return pairs.StepBound.attained(tight)
        once, twice = (pairs.ShiftedLaplaces(times / self.noise_multiplier) for times in (1, 2))
        return pairs.StepBound(pairs.TwoGuarantees(rate, once, twice), (tight,))

    def in_words(self, write: Writer) -> str:
        """Return the noise, per unit of the per-record bound or at the final distance."""
        if self.noise_multiplier is not None:
            return self.filled("Laplace noise multiplier {noise_multiplier}", write)
        return self.filled("Laplace noise of scale {noise_scale} at sensitivity {sensitivity}", write)

    @property
    def unit(self) -> str:
        """The unit of the noise multiplier."""
        return "" if self.noise_multiplier is None else "scale per unit of the per-record l1 bound"

    def loss(self) -> Loss:
        """Return 1 / noise multiplier; noise with a given final distance is comparable with itself only."""
        if self.noise_multiplier is None:
            return Loss((self,))
        return Loss((Laplace, self.dimension), 1 / self.noise_multiplier)
