"""The bound on δ that integer masses prove: the same integers as the checker in ``proofs/kernel/checker.v`` computes.

Used to choose a claim that the checker accepts. Nothing is taken from here: the checker computes everything anew.
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
class Profile:
    """A claim about one class of neighbours: δ, and what it is computed of.

    Attributes:
        bits: Masses are multiples of 2^-bits.
        threshold: A lower bound of e^ε.
        factor: A lower bound of e^-h, for the width h of the lattice.
        delta: The claim.
        kinds: The steps.
    """

    bits: int
    threshold: Binary
    factor: Binary
    delta: Binary
    kinds: tuple[Kind, ...]


def bound(bits: int, threshold: Binary, factor: Binary, kinds: Sequence[Kind]) -> tuple[int, int]:
    """Return the proven δ as a multiple of 2^-(bits + factor[1]), and what of it is not the weighted sum."""
    exponent = factor[1]
    first, masses = 0, fmpz_poly([1 << bits])
    for kind in reversed(kinds):
        first, masses = _convolution(
            bits, _power(lambda x, y: _convolution(bits, x, y), (0, fmpz_poly(list(kind.masses))), kind.count), (first, masses)
        )

    def times(x: Binary, y: Binary) -> Binary:
        return _times_down(2 * exponent, x, y)

    ratio = reduce(lambda x, kind: times(_power(times, kind.ratio, kind.count), x), reversed(kinds), threshold)
    ratio = times(ratio, _power(times, factor, first)) if first else ratio
    y, weighted, kept = (ratio[0] << exponent) >> ratio[1], 0, 0
    for mass in masses.coeffs():
        weighted += int(mass) * max(0, (1 << exponent) - y)
        kept += int(mass)
        y = (y * factor[0]) >> exponent

    def times_up(x: int, y: int) -> int:
        return -(-x * y >> bits)

    total = reduce(
        lambda x, kind: times_up(_power(times_up, sum(kind.masses), kind.count), x), reversed(kinds), 1 << bits
    )
    rest = (sum(kind.count * kind.infinite for kind in kinds) + max(0, total - kept)) << exponent
    return weighted + rest, rest


def _power(times: Callable[[_T, _T], _T], x: _T, count: int) -> _T:
    if count == 1:
        return x
    half = _power(times, x, count // 2)
    square = times(half, half)
    return times(x, square) if count % 2 else square


def _convolution(bits: int, x: _Measure, y: _Measure) -> _Measure:
    masses = [int(c) >> bits for c in (x[1] * y[1]).coeffs()]
    zeros = next((i for i, mass in enumerate(masses) if mass), len(masses))
    return x[0] + y[0] + zeros, fmpz_poly(masses[zeros:])


def _times_down(bits: int, x: Binary, y: Binary) -> Binary:
    number, exponent = x[0] * y[0], x[1] + y[1]
    cut = min(exponent, max(0, number.bit_length() - bits))
    return number >> cut, exponent - cut
