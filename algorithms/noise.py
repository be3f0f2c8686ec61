"""Where randomness comes from: one seeded stream per repetition, and the one function that draws noise.

What is drawn is the ideal Gaussian rounded to double precision, from a seeded generator (PCG64): right for experiments
that must be repeatable. It is not meant for a release against an adversary who studies the low bits of floating-point
numbers or who may guess the seed; that needs a discretised sampler fed by the operating system, with its own
accounting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer

NOISE_DRAWN = (
    "ideal Gaussian in double precision, from a seeded generator: for experiments, not for adversarial releases"
)


class Records(Protocol):
    """Whoever writes down what was released."""

    def gaussian(self, *, noise_stddev: Fraction, per_record_bound: Fraction) -> None:
        """Write down one full-batch release with Gaussian noise."""


def streams(seed: int, repetitions: int) -> tuple[np.random.Generator, ...]:
    """Return one independent generator per repetition; the r-th does not depend on how many there are.

    Args:
        seed: A whole number at least 0.
        repetitions: A positive whole number.

    Raises:
        InvalidValue: Either is none of that.
    """
    count = positive_integer(repetitions, "repetitions")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number at least 0")
    return tuple(
        np.random.Generator(np.random.PCG64(child)) for child in np.random.SeedSequence(int(seed)).spawn(count)
    )


def gaussian(
    generators: Sequence[np.random.Generator],
    dimension: int,
    *,
    noise_stddev: float,
    per_record_bound: Fraction,
    ledger: Records,
) -> NDArray[np.float64]:
    """Write the release into the ledger with this very stddev, then draw N(0, stddev² I) for every repetition.

    A ledger that keeps a budget may refuse the entry; then nothing is drawn.

    Args:
        generators: One per repetition.
        dimension: p, the length of each answer.
        noise_stddev: Greater than 0, in the units of the answer; the ledger gets its exact binary value.
        per_record_bound: How far one record can move the answer by being added, in l2 norm and the same units.
        ledger: That of one repetition: all repetitions share the noise level, so one entry is written.

    Returns:
        Noise of shape (len(generators), dimension).

    Raises:
        InvalidValue: The standard deviation is not a positive finite number.
        BudgetExceeded: The ledger keeps a budget that has no room for the release.
    """
    if not (math.isfinite(noise_stddev) and noise_stddev > 0):
        raise InvalidValue("noise_stddev", noise_stddev, "a finite number greater than 0", "no noise means no privacy")
    ledger.gaussian(noise_stddev=Fraction(noise_stddev), per_record_bound=per_record_bound)
    noise = np.empty((len(generators), dimension))
    for generator, row in zip(generators, noise, strict=True):
        generator.standard_normal(out=row)
    noise *= noise_stddev
    return noise
