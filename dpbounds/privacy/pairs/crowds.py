"""An attack on truncated Poisson samples: a crowd that shows how many were drawn, and a record that displaces one.

Every output is sorted into cells, and cells into groups, by rules that are public: that is data processing, so that the
distribution of the group is attained. Which cells and groups is chosen in floating point; their masses are balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr
from scipy.stats import binom

from dpbounds.privacy.pairs.binomials import binomial
from dpbounds.privacy.pairs.core import Other
from dpbounds.privacy.pairs.losses import upper_tail

if TYPE_CHECKING:
    from dpbounds.privacy.pairs.tagged import CrowdedGaussians

Floats = NDArray[np.float64]
Entry = tuple[int, Fraction, Fraction, int]  # others drawn; share, place along the crowd, side across it

_LEANS = tuple(Fraction(k, 20) for k in (0, 2, 3, 4, 5, 6, 7, 9, 12, 16, 20))
_FEW, _ORDERS = 4, (2, 3, 4, 5, 6, 8, 12, 20)
_LOOKED_AT = math.log(1e6)  # 1/δ
_WIDTH, _REACH = 1 / 12, 6.0  # width of a cell, and reach beyond the means, in standard deviations
_MOST_ALONG, _MOST_ACROSS = 800, 80  # cells
_SPREAD, _NEGLIGIBLE = 7.0, 1e-32  # deviations that sample sizes cover; a probability that is left out
_STEP, _NEAR, _LEAST = 0.02, 0.05, 1e-13  # groups: steps of asinh(loss / near), least mass


@lru_cache(maxsize=64)
def best_crowd(pair: CrowdedGaussians, plain: float, count: int = 1) -> CrowdedGaussians | None:
    """Return the pair with the best of some leans for ``count`` releases; None if its χ² is below that of ``plain``.

    The best few by χ² are compared by the Rényi divergences of larger orders of the whole run, in floating point.
    """
    laws = {lean: _rough_cells(replace(pair, lean=lean)) for lean in _LEANS}
    found = {lean: math.expm1(_log_moment(*law, 2)) for lean, law in laws.items()}
    few = sorted(found, key=found.__getitem__)[-_FEW:]
    if found[few[-1]] <= plain:
        return None
    return replace(pair, lean=max(few, key=lambda lean: _spent(*laws[lean], count)))


def _spent(p: Floats, q: Floats, count: int) -> float:
    """Estimate ε at δ = 1e-6 of ``count`` releases, by Rényi divergences."""
    return min((count * _log_moment(p, q, order) + _LOOKED_AT) / (order - 1) for order in _ORDERS)


def _log_moment(p: Floats, q: Floats, order: int) -> float:
    """Log E (p/q)^(order-1) under p, where both have mass."""
    both = (p > 0) & (q > 0)
    return float(logsumexp(order * np.log(p[both]) - (order - 1) * np.log(q[both])))


def _whole(number: Fraction) -> int:
    if number.denominator != 1:  # rounded, it would be another place
        raise ValueError(f"places are multiples of the unit, not {number}")
    return number.numerator


def crowded_masses(pair: CrowdedGaussians) -> list[tuple[arb, arb]]:
    """Return P- and Q-mass of each group of cells, for the record in the first dataset; at the working precision."""
    chances = _chances(pair)
    rest = arb(0).union(1 - sum(chances.values(), arb(0)))  # the mass of omitted sizes, wherever they lie
    along, across = _edges(pair)
    deviation, part = _ball(pair.variance).sqrt(), (1 - _ball(pair.lean) ** 2).sqrt()
    unit = math.lcm(pair.lean.denominator, *(edge.denominator for edge in along))  # distances are multiples of 1/unit
    places = [_whole(edge * unit) for edge in along]

    @cache
    def tail(distance: int) -> arb:  # cached: the same distances occur often
        return upper_tail(_ball(Fraction(distance, unit)) / deviation)

    def cells(mean: Fraction) -> list[arb]:
        middle = _whole(mean * unit)
        return [left - right for left, right in pairwise([arb(1), *(tail(at - middle) for at in places), arb(0)])]

    def strips(mean: arb) -> list[arb]:
        tails = [arb(1), *(upper_tail((_ball(edge) - mean) / deviation) for edge in across), arb(0)]
        return [left - right for left, right in pairwise(tails)]

    sides = {side: strips(side * part) for side in (0, 1, -1)}
    groups = _groups(pair)
    sums: list[list[arb]] = []
    for law in _both(pair):
        weights: dict[tuple[Fraction, int], arb] = {}
        for drawn, share, mean, side in law:
            if drawn in chances:
                weights[mean, side] = weights.get((mean, side), arb(0)) + chances[drawn] * _ball(share)
        columns = {side: [arb(0)] * (len(along) + 1) for _, side in weights}
        for (mean, side), weight in weights.items():
            columns[side] = [have + weight * mass for have, mass in zip(columns[side], cells(mean), strict=True)]
        found = [rest] * (int(groups.max()) + 1)
        for (i, j), group in np.ndenumerate(groups):
            for side, column in columns.items():
                found[group] = found[group] + column[i] * sides[side][j]
        sums.append(found)
    return list(zip(*sums, strict=True))


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def _both(pair: CrowdedGaussians) -> tuple[list[Entry], list[Entry]]:
    """Return both distributions of the sum, in units of the clipping norm, for each number of others drawn."""
    drawn = np.flatnonzero(_rough_chances(pair) > _NEGLIGIBLE).tolist()
    first = [entry for k in drawn for entry in _entries(pair, k, -pair.lean, 1)]
    match pair.other:
        case Other.NOTHING:
            return first, [(k, Fraction(1), Fraction(min(k, pair.most)), 0) for k in drawn]
        case Other.NULL:
            return first, [entry for k in drawn for entry in _entries(pair, k, Fraction(0), 0)]
    return first, [entry for k in drawn for entry in _entries(pair, k, pair.lean, -1)]


def _entries(pair: CrowdedGaussians, drawn: int, along: Fraction, side: int) -> Iterator[Entry]:
    """Yield the positions of the sum if a record with that part along the crowd is in its place."""
    rate, most = pair.sample_rate, pair.most
    kept = rate if drawn < most else rate * Fraction(most, drawn + 1)
    yield drawn, 1 - kept, Fraction(min(drawn, most)), 0
    yield drawn, kept, min(drawn, most - 1) + along, side


def _chances(pair: CrowdedGaussians) -> dict[int, arb]:
    """Return the distribution of the number of others drawn, without negligible terms."""
    kept = np.flatnonzero(_rough_chances(pair) > _NEGLIGIBLE)
    n, low = pair.size - 1, int(kept[0])
    rate = _ball(pair.sample_rate)
    odds = rate / (1 - rate)
    chance = binomial(n, low, rate)
    found = {}
    for k in range(low, int(kept[-1]) + 1):
        found[k] = chance
        chance = chance * odds * (n - k) / (k + 1)
    return found


def _rough_chances(pair: CrowdedGaussians) -> Floats:
    return np.asarray(binom.pmf(np.arange(pair.size), pair.size - 1, float(pair.sample_rate)))


# --- Cells and groups: a choice ---------------------------------------------------------------------------------------


def _edges(pair: CrowdedGaussians) -> tuple[list[Fraction], list[Fraction]]:
    """Return the boundaries of cells along the crowd and across it."""
    rate, n = float(pair.sample_rate), pair.size - 1
    low = max(0, math.floor(n * rate - _SPREAD * math.sqrt(n * rate * (1 - rate))))
    reach = math.ceil(_REACH * math.sqrt(pair.variance))

    def between(first: int, last: int, cells: int) -> list[Fraction]:
        """Return edges on the lattice of 1/m, or of a whole number."""
        start, end = first - reach, last + reach
        wanted = max(_WIDTH * math.sqrt(pair.variance), (end - start) / cells)
        width = Fraction(1, math.ceil(1 / wanted)) if wanted < 1 else Fraction(math.ceil(wanted))
        return [start + width * k for k in range(math.ceil((end - start) / width) + 1)]

    across = [] if pair.lean == 1 else between(-1 if pair.other is Other.OPPOSITE else 0, 1, _MOST_ACROSS)
    return between(min(low, pair.most) - 1, pair.most, _MOST_ALONG), across


def _rough_cells(pair: CrowdedGaussians) -> tuple[Floats, Floats]:
    """Return masses of the cells under both distributions, in floating point."""
    along, across = (np.array([-np.inf, *map(float, edges), np.inf]) for edges in _edges(pair))
    deviation, part = math.sqrt(pair.variance), math.sqrt(1 - float(pair.lean) ** 2)
    chances = _rough_chances(pair)

    def cells(edges: Floats, means: Floats) -> Floats:
        scaled = (edges[None, :] - means[:, None]) / deviation
        flipped = scaled[:, :-1] > 0  # smaller tails
        upper, lower = (
            np.where(flipped, -a, b) for a, b in ((scaled[:, :-1], scaled[:, 1:]), (scaled[:, 1:], scaled[:, :-1]))
        )
        return np.asarray(ndtr(upper) - ndtr(lower))

    def table(law: list[Entry]) -> Floats:
        weights: dict[tuple[float, int], float] = {}
        for drawn, share, mean, side in law:
            weights[float(mean), side] = weights.get((float(mean), side), 0.0) + chances[drawn] * float(share)
        rows = np.array(list(weights.values()))[:, None] * cells(along, np.array([mean for mean, _ in weights]))
        columns = cells(across, np.array([side * part for _, side in weights]))
        return np.asarray(rows.T @ columns)

    first, second = _both(pair)
    return table(first), table(second)


def _groups(pair: CrowdedGaussians) -> NDArray[np.int64]:
    """Return the group of each cell: cells of about the same loss, each group of some mass."""
    p, q = _rough_cells(pair)
    losses = np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(q, 1e-300))
    steps = np.round(np.arcsinh(losses / _NEAR) / _STEP).astype(np.int64)
    names, index = np.unique(steps, return_inverse=True)
    masses = np.minimum(np.bincount(index.ravel(), p.ravel()), np.bincount(index.ravel(), q.ravel()))
    merged, group, held = np.zeros(len(names), dtype=np.int64), 0, 0.0
    for k, mass in enumerate(masses):
        merged[k] = group
        held += mass
        if held >= _LEAST:
            group, held = group + 1, 0.0
    merged = np.minimum(merged, max(0, group - 1))  # what is left over joins the last one
    return np.asarray(merged[index].reshape(p.shape))
