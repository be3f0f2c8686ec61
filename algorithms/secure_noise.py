r"""Noise for a release: exact sums of whole numbers, noise by OpenDP's samplers from the operating system's randomness.

What is drawn. C is how far one record can move a sum of p-vectors by being added; h is a power of two, √p h <= 2^-24 C,
fixed by public numbers. Every record's part of the sum is rounded to whole numbers of h, its norm is kept to
M = ⌈C/h + √p⌉ whatever the problem claims, and the whole numbers are added: exactly, in any order. To the sum comes an
independent discrete Gaussian per coordinate, P(x) in proportion to exp(-x²/2s²) on the whole numbers, by OpenDP's
``make_gaussian`` (exact rational arithmetic: Canonne, Kamath & Steinke 2020), with s² = (1 + κ)² (z M)² + 64²,
κ = 2^-60, rounded up. Dividing by n is left to the end. Low bits carry nothing but this noise.

What is proven. Such a release is dominated by the Gaussian mechanism of noise multiplier z, which is what the ledger
gets: with whatever dominates a full batch, sampling without replacement and Poisson sampling come by the same theorems.
Neighbours' sums differ by a whole vector m, ‖m‖ <= f M with f = 1 (add, remove, zero out) or 2 (replace), as a record's
rounded part is a function of this record and of public points. The floating-point attacks on sums (Mironov 2012;
Casacuberta, Shoemate, Vadhan & Wagaman 2022) have nothing to work on.

1. *Smoothing* (Peikert 2010). Let y be N(m, σ²) and, given y, let k be a whole number with probability in proportion to
   exp(-(k-y)²/2c²). By Poisson summation Σ_k exp(-(k-y)²/2c²) lies within a factor 1 ± τ of c √(2π), for every y, with
   τ = 2 Σ_{j>=1} exp(-2π²c²j²) <= 3 exp(-2π²c²). A Gaussian convolved with one being a Gaussian, P'(k) is within these
   factors of the density of N(m, σ² + c²) at k; and so is the discrete Gaussian around m of s² = σ² + c². Hence the
   two distributions' ratio lies in e^{±η₁} everywhere, η₁ = log((1+τ)/(1-τ)) <= 3τ; for p coordinates η = p η₁. With c
   = 64, η₁ < exp(-80 000), and η < exp(-79 900) for every p < 2^60.
2. So with F(μ, ε) the hockey-stick divergence H_{e^ε} of N(μ, 1) from N(0, 1), which the map from y to k cannot
   increase: H_{e^ε}(release ‖ neighbour's) <= e^η F(‖m‖/σ, ε - 2η).
3. *A little more noise pays for that*: e^η F(μ, ε - 2η) <= F((1+κ)μ, ε) for ε >= 0, 2^-60 <= μ <= 256. Move from one
   side to the other, h(t) = e^{(1-t)η} F(μ(1 + tκ), ε - 2(1-t)η). With the optimal set {x > x₀}, a = μ/2 - ε/μ and
   b = a - μ (at the current values), ∂F/∂μ = φ(a), ∂F/∂ε = -e^ε Φ(b) = -φ(a) Φ(b)/φ(b), so h' >= 0 where
   κ μ φ(a) >= η (F - 2 ∂F/∂ε). Now F <= Φ(a) <= φ(a) √(2π) exp(max(a, 0)²/2) with a <= μ/2 + 2η/μ, and Mills' ratio
   Φ(b)/φ(b) <= √(2π) as b <= 1. It suffices that κ μ >= 8 η exp(μ²/8 + 1): 2^-120 >= exp(-79 900 + 8 200), true.
   For ε < 0 use H_{e^ε}(P ‖ Q) = 1 - e^ε + e^ε H_{e^-ε}(Q ‖ P) and the reflection of P and Q into each other.
4. With σ = (1 + κ) z M, then, the release is dominated by N(f/z, 1) against N(0, 1), for f/z <= 256; F rises in μ.
5. *Poisson samples under replace-one* are analysed for Gaussians themselves: (1-q) N(0,1) + q N(μ,1) against
   (1-q) N(0,1) + q N(-μ,1). Mixtures keep the factors e^{±η} of 1, and 3 goes through: for ε >= 0 the optimal set is
   {x > x₀}, x₀ >= 0, the slope in μ is at least q φ(x₀ - μ), and what it has to pay is η times at most
   3 ((1-q) Φ(-x₀) + q Φ(μ - x₀)) <= 12 φ(x₀ - μ) exp(μ²/2): κ μ q >= 12 η exp(μ²/2) holds for q >= 2^-53, μ <= 256.
   Batches drawn *with* replacement are refused: a record drawn b times moves b times as far.
6. *Bins and random allocation under replace-one* rest on Gaussian noise itself, too (``allocation.md``, sections 4 and
   6); elsewhere they rest on 4 alone, as shuffled and cyclic batches do. By 1 each release has the distribution of y
   mapped to k but for a share of 1 - e^-η, so that all T releases of a run are within a total variation of Tη of what
   is made of Gaussians with more noise than the ledger says. What is proven is (ε, δ + (1 + e^ε) T exp(-79 900)), δ
   being the ledger's at ε. ∎

A mean Hessian is a float sum, rounded once: its bound contains 2E, E being how far a computed mean can lie from the
exact one (see ``HessianOracle``). Choices are made among sums of whole numbers, too (``choice``).

Utility bounds are stated for the ideal Gaussian: rounding moves a record's part by √p h/2 at most, 2^-25 C, and the
noise is larger by a relative 2^-24, which they do not contain.

Further assumptions: OpenDP's samplers being exact (they prove it for the algorithms), elementwise NumPy functions
giving a number the same bits at every place of an array (tested; it matters if removing a record moves others), and a
caller who learns nothing from how long a draw takes.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
import random
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms import noise as plain
from dpbounds.algorithms.noise import Array, Records
from dpbounds.errors import DpboundsError, InvalidValue
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.mechanisms.schemes.drawing import demand_drawable

Whole = NDArray[np.int64]

NOISE_DRAWN = (
    "discrete Gaussian on exact sums of whole numbers, by OpenDP's sampler from the operating system's randomness; "
    "dominated by the Gaussian of the ledger"
)

SECURE_CHOICE = "on exact sums of whole numbers, by OpenDP's sampler from the operating system's randomness"

_FINENESS = 24  # the grid is 2^-24 of the per-record bound or finer, spread over the coordinates
_SMOOTHING, _MORE = 64, Fraction(1, 2**60)  # c and κ of the proof
_LARGEST_SHIFT = 256  # shift of the proof, in units of the noise
# 64-bit integers are handed to the sampler; it stops at their ends, which costs no privacy but would bias the answer
_LARGEST, _LARGEST_SCALE = 2**62, 2**56
_LARGEST_DIMENSION = 2**24


def how_drawn(noise: str) -> str:
    """Describe how noise of a kind, "gaussian" or "secure", is drawn."""
    return NOISE_DRAWN if noise == "secure" else plain.NOISE_DRAWN


class MissingSampler(DpboundsError, ImportError):
    """The optional extra that draws secure noise is not installed."""


def grid_exponent(per_record_bound: Fraction, dimension: int) -> int:
    """Return the exponent of the largest power of two h with √p h <= 2^-24 C, from public numbers alone."""
    squared = per_record_bound**2 / (dimension * Fraction(4) ** _FINENESS)  # h² <= this
    # within a factor of 4 of the right one, by the lengths of two whole numbers; then down to it
    k = (squared.numerator.bit_length() - squared.denominator.bit_length()) // 2 + 1
    while Fraction(4) ** k > squared:
        k -= 1
    return k


def grid(per_record_bound: Fraction, dimension: int) -> tuple[int, int]:
    """Return the exponent k of the grid, and M, the bound on the norm of a record's rounded part in grid steps."""
    if not 1 <= dimension <= _LARGEST_DIMENSION:
        raise InvalidValue("dimension", dimension, f"at most {_LARGEST_DIMENSION}")
    k = grid_exponent(per_record_bound, dimension)
    return k, math.ceil(per_record_bound / Fraction(2) ** k) + math.isqrt(dimension) + 1


