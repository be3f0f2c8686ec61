"""Sources of randomness: one seeded stream per repetition, and the functions that draw noise.

Experiments draw the ideal Gaussian (or the uniform distribution on a ball or a sphere), rounded to double precision,
from a pseudo-random generator (PCG64). Its seed comes from the operating system, 128 bits that are not kept, unless one
is given: then numbers can be repeated, by everybody who knows the seed, who can subtract the noise, and two runs with
one seed add the same noise, which their difference does not have.

It is not meant for a release against an adversary who studies the low bits of floating-point numbers or who works out
the generator's state. And the ledger takes sums for exact: a mean of n doubles may lie beside the exact one by n 2^-53
of its largest term, so that one record may move it by a relative n² 2^-52 more than is written (2e-6 for n = 10^5, at
worst). For a release there is ``dpbounds.algorithms.secure_noise``.

Every function writes into the ledger what it is about to draw; a ledger that keeps a budget may refuse the entry, and
then nothing is drawn.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.ledger_format import CONDITION
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import positive_integer
from dpbounds.privacy.mechanisms import ApproximateDP, Gaussian, Mechanism, UniformBall
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.algorithms.sampling import Sampling

Array = NDArray[np.float64]
Kind = Literal["gaussian", "ball", "sphere", "secure"]

PSEUDO_RANDOM = "in double precision, from a pseudo-random generator: for experiments, not for adversarial releases"
NOISE_DRAWN = f"ideal Gaussian {PSEUDO_RANDOM}"


class Records(Protocol):
    """An object that records releases: an ``OpenLedger``."""

    def gaussian(
        self,
        *,
        noise_stddev: Fraction,
        per_record_bound: Fraction,
        sampling: Sampling = None,
    ) -> None:
        """Write down one release with Gaussian noise."""

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Write down releases described by a mechanism."""

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """Count the Gaussian noise of the answers, relative to the entries of that level."""

    def waited(self, total: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of Laplace, Gumbel or ball noise, turned into standard exponential variables."""


def from_the_system() -> int:
    """Return a secret seed: 128 bits from the operating system, as many as ``SeedSequence`` keeps."""
    asked = ENTROPY.get()
    return secrets.randbits(128) if asked is None else asked()


# Who is asked for such a seed instead of the operating system: a guard, whose two walks need the same one.
ENTROPY: ContextVar[Callable[[], int] | None] = ContextVar("entropy", default=None)


def checked_seed(seed: int | None) -> int | None:
    """Return a seed that was given; ``InvalidValue`` unless it is a whole number at least 0, or None."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number at least 0, or None for the operating system's entropy")
    return int(seed)


def streams(seed: int | None, repetitions: int) -> tuple[np.random.Generator, ...]:
    """Return one independent generator per repetition; the r-th does not depend on how many there are.

    The seed is a whole number at least 0, or None for one from the operating system that is not kept. There is at least
    one repetition. Else ``InvalidValue``.
    """
    count, given = positive_integer(repetitions, "repetitions"), checked_seed(seed)
    root = np.random.SeedSequence(from_the_system() if given is None else given)
    return tuple(np.random.Generator(np.random.PCG64(child)) for child in root.spawn(count))


def drawn_by(how: str, seed: int | None) -> str:
    """Describe how noise was drawn, and the effect of a given seed on the guarantee."""
    source = "a seed from the operating system, not kept" if seed is None else f"a seed that was given: {CONDITION}"
    return f"{how}; with {source}"


def gaussian(
    generators: Sequence[np.random.Generator],
    dimension: int,
    *,
    noise_stddev: float,
    per_record_bound: Fraction,
    ledger: Records,
    sampling: Sampling = None,
) -> Array:
    """Write the release into the ledger with this very stddev, then draw N(0, stddev² I) for every repetition.

    Args:
        generators: One per repetition.
        dimension: p, the length of each answer.
        noise_stddev: Greater than 0, in the units of the answer; the ledger gets its exact binary value.
        per_record_bound: The largest l2 norm of one record's contribution, in the units of the answer.
        ledger: The ledger of one repetition: all repetitions share the noise level, so one entry is written.
        sampling: The sampling of the records of the answer.

    Returns:
        Noise of shape (len(generators), dimension).

    Raises:
        InvalidValue: The standard deviation is not a positive finite number.
        BudgetExceeded: The ledger keeps a budget that has no room for the release.
    """
    _demand_noise("noise_stddev", noise_stddev)
    ledger.gaussian(noise_stddev=_exactly(noise_stddev), per_record_bound=per_record_bound, sampling=sampling)
    noise = standard_gaussian(generators, dimension)
    noise *= noise_stddev
    return noise


