"""Frozen descriptions of mechanisms, and their algebra: subsampled, composed. What they spend is decided elsewhere.

Noise is given per unit of the per-record bound C (``noise_multiplier``), and the neighbouring relation supplies the
factor: a record moves a sum by at most C when added or removed, by at most 2C when replaced. Whoever knows the final
distance between two neighbouring answers passes ``noise_stddev`` and ``sensitivity`` instead, and no factor is applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import ExactLike, exact, positive_integer


class Mechanism:
    """A randomised algorithm, described by what its privacy depends on.

    ``m ** T`` is m run T times, ``a @ b`` is a and then b; each run may depend on the outputs of earlier ones, while
    the noise, the rates and the number of runs are fixed in advance.
    """

    __slots__ = ()

    def __pow__(self, count: int) -> Composed:
        return Composed(((self, positive_integer(count, "steps")),))

    def __matmul__(self, other: Mechanism) -> Composed:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return Composed(((self, 1), (other, 1)))


def _positive(value: ExactLike, name: str) -> Fraction:
    number = exact(value, name)
    if number <= 0:
        advice = "no noise means no privacy" if name.startswith("noise") and number == 0 else ""
        raise InvalidValue(name, value, "a number greater than 0", advice)
    return number


@dataclass(frozen=True, slots=True, init=False)
class Gaussian(Mechanism):
    """Release a d-dimensional sum plus N(0, stddev² I), for any d.

    Attributes:
        noise_multiplier: Standard deviation in units of the per-record l2 bound C, or None.
        noise_stddev: Standard deviation in the units of the answer, or None.
        sensitivity: l2 distance between the answers of two neighbours, in the same units, or None.

    Args:
        noise_multiplier: Greater than 0; the neighbouring relation supplies the factor (1 or 2).
        noise_stddev: Greater than 0; together with ``sensitivity``, instead of ``noise_multiplier``.
        sensitivity: Greater than 0; the final distance under the relation that is asked for, no factor applied.

    Raises:
        InvalidValue: A value is not a positive number, or both ways of giving the noise (or neither) are used.

    >>> Gaussian("1.5").noise_multiplier
    Fraction(3, 2)
    """

    noise_multiplier: Fraction | None
    noise_stddev: Fraction | None
    sensitivity: Fraction | None

    def __init__(
        self,
        noise_multiplier: ExactLike | None = None,
        *,
        noise_stddev: ExactLike | None = None,
        sensitivity: ExactLike | None = None,
    ) -> None:
        relative = noise_multiplier is not None
        absolute = noise_stddev is not None and sensitivity is not None
        if relative == absolute or (relative and (noise_stddev is not None or sensitivity is not None)):
            given = f"noise_multiplier={noise_multiplier}, noise_stddev={noise_stddev}, sensitivity={sensitivity}"
            allowed = "either noise_multiplier alone, or noise_stddev together with sensitivity"
            raise InvalidValue("Gaussian noise", given, allowed)
        for name, value in (
            ("noise_multiplier", noise_multiplier),
            ("noise_stddev", noise_stddev),
            ("sensitivity", sensitivity),
        ):
            object.__setattr__(self, name, None if value is None else _positive(value, name))


@dataclass(frozen=True, slots=True, init=False)
class PoissonSampled(Mechanism):
    """Run the mechanism on a random subset: each record is in it with probability ``sample_rate``, independently.

    The mechanism must answer with a sum, or a sum divided by a public constant: dividing by the realised batch size is
    another mechanism, whose sensitivity depends on the data.

    Args:
        mechanism: What runs on the subset.
        sample_rate: In (0, 1].

    Raises:
        InvalidValue: The sample rate is not in (0, 1].
        UnsupportedMechanism: The inner mechanism is itself sampled or composed.

    >>> PoissonSampled(Gaussian(1), "0.01").sample_rate
    Fraction(1, 100)
    """

    mechanism: Mechanism
    sample_rate: Fraction

    def __init__(self, mechanism: Mechanism, sample_rate: ExactLike) -> None:
        rate = exact(sample_rate, "sample_rate")
        if not 0 < rate <= 1:
            raise InvalidValue("sample_rate", sample_rate, "a number greater than 0 and at most 1")
        if not isinstance(mechanism, Gaussian):
            raise UnsupportedMechanism(
                f"Poisson sampling of {type(mechanism).__name__} has no proven analysis here: "
                "sample each Gaussian release on its own and compose afterwards, PoissonSampled(Gaussian(z), q) ** T"
            )
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "sample_rate", rate)


@dataclass(frozen=True, slots=True, init=False)
class Composed(Mechanism):
    """Several mechanisms one after the other, each as many times as its count says.

    Args:
        parts: (mechanism, count) pairs; counts are positive integers. Nested compositions are flattened.
    """

    parts: tuple[tuple[Mechanism, int], ...]

    def __init__(self, parts: tuple[tuple[Mechanism, int], ...]) -> None:
        if not parts:
            raise InvalidValue("parts", parts, "at least one mechanism")
        object.__setattr__(self, "parts", tuple(_flattened(parts)))


def _flattened(parts: tuple[tuple[Mechanism, int], ...]) -> Iterator[tuple[Mechanism, int]]:
    for mechanism, given in parts:
        count = positive_integer(given, "steps")
        if isinstance(mechanism, Composed):
            for inner, times in mechanism.parts:
                yield inner, times * count
        else:
            yield mechanism, count
