"""Truncated noise on whole numbers, which is never larger than a bound: discrete Laplace and discrete Gaussian.

Answers are sums of vectors of whole numbers. A record's vector has a bounded l1 norm, and the neighbouring relation
supplies the factor: 1 where a record comes, goes or is zeroed, 2 where it is replaced. Some answers are possible on one
of two neighbours only, so that δ is positive at every ε.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.exact import Direction, ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import Writer
from dpbounds.privacy.mechanisms.noises.whole_numbers import WholeNumberNoise
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.relations import Order
from dpbounds.privacy.values import positive


class TruncatedNoise(WholeNumberNoise):
    """Noise on the whole numbers from -k to k, k = ``reach``, on a sum of whole numbers."""

    __slots__ = ()

    reach: int
    bound: int

    def in_words(self, write: Writer) -> str:
        """Return the noise in words, with its scale exactly: a larger scale may spend more (``bounded_support.md``)."""

        def exactly(value: Fraction, side: Direction) -> str:
            text = write(value, "down")
            return text if text == write(value, "up") else str(value)

        return self.filled(self.phrase, exactly)

    def _between(self, decay: Fraction, power: int, order: Order) -> pairs.StepBound:
        """Return the pair of one coordinate that moves by the whole distance (``bounded_support.md``)."""
        most = pairs.bounded_support.MOST_REACH
        if self.reach > most:
            raise UnsupportedMechanism(
                f"truncated noise is listed for a reach of at most {most}, not {self.reach}: take a smaller reach, or "
                "noise without truncation"
            )
        distance = (2 if order.moves_twice else 1) * self.bound
        return pairs.StepBound.attained(pairs.truncated_noises(decay, power, self.reach, distance))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TruncatedDiscreteLaplace(TruncatedNoise):
    """Add noise with P(x) proportional to e^(-|x|/b) on the whole numbers from -k to k to each coordinate of a sum.

    Args:
        noise_scale: b, greater than 0.
        reach: k, a whole number that is at least 1: the largest noise.
        bound: C, a whole number: one record's vector has l1 norm at most C.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> from dpbounds.privacy.accountants.certified import epsilon
    >>> epsilon(TruncatedDiscreteLaplace(1, reach=20), delta="1e-6").decimals(6)
    ('0.999998', '0.999999')
    """

    name = "truncated-discrete-laplace"
    phrase = (
        "truncated discrete Laplace noise of scale {noise_scale} on [-{reach}, {reach}], whole numbers, per-record l1 "
        "bound {bound}"
    )

    noise_scale: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    reach: int = field(metadata=parameter(COUNT))
    bound: int = field(metadata=parameter(COUNT))

    def __init__(self, noise_scale: ExactLike, reach: int, bound: int = 1) -> None:
        held = {"reach": positive_integer(reach, "reach"), "bound": positive_integer(bound, "bound")}
        self._hold(noise_scale=positive(noise_scale, "noise_scale"), **held)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of one coordinate that moves by the whole distance (``bounded_support.md``)."""
        return self._between(1 / self.noise_scale, 1, order)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TruncatedDiscreteGaussian(TruncatedNoise):
    """Add noise with P(x) proportional to e^(-x²/2σ²) on the whole numbers from -k to k to each coordinate of a sum.

    Args:
        noise_stddev: The parameter σ, greater than 0; the standard deviation of the noise is below it.
        reach: k, a whole number that is at least 1: the largest noise.
        bound: C, a whole number: one record's vector has l1 norm at most C.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> TruncatedDiscreteGaussian("2.5", reach=20).reach
    20
    """

    name = "truncated-discrete-gaussian"
    phrase = (
        "truncated discrete Gaussian noise of parameter {noise_stddev} on [-{reach}, {reach}], whole numbers, "
        "per-record l1 bound {bound}"
    )

    noise_stddev: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    reach: int = field(metadata=parameter(COUNT))
    bound: int = field(metadata=parameter(COUNT))

    def __init__(self, noise_stddev: ExactLike, reach: int, bound: int = 1) -> None:
        held = {"reach": positive_integer(reach, "reach"), "bound": positive_integer(bound, "bound")}
        self._hold(noise_stddev=positive(noise_stddev, "noise_stddev"), **held)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of one coordinate that moves by the whole distance (``bounded_support.md``)."""
        return self._between(1 / (2 * self.noise_stddev**2), 2, order)
