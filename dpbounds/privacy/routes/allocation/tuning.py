"""Parameters that choose a method and its fineness; no proof depends on them.

Both bounds hold for any values, which only affect the width of an interval and the time that it takes. Each parameter
has its unit, its useful range, and a row of ``benchmarks/what_people_run.py`` to measure when it is changed; the
figures were measured when it was chosen. Numbers that a proof relies on, working precisions, limits of doubles and
grids of a search in floating point are in the code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fineness:
    """Fineness of one of m bins.

    Attributes:
        cells: Cells of y, per unit.
        bits: 2^bits points of the sum.
        losses: Thresholds per deviation of the loss of all bins.
        reach: Deviations of the sum by which a bin's ratio may exceed the value that outweighs the other bins.
    """

    cells: int
    bits: int
    losses: int
    reach: float = 6.0


@dataclass(frozen=True, slots=True)
class Retry:
    """Conditions for a finer evaluation of a threshold under replace-one. Row "1 of 100, z=1, replace"."""

    # Unknown share of the profile above which a finer evaluation is tried; 0 to 1.
    width: float = 5e-3
    # The same for the next ``pause`` thresholds after a finer evaluation; ``width`` to 1.
    width_in_pause: float = 2e-2
    # Number of thresholds after a finer evaluation; 0 or more.
    pause: int = 8
    # Width, relative to the one before, below which the finer evaluation is kept; 0 to 1.
    gain: float = 0.75
    # Largest number of doublings of the points; 0 to 4 (memory).
    bits: int = 3
    # Least reach after halving, in deviations of the sum; above 0.
    shortest_reach: float = 0.2
    # Number of useless thresholds in a row after which the bin counts as published; 1 or more.
    useless: int = 3


@dataclass(frozen=True, slots=True)
class SignedGrid:
    """Fineness of a signed grid. Rows "1 of 10, 10 epochs, z=.5, replace" and "same 5 bins, 21 epochs"."""

    # Thresholds per deviation of the loss and 1 / spacing; 1 to 4.
    losses: float = 2.0
    # Thresholds that are evaluated together; 1 or more. It affects only memory and time.
    batch: int = 24
    # Cells of y per point of the grid, and least number per unit; 1 or more.
    cells: int = 3
    fewest_cells: int = 24
    # Share of the δ that may be given up for the mass beyond the grid; 0 to 1.
    beyond: float = 1e-2
    # Number of products above which it is declined: some twenty seconds.
    work: float = 8e8
    # Deviations of the loss in the forecast of that work; 1 to 8.
    deviations: int = 4


@dataclass(frozen=True, slots=True)
class LowNoise:
    """Tolerances where the record's step is distinguishable. Rows with z=.3 and "little noise"."""

    # Slack, as a share of the width times the loss; 0 to 1.
    slack: float = 0.02
    # Squared spacing of a grid for the other steps, in units of the width times the loss per doubling; 1 to 8.
    squared_spacing: float = 3.0
    # Probability that an attack's bound is smaller than possible; 0 to 1. It affects no proof.
    seldom: float = 1e-2


