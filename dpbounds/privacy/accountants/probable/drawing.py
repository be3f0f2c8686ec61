"""Uniform and normal numbers from random bits."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbounds.errors import InvalidValue
from dpbounds.limits import COUNT

Floats = NDArray[np.float64]
Bits = Callable[[int], bytes]


def source(seed: int | None) -> Bits:
    """Return random bits of the operating system; with a seed, the same ones each time."""
    if seed is None:
        return os.urandom
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < COUNT:
        raise InvalidValue("seed", seed, "None, or a whole number of at least 0")
    return np.random.default_rng(seed).bytes


def uniform(bits: Bits, *shape: int) -> Floats:
    """Return numbers in (0, 1), uniformly distributed on odd multiples of 2^-54."""
    words = np.frombuffer(bits(8 * math.prod(shape)), dtype=np.uint64) >> np.uint64(11)
    return ((words.astype(np.float64) + 0.5) * 2.0**-53).reshape(shape)


def normal(bits: Bits, rows: int, columns: int) -> Floats:
    """Return standard normal numbers (Box & Muller 1958)."""
    half = -(-columns // 2)
    radius, angle = np.sqrt(-2 * np.log(uniform(bits, rows, half))), 2 * math.pi * uniform(bits, rows, half)
    return np.concatenate((radius * np.cos(angle), radius * np.sin(angle)), axis=1)[:, :columns]
