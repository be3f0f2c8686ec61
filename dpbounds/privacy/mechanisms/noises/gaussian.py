"""Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import Loss, Trait, Writer
from dpbounds.privacy.mechanisms.noises.sums import RealNoise, one_way_of_giving
from dpbounds.privacy.mechanisms.parameters import NUMBER, parameter
from dpbounds.privacy.relations import Order


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gaussian(RealNoise):
    """Release a d-dimensional sum plus N(0, stddev² I), for any d.

    Args:
        noise_multiplier: Standard deviation divided by the clipping norm C (l2), greater than 0; under replace-one, one
            record changes the sum by up to 2C, which is taken into account. Or None, and instead of it
        noise_stddev: standard deviation in the units of the answer, greater than 0, together with
        sensitivity: l2 distance between the answers of two neighbours in the same units, greater than 0; under the
            relation of the account, without any factor.

    Raises:
        InvalidValue: A value is not a positive number, or both ways of giving the noise (or neither) are used.

    >>> Gaussian("1.5").noise_multiplier
    Fraction(3, 2)
    """

    name = "gaussian"
    own_traits = frozenset({Trait.NOISY_SUM, Trait.ADDS_UP})  # several are one: ``pairs.md``, section 4

    noise_multiplier: Fraction | None = field(metadata=parameter(NUMBER, rounds="down", optional=True))
    noise_stddev: Fraction | None = field(metadata=parameter(NUMBER, rounds="down", optional=True))
    sensitivity: Fraction | None = field(metadata=parameter(NUMBER, optional=True))

    def __init__(
        self,
        noise_multiplier: ExactLike | None = None,
        *,
        noise_stddev: ExactLike | None = None,
        sensitivity: ExactLike | None = None,
    ) -> None:
        self._hold(**one_way_of_giving("Gaussian", noise_multiplier, ("noise_stddev", noise_stddev), sensitivity))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return two Gaussians as far apart as one record moves the answer (``pairs.md``, section 4)."""
        stddev = self.noise_multiplier or self.noise_stddev
        assert stddev is not None
        return pairs.StepBound.attained(pairs.ShiftedGaussians((self._distance(order) / stddev) ** 2))

    def in_words(self, write: Writer) -> str:
        """Return the noise, per unit of the per-record bound or at the final distance."""
        if self.noise_multiplier is not None:
            return self.filled("Gaussian noise multiplier {noise_multiplier}", write)
        return self.filled("Gaussian noise of stddev {noise_stddev} at sensitivity {sensitivity}", write)

    @property
    def unit(self) -> str:
        """The unit of the noise multiplier."""
        return "" if self.noise_multiplier is None else "standard deviation per unit of the per-record bound"

    def loss(self) -> Loss:
        """Return (sensitivity / stddev)², in families of their own for the clipping norm and the final distance."""
        if self.noise_multiplier is not None:
            return Loss((Gaussian, "per record"), 1 / self.noise_multiplier**2, True, "(sensitivity / stddev)²")
        assert self.noise_stddev is not None
        assert self.sensitivity is not None
        squared = (self.sensitivity / self.noise_stddev) ** 2
        return Loss((Gaussian, "distance"), squared, True, "(sensitivity / stddev)²")
