"""The numbers that choose a method and how finely it works: none of them is part of a proof.

Both bounds hold for any values: these decide the width of an interval and the time that it takes. Each has its unit,
the range in which it makes sense, and a row of ``benchmarks/what_people_run.py`` to measure when it is changed; figures
are those that were measured when it was chosen. Numbers that a proof relies on, working precisions, limits of doubles
and grids of a search in floating point are in the code.
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
        reach: Deviations of the sum, by which a bin's ratio may exceed what outweighs the other bins.
    """

    cells: int
    bits: int
    losses: int
    reach: float = 6.0


@dataclass(frozen=True, slots=True)
class Retry:
    """Conditions for a finer evaluation of a threshold under replace-one. Row "1 of 100, z=1, replace"."""

    # Share of the profile that is not known, beyond which a finer look is tried; 0 to 1.
    width: float = 5e-3
    # The same for the next ``pause`` thresholds after a finer look; ``width`` to 1.
    width_in_pause: float = 2e-2
    # Thresholds after a finer look; 0 or more.
    pause: int = 8
    # Width relative to that before, below which the finer look is kept; 0 to 1.
    gain: float = 0.75
    # Doublings of the number of points, at most; 0 to 4 (memory).
    bits: int = 3
    # Deviations of the sum, to which the reach is halved at least; above 0.
    shortest_reach: float = 0.2
    # Thresholds of no use in a row, after which the bin may as well be published; 1 or more.
    useless: int = 3


@dataclass(frozen=True, slots=True)
class SignedGrid:
    """Fineness of a signed grid. Rows "1 of 10, 10 epochs, z=.5, replace" and "same 5 bins, 21 epochs"."""

    # Thresholds per deviation of the loss and 1 / spacing; 1 to 4.
    losses: float = 2.0
    # Thresholds that are looked at together; 1 or more. (Memory and time alone.)
    batch: int = 24
    # Cells of y per point of the grid, and per unit at least; 1 or more.
    cells: int = 3
    fewest_cells: int = 24
    # Share of what may be given up, that may lie beyond the grid; 0 to 1.
    beyond: float = 1e-2
    # Products in all, beyond which it is declined: some twenty seconds.
    work: float = 8e8
    # Deviations of the loss that are looked at, in the forecast of that work; 1 to 8.
    deviations: int = 4


@dataclass(frozen=True, slots=True)
class LowNoise:
    """Tolerances where the record's step is distinguishable. Rows with z=.3 and "little noise"."""

    # Share of the width times the loss; 0 to 1.
    slack: float = 0.02
    # Squared spacing of a grid for the other steps, in units of the width times the loss per doubling; 1 to 8.
    squared_spacing: float = 3.0
    # Probability, of an attack, that the promise is smaller than it could be; 0 to 1: it gives up nothing.
    seldom: float = 1e-2


@dataclass(frozen=True, slots=True)
class Tuning:
    """Parameters of the engine."""

    # --- Which method ---
    # Bins; 1 000 to 10 000. From here on, for squared shifts up to ``many_bins_shift``, thresholds of one sum are
    # looked at in place of a geometric grid. Rows "1 of 1000, 5 epochs, z=.8" and "1 of 10 000, 3 epochs, z=.7".
    many_bins: int = 3_000
    # Squared shift of a step; 1 to 10. Beyond it one bin alone may decide, and the geometric grid is narrower.
    # Row "1 of 100 000, 10 epochs, z=.5" is below it.
    many_bins_shift: int = 5
    # Squared shift of a step; 1 to 4. From here on likelihood ratios span such a range that replace-one
    # takes a signed grid first. Rows "1 of 100, z=1, replace" (below) and "1 of 10, 10 epochs, z=.5, replace".
    signed_grid_shift: int = 2
    # Squared shift, beyond the logarithm of the number of bins; 0 to 2. Below it the sum hides the scales of one ratio,
    # and one spacing does. Row "1 of 10 000, 3 epochs, z=.7, replace": 1.8e-2 wide on a signed grid, else 7.7e-4.
    signed_grid_margin: float = 0.7

    # --- How fine ---
    # Squared spacing, in units of the width and of the relative variance of R; above 0. Row "1 of 100, z=1".
    grid_variance: float = 1.4
    # Spacing at most, in deviations of one step's loss; above 0. Decides where a wide interval is asked for.
    coarsest_grid: float = 0.04
    # Spacings of a sum of few ratios, in powers of two per doubling of their share; 0 to 1/2. 1/2 would let all
    # additions add the same variance to the whole, but a single ratio may decide. Row "1 of 1000, 10 epochs, z=2".
    coarsening: float = 1 / 4
    # Doublings, beyond which no single ratio decides, and the spacing doubles at 1/2; 1 or more.
    # Two epochs of 1 of 2500, z=.7: 1.3e-4 wide in 8.3 s; without, 8.8e-5 in 9.2 s.
    undecisive: int = 10
    # Share of δ that may lie beyond the grid; 0 to 1. Row "1 of 100, 10 epochs, z=.5".
    beyond_grid: float = 1e-7
    # Share of δ that thresholds, and steps distinguished, may give up; 0 to 1. Row "1 of 100, z=1, replace".
    given_up: float = 1e-5
    # Share of the width, for the composition of discrete pairs; 0 to 1. Row "1 of 1000, 5 epochs, z=.8": at 1 it is
    # twice as wide (2.8e-4) and takes 14 s, not 5 s.
    composition: float = 0.25
    # Deviations of the loss, up to which thresholds are dense; above 0. Row "1 of 100 000, z=1".
    dense: float = 6.0
    # Bins; from here on a transform under replace-one has twice as many points.
    # Row "1 of 100 000, 10 epochs, z=1, replace".
    large_transform: int = 30_000
    # Thresholds that share one distribution of very many bins, and the share of the best tilt at the middle one; 1 or
    # more, 0 to
    # 1. Row "1 of 100 000, z=1".
    shared_thresholds: int = 48
    shared_tilt: float = 0.7

    # --- When to try again, and when to stop ---
    # Grids that are tried at most; 1 or more.
    rounds: int = 4
    # Times the wanted width, at which replace-one stops, as its grids are slow; 1 or more. And the relative width at
    # which it does so at least. The rows with "replace", which may be 1e-3 wide.
    replace_one_width: float = 2.5
    replace_one_least: float = 7.5e-4
    # Times the wanted width, beyond which another kind of grid is tried for very many bins; 1 or more.
    # Row "1 of 10 000, 3 epochs, z=.7, replace".
    retry_if_wider: int = 3
    # Times the wanted width, at which one of many targets stops; 1 or more. A curve of 21 targets takes 5 s, not 113.
    curve_width: int = 2
    # Share of a profile that is not known, beyond which a threshold is of no use; 0 to 1.
    unknown: float = 0.5

    retry: Retry = Retry()
    signed: SignedGrid = SignedGrid()
    low_noise: LowNoise = LowNoise()


TUNING = Tuning()

# Under replace-one, by the width from which they do; the last for all that is narrower. Rows with "replace".
REPLACE_ONE = (
    (5e-3, Fineness(cells=64, bits=16, losses=8)),
    (1e-3, Fineness(cells=96, bits=16, losses=16)),
    (0.0, Fineness(cells=128, bits=17, losses=28)),
)
# Of very many bins: row "1 of 100 000, z=1".
MANY_BINS = Fineness(cells=192, bits=19, losses=48, reach=4.0)
# Of an estimate, from which a search starts.
ESTIMATE = Fineness(cells=32, bits=12, losses=5)
