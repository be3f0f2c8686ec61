"""A private score: the mean loss of a model on held-out records, with discrete Laplace noise.

A loss in [0, 1] is rounded to a multiple of 1/2K, and stands as a whole number from -K to K. Replacing one record moves
their sum by 2K at most, so that noise of scale 2K/ε makes it ε-differentially private (``whole_numbers.md`` of the
noises). The number of held-out records is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms import secure_noise
from dpbounds.algorithms.fields import WhichNoise
from dpbounds.algorithms.problems.finite_sum import Array
from dpbounds.privacy.mechanisms import DiscreteLaplace

_SPLIT = 20_260_101  # seed of the order of places; it is public
_DOUBLE = "pseudo-random discrete Laplace numbers of NumPy, seeded by the operating system, in double precision"
_SECURE = "discrete Laplace numbers of OpenDP's sampler, from the operating system's randomness"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A private mean loss.

    Attributes:
        mean: The noisy mean; it may lie outside of [0, 1].
        typical_error: The mean absolute value of the noise in it.
        mechanism: The release, for the accountant.
        noise_drawn: How the noise was drawn, in words.
    """

    mean: float
    typical_error: float
    mechanism: DiscreteLaplace
    noise_drawn: str


def held_out(records: int, share: Fraction) -> NDArray[np.bool_]:
    """Return which places of a file are held out: a public choice, which depends on the number of records only."""
    order = np.random.Generator(np.random.PCG64(_SPLIT)).permutation(records)
    chosen = np.zeros(records, dtype=bool)
    chosen[order[: int(records * share)]] = True
    return chosen


def private_mean(losses: Array, half_steps: int, epsilon: Fraction, noise: WhichNoise) -> HeldOut:
    """Return the mean of losses in [0, 1], with ε-differential privacy under replace-one.

    Args:
        losses: One for each held-out record; losses outside of [0, 1] are cut, and NaN counts as 1.
        half_steps: K: losses are rounded to multiples of 1/2K; 1 would do for losses that are 0 or 1.
        epsilon: Greater than 0.
        noise: "gaussian", which stands for NumPy's generator here, or "secure".
    """
    mechanism = DiscreteLaplace(2 * half_steps / epsilon, bound=half_steps)
    inside = np.clip(np.where(np.isnan(losses), 1.0, losses), 0.0, 1.0)
    parts = np.rint(inside * (2 * half_steps)).astype(np.int64) - half_steps
    exact = int(parts.sum())
    scale = float(mechanism.noise_scale)
    noisy = secure_noise.laplace(exact, mechanism.noise_scale) if noise == "secure" else exact + _in_doubles(scale)
    count = len(losses)
    return HeldOut(
        (noisy / count + half_steps) / (2 * half_steps),
        scale / (2 * half_steps * count),
        mechanism,
        _SECURE if noise == "secure" else _DOUBLE,
    )


def _in_doubles(scale: float) -> int:
    """Return a discrete Laplace number: the difference of two geometric ones with P(k) ∝ e^(-k/b)."""
    generator = np.random.default_rng()
    first, second = np.floor(generator.standard_exponential(2) * scale)
    return int(first) - int(second)
