"""Noise for a release: discretised, drawn by OpenDP's samplers from the operating system's randomness.

What is drawn. With h a power of two, fixed by public numbers, every coordinate of the answer is rounded to a whole
number of h, and an independent discrete Gaussian on the integers, P(x) proportional to exp(-x²/2s²) with
s = stddev/h, is added by OpenDP's ``make_gaussian`` (exact rational arithmetic, no floating point: Canonne, Kamath &
Steinke 2020). Low bits carry nothing: every output is a multiple of h, whatever the data.

What is proven. A release is ρ-zCDP with ρ = (f C')²/(2 stddev²), where f is 1 (add or remove) or 2 (replace),
C' = C + √p h, C the per-record bound and p the dimension.

- Rounding. |round(a) - round(b)| <= |a - b| + 1, so two neighbours' integer vectors differ by at most f C/h + √p in l2
  norm (triangle inequality; the vector of ones has norm √p), which is at most f C'/h.
- Discrete Gaussian, one coordinate, integer shift m, order α > 1. Completing the square,
  exp((α-1) D_α) = Σ_x exp(-(α (x-m)² + (1-α) x²)/2s²) / Σ_x exp(-x²/2s²)
                 = exp(α (α-1) m²/2s²) · Σ_x exp(-(x-αm)²/2s²) / Σ_x exp(-x²/2s²),
  and by Poisson summation Σ_x exp(-(x-t)²/2s²) = s√(2π) Σ_k exp(-2π²s²k²) cos(2πkt) is largest at t = 0. So
  D_α <= α m²/2s². Coordinates are independent: their divergences add up to α ‖m‖²/2s². ∎

So what the ledger gets is ``ZCDP(ρ, relation)``, never ``Gaussian``: that the discretised noise has the Gaussian's own
(smaller) curve is not proven here. The curve of ρ-zCDP is what a certified account of such a ledger rests on; it
costs some 10 % more noise at usual budgets.

Utility bounds are stated for the ideal Gaussian of the same level: rounding to the grid moves an answer by √p h/2 at
most, 2^-25 of the per-record bound, which they do not contain. Privacy does not rest on them.

What it rests on beyond that: OpenDP's sampler being exact (they prove it for the algorithm), and, as everywhere in
this package, the answer before rounding being computed as exact arithmetic would have it up to its own rounding.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpbounds.algorithms import noise as plain
from dpbounds.algorithms.noise import Array, Records
from dpbounds.errors import DpboundsError, InvalidValue
from dpbounds.privacy.mechanisms import ZCDP
from dpbounds.privacy.relations import Relation

NOISE_DRAWN = (
    "discrete Gaussian on a grid, by OpenDP's sampler from the operating system's randomness; accounted for as zCDP, "
    "with the rounding to the grid"
)

_FINENESS = 24  # the grid is 2^-24 of the per-record bound or finer, spread over the coordinates
# 64-bit integers are handed to the sampler; it stops at their ends, which costs no privacy but would bias the answer
_LARGEST, _LARGEST_SCALE = 2**62, 2.0**56


def how_drawn(noise: str) -> str:
    """How noise of a kind, "gaussian" or "secure", is drawn, in words."""
    return NOISE_DRAWN if noise == "secure" else plain.NOISE_DRAWN


class MissingSampler(DpboundsError, ImportError):
    """The optional extra that draws secure noise is not installed."""


def grid_exponent(per_record_bound: Fraction, dimension: int) -> int:
    """The exponent k of h = 2^k: the largest power of two with √p h <= 2^-24 C. A function of public numbers alone."""
    squared = per_record_bound**2 / (dimension * Fraction(4) ** _FINENESS)  # h² <= this
    k = (math.frexp(float(squared))[1]) // 2 + 1  # too large by a little; then down to the right one
    while Fraction(4) ** k > squared:
        k -= 1
    return k


def rho(noise_stddev: float, per_record_bound: Fraction, dimension: int, relation: Relation) -> Fraction:
    """ρ = (f C')²/(2 stddev²) of one release, rounded up nowhere but in √p."""
    h = Fraction(2) ** grid_exponent(per_record_bound, dimension)
    root = Fraction(math.isqrt(dimension << 80) + 1, 1 << 40)
    return (relation.sensitivity_factor * (per_record_bound + root * h) / Fraction(noise_stddev)) ** 2 / 2


def gaussian(
    values: Array, *, noise_stddev: float, per_record_bound: Fraction, relation: Relation, ledger: Records
) -> Array:
    """Write the release, then round every value to the grid and add discrete Gaussian noise.

    Args:
        values: Exact answers, shape (R, p).
        noise_stddev: Of the noise, in the units of the answer; greater than 0.
        per_record_bound: C, in l2 norm and the same units.
        relation: That the ledger's entry is written for.
        ledger: Gets ``ZCDP(ρ, relation)``.

    Returns:
        Noisy answers, multiples of h, shape (R, p). No two calls give the same: there is no seed.

    Raises:
        InvalidValue: The standard deviation is not positive, or a value is too large for the grid.
        MissingSampler: The extra ``secure`` is not installed. Nothing was written.
    """
    if not (math.isfinite(noise_stddev) and noise_stddev > 0):
        raise InvalidValue("noise_stddev", noise_stddev, "a finite number greater than 0", "no noise means no privacy")
    dimension = values.shape[1]
    k = grid_exponent(per_record_bound, dimension)
    whole = np.rint(np.ldexp(values, -k))
    if not (np.abs(whole) < _LARGEST).all():
        raise InvalidValue("answer", float(np.abs(values).max()), f"numbers below 2^{62 + k} in absolute value")
    scale = math.ldexp(noise_stddev, -k)  # by a power of two: exact
    if not scale < _LARGEST_SCALE:
        raise InvalidValue("noise_stddev", noise_stddev, f"a number below 2^{56 + k}: the sampler's integers end")
    sample = _sampler(scale, dimension)
    ledger.release(ZCDP(rho(noise_stddev, per_record_bound, dimension, relation), relation=relation))
    noisy = np.array([sample([int(value) for value in row]) for row in whole], dtype=object)
    return np.ldexp(noisy.astype(np.float64), k)


@functools.lru_cache(maxsize=8)
def _sampler(scale: float, dimension: int) -> Callable[[list[int]], list[int]]:
    try:
        opendp: Any = importlib.import_module("opendp.prelude")
    except ImportError:
        raise MissingSampler("noise='secure' draws from OpenDP's samplers: pip install 'dpbounds[secure]'") from None
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64"), size=dimension), opendp.l2_distance(T=float)
    sample: Callable[[list[int]], list[int]] = opendp.m.make_gaussian(*space, scale=scale)
    return sample