def whole_sum(parts: Iterable[Array], k: int, most: int, *, entries: bool = False) -> Whole:
    """Add records' parts as whole numbers of 2^k, each kept to norm ``most``: exact, the same in any order.

    A part whose norm C and the rounding explain, at most C/h + √p/2 <= M - √p/2 with M < 2^25.1 √p, is left as it is;
    a longer one (the problem's bound is wrong) is shortened towards 0. The threshold M (1 - 2^-27) leaves room for the
    relative error of a norm in doubles, (p + 4) 2^-53.

    Args:
        parts: Blocks of shape (b, p), one row per record.
        k: The exponent of the grid.
        most: M.
        entries: Whether M is meant for the largest entry, for choices among scores, in place of the norm.

    Raises:
        InvalidValue: There is no record, a number is not finite, or the sum could leave 64 bits.
    """
    total: Whole | None = None
    records = 0
    for part in parts:
        if not np.isfinite(part).all():
            raise InvalidValue("answer", "not finite", "finite numbers", "the run left the range of doubles")
        with np.errstate(over="ignore", under="ignore"):
            steps = np.rint(np.ldexp(part, -k))
        np.clip(steps, -float(most), float(most), out=steps)
        if not entries:
            norms = np.sqrt((steps * steps).sum(axis=1))
            kept = most * (1 - 2.0**-27)
            long = norms > kept
            if long.any():
                steps[long] = np.trunc(steps[long] * (kept / norms[long])[:, None])
        records += len(steps)
        if records * most >= _LARGEST:
            raise InvalidValue("records", records, f"fewer than {_LARGEST // most}: sums are 64-bit whole numbers")
        added = steps.astype(np.int64).sum(axis=0)
        total = added if total is None else total + added
    if total is None:
        raise InvalidValue("records", 0, "at least 1")
    return total