def per_unit(
    kind: Kind,
    generators: Sequence[np.random.Generator],
    dimension: int,
    *,
    noise_multiplier: Fraction,
    described: Mechanism,
    ledger: Records,
) -> Array:
    """Write a described release, then draw noise in units of per-record bounds that differ between repetitions.

    The kind is "gaussian" (standard deviation), "ball" or "sphere" (radius), the multiplier rounded up to a double.
    Multiply row r of what is returned, shape (len(generators), dimension), by the per-record bound of repetition r.
    """
    amount = math.nextafter(float(noise_multiplier), math.inf)
    _demand_noise("noise_multiplier", amount)
    ledger.release(described)
    drawn = standard_gaussian(generators, dimension) if kind == "gaussian" else _unit(kind, generators, dimension)
    drawn *= amount
    return drawn


def laplace(
    generators: Sequence[np.random.Generator], shape: tuple[int, ...], *, scale: float, ledger: Records
) -> Array:
    """Draw Laplace noise of a scale b > 0, shape (len(generators), *shape), in the units of the answer.

    The caller has written the release that it is part of; the ledger keeps count of what was drawn.
    """
    _demand_noise("scale", scale)
    drawn = np.empty((len(generators), *shape))
    for generator, row in zip(generators, drawn, strict=True):
        row[...] = generator.standard_exponential(shape) * np.where(generator.random(shape) < 0.5, -1.0, 1.0)
    drawn *= scale
    ledger.waited(float(np.abs(drawn).sum()) / scale, drawn.size, scale)
    return drawn


def ball(
    kind: Kind,
    generators: Sequence[np.random.Generator],
    dimension: int,
    *,
    radius: float,
    per_record_bound: Fraction,
    ledger: Records,
    sampling: Sampling = None,
) -> Array:
    """Write the release, then draw uniformly from the ball or the sphere of that radius, for every repetition.

    Arguments and errors are those of ``gaussian``, with a ``radius`` in place of a standard deviation. For a
    sphere, the ledger gets an entry without a guarantee, see ``described``.
    """
    _demand_noise("radius", radius)
    mechanism = described(kind, Fraction(radius) / per_record_bound, dimension)
    ledger.release(mechanism if sampling is None else sampling.sample(mechanism))
    drawn = _unit(kind, generators, dimension)
    drawn *= radius
    return drawn


def described(kind: Kind, noise_multiplier: Fraction, dimension: int) -> Mechanism:
    """Return the full-batch mechanism of a kind of noise other than "secure", in units of the per-record bound.

    Noise on the sphere promises nothing on its own: two spheres of equal radius around different points share no mass
    for dimension 2 or more, so that an answer may distinguish the neighbours for certain. That is (0, 1)-privacy, under
    either relation; on one random record out of n it becomes (0, 1/n).

    Raises:
        InvalidValue: It is another kind of noise.

    Source: Tholeti & Kalyani 2020, equation (6) for the ball, the note after Theorem 1 for the sphere.
    """
    if kind == "gaussian":
        return Gaussian(noise_multiplier)
    if kind == "ball":
        return UniformBall(noise_multiplier, dimension)
    if kind != "sphere":
        raise InvalidValue("noise", repr(kind), "'ball' or 'sphere'")
    return ApproximateDP(0, 1, relation=Relation.REPLACE_ONE)


def standard_gaussian(generators: Sequence[np.random.Generator], dimension: int) -> Array:
    """Draw N(0, I), one row per generator, without a ledger entry."""
    noise = np.empty((len(generators), dimension))
    for generator, row in zip(generators, noise, strict=True):
        generator.standard_normal(out=row)
    return noise


def _unit(kind: Kind, generators: Sequence[np.random.Generator], dimension: int) -> Array:
    """Return points uniform on the unit sphere, or (kind "ball") in the unit ball: a direction times U^(1/p)."""
    drawn = standard_gaussian(generators, dimension)
    drawn /= np.sqrt((drawn * drawn).sum(axis=1, keepdims=True))
    if kind == "ball":
        drawn *= np.array([[generator.random()] for generator in generators]) ** (1 / dimension)
    return drawn


@lru_cache(maxsize=64)  # a run asks for the same at every step, and then ledgers see one number, not two equal ones
def _exactly(amount: float) -> Fraction:
    return Fraction(amount)


def _demand_noise(name: str, amount: float) -> None:
    if not (math.isfinite(amount) and amount > 0):
        raise InvalidValue(name, amount, "a finite number greater than 0", "no noise means no privacy")
