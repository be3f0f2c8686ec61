"""The δ that integer masses prove, by the same integers as in ``proofs/kernel/checker.v``.

It serves to find a claim that the checker accepts. The checker computes everything anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

from flint import fmpz_poly

_T = TypeVar("_T")
Binary = tuple[int, int]  # (n, e) is n / 2^e
_Measure = tuple[int, fmpz_poly]  # first level, masses


@dataclass(frozen=True, slots=True)
class Kind:
    """Equal steps.

    Attributes:
        count: How many.
        ratio: A lower bound of Q/P at level 0.
        infinite: The mass at infinite loss.
        masses: The masses of the levels 0, 1, ...
    """

    count: int
    ratio: Binary
    infinite: int
    masses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """Steps on one lattice, composed.

    Attributes:
        bits: All masses are multiples of 2^-bits.
        factor: A lower bound of e^-h, where h is the width of the lattice.
        kinds: The steps.
        first: The first level with mass.
        masses: The masses from there on, rounded down.
        missing: The mass that was rounded away.
        infinite: The mass at infinite loss.
    """

    bits: int
    factor: Binary
    kinds: tuple[Kind, ...]
    first: int
    masses: tuple[int, ...]
    missing: int
    infinite: int

    @property
    def unit(self) -> int:
        """The e for which ``bound`` counts multiples of 2^-e."""
        return self.bits + self.factor[1]

    def bound(self, threshold: Binary) -> int:
        """Return the proven δ, in multiples of 2^-unit, where ``threshold`` is at most e^ε."""
        exponent = self.factor[1]

        def times(x: Binary, y: Binary) -> Binary:
            return _times_down(2 * exponent, x, y)

        ratio = reduce(lambda x, kind: times(_power(times, kind.ratio, kind.count), x), self.kinds[::-1], threshold)
        ratio = times(ratio, _power(times, self.factor, self.first)) if self.first else ratio
        y, found = (ratio[0] << exponent) >> ratio[1], (self.infinite + self.missing) << exponent
        for mass in self.masses:
            found += mass * max(0, (1 << exponent) - y)
            y = (y * self.factor[0]) >> exponent
        return found


def composed(bits: int, factor: Binary, kinds: Sequence[Kind]) -> Composition:
    """Compose steps."""

    def convolution(x: _Measure, y: _Measure) -> _Measure:
        masses = [int(c) >> bits for c in (x[1] * y[1]).coeffs()]
        zeros = next((i for i, mass in enumerate(masses) if mass), len(masses))
        return x[0] + y[0] + zeros, fmpz_poly(masses[zeros:])

    def times_up(x: int, y: int) -> int:
        return -(-x * y >> bits)

    measure, total = (0, fmpz_poly([1 << bits])), 1 << bits
    for kind in reversed(kinds):
        measure = convolution(_power(convolution, (0, fmpz_poly(list(kind.masses))), kind.count), measure)
        total = times_up(_power(times_up, sum(kind.masses), kind.count), total)
    masses = tuple(int(mass) for mass in measure[1].coeffs())
    infinite = sum(kind.count * kind.infinite for kind in kinds)
    return Composition(bits, factor, tuple(kinds), measure[0], masses, max(0, total - sum(masses)), infinite)


def _power(times: Callable[[_T, _T], _T], x: _T, count: int) -> _T:
    if count == 1:
        return x
    half = _power(times, x, count // 2)
    square = times(half, half)
    return times(x, square) if count % 2 else square


def _times_down(bits: int, x: Binary, y: Binary) -> Binary:
    number, exponent = x[0] * y[0], x[1] + y[1]
    cut = min(exponent, max(0, number.bit_length() - bits))
    return number >> cut, exponent - cut
