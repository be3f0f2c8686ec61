"""The choice of a window and of a tilt for the sum of many bins: no part of the proof."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpbounds.privacy.routes.allocation.bin_sums import Window
from dpbounds.privacy.routes.allocation.one_bin import Cells, values_at_cuts
from dpbounds.privacy.routes.allocation.rounding import Floats

_TILT = 0.5  # share of the tilt at which that bound is best: less makes for a shorter window
_STEEPER = 8  # rates that are left for Chernoff bounds
_STEEPEST = 300.0  # logarithm of the largest ratio of the tilt's weights at the ends of the window: a choice
_OUTSIDE = math.log(1e-17)  # log mass of the sum's distribution that may lie outside the window: a choice
_RATES = np.geomspace(1e-3, 1e4, 85)  # tilts of Chernoff bounds, in units of one over a deviation: a choice


def window_of(
    kinds: Sequence[tuple[Cells, int]],
    ends: Sequence[tuple[int, int]],
    constant: float,
    alpha: float,
    bits: int,
    sign: int = 1,
    tilted: float = _TILT,
) -> Window:
    """Return a spacing for which the sum of all bins (times the sign) and a constant rarely leaves the window."""
    laws = []
    for (cells, count), (bottom, top) in zip(kinds, ends, strict=True):
        low, high = values_at_cuts(cells, alpha)
        edges = ((low + high) / 2)[bottom : top + 1]
        values = np.concatenate([[edges[0]], (edges[1:] + edges[:-1]) / 2, [edges[-1]]])
        masses = cells.none[bottom + 1 : top + 1]
        masses = np.concatenate([[cells.none[: bottom + 1].sum()], masses, [cells.none[top + 1 :].sum()]])
        laws.append((sign * values, np.log(masses), count))
    count = sum(n for _, _, n in laws)
    variance = sum(n * float(np.sum(np.exp(logs) * values**2)) for values, logs, n in laws)
    rates = _RATES / math.sqrt(variance)

    def cumulants(slopes: Floats) -> Floats:
        totals = slopes * constant
        for values, logs, n in laws:
            exponents = logs + slopes[:, None] * values
            top = exponents.max(axis=1)
            totals += n * (top + np.log(np.sum(np.exp(exponents - top[:, None]), axis=1)))
        return totals

    upwards, downwards = cumulants(rates), cumulants(-rates)
    lows = (downwards - _OUTSIDE) / rates
    lowest = int(np.argmin(lows))
    best, tilt, least = int(np.argmin(upwards[:-_STEEPER])), 0.0, 0.0
    if upwards[best] < 0:  # where P(sum > 0) is bounded best
        tilt = tilted * float(rates[best])
        least = float(cumulants(np.array([tilt]))[0])
    length, lower = 1 << bits, -float(lows[lowest])
    while True:
        steeper = rates > 1.001 * tilt
        highs = (upwards[steeper] - least - _OUTSIDE) / (rates[steeper] - tilt)
        highest = int(np.argmin(highs))
        upper = float(highs[highest])
        if tilt * (upper - lower) <= _STEEPEST:
            break
        tilt /= 2
        least = float(cumulants(np.array([tilt]))[0])
    # spreading moves the sum by up to a spacing per bin
    spacing = _few_bits((upper - lower) / max(length / 2, length - 64 - count // 64))
    start = math.floor(lower / spacing) - 8 - count // 256
    return Window(spacing, start, length, float(rates[steeper][highest]), float(rates[lowest]), tilt)


def _few_bits(value: float) -> float:
    """Return a number slightly above, with so few bits that its multiples are doubles."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.ceil(math.ldexp(mantissa, 10)), exponent - 10)
