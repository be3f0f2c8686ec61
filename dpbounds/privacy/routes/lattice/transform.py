"""A discrete Fourier transform of real data in float64 whose round-off is bounded by proof.

No library transform: every operation is an elementwise one of NumPy on real arrays, so that the only assumption is
IEEE-754 arithmetic. Sections 1 and 2 of ``fourier.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from dpbounds.errors import InvalidValue
from dpbounds.expressions.working import working
from dpbounds.privacy.proofs import Declined

Floats = NDArray[np.float64]

UNIT = 2.0**-53  # u: relative error of one operation
TINY = 2.0**-900  # what underflow may add to any norm
LARGEST_LENGTH = 1 << 22
_SMALLEST_LENGTH = 4
_COLUMNS = 128  # transformed at a time: they and their copies fit into a core's cache
_TABLE_BITS = 80


@dataclass(frozen=True, slots=True)
class Spectrum:
    """F_0, ..., F_{N/2} of N real numbers (the others are their conjugates)."""

    re: Floats  # real parts, N/2 + 1 of them
    im: Floats  # imaginary parts

    @property
    def length(self) -> int:
        """N."""
        return 2 * (len(self.re) - 1)

    def magnitudes(self) -> Floats:
        """Return |F_k|, each within 3u relative and 2^-500."""
        return np.sqrt(self.re * self.re + self.im * self.im)


@lru_cache(maxsize=64)
def relative_error(length: int) -> float:
    """Return η with ‖computed − exact‖₂ <= η ‖exact‖₂ + TINY, for ``forward`` and for ``inverse``; N = ``length``."""
    _check_length(length)
    with working(_TABLE_BITS):
        u = arb(UNIT)
        product = (1 + arb(2).sqrt()) * u * (1 + u)  # relative error of a product of two complex numbers
        stage = (product * (1 + u) + u) * (1 + u) + u  # a difference times a root that is off by at most u
        fine = product * (1 + u) ** 2 + 2 * u + u * u  # a root that is the product of two
        turn = product * (1 + fine) + fine
        halves = turn * (1 + u) + u
        split = u + (1 + u) * (u * u + halves * halves).sqrt()
        stages = (length // 2).bit_length() - 1
        return above((1 + stage) ** stages * (1 + turn) * (1 + split) - 1)


def forward(values: Floats) -> Spectrum:
    """Return F_k = Σ_n x_n exp(-2πi k n / N), k = 0, ..., N/2, for N real numbers, N a power of two from 4 to 2^22.

    In the norm of all N frequencies ‖F̂ − F‖₂ <= η ‖F‖₂ + TINY with η = ``relative_error(N)``, for |x_n| <= 2^100.

    Raises:
        InvalidValue: N is not a power of two, or out of range.
    """
    _check_length(len(values))
    re, im = _complex_transform(values[0::2], values[1::2])
    re, im = np.append(re, re[0]), np.append(im, im[0])  # Z_M = Z_0
    # E + w O and E - w O are the two halves of the spectrum; E = (Z_k + conj Z_{M-k})/2, O = (Z_k - conj Z_{M-k})/2i
    cos, sin = _half_circle(len(values))
    odd_re, odd_im = (im + im[::-1]) * 0.5, (re[::-1] - re) * 0.5
    re, im = (re + re[::-1]) * 0.5, (im - im[::-1]) * 0.5
    half = len(cos)
    re[:half] += odd_re[:half] * cos - odd_im[:half] * sin
    im[:half] += odd_re[:half] * sin + odd_im[:half] * cos
    re[half] -= odd_re[half]
    im[half] = 0.0
    return Spectrum(re, im)


def inverse(spectrum: Spectrum) -> Floats:
    """Return x_n = (1/N) Σ_k F_k exp(2πi k n / N) over all N frequencies; the same bound as for ``forward``.

    (F_0 and F_{N/2} are taken as real.)
    """
    length = spectrum.length
    _check_length(length)
    half = length // 2
    re, im = spectrum.re, spectrum.im.copy()
    im[0] = im[half] = 0.0
    z_re, z_im = _halves_joined(re, im, *_half_circle(length))
    del im
    np.negative(z_im, out=z_im)
    z_re, z_im = _complex_transform(z_re, z_im)
    values = np.empty(length)
    np.multiply(z_re, 1.0 / half, out=values[0::2])
    np.multiply(z_im, -1.0 / half, out=values[1::2])
    return values


def _halves_joined(re: Floats, im: Floats, cos: Floats, sin: Floats) -> tuple[Floats, Floats]:
    """Return Z = E + i conj(w) D with E = (G_k + conj G_{M-k})/2, D = (G_k - conj G_{M-k})/2."""
    half = len(cos)
    d_re, d_im = ((re - re[::-1]) * 0.5)[:half], ((im + im[::-1]) * 0.5)[:half]
    z_re = ((re + re[::-1]) * 0.5)[:half]
    z_re -= d_im * cos - d_re * sin
    z_im = ((im - im[::-1]) * 0.5)[:half]
    d_re *= cos
    d_im *= sin
    d_re += d_im
    z_im += d_re
    return z_re, z_im


def _check_length(length: int) -> None:
    if not _SMALLEST_LENGTH <= length <= LARGEST_LENGTH or length & (length - 1):
        raise InvalidValue("length", length, f"a power of two from {_SMALLEST_LENGTH} to {LARGEST_LENGTH}")


def _complex_transform(re: Floats, im: Floats) -> tuple[Floats, Floats]:
    """Return Σ_n z_n exp(-2πi k n / M): columns, a twist, rows (M = R·C, n = C·r + c, k = j + R·l)."""
    size = len(re)
    rows = 1 << ((size.bit_length() - 1) // 2)
    columns = size // rows
    re, im = re.reshape(rows, columns), im.reshape(rows, columns)
    cos, sin = _twist(size)
    turned_re, turned_im = np.empty((columns, rows)), np.empty((columns, rows))
    for first in range(0, columns, _COLUMNS):
        part = slice(first, first + _COLUMNS)
        a, b = re[:, part].copy(), im[:, part].copy()
        _columns_in_place(a, b)
        c, s = cos[:, part], sin[:, part]
        turned_re[part] = (a * c - b * s).T
        turned_im[part] = (a * s + b * c).T
    del re, im
    out_re, out_im = np.empty((columns, rows)), np.empty((columns, rows))
    of_columns, of_rows = _reversed_bits(columns), _reversed_bits(rows)
    for first in range(0, rows, _COLUMNS):
        part = slice(first, first + _COLUMNS)
        a, b = turned_re[:, part].copy(), turned_im[:, part].copy()
        _columns_in_place(a, b)
        out_re[:, of_rows[part]] = a[of_columns]
        out_im[:, of_rows[part]] = b[of_columns]
    return out_re.reshape(-1), out_im.reshape(-1)


def _columns_in_place(re: Floats, im: Floats) -> None:
    """Transform each column; row r then holds the frequency whose bits are those of r in reverse."""
    size, width = re.shape
    if size == 1:
        return
    cos, sin = _roots(size)
    half = size // 2
    while half:
        shape = (-1, 2, half, width)
        a_re, b_re = np.moveaxis(re.reshape(shape), 1, 0)
        a_im, b_im = np.moveaxis(im.reshape(shape), 1, 0)
        d_re, d_im = a_re - b_re, a_im - b_im
        a_re += b_re
        a_im += b_im
        if half == 1:
            b_re[...], b_im[...] = d_re, d_im
        else:
            step = size // (2 * half)
            c, s = cos[::step, None], sin[::step, None]
            np.multiply(d_re, c, out=b_re)
            b_re -= d_im * s
            d_re *= s
            d_im *= c
            np.add(d_re, d_im, out=b_im)
        half //= 2


@lru_cache(maxsize=32)
def _reversed_bits(size: int) -> NDArray[np.intp]:
    bits = size.bit_length() - 1
    numbers = np.arange(size)
    result = np.zeros(size, dtype=np.intp)
    for i in range(bits):
        result |= ((numbers >> i) & 1) << (bits - 1 - i)
    return result


def _exact_roots(steps: range, size: int) -> tuple[Floats, Floats]:
    """Return exp(-2πi k / size) for k in ``steps``, each off by less than u."""
    cos, sin = np.empty(len(steps)), np.empty(len(steps))
    with working(_TABLE_BITS):
        allowed = arb(0.7 * UNIT)  # for either part, so that the two together stay below u
        for i, k in enumerate(steps):
            angle = arb(fmpq(-2 * k, size))
            c, s = angle.cos_pi(), angle.sin_pi()
            cos[i], sin[i] = float(c), float(s)
            if not (abs(c - cos[i]) <= allowed and abs(s - sin[i]) <= allowed):
                raise Declined("lattice: the roots of unity could not be tabulated")
    return cos, sin


@lru_cache(maxsize=32)
def _roots(size: int) -> tuple[Floats, Floats]:
    return _exact_roots(range(size // 2), size)


@lru_cache(maxsize=2)
def _half_circle(length: int) -> tuple[Floats, Floats]:
    """Return exp(-2πi k / N) for k = 0, ..., N/2 - 1, as products of two tabulated roots."""
    half = length // 2
    fine = 1 << (half.bit_length() // 2)
    c, s = (part[:, None] for part in _exact_roots(range(0, half, fine), length))
    d, t = _exact_roots(range(fine), length)
    return (c * d - s * t).reshape(-1), (c * t + s * d).reshape(-1)


@lru_cache(maxsize=2)
def _twist(size: int) -> tuple[Floats, Floats]:
    """Return exp(-2πi j c / M) at row r, column c, where j has the bits of r in reverse."""
    rows = 1 << ((size.bit_length() - 1) // 2)
    columns = np.arange(size // rows)
    cos, sin = _half_circle(2 * size)
    turned_cos, turned_sin = np.empty((rows, len(columns))), np.empty((rows, len(columns)))
    for row, j in enumerate(_reversed_bits(rows)):
        steps = 2 * j * columns  # steps on a circle of 2M, less than once around
        beyond = steps >= size
        sign = np.where(beyond, -1.0, 1.0)
        steps[beyond] -= size
        turned_cos[row], turned_sin[row] = cos[steps] * sign, sin[steps] * sign
    return turned_cos, turned_sin


def above(value: arb) -> float:
    """Return a double at or above a ball."""
    return float(np.nextafter(float(value.upper()), np.inf))