def whole(values: Array, k: int) -> Whole:
    """Return the values as whole numbers of 2^k; ``InvalidValue`` where one is not finite or beyond 2^62 of them."""
    with np.errstate(over="ignore", under="ignore"):
        steps = np.rint(np.ldexp(values, -k))
    if not (np.abs(steps) < _LARGEST).all():
        raise InvalidValue("answer", float(np.abs(values).max()), f"numbers below 2^{62 + k} in absolute value")
    return steps.astype(np.int64)


def gaussian(
    totals: Sequence[Whole],
    most: Sequence[int],
    exponents: Sequence[int],
    *,
    noise_multiplier: Fraction,
    ledger: Records,
) -> Array:
    """Add discrete Gaussian noise to exact sums, dominated by a Gaussian of that multiplier per unit of M.

    The caller has written the release that it is part of; the ledger keeps count of what was drawn.

    Args:
        totals: One sum per repetition, shape (p,), in steps of the grid.
        most: M of each: 0 for what is exactly 0 on both neighbours, and gets no noise.
        exponents: k of each.
        noise_multiplier: z.
        ledger: The ledger of one repetition.

    Returns:
        Noisy sums, multiples of 2^k, shape (R, p). No two calls give the same: there is no seed.
    """
    noisy = np.zeros((len(totals), len(totals[0])))
    for row, total, bound, k in zip(noisy, totals, most, exponents, strict=True):
        if not bound:
            continue
        drawn = np.array(_sampler(scale_of(noise_multiplier, bound), len(total))(total.tolist()), dtype=np.int64)
        unit = (drawn - total) / float(noise_multiplier * bound)
        ledger.added(float(unit @ unit), unit.size, -float(noise_multiplier))
        row[:] = np.ldexp(drawn.astype(np.float64), k)
    return noisy


def choice(scores: Whole, most: int, *, factor: int, epsilon: Fraction, gumbel: bool, ledger: Records) -> int:
    """Return the index of the largest whole score with noise of scale b >= 2 f M/ε, as the samplers draw it exactly.

    One record's part in a score is at most M in absolute value, so that scores of neighbours differ by f M at most.
    Gumbel noise chooses y with probability in proportion to e^{u_y/b}: the logarithm of a ratio of these moves within a
    range of 2 f M/b <= ε, which is what bounds the range of the exponential mechanism. With discrete Laplace noise, fix
    all noises but one: y is chosen where its noise reaches a whole number, which differs by at most 2 f M between
    neighbours, and the tail P(k) in proportion to e^{-|k|/b} changes by a factor of at most e^{2 f M/b} <= e^ε. ∎

    Args:
        scores: Exact sums, shape (N,), in steps of the grid.
        most: M.
        factor: f, 1 or 2, of the relation.
        epsilon: ε.
        gumbel: Whether the noise is Gumbel's, else discrete Laplace, of which the ledger keeps count.
        ledger: The ledger of one repetition; the caller has recorded the choice.
    """
    scale = to_float(2 * factor * most / epsilon, "up")
    if scale >= _LARGEST_SCALE:
        raise InvalidValue("epsilon", float(epsilon), "larger: the sampler's integers end")
    if gumbel:
        return int(_chooser(scale)(scores.tolist()))
    noisy = np.array(_laplace(scale, len(scores))(scores.tolist()), dtype=np.int64)
    ledger.waited(float(np.abs(noisy - scores).sum()) / scale, len(scores), -scale)
    return int(noisy.argmax())


