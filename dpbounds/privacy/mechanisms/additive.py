"""Noise added to an answer: Gaussian, Laplace, uniform on a ball."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpbounds.errors import InvalidValue, shown
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy.mechanisms.core import ALL, CODE, Assumption, Loss, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.relations import Order, Relation

if TYPE_CHECKING:
    from dpbounds.privacy.pairs.step_bounds import StepBound


def positive(value: ExactLike, name: str) -> Fraction:
    """Return the exact value of a positive number, or raise ``InvalidValue``."""
    number = exact(value, name)
    if number <= 0:
        advice = "no noise means no privacy" if name.startswith("noise") and number == 0 else ""
        raise InvalidValue(name, value, "greater than 0", advice)
    return number


def positive_rate(value: ExactLike) -> Fraction:
    """Return the exact value of a sample rate in (0, 1], or raise ``InvalidValue``."""
    rate = exact(value, "sample_rate")
    if not 0 < rate <= 1:
        raise InvalidValue("sample_rate", value, "greater than 0 and at most 1")
    return rate


def _one_way_of_giving(
    mechanism: str, multiplier: ExactLike | None, absolute: tuple[str, ExactLike | None], sensitivity: ExactLike | None
) -> dict[str, Fraction | None]:
    """The noise per unit of the per-record bound, or the absolute noise with the final distance: one of the two."""
    name, amount = absolute
    is_relative = multiplier is not None
    is_absolute = amount is not None and sensitivity is not None
    if is_relative == is_absolute or (is_relative and (amount is not None or sensitivity is not None)):
        told = f"noise_multiplier={shown(multiplier)}, {name}={shown(amount)}, sensitivity={shown(sensitivity)}"
        allowed = f"either noise_multiplier alone, or {name} together with sensitivity"
        raise InvalidValue(f"{mechanism} noise", told, allowed)
    given = {"noise_multiplier": multiplier, name: amount, "sensitivity": sensitivity}
    return {field: None if value is None else positive(value, field) for field, value in given.items()}


IDEAL_NOISE = Assumption(
    CODE,
    "each record adds a vector to a sum, bounded one by one (to the per-record bound), divided by public constants "
    "only; the noise is ideal",
)


class _RealNoise(Mechanism):
    """Noise on a real sum, given per unit of the per-record bound, or for a final distance."""

    __slots__ = ()

    sensitivity: Fraction | None

    @property
    def traits(self) -> frozenset[Trait]:
        """All, unless the final distance is given: that says nothing about a record that comes or goes alone."""
        return ALL if self.sensitivity is None else ALL - {Trait.PER_RECORD, Trait.PRESENCE}

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """The sum and the noise are as described."""
        return (IDEAL_NOISE,)

    def _distance(self, order: Order) -> Fraction:
        """How far one record moves the answer: in units of the per-record bound, or the final distance if given."""
        return self.sensitivity or Fraction(2 if order.moves_twice else 1)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gaussian(_RealNoise):
    """Release a d-dimensional sum plus N(0, stddev² I), for any d.

    Args:
        noise_multiplier: Standard deviation in units of the per-record l2 bound C, greater than 0; the neighbouring
            relation supplies the factor (1 or 2). Or None, and instead of it
        noise_stddev: standard deviation in the units of the answer, greater than 0, together with
        sensitivity: l2 distance between the answers of two neighbours in the same units, greater than 0; the final one
            under the relation that is asked for, no factor applied.

    Raises:
        InvalidValue: A value is not a positive number, or both ways of giving the noise (or neither) are used.

    >>> Gaussian("1.5").noise_multiplier
    Fraction(3, 2)
    """

    name = "gaussian"

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
        self._hold(**_one_way_of_giving("Gaussian", noise_multiplier, ("noise_stddev", noise_stddev), sensitivity))

    def dominated_by(self, order: Order) -> StepBound:
        """Two Gaussians as far apart as one record moves the answer (``pairs.md``, section 4)."""
        from dpbounds.privacy.pairs.pairs import ShiftedGaussians
        from dpbounds.privacy.pairs.step_bounds import StepBound

        stddev = self.noise_multiplier or self.noise_stddev
        assert stddev is not None
        return StepBound.attained(ShiftedGaussians((self._distance(order) / stddev) ** 2))

    def in_words(self, write: Writer) -> str:
        """The noise, per unit of the per-record bound or at the final distance."""
        if self.noise_multiplier is not None:
            return self.filled("Gaussian noise multiplier {noise_multiplier}", write)
        return self.filled("Gaussian noise of stddev {noise_stddev} at sensitivity {sensitivity}", write)

    @property
    def unit(self) -> str:
        """The unit of the noise multiplier."""
        return "" if self.noise_multiplier is None else "standard deviation per unit of the per-record bound"

    def loss(self) -> Loss:
        """(sensitivity / stddev)², per unit of the per-record bound or of the final distance: these do not compare."""
        if self.noise_multiplier is not None:
            return Loss((Gaussian, "per record"), 1 / self.noise_multiplier**2, True, "(sensitivity / stddev)²")
        assert self.noise_stddev is not None
        assert self.sensitivity is not None
        squared = (self.sensitivity / self.noise_stddev) ** 2
        return Loss((Gaussian, "distance"), squared, True, "(sensitivity / stddev)²")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Laplace(_RealNoise):
    """Release a d-dimensional sum plus Laplace noise of scale b in each coordinate (density e^(-|x|/b)/2b).

    Args:
        noise_multiplier: Scale b in units of the per-record l1 bound C, greater than 0; the neighbouring relation
            supplies the factor (1 or 2). Or None, and instead of it
        noise_scale: scale b in the units of the answer, greater than 0, together with
        sensitivity: l1 distance between the answers of two neighbours in the same units, greater than 0; the final one
            under the relation that is asked for, no factor applied.
        dimension: d, or None where it is not known; only Poisson sampling under replace-one spends less for d = 1.

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
        self._hold(**_one_way_of_giving("Laplace", noise_multiplier, ("noise_scale", noise_scale), sensitivity))
        known = None if dimension is None else positive_integer(dimension, "dimension")
        self._hold(dimension=known)

    def dominated_by(self, order: Order) -> StepBound:
        """Two Laplace distributions as far apart as one record moves the answer (``losses.md``, section 2)."""
        from dpbounds.privacy.pairs.pairs import ShiftedLaplaces
        from dpbounds.privacy.pairs.step_bounds import StepBound

        scale = self.noise_multiplier or self.noise_scale
        assert scale is not None
        return StepBound.attained(ShiftedLaplaces(self._distance(order) / scale))

    def in_words(self, write: Writer) -> str:
        """The noise, per unit of the per-record bound or at the final distance."""
        if self.noise_multiplier is not None:
            return self.filled("Laplace noise multiplier {noise_multiplier}", write)
        return self.filled("Laplace noise of scale {noise_scale} at sensitivity {sensitivity}", write)

    @property
    def unit(self) -> str:
        """The unit of the noise multiplier."""
        return "" if self.noise_multiplier is None else "scale per unit of the per-record l1 bound"

    def loss(self) -> Loss:
        """1 / noise multiplier; what is given with its final distance compares with nothing."""
        if self.noise_multiplier is None:
            return Loss((self,))
        return Loss((Laplace, self.dimension), 1 / self.noise_multiplier)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UniformBall(_RealNoise):
    """Release a d-dimensional sum plus noise that is uniform on the d-ball of a radius.

    Attributes:
        radius: In units of the per-record l2 bound C; where ``sensitivity`` is given, in the units of the answer.
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

    def dominated_by(self, order: Order) -> StepBound:
        """Two balls as far apart as one record moves the answer (``losses.md``, section 2)."""
        from dpbounds.privacy.pairs.pairs import UniformBalls
        from dpbounds.privacy.pairs.step_bounds import StepBound

        shift = self._distance(order) / self.radius
        return StepBound.attained(UniformBalls(shift**2, self.dimension))

    def in_words(self, write: Writer) -> str:
        """The noise, per unit of the per-record bound or at the final distance."""
        at = "per unit of the per-record bound" if self.sensitivity is None else "at sensitivity {sensitivity}"
        return self.filled("noise uniform on a ball in {dimension} dimensions, radius {radius} " + at, write)

    def loss(self) -> Loss:
        """1 / radius: all that a ball gives away is its total variation, which falls as the radius grows."""
        return Loss((self,)) if self.sensitivity is not None else Loss((UniformBall, self.dimension), 1 / self.radius)
