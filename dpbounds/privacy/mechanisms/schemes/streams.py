"""The sensitivity of a stream that is encoded by a matrix, and the pairs that follow from it.

Exact: rational numbers in, rational numbers out. The derivations are in ``matrices.md``, whose sections are named.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from dpbounds.errors import UnsupportedMechanism
from dpbounds.limits import MATRIX_ROWS
from dpbounds.privacy.mechanisms.demands import refuse_without_positions
from dpbounds.privacy.mechanisms.schemes.bins import bins_steps
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Encoder, LowerTriangular, Toeplitz
from dpbounds.privacy.pairs.pairs import Combined, Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.pairs.step_bounds import StepBound
from dpbounds.privacy.relations import Order

if TYPE_CHECKING:
    from dpbounds.privacy.mechanisms.schemes.matrices import MatrixMechanism

Steps = tuple[tuple[StepBound, int], ...]

_WORD = 2**61  # bound on sums of rounded weights, so that sums of two are machine integers
_MOST_TRIED = 10**5  # nodes of a tree that are tried in the search for a good pattern
_MOST_ATTACKS = 4  # groups that are named as attacks


@dataclass(frozen=True, slots=True)
class Reach:
    """The squared l2 distance by which one record can move the encoded stream, in units of its bound in one step.

    Attributes:
        upper: No participation that is allowed moves it by more.
        lower: Attained by some vectors and an allowed participation.
        pattern: The participation pattern.
    """

    upper: Fraction
    lower: Fraction
    pattern: tuple[int, ...]


def stream_steps(mechanism: MatrixMechanism, order: Order) -> Steps:
    """Return the pairs that dominate a matrix mechanism, and those that are attained.

    Raises:
        UnsupportedMechanism: No pair is proven for this participation, these groups and this order.
    """
    if order.counts_records and mechanism.groups == "position":
        refuse_without_positions("a record's steps by its position (and not --groups independent or content)")
    if mechanism.participation == "balls-in-bins":
        return bins_steps(mechanism, order)
    if mechanism.participation == "cyclic-poisson" and mechanism.sample_rate != 1:
        return _cyclic_poisson(mechanism, order)
    found = reach(mechanism.matrix, mechanism.participation, mechanism.separation, mechanism.at_most)
    unit = Fraction(4 if order.moves_twice else 1) / mechanism.noise_multiplier**2
    if mechanism.participation == "minimum-separation" and mechanism.sample_rate not in (None, 1):
        return ((_drawn_apart(mechanism, unit * found.upper, order), 1),)
    return ((StepBound(ShiftedGaussians(unit * found.upper), (ShiftedGaussians(unit * found.lower),)), 1),)


def _drawn_apart(mechanism: MatrixMechanism, squared_shift: Fraction, order: Order) -> StepBound:
    """Return the pair of steps drawn apart: any steps, once revealed (section 3); an attack uses the first step."""
    matrix, rate = mechanism.matrix, mechanism.sample_rate
    assert rate is not None
    if isinstance(matrix, BinaryTree):
        why = "a tree whose steps are drawn at a sample rate has no attack here: leave the rate out, it gains nothing"
        raise UnsupportedMechanism(f"{why} that is certified")
    variance = mechanism.noise_multiplier**2 / _squared_norms(matrix)[0]
    attack = SampledGaussians(Direction.of(order), rate, variance)
    return StepBound(ShiftedGaussians(squared_shift), (attack,))


# --- Samples (matrices.md, section 4) ---------------------------------------------------------------------------------


def _cyclic_poisson(mechanism: MatrixMechanism, order: Order) -> Steps:
    matrix, separation, rate = mechanism.matrix, mechanism.separation, mechanism.sample_rate
    assert separation is not None
    assert rate is not None
    if isinstance(matrix, BinaryTree) or matrix.bands > separation:
        bands = "a tree" if isinstance(matrix, BinaryTree) else f"a matrix of {matrix.bands} bands"
        raise UnsupportedMechanism(
            f"cyclic Poisson samples with {bands} and a separation of {separation}: the steps of one record overlap, "
            "and no product of pairs is proven; take at most as many bands as the separation (--bands), or without "
            "amplification participation fixed-order"
        )
    blocks = _blocks(matrix, separation)
    if order is Order.REPLACE and mechanism.groups == "content":
        if separation < 2 * matrix.bands - 1:
            raise UnsupportedMechanism(
                f"cyclic Poisson samples with groups by content under replace-one, {matrix.bands} bands and a "
                f"separation of {separation}: the two records may lie in groups whose steps overlap, which can spend "
                f"more than one group does; take a separation of {2 * matrix.bands - 1} or more, groups by position or "
                "drawn independently, or another relation (--relation zero-out-one or add-or-remove-one)"
            )
        most = max(norm for each in blocks for norm, _ in each)
        dearest: tuple[tuple[Fraction, int], ...] = ((most, -(-matrix.steps // separation)),)
    else:
        dearest = _envelope(blocks)
    direction, variance = Direction.of(order), mechanism.noise_multiplier**2

    def pairs(norms: tuple[tuple[Fraction, int], ...]) -> tuple[tuple[SampledGaussians, int], ...]:
        return tuple((SampledGaussians(direction, rate, variance / norm), count) for norm, count in norms)

    if dearest in blocks:
        return tuple((StepBound.attained(pair), count) for pair, count in pairs(dearest))
    attacks = tuple(Combined(pairs(each)) for each in blocks[:_MOST_ATTACKS])
    return ((StepBound(Combined(pairs(dearest)), attacks), 1),)


Norms = tuple[tuple[Fraction, int], ...]  # squared norms of the columns of one group, each with how many have it


@lru_cache(maxsize=32)
def _blocks(matrix: Toeplitz | LowerTriangular, separation: int) -> tuple[Norms, ...]:
    """Return the columns of the groups that no other group exceeds, column by column."""
    norms = _squared_norms(matrix)
    if isinstance(matrix, Toeplitz):  # they fall from column to column: the first group has the longest, and most
        return (_counted(norms[::separation]),)
    groups = {tuple(sorted(norms[start::separation], reverse=True)) for start in range(min(separation, len(norms)))}
    largest = [
        each
        for each in groups
        if not any(other != each and len(other) >= len(each) and all(map(_at_most, each, other)) for other in groups)
    ]
    return tuple(_counted(each) for each in sorted(largest, reverse=True))


def _at_most(one: Fraction, other: Fraction) -> bool:
    return one <= other


def _counted(norms: Iterable[Fraction]) -> Norms:
    return tuple(sorted(Counter(norms).items(), reverse=True))


def _envelope(blocks: tuple[Norms, ...]) -> Norms:
    """Return columns that are, in order of their length, at least as long as those of each group."""
    sorted_out = [[norm for norm, count in each for _ in range(count)] for each in blocks]
    return _counted(max(column) for column in itertools.zip_longest(*sorted_out, fillvalue=Fraction(0)))


# --- All of the allowed steps (sections 2 and 3) ----------------------------------------------------------------------


@lru_cache(maxsize=32)
def reach(matrix: Encoder, participation: str, separation: int | None, at_most: int | None) -> Reach:
    """Return the sensitivity of the stream: single, fixed-order (cyclic-poisson at rate 1) or minimum-separation.

    Raises:
        UnsupportedMechanism: The matrix is too large for the exact work that this participation takes.
    """
    apart = matrix.steps if participation == "single" or separation is None else min(separation, matrix.steps)
    fit = -(-matrix.steps // apart)
    most = fit if participation != "minimum-separation" or at_most is None else min(at_most, fit)
    if most == 1:
        apart = matrix.steps
    free = participation == "minimum-separation" and apart < matrix.steps
    match matrix:
        case BinaryTree():
            return _tree(matrix.steps, apart, most, free)
        case Toeplitz():
            return _toeplitz(matrix, apart, most, free)
        case LowerTriangular():
            return _dense(matrix.rows, matrix.denominator, apart, most, free, matrix.bands)


def _exactly(value: Fraction, pattern: Iterable[int]) -> Reach:
    return Reach(value, value, tuple(pattern))


def _toeplitz(matrix: Toeplitz, apart: int, most: int, free: bool) -> Reach:
    first = range(0, matrix.steps, apart)[:most]
    if matrix.bands <= apart:  # columns that far apart are orthogonal, and their norms fall
        norms = _squared_norms(matrix)
        return _exactly(sum((norms[step] for step in first), Fraction(0)), first)
    coefficients = matrix.coefficients
    if all(one >= other >= 0 for one, other in itertools.pairwise(coefficients)) and coefficients[-1] >= 0:
        return _exactly(_first_pattern(matrix, apart, most), first)
    if matrix.steps > MATRIX_ROWS:
        raise UnsupportedMechanism(
            f"a Toeplitz matrix of {matrix.steps} steps whose coefficients rise or have two signs, with more bands "
            f"than the separation {apart}: such sensitivities are worked out up to {MATRIX_ROWS} steps; take at most "
            f"{apart} bands (--bands)"
        )
    numerators, common = _integers(coefficients)
    rows = tuple(
        tuple(numerators[row - column] if row - column < len(numerators) else 0 for column in range(row + 1))
        for row in range(matrix.steps)
    )
    return _dense(rows, common, apart, most, free, matrix.bands)


def _integers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    common = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (common // value.denominator) for value in values], common


def _first_pattern(matrix: Toeplitz, apart: int, most: int) -> Fraction:
    """Return the squared norm of columns 0, b, 2b, ... summed, by one recurrence along the rows."""
    numerators, common = _integers(matrix.coefficients)
    summed: list[int] = []
    for row in range(matrix.steps):
        value = numerators[row] if row < len(numerators) else 0
        if row >= apart:
            value += summed[row - apart]
        gone = row - most * apart
        if 0 <= gone < len(numerators):
            value -= numerators[gone]
        summed.append(value)
    return Fraction(sum(value * value for value in summed), common**2)


def _squared_norms(matrix: Toeplitz | LowerTriangular) -> list[Fraction]:
    if isinstance(matrix, LowerTriangular):
        sums = [0] * matrix.steps
        for row in matrix.rows:
            for column, value in enumerate(row):
                if value:
                    sums[column] += value * value
        return [Fraction(total, matrix.denominator**2) for total in sums]
    numerators, common = _integers(matrix.coefficients)
    longest = list(itertools.accumulate(value * value for value in numerators))
    norms = [Fraction(total, common**2) for total in longest]
    return [norms[min(matrix.bands, matrix.steps - column) - 1] for column in range(matrix.steps)]


# --- Matrices that are given entry by entry ---------------------------------------------------------------------------

_Rows = tuple[tuple[int, ...], ...]


def _dense(rows: _Rows, common: int, apart: int, most: int, free: bool, bands: int) -> Reach:
    squared = common**2
    if not free:
        found = [_of_pattern(rows, range(start, len(rows), apart)) for start in range(apart)]
        lower, pattern = max((attained, steps) for _, attained, steps in found)
        return Reach(Fraction(max(most for most, _, _ in found), squared), Fraction(lower, squared), pattern)
    if bands <= apart:
        total, pattern = _heaviest([sum(value * value for value in column) for column in _columns(rows)], apart, most)
        return _exactly(Fraction(total, squared), pattern)
    upper, pattern = _by_rows_of_the_gram_matrix(rows, apart, most)
    tried = [pattern, *(range(start, len(rows), apart)[:most] for start in range(apart))]
    lower, best = max(((_of_pattern(rows, each)[1], tuple(each)) for each in tried), key=lambda found: found[0])
    return Reach(max(Fraction(upper, squared), Fraction(lower, squared)), Fraction(lower, squared), best)


def _columns(rows: _Rows) -> list[tuple[int, ...]]:
    return [tuple(row[column] for row in rows[column:]) for column in range(len(rows))]


def _of_pattern(rows: _Rows, pattern: Sequence[int]) -> tuple[int, int, tuple[int, ...]]:
    """Return Σ |CᵀC| over a pattern and a value that some signs attain, both times the squared denominator."""
    taken = [[row[step] for step in pattern if step < len(row)] for row in rows]
    together = sum(sum(row) ** 2 for row in taken)
    if all(value >= 0 for row in taken for value in row):
        return together, together, tuple(pattern)
    full = fmpz_mat([row + [0] * (len(pattern) - len(row)) for row in taken])
    gram = [[int(entry) for entry in line] for line in (full.transpose() * full).tolist()]
    upper = sum(abs(entry) for line in gram for entry in line)
    return upper, _with_signs(gram), tuple(pattern)


def _with_signs(gram: list[list[int]]) -> int:
    """Return Σ s_l s_m G_lm for signs s that no single change of sign improves, from all equal: attained by scalars."""
    signs = [1] * len(gram)
    pulls = [sum(line) for line in gram]
    for _ in range(len(gram)):
        worst = min(range(len(gram)), key=lambda one: signs[one] * pulls[one] - gram[one][one])
        if signs[worst] * pulls[worst] >= gram[worst][worst]:
            break
        signs[worst] = -signs[worst]
        pulls = [pull + 2 * signs[worst] * gram[other][worst] for other, pull in enumerate(pulls)]
    turned = sum(sign * pull for sign, pull in zip(signs, pulls, strict=True))
    return max(turned, sum(gram[one][one] for one in range(len(gram))))  # or directions at right angles


def _heaviest(weights: Sequence[int], apart: int, most: int) -> tuple[int, tuple[int, ...]]:
    """Return the largest sum of at most ``most`` weights at places ``apart`` from each other, and these places."""
    count = len(weights)
    best = [[0] * (count + apart + 1)]
    for _ in range(most):
        before, now = best[-1], [0] * (count + apart + 1)
        for place in range(count - 1, -1, -1):
            now[place] = max(now[place + 1], weights[place] + before[place + apart])
        if now[0] == before[0]:
            break
        best.append(now)
    pattern, place = [], 0
    for left in range(len(best) - 1, 0, -1):
        while place < count and best[left][place] == best[left][place + 1]:
            place += 1
        if place >= count:
            break
        pattern.append(place)
        place += apart
    return best[-1][0], tuple(pattern)


def _by_rows_of_the_gram_matrix(rows: _Rows, apart: int, most: int) -> tuple[int, tuple[int, ...]]:
    """Bound all patterns from above: each step takes the heaviest pattern for its row of |CᵀC| (section 3)."""
    count = len(rows)
    full = fmpz_mat([list(row) + [0] * (count - len(row)) for row in rows])
    gram = [[abs(int(entry)) for entry in line] for line in (full.transpose() * full).tolist()]
    unit = max(1, 2 * most * max(map(max, gram)) // _WORD)  # weights are rounded up to multiples of it
    weights = np.array([[-(-entry // unit) for entry in line] for line in gram], dtype=np.int64)
    after = _heaviest_from_there(weights, apart, most)
    before = _heaviest_from_there(weights[::-1, ::-1], apart, most)[:, ::-1]
    own = np.array([int(weights[step, step]) for step in range(count)], dtype=np.int64)
    best = own + np.max([after[used] + before[most - 1 - used] for used in range(most)], axis=0)
    total, pattern = _heaviest([int(value) for value in best], apart, most)
    return total * unit, pattern


def _heaviest_from_there(weights: NDArray[np.int64], apart: int, most: int) -> NDArray[np.int64]:
    """Return, for t < most and row i, the largest sum of at most t weights of row i from place i + b on, b apart."""
    count = len(weights)
    found = np.zeros((most, count), dtype=np.int64)
    heaviest = np.zeros((count + apart + 1, count), dtype=np.int64)  # from a place on, for each row
    inside = np.arange(max(0, count - apart))
    for used in range(1, most):
        before, heaviest = heaviest, np.zeros_like(heaviest)
        for place in range(count - 1, -1, -1):
            heaviest[place] = np.maximum(heaviest[place + 1], weights[:, place] + before[place + apart])
        found[used, inside] = heaviest[inside + apart, inside]
    return found


# --- Trees (section 5) ------------------------------------------------------------------------------------------------


def _tree(steps: int, apart: int, most: int, free: bool) -> Reach:
    if most == 1:
        return _exactly(Fraction(steps.bit_length()), (0,))
    if not free:
        tried = {start: _nodes(range(start, steps, apart), steps) for start in range(apart)}
        start = max(tried, key=tried.__getitem__)
        return _exactly(Fraction(tried[start]), range(start, steps, apart))
    upper = 0
    for level in range(steps.bit_length()):
        in_one = min(most, -(-(2**level) // apart))
        in_all = min(most, in_one * (steps // 2**level))
        upper += in_all // in_one * in_one**2 + (in_all % in_one) ** 2
    starts = range(steps - (most - 1) * apart) if steps * most <= _MOST_TRIED else range(1)
    lower, first = max((_nodes(range(start, steps, apart)[:most], steps), -start) for start in starts)
    return Reach(Fraction(upper), Fraction(lower), tuple(range(-first, steps, apart)[:most]))


def _nodes(pattern: Sequence[int], steps: int) -> int:
    """Return the sum, over complete blocks, of the squared number of participations in them."""
    total = 0
    for level in range(steps.bit_length()):
        complete = steps // 2**level
        held = Counter(step >> level for step in pattern)
        total += sum(count**2 for block, count in held.items() if block < complete)
    return total
