"""Noise that is uniform on a ball."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import Loss, Writer
from dpbounds.privacy.mechanisms.noises.sums import RealNoise
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.relations import Order
from dpbounds.privacy.values import positive


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UniformBall(RealNoise):
    """Release a d-dimensional sum plus noise that is uniform on the d-ball of a radius.

    Attributes:
        radius: In units of the clipping norm C (l2); if ``sensitivity`` is given, in the units of the answer.
        dimension: d.
        sensitivity: l2 distance between the answers of two neighbours, in the units of ``radius``, or None.

    Raises:
        InvalidValue: A value is not a positive number, or the dimension not a positive whole number.
    """

    name = "uniform-ball"

    radius: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    dimension: int = field(metadata=parameter(COUNT))
    sensitivity: Fraction | None = field(metadata=parameter(NUMBER, optional=True))

    def __init__(self, radius: ExactLike, dimension: int, *, sensitivity: ExactLike | None = None) -> None:
        self._hold(radius=positive(radius, "radius"), dimension=positive_integer(dimension, "dimension"))
        known = None if sensitivity is None else positive(sensitivity, "sensitivity")
        self._hold(sensitivity=known)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return two balls as far apart as one record moves the answer (``losses.md``, section 2)."""
        shift = self._distance(order) / self.radius
        return pairs.StepBound.attained(pairs.UniformBalls(shift**2, self.dimension))

    def poisson_replaced(self, rate: Fraction) -> pairs.StepBound:
        """Return a mixture of three balls, for any dimension (``losses.md``, section 3)."""
        return pairs.StepBound.attained(pairs.SampledBalls(rate, 1 / self.radius**2, self.dimension))

    def in_words(self, write: Writer) -> str:
        """Return the noise, per unit of the per-record bound or at the final distance."""
        at = "per unit of the per-record bound" if self.sensitivity is None else "at sensitivity {sensitivity}"
        return self.filled("noise uniform on a ball in {dimension} dimensions, radius {radius} " + at, write)

    def loss(self) -> Loss:
        """Return 1 / radius as the loss: only the total variation matters, which falls as the radius grows."""
        return Loss((self,)) if self.sensitivity is not None else Loss((UniformBall, self.dimension), 1 / self.radius)