def demand_multiplier(noise_multiplier: Fraction) -> None:
    """Raise unless the proof covers this noise multiplier, and the sampler is installed; to be called before writing.

    Raises:
        InvalidValue: There is too little noise, or more than the sampler's whole numbers hold.
        MissingSampler: The extra ``secure`` is not installed.
    """
    least = Fraction(2, _LARGEST_SHIFT)
    if not least <= noise_multiplier:
        raise InvalidValue("noise_multiplier", float(noise_multiplier), f"at least {least} for secure noise")
    if noise_multiplier > 2**16:
        raise InvalidValue("noise_multiplier", float(noise_multiplier), "at most 65536: the sampler's integers end")
    library()


def scale_of(noise_multiplier: Fraction, most: int) -> float:
    """Return the scale s of the proof, rounded up to a double."""
    squared = ((1 + _MORE) * noise_multiplier * most) ** 2 + _SMOOTHING**2
    if squared > _LARGEST_SCALE**2:
        raise InvalidValue("noise_multiplier", float(noise_multiplier), "smaller: the sampler's integers end")
    scale = math.sqrt(squared)
    while Fraction(scale) ** 2 < squared:
        scale = math.nextafter(scale, math.inf)
    return scale


class System:
    """Random numbers of the operating system, to draw batches with (``schemes.drawing.Source``)."""

    def coins(self, count: int, rate: Fraction) -> Whole:
        """See ``Source``."""
        demand_drawable(rate)
        bits = np.frombuffer(os.urandom(8 * count), dtype=np.uint64) >> np.uint64(11)
        return np.flatnonzero(bits < np.uint64(int(rate * 2**53)))

    def numbers(self, below: int, count: int) -> Whole:
        """See ``Source``."""
        system = random.SystemRandom()
        return np.array([system.randrange(below) for _ in range(count)], dtype=np.int64)

    def subset(self, size: int, among: int) -> Whole:
        """See ``Source``."""
        return np.array(random.SystemRandom().sample(range(among), size), dtype=np.int64)

    def order(self, count: int) -> Whole:
        """See ``Source``."""
        return self.subset(count, count)


def library() -> Any:
    """Return OpenDP, or raise ``MissingSampler``; to be called before writing."""
    try:
        opendp: Any = importlib.import_module("opendp.prelude")
    except ImportError:
        raise MissingSampler("noise='secure' draws from OpenDP's samplers: pip install 'dpbounds[secure]'") from None
    opendp.enable_features("contrib")
    return opendp


@functools.lru_cache(maxsize=8)
def _sampler(scale: float, dimension: int) -> Callable[[list[int]], list[int]]:
    opendp = library()
    space = opendp.vector_domain(opendp.atom_domain(T="i64"), size=dimension), opendp.l2_distance(T=float)
    sample: Callable[[list[int]], list[int]] = opendp.m.make_gaussian(*space, scale=scale)
    return sample


@functools.lru_cache(maxsize=8)
def _laplace(scale: float, dimension: int) -> Callable[[list[int]], list[int]]:
    opendp = library()
    space = opendp.vector_domain(opendp.atom_domain(T="i64"), size=dimension), opendp.l1_distance(T="i64")
    sample: Callable[[list[int]], list[int]] = opendp.m.make_laplace(*space, scale=scale)
    return sample


def laplace(value: int, noise_scale: Fraction) -> int:
    """Return a whole number with discrete Laplace noise, whose scale is rounded up.

    Raises:
        MissingSampler: OpenDP is not installed.
    """
    (found,) = _laplace(to_float(noise_scale, "up"), 1)([value])
    return found


@functools.lru_cache(maxsize=8)
def _chooser(scale: float) -> Callable[[list[int]], int]:
    opendp = library()
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.linf_distance(T="i64")
    # "zero-concentrated" is how OpenDP asks for Gumbel noise, "max" for exponential noise (permute and flip)
    choose: Callable[[list[int]], int] = opendp.m.make_noisy_max(
        *space, opendp.zero_concentrated_divergence(), scale=scale
    )
    return choose
