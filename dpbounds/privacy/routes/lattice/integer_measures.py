"""Measures on a lattice with exact integer masses, and their convolution powers, rounded down by a known amount.

All masses sit in one large integer, in slots of equal width (Kronecker substitution): one product of large integers is
one convolution, one shift and one mask round every mass down. What rounding and cutting off lost is known exactly,
because total masses multiply. What would overflow a slot, or goes beyond the limits below, is declined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from dpbounds.expressions.time_limit import checkpoint
from dpbounds.privacy.proofs import Declined

LARGEST_WINDOW = 1 << 19  # slots; beyond that a query would take too long
LARGEST_WORK = 450_000_000  # bytes of products per query: some eight seconds
_SPARE_BITS = 4


@dataclass(slots=True)
class Work:
    """The work that a question may still take: bytes of its products, and cells that take the same time."""

    left: int = LARGEST_WORK

    def spend(self, amount: int) -> None:
        """Account for work before it is done: Declined beyond the limit, TimeIsUp beyond a time limit."""
        checkpoint()
        if amount > self.left:
            raise Declined("lattice: the work limit is reached; ask for a looser tolerance")
        self.left -= amount

    def reserve(self) -> None:
        """Make room for one more attempt at a looser tolerance, which needs a fraction of the work."""
        self.left = max(self.left, LARGEST_WORK // 4)


@dataclass(frozen=True, slots=True)
class Slots:
    """Packing of masses: ``unit_bits`` = B (a stored integer a means a·2^-B), ``width`` bits per slot."""

    unit_bits: int
    width: int

    @classmethod
    def holding(cls, bits: int) -> Slots:
        """Return slots of whole bytes that hold products of measures of mass about one, at ``bits`` bits or more."""
        octets = -(-(2 * bits + _SPARE_BITS) // 8)
        return cls((8 * octets - _SPARE_BITS) // 2, 8 * octets)


@dataclass(frozen=True, slots=True)
class IntegerMeasure:
    """Masses at the indices start, start+1, ..., in units of 2^-B."""

    packed: fmpz  # slot i of the integer is the mass at index start + i
    start: int  # first index
    length: int  # number of slots
    sum: int  # sum of all masses (exact), in the same units


def pack(masses: Sequence[tuple[int, int]], slots: Slots) -> IntegerMeasure:
    """Build a measure from (index, integer mass >= 0) pairs with distinct increasing indices."""
    everything = sum(mass for _, mass in masses)
    if not 0 < everything < 1 << (slots.width - slots.unit_bits):
        raise Declined(
            "lattice: the tilted measure of one step is empty or too large; the discretisation is too coarse"
        )
    octets = slots.width // 8
    start, length = masses[0][0], masses[-1][0] - masses[0][0] + 1
    _check_length(length)
    store = bytearray(length * octets)
    for index, mass in masses:
        at = (index - start) * octets
        store[at : at + octets] = mass.to_bytes(octets, "little")
    return IntegerMeasure(fmpz(int.from_bytes(store, "little")), start, length, everything)


def unpack(measure: IntegerMeasure, slots: Slots, first: int, last: int) -> list[int]:
    """Return the integer masses at the indices first, ..., last - 1, which lie inside the window."""
    octets = slots.width // 8
    part = _window(measure.packed, first - measure.start, last - first, slots)
    store = int(part).to_bytes((last - first) * octets, "little")
    return [int.from_bytes(store[i : i + octets], "little") for i in range(0, len(store), octets)]


def as_floats(measure: IntegerMeasure, slots: Slots) -> NDArray[np.float64]:
    """Return all masses as doubles, to choose parameters by (never part of a proof)."""
    octets = slots.width // 8
    store = np.frombuffer(int(measure.packed).to_bytes(measure.length * octets, "little"), dtype=np.uint8)
    table = store.reshape(measure.length, octets)
    values = np.zeros(measure.length)
    for column in range(-(-(slots.width - slots.unit_bits) // 8)):
        values += table[:, column] * 2.0 ** (8 * column - slots.unit_bits)
    return values


def mass_from(measure: IntegerMeasure, slots: Slots, first: int) -> int:
    """Return the exact mass at the indices first, first + 1, ... in units of 2^-B."""
    skipped = min(max(0, first - measure.start), measure.length)
    return _digit_sum(measure.packed >> (skipped * slots.width), slots)


def convolution(a: IntegerMeasure, b: IntegerMeasure, slots: Slots, work: Work) -> IntegerMeasure:
    """Return the convolution of two measures, every mass rounded down to a multiple of 2^-B."""
    length = a.length + b.length - 1
    _check_length(length)
    work.spend(length * slots.width // 8)
    if a.sum * b.sum >= 1 << slots.width:  # every slot of the product is at most the product of the sums
        raise Declined("lattice: the total mass grew beyond its slots; the discretisation is too coarse")
    packed = (a.packed * b.packed >> slots.unit_bits) & _mask(length, slots)
    return IntegerMeasure(packed, a.start + b.start, length, _digit_sum(packed, slots))


def power(base: IntegerMeasure, count: int, slots: Slots, allowance: float, work: Work) -> tuple[IntegerMeasure, int]:
    """Return the count-fold convolution power, rounded down; about ``allowance`` of mass may be cut off at each end.

    Returns:
        The power, and the largest window that occurred.
    """
    result, folds, largest = base, 1, base.length
    for bit in bin(count)[3:]:
        result, folds = convolution(result, result, slots, work), 2 * folds
        largest = max(largest, result.length)
        result = trimmed(result, slots, allowance * folds / count)
        if bit == "1":
            result, folds = convolution(result, base, slots, work), folds + 1
            largest = max(largest, result.length)
            result = trimmed(result, slots, allowance * folds / count)
    return result, largest


def trimmed(measure: IntegerMeasure, slots: Slots, allowance: float) -> IntegerMeasure:
    """Drop about ``allowance`` of mass (or less) at each end of the window."""
    values = as_floats(measure, slots)
    first = int(np.searchsorted(np.cumsum(values), allowance, side="right"))
    dropped = int(np.searchsorted(np.cumsum(values[::-1]), allowance, side="right"))
    length = measure.length - first - dropped
    if length <= 0:
        raise Declined("lattice: nothing is left of the tilted measure; its mass went to rounding")
    packed = _window(measure.packed, first, length, slots)
    return IntegerMeasure(packed, measure.start + first, length, _digit_sum(packed, slots))


def missing_mass(bases: Iterable[tuple[IntegerMeasure, int]], result: IntegerMeasure, slots: Slots) -> arb:
    """Return the mass lost by rounding and cutting off, Π (Σ b_i)^(T_i) - Σ result, as a ball."""
    unit = arb(2) ** -slots.unit_bits
    everything = arb(1)
    for base, count in bases:
        everything *= (arb(base.sum) * unit) ** count
    return everything - arb(result.sum) * unit


def scaled(mass: arb, slots: Slots, *, upwards: bool) -> int:
    """Return the end of a ball in units of 2^-B, rounded outwards, at least 0."""
    end = mass.upper() if upwards else mass.lower()
    number, exponent = (int(part) for part in end.man_exp())
    shift = exponent + slots.unit_bits
    if shift >= 0:
        return max(0, number << shift)
    return max(0, -((-number) >> -shift) if upwards else number >> -shift)


def _check_length(length: int) -> None:
    if length > 2 * LARGEST_WINDOW:
        raise Declined(
            f"lattice: {length} lattice points are needed, more than the work limit; ask for a looser tolerance"
        )


def _window(packed: fmpz, first: int, length: int, slots: Slots) -> fmpz:
    moved = packed >> (first * slots.width)
    bits = length * slots.width
    return moved - ((moved >> bits) << bits)


def _digit_sum(packed: fmpz, slots: Slots) -> int:
    # 2^w = 1 modulo 2^w - 1, so the remainder is the sum of the slots, provided that sum is smaller than 2^w - 1:
    # stored measures have total mass below 2^(w-B).
    return int(packed % ((fmpz(1) << slots.width) - 1))


def _mask(length: int, slots: Slots) -> fmpz:
    """Return ones in the low width - B bits of each of ``length`` slots, or of more."""
    return _mask_of_power(max(0, (length - 1).bit_length()), slots)


@lru_cache(maxsize=2)
def _mask_of_power(doublings: int, slots: Slots) -> fmpz:
    pattern = (fmpz(1) << (slots.width - slots.unit_bits)) - 1
    for i in range(doublings):  # cheaper than a division
        pattern |= pattern << (slots.width << i)
    return pattern