@dataclass(frozen=True, slots=True)
class Tuning:
    """Parameters of the engine."""

    # --- Which method ---
    # Bins; 1 000 to 10 000. From this number on, for squared shifts up to ``many_bins_shift``,
    # thresholds of one sum replace a geometric grid. Rows "1 of 1000, 5 epochs, z=.8" and "1 of 10 000, 3 epochs,
    # z=.7".
    many_bins: int = 3_000
    # Squared shift of a step; 1 to 10. Beyond it one bin alone may decide, and the geometric grid is narrower.
    # Row "1 of 100 000, 10 epochs, z=.5" is below it.
    many_bins_shift: int = 5
    # Squared shift of a step; 1 to 4. From this value on likelihood ratios span so wide a range that replace-one tries
    # a signed grid first. Rows "1 of 100, z=1, replace" (below) and "1 of 10, 10 epochs, z=.5, replace".
    signed_grid_shift: int = 2
    # Squared shift less the logarithm of the number of bins; 0 to 2. Below it the sum hides the scales of one ratio,
    # and one spacing suffices. Row "1 of 10 000, 3 epochs, z=.7, replace": 1.8e-2 wide on a signed grid, else 7.7e-4.
    signed_grid_margin: float = 0.7

    # --- How fine ---
    # Squared spacing, in units of the width and of the relative variance of R; above 0. Row "1 of 100, z=1".
    grid_variance: float = 1.4
    # Largest spacing, in deviations of one step's loss; above 0. It applies if a wide interval is requested.
    coarsest_grid: float = 0.04
    # Spacings of a sum of few ratios, in powers of two per doubling of their share; 0 to 1/2. 1/2 would let all
    # additions add the same variance to the whole, but a single ratio may decide. Row "1 of 1000, 10 epochs, z=2".
    coarsening: float = 1 / 4
    # Doublings after which no single ratio decides, and the spacing doubles at 1/2; 1 or more. Two epochs of 1 of 2500,
    # z=.7: 1.3e-4 wide in 8.3 s; without, 8.8e-5 in 9.2 s.
    undecisive: int = 10
    # Share of δ that may lie beyond the grid; 0 to 1. Row "1 of 100, 10 epochs, z=.5".
    beyond_grid: float = 1e-7
    # Share of δ that thresholds and distinguished steps may give up; 0 to 1. Row "1 of 100, z=1, replace".
    given_up: float = 1e-5
    # Share of the width for the composition of discrete pairs; 0 to 1. Row "1 of 1000, 5 epochs, z=.8": at 1 it is
    # twice as wide (2.8e-4) and takes 14 s, not 5 s.
    composition: float = 0.25
    # Deviations of the loss up to which thresholds are dense; above 0. Row "1 of 100 000, z=1".
    dense: float = 6.0
    # Number of bins from which a transform under replace-one has twice as many points. Row "1 of 100 000, 10 epochs,
    # z=1, replace".
    large_transform: int = 30_000
    # Thresholds that share one distribution of very many bins, 1 or more; share of the best tilt at the middle one,
    # 0 to 1. Row "1 of 100 000, z=1".
    shared_thresholds: int = 48
    shared_tilt: float = 0.7

    # --- When to try again, and when to stop ---
    # Largest number of grids that are tried; 1 or more.
    rounds: int = 4
    # Width, relative to the wanted one, at which replace-one stops, as its grids are slow; 1 or more. Least relative
    # width for that. The rows with "replace", which may be 1e-3 wide.
    replace_one_width: float = 2.5
    replace_one_least: float = 7.5e-4
    # Width, relative to the wanted one, above which another kind of grid is tried for very many bins; 1 or more. Row "1
    # of 10 000, 3 epochs, z=.7, replace".
    retry_if_wider: int = 3
    # Width, relative to the wanted one, at which one of many targets stops; 1 or more. A curve of 21 targets takes 5 s,
    # not 113.
    curve_width: int = 2
    # Unknown share of a profile above which a threshold is useless; 0 to 1.
    unknown: float = 0.5

    retry: Retry = Retry()
    signed: SignedGrid = SignedGrid()
    low_noise: LowNoise = LowNoise()


TUNING = Tuning()

# Fineness under replace-one, by the least width for which it suffices; the last one for all smaller widths. Rows with
# "replace".
REPLACE_ONE = (
    (5e-3, Fineness(cells=64, bits=16, losses=8)),
    (1e-3, Fineness(cells=96, bits=16, losses=16)),
    (0.0, Fineness(cells=128, bits=17, losses=28)),
)
# Fineness for very many bins. Row "1 of 100 000, z=1".
MANY_BINS = Fineness(cells=192, bits=19, losses=48, reach=4.0)
# Fineness of an estimate from which a search starts.
ESTIMATE = Fineness(cells=32, bits=12, losses=5)
