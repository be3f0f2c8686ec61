"""Noise on whole numbers: discrete Laplace (two-sided geometric) and discrete Gaussian.

Answers are sums of vectors of whole numbers. A record's vector has a bounded norm, and the neighbouring relation
supplies the factor: 1 where a record comes, goes or is zeroed, 2 where it is replaced.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from dpbounds.errors import InvalidValue, shown
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import CODE, ON_SUMS, Assumption, Mechanism, Trait, Writer
from dpbounds.privacy.mechanisms.parameters import COUNT, NUMBER, parameter
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.values import positive


class WholeNumberNoise(Mechanism):
    """Noise on a sum of whole numbers."""

    __slots__ = ()

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties of noise on sums; proofs for real sums alone do not apply."""
        return ON_SUMS

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption that the sum and the noise are as described."""
        return (
            Assumption(CODE, "each record adds whole numbers to a sum, bounded one by one; the noise is drawn exactly"),
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DiscreteLaplace(WholeNumberNoise):
    """Add noise with P(x) proportional to e^(-|x|/b) on the whole numbers to each coordinate of a sum.

    Args:
        noise_scale: b, greater than 0.
        bound: C, a whole number: one record's vector has l1 norm at most C.

    Raises:
        InvalidValue: A value is out of its domain.

    >>> DiscreteLaplace("2.5").noise_scale
    Fraction(5, 2)
    """

    name = "discrete-laplace"
    phrase = "discrete Laplace noise of scale {noise_scale}, whole numbers, per-record l1 bound {bound}"

    noise_scale: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    bound: int = field(metadata=parameter(COUNT))

    def __init__(self, noise_scale: ExactLike, bound: int = 1) -> None:
        self._hold(noise_scale=positive(noise_scale, "noise_scale"), bound=positive_integer(bound, "bound"))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the pair of one coordinate that moves by the whole distance (``whole_numbers.md``)."""
        pair = pairs.discrete_laplaces(1 / self.noise_scale, (2 if order.moves_twice else 1) * self.bound)
        return pairs.StepBound(pair, (pair,) if isinstance(pair, pairs.ShiftedDiscreteLaplaces) else ())


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DiscreteGaussian(WholeNumberNoise):
    """Add noise with P(x) proportional to e^(-x²/2σ²) on the whole numbers to each coordinate of a sum.

    Its ε differs from that of continuous noise with the same σ, and may be larger.

    Args:
        noise_stddev: The parameter σ, greater than 0; the standard deviation of the noise is below it.
        noise_variance: σ² in place of σ, exact where σ is irrational: releases of ρ-zCDP are given as 1/2ρ.
        bound: C, at least 1: one record's vector has l2 norm at most C. In one dimension it counts as ⌊C⌋.
        dimension: d, or None if it is not known. The answer is exact in one dimension, and for distances below 2 in
            any, unless σ is too large for all outcomes to be listed.

    Raises:
        InvalidValue: A value is out of its domain, or not exactly one of ``noise_stddev`` and ``noise_variance`` is
            given.

    >>> DiscreteGaussian(noise_variance="10000/73").variance
    Fraction(10000, 73)
    """

    name = "discrete-gaussian"

    noise_stddev: Fraction | None = field(metadata=parameter(NUMBER, rounds="down", optional=True))
    bound: Fraction = field(metadata=parameter(NUMBER))
    noise_variance: Fraction | None = field(
        metadata=parameter(NUMBER, rounds="down", optional=True, instead_of="noise_stddev")
    )
    dimension: int | None = field(metadata=parameter(COUNT, optional=True))

    def __init__(
        self,
        noise_stddev: ExactLike | None = None,
        bound: ExactLike = 1,
        *,
        noise_variance: ExactLike | None = None,
        dimension: int | None = None,
    ) -> None:
        if (noise_stddev is None) == (noise_variance is None):
            told = f"noise_stddev={shown(noise_stddev)}, noise_variance={shown(noise_variance)}"
            raise InvalidValue("DiscreteGaussian noise", told, "either noise_stddev or noise_variance")
        given = {"noise_stddev": noise_stddev, "noise_variance": noise_variance}
        scale = {name: None if value is None else positive(value, name) for name, value in given.items()}
        self._hold(**scale, **bounded_vectors(bound, dimension))

    @property
    def variance(self) -> Fraction:
        """σ²."""
        if self.noise_stddev is not None:
            return self.noise_stddev**2
        assert self.noise_variance is not None
        return self.noise_variance

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return a pair that is attained where one is proven, else a pair that dominates for vectors of whole numbers.

        The proofs are in ``whole_numbers.md``.
        """
        variance, times = self.variance, 2 if order.moves_twice else 1
        scalar, whole = self.dimension == 1, math.floor(self.bound)
        squared = (times * (whole if scalar else self.bound)) ** 2
        distance = times * whole if scalar else math.isqrt(math.floor(squared))
        is_listed = pairs.are_listed(variance, distance)
        if is_listed and (scalar or squared < 2):
            return pairs.StepBound.attained(pairs.ShiftedDiscreteGaussians(variance, distance, scalar))
        # no coordinate moves by more than 1, and the worst case moves as many as possible
        if is_listed and squared < 4:
            moved = min(math.floor(squared), self.dimension or math.floor(squared))
            one = pairs.ShiftedDiscreteGaussians(variance, 1, scalar)
            return pairs.StepBound.attained(pairs.Combined(((one, moved),)))
        moved = 1 if scalar else min(math.floor(squared), self.dimension or math.floor(squared))
        vectors = pairs.DiscreteGaussianVectors(variance, Fraction(math.floor(squared)), moved)
        return pairs.StepBound(vectors, (self._attack(times),) if is_listed else ())

    def _attack(self, times: int) -> pairs.Pair:
        """Return the pair of an attack: a long vector v replaces 0, or -v where a record moves the sum twice as far."""
        coordinates = Counter(long_vector(self.bound, self.dimension))
        moved = tuple(
            (pairs.ShiftedDiscreteGaussians(self.variance, times * each, scalar=False), count)
            for each, count in coordinates.items()
        )
        return moved[0][0] if coordinates.total() == 1 else pairs.Combined(moved)

    def in_words(self, write: Writer) -> str:
        """Describe the noise, the sums, and the dimension if it is known."""
        scale = "parameter {noise_stddev}" if self.noise_variance is None else "squared parameter {noise_variance}"
        noise = f"discrete Gaussian noise of {scale}, whole numbers, per-record l2 bound {{bound}}"
        return self.filled(noise + in_dimensions(self.dimension), write)


def long_vector(bound: Fraction, dimension: int | None) -> list[int]:
    """Return a vector of whole numbers of l2 norm at most ``bound``, without zeros.

    Each coordinate is the largest that the rest of the norm allows.

    >>> long_vector(Fraction("2.9"), None)  # 8.41 >= 4 + 4
    [2, 2]
    """
    left, found = math.floor(bound**2), list[int]()
    while left and (dimension is None or len(found) < dimension):
        found.append(math.isqrt(left))
        left -= found[-1] ** 2
    return found


def bounded_vectors(bound: ExactLike, dimension: int | None) -> dict[str, Fraction | int | None]:
    """Return the bound on the norm of vectors of whole numbers, and their dimension, as fields.

    Raises:
        InvalidValue: The bound is below 1, or the dimension is not a positive whole number.
    """
    least = positive(bound, "bound")
    if least < 1:
        raise InvalidValue("bound", bound, "at least 1", "vectors of whole numbers of a smaller norm are all 0")
    return {"bound": least, "dimension": None if dimension is None else positive_integer(dimension, "dimension")}


def in_dimensions(dimension: int | None) -> str:
    """Return the dimension in words, after a noise; empty where it is not known."""
    return "" if dimension is None else f" in {dimension} dimension{'s' if dimension > 1 else ''}"
