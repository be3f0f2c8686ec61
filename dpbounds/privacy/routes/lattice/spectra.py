"""The spectrum G = Π F_i^(T_i) of a composition: frequencies that matter, errors in float64, values in balls.

Section 4 of ``fourier.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb, arb, fmpq
from numpy.typing import NDArray

from dpbounds.expressions.working import working
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice.transform import (
    TINY,
    UNIT,
    Floats,
    Spectrum,
    above,
    forward,
    inverse,
    relative_error,
)
from dpbounds.privacy.routes.lattice.window import PRECISION, TiltedMeasure

Frequencies = NDArray[np.intp]

_EXACT_TERMS = 200_000  # b_k z^k in ball arithmetic (some 50 milliseconds) per side
_NEGLIGIBLE = 2.0**-30  # size of a frequency that is left out, relative to the allowed error
_SLACK = 1 + 2.0**-20  # covers the rounding of error bounds: sums of fewer than 2^30 positive numbers
_TINY_ROOT = 2.0**-500  # what underflow of squares may take from a square root
_LARGEST_COUNT = 1 << 40
_LARGEST_SPECTRA = 1 << 24  # numbers in all spectra together


@dataclass(frozen=True, slots=True)
class ComposedSpectrum:
    """G = Π F_i^(T_i) at 0 <= k <= N/2 (the other frequencies are conjugates)."""

    laws: tuple[TiltedMeasure, ...]  # the steps
    length: int  # N
    spectra: tuple[Spectrum, ...]  # F_i in float64
    errors: tuple[float, ...]  # at least ‖computed F_i - F_i‖₂, all N frequencies counted
    frequencies: Frequencies  # those k at which G is not known to be negligible
    # for each distribution T_i Π_j g_j^(T_j) / g_i there, where |F_j| and the computed |F_j| are at most g_j: by how
    # much G moves for a change of F_i
    sensitivities: tuple[Floats, ...]
    left_out: arb  # at least N^(-1/2) ‖G‖₂ over all other frequencies

    @classmethod
    def of(cls, laws: Sequence[TiltedMeasure], length: int, target: float) -> ComposedSpectrum:
        """Transform each distribution; frequencies with |G| far below ``target`` are left out."""
        if len(laws) * length > _LARGEST_SPECTRA:
            raise Declined("lattice: this many different steps need too much memory; ask for a looser tolerance")
        steps = sum(law.count for law in laws)
        if steps > _LARGEST_COUNT:
            raise Declined("lattice: more steps than the error bounds were derived for")
        spectra, errors, sizes, everywhere = [], [], [], np.ones(length // 2 + 1, dtype=np.bool_)
        left_out, most = arb(0), arb(1)
        with working(PRECISION):
            for law in laws:
                values = np.zeros(length)
                values[list(law.positions)] = law.nearest
                spectrum, error = forward(values), _error_of(law, length)
                total = law.total()
                most *= total.max(arb(1)) ** law.count
                computed = spectrum.magnitudes() * (1 + 8 * UNIT) + _TINY_ROOT
                size = np.maximum(computed, np.minimum((computed + error) * (1 + 2 * UNIT), above(total)))
                negligible = (target * _NEGLIGIBLE) ** (1 / law.count)
                everywhere &= size > negligible
                left_out = left_out.max(arb(negligible) ** law.count)
                spectra.append(spectrum)
                errors.append(error)
                sizes.append(size)
            if not most <= 2:
                raise Declined("lattice: the mass of the tilted measures is not known well enough")
            left_out *= 2
        frequencies = np.flatnonzero(everywhere)
        there = [size[frequencies] for size in sizes]
        powers = [_power_above(size, law.count) for size, law in zip(there, laws, strict=True)]
        product = np.prod(powers, axis=0) * _SLACK + TINY
        sensitivities = tuple(law.count * product / size for size, law in zip(there, laws, strict=True))
        return cls(tuple(laws), length, tuple(spectra), tuple(errors), frequencies, sensitivities, left_out)

    def for_balls(self, target: float) -> Frequencies:
        """Return the frequencies to compute in ball arithmetic, so that the rest stays below ``target`` if possible."""
        terms = sum(len(law.positions) for law in self.laws)
        if len(self.frequencies) * terms <= min(_EXACT_TERMS, 8 * self.length):
            return self.frequencies
        shares = sum(
            (s * error for s, error in zip(self.sensitivities, self.errors, strict=True)),
            np.zeros(len(self.frequencies)),
        ) / math.sqrt(self.length)
        order = np.argsort(-shares)[: max(1, _EXACT_TERMS // terms)]
        return np.sort(self.frequencies[order[shares[order] > target]])

    def in_balls(self, frequencies: Frequencies) -> list[tuple[int, acb]]:
        """Return G there, from the exact sums Σ b_n exp(-2πi k n / N)."""
        result = []
        with working(PRECISION + sum(law.count for law in self.laws).bit_length()):
            for k in frequencies.tolist():
                z = acb(arb(fmpq(-2 * k, self.length))).exp_pi_i()
                value = acb(1)
                for law in self.laws:
                    value *= law.frequency(z) ** law.count
                result.append((k, value))
        return result

    def masses(self, exact: Sequence[tuple[int, acb]]) -> tuple[Floats, arb]:
        """Return the inverse transform c of G, not clipped, and at least the norm of its error.

        Args:
            exact: G at some of the frequencies, in balls; elsewhere it is computed in float64.
        """
        known = np.array([k for k, _ in exact], dtype=np.intp)
        free = ~np.isin(self.frequencies, known)
        rest = self.frequencies[free]
        factors = [
            _power(spectrum.re[rest], spectrum.im[rest], law.count)
            for spectrum, law in zip(self.spectra, self.laws, strict=True)
        ]
        (product_re, product_im), *others = factors
        for re, im in others:
            product_re, product_im = product_re * re - product_im * im, product_re * im + product_im * re
        re, im = np.zeros(self.length // 2 + 1), np.zeros(self.length // 2 + 1)
        re[rest], im[rest] = product_re, product_im
        del factors, others, product_re, product_im
        of_rest = _norm(re, im)
        with working(PRECISION):
            squares = arb(0)
            for k, value in exact:
                re[k], im[k] = float(value.real), float(value.imag)
                squares += 2 * abs(value - acb(re[k], im[k])).upper() ** 2
            steps, u = sum(law.count for law in self.laws), arb(UNIT)
            powering = (1 + (1 + arb(2).sqrt()) * u * (1 + u)) ** (steps - 1) - 1
            error = squares.sqrt() + powering / (1 - powering) * of_rest
            for sensitivity, of_law in zip(self.sensitivities, self.errors, strict=True):
                error += arb(float(np.max(sensitivity[free], initial=0.0))) * of_law * _SLACK
            error += arb(relative_error(self.length)) * _norm(re, im)
            error = (error + 4 * TINY) / arb(self.length).sqrt() + self.left_out
            return inverse(Spectrum(re, im)), error + TINY


def _error_of(law: TiltedMeasure, length: int) -> float:
    """Return a number that is at least ‖F̂ - F‖₂: √N times (η ‖b̂‖₂ + ‖b̂ - b‖₂)."""
    norm, distance = arb(0), arb(0)
    for mass, number in zip(law.masses, law.nearest.tolist(), strict=True):
        norm += arb(number) ** 2
        distance += abs(mass - number).upper() ** 2
    return above(arb(length).sqrt() * (arb(relative_error(length)) * norm.sqrt() + distance.sqrt()) + 2 * TINY)


def _norm(re: Floats, im: Floats) -> arb:
    """Return a number that is at least the norm of a spectrum over all N frequencies, given at 0 <= k <= N/2."""
    return (arb(2 * float(np.sum(re * re + im * im))) * _SLACK + TINY).sqrt()


def _power_above(base: Floats, count: int) -> Floats:
    """Return a number that is at least base^count, for 0 < base < 2."""
    result = base.copy()
    for bit in bin(count)[3:]:
        result *= result
        if bit == "1":
            result *= base
    return result * (1 + 4 * count * UNIT) + TINY


def _power(re: Floats, im: Floats, count: int) -> tuple[Floats, Floats]:
    """Return (re + i im)^count by squaring and multiplying: count - 1 roundings at most in each."""
    power_re, power_im = re, im
    for bit in bin(count)[3:]:
        power_re, power_im = power_re * power_re - power_im * power_im, 2 * (power_re * power_im)
        if bit == "1":
            power_re, power_im = power_re * re - power_im * im, power_re * im + power_im * re
    return power_re, power_im
