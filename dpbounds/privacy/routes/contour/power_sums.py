"""Σ_j w_j e^{ikθ_j}, Im θ_j >= 0, for many k, in fixed point: all arithmetic is on integers.

Doubles multiply the matrices.

A number is an integer multiple of 2^-P, cut into L limbs of B bits, P = BL. Limbs are so short that every product of
two matrices of limbs, and every partial sum of one in whatever order, is an integer below 2^53: a double holds it
exactly. What rounding to multiples of 2^-P loses is counted (``proof.md``, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import acb, arb, fmpz
from numpy.typing import NDArray

from dpbounds.privacy.proofs import Declined

BITS = 21  # B
_NODES = 1024  # per product of matrices: 1024 · 2^42 = 2^52
_MOST_NODES = 1 << 19  # in all: 2^19 · 2^42 = 2^61
UNDIVIDED = 1 << 18  # multiplications up to which the usual libraries start no threads, which would spin
_BLOCK = 64
_HALF = 1 << (BITS - 1)

Floats = NDArray[np.float64]
Limbs = NDArray[np.int64]  # shape (2, L, ...): real and imaginary part, lowest limb first


def limbs_for(bits: float) -> int:
    """Return the number of limbs that hold that many bits behind the point."""
    return max(3, math.ceil(bits / BITS))


def power_sums(
    weights: Sequence[Sequence[acb]], angles: Sequence[acb], frequencies: int, bits: float
) -> list[list[acb]]:
    """Return balls around Σ_j w_j e^{ikθ_j} for k = 0..frequencies.

    Args:
        weights: One or more lists of w_j, one per angle.
        angles: θ_j, Im θ_j >= 0.
        frequencies: The largest k.
        bits: Behind the point, relative to the largest weight of a list: what is rounded away is some n 2^-bits.

    Returns:
        One list per list of weights.

    Raises:
        Declined: A ball is wider than a unit in the last place, so that the working precision is too low.
    """
    if len(angles) > _MOST_NODES:
        raise Declined(f"{len(angles)} nodes are more than sums of integers in 64 bits hold")
    if not all(angle.imag >= 0 for angle in angles):
        raise Declined("condition not proven: no power grows")
    limbs = limbs_for(bits)
    size = math.isqrt(frequencies) + 1
    rows = frequencies // size + 1
    small, small_error = _powers(_disc(angles, limbs), size)
    large, large_error = _powers(_disc([size * angle for angle in angles], limbs), rows)
    found = []
    for own in weights:
        sizes = [abs(weight) for weight in own]
        top = max(sizes, key=lambda size: size.mid())
        scale = arb(2) ** math.ceil(float(top.log().mid()) / math.log(2) + 1e-6)
        if not all(size <= scale for size in sizes):
            raise Declined("condition not proven: the weights are at most 1")
        started = _multiplied(large, _fixed([weight / scale for weight in own], limbs)[:, :, None, :])
        units = (small_error + large_error) * sum(sizes, arb(0)) / scale + 4 * len(own)
        error = (units * scale * arb(2) ** -(BITS * limbs)).upper()
        slack = acb((-error).union(error), (-error).union(error))
        unit = scale * arb(2) ** (BITS * (limbs - 2 - 2 * limbs))
        real, imaginary = _product(started, small)
        found.append(
            [
                acb(arb(fmpz(x)) * unit, arb(fmpz(y)) * unit) + slack
                for x, y in zip(real[: frequencies + 1], imaginary[: frequencies + 1], strict=True)
            ]
        )
    return found


def _fixed(values: Sequence[acb], limbs: int) -> Limbs:
    """Return multiples of 2^-P, each part at most 1.1 units off; shape (2, L, n)."""
    scale, spare = fmpz(1) << (BITS * limbs), arb("0.09")
    rows = []
    for numbers in ([value.real for value in values], [value.imag for value in values]):
        row = []
        for number in numbers:
            place = number * scale
            whole = place.mid().floor().unique_fmpz()
            if whole is None or not place.rad() <= spare:
                raise Declined("condition not proven: the working precision reaches the last place")
            row.append(int(whole))
        rows.append(row)
    rest: NDArray[Any] = np.array(rows, dtype=object)
    found = []
    for _ in range(limbs - 1):
        low = ((rest + _HALF) & (2 * _HALF - 1)) - _HALF
        rest = (rest - low) >> BITS
        found.append(low.astype(np.int64))
    found.append(rest.astype(np.int64))
    return np.stack(found, axis=1)


def _disc(angles: Sequence[acb], limbs: int) -> Limbs:
    """Return e^{iθ}, at most 2 units off."""
    return _fixed([acb(-angle.imag, angle.real).exp() for angle in angles], limbs)


def _multiplied(first: Limbs, second: Limbs) -> Limbs:
    """Return the product of complex numbers of modulus at most about 1, rounded: at most one unit off."""
    limbs = first.shape[1]
    shape = np.broadcast_shapes(first.shape[2:], second.shape[2:])
    # columns i + j from L-2 on; what is left out amounts to (L-2) 2^-20 units
    columns = np.zeros((2, limbs + 1, *shape), dtype=np.int64)
    (a, b), (c, d) = first, second
    for i in range(limbs):
        for j in range(max(0, limbs - 2 - i), limbs):
            columns[0, i + j + 2 - limbs] += a[i] * c[j] - b[i] * d[j]
            columns[1, i + j + 2 - limbs] += a[i] * d[j] + b[i] * c[j]
    found = np.empty((2, limbs, *shape), dtype=np.int64)
    carry: Any = 0
    for place in range(limbs + 1):
        value = columns[:, place] + carry
        carry = (value + _HALF) >> BITS
        if place >= 2:
            found[:, place - 2] = value - (carry << BITS)
    found[:, limbs - 1] = carry
    return found


def _powers(u: Limbs, count: int) -> tuple[Limbs, int]:
    """Return u^0, u^1, ... by doubling: shape (2, L, count, n), and how many units of 2^-P they are off at most."""
    one = np.zeros_like(u)
    one[0, -1] = 1 << BITS
    table, table_error = one[:, :, None, :], 0
    power, power_error = u[:, :, None, :], 2
    while table.shape[2] < count:
        missing = count - table.shape[2]
        table = np.concatenate([table, _multiplied(table[:, :, :missing], power)], axis=2)
        table_error += power_error + 2  # 1 for rounding, 1 for the product of both errors
        power, power_error = _multiplied(power, power), 2 * power_error + 2
    return table, table_error


def _product(large: Limbs, small: Limbs) -> tuple[list[int], list[int]]:
    """Return Σ_j large[r, j] small[c, j] in units of 2^{B(L-2) - 2P}, at r·columns + c, without the low columns."""
    limbs, rows, nodes = large.shape[1:]
    columns = small.shape[2]
    left, right = (table.swapaxes(0, 1).astype(np.float64) for table in (large, small))
    lowest = [max(0, limbs - 2 - i) for i in range(limbs)]
    total = [
        _in_blocks(left[i].reshape(-1, nodes), right[lowest[i] :].reshape(-1, nodes).T).reshape(2, rows, -1, 2, columns)
        for i in range(limbs)
    ]
    found = []
    for sign, pairs in ((-1, ((0, 0), (1, 1))), (1, ((0, 1), (1, 0)))):
        value: NDArray[Any] = np.zeros((rows, columns), dtype=object)
        for place in range(2 * limbs - 2, limbs - 3, -1):
            column = sum(
                total[i][pairs[0][0], :, place - i - lowest[i], pairs[0][1]]
                + sign * total[i][pairs[1][0], :, place - i - lowest[i], pairs[1][1]]
                for i in range(max(0, place - limbs + 1), min(limbs, place + 1))
            )
            value = (value << BITS) + np.asarray(column).astype(object)
        found.append(value.reshape(-1).tolist())
    return found[0], found[1]


def _in_blocks(left: Floats, right: Floats) -> NDArray[np.int64]:
    """Return the product of two matrices of limbs, exact, block by block: each so small that no threads start."""
    nodes = left.shape[1]
    found = np.zeros((len(left), right.shape[1]), dtype=np.int64)
    width, depth = min(_BLOCK, right.shape[1]), min(_BLOCK, nodes)
    height = UNDIVIDED // (width * depth)
    for top in range(0, len(left), height):
        rows = slice(top, top + height)
        for start in range(0, right.shape[1], width):
            columns = slice(start, start + width)
            for first in range(0, nodes, _NODES):
                ends = range(first, min(first + _NODES, nodes), depth)
                parts = [left[rows, here : here + depth] @ right[here : here + depth, columns] for here in ends]
                found[rows, columns] += np.add.reduce(parts).astype(np.int64)
    return found
