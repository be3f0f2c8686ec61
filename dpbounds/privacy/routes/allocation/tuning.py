"""The numbers that choose a method and how finely it works: none of them is part of a proof.

Whatever they are, both ends hold; they decide how wide an interval is and how long it takes. Each has its unit, a range
in which rows of ``benchmarks/what_people_run.py`` keep their width and time, and what decided it. Numbers that proofs
rely on, working precisions and limits of doubles stand with the code that needs them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fineness:
    """How finely one of m bins is looked at.

    Attributes:
        cells: Of y, per unit.
        bits: 2^bits points of the sum.
        losses: Thresholds per deviation of the loss of all bins.
        reach: Deviations of the sum, by which a bin's ratio may exceed what outweighs the other bins.
    """

    cells: int
    bits: int
    losses: int
    reach: float = 6.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the engine chooses by."""

    # --- Which method ---
    # Bins; 2e3 to 1e4. From here on (and for squared shifts up to ``many_bins_shift``) thresholds of one sum are looked
    # at in place of a geometric grid. Rows "1 of 1000, 5 epochs, z=.8" and "1 of 10 000, 3 epochs, z=.7".
    many_bins: int = 3_000
    # Squared shift of a step; 4 to 8. Beyond it one bin alone may decide, and the grid is narrower.
    # Rows "1 of 100 000, 10 epochs, z=.5" and "z=1" are below it.
    many_bins_shift: int = 5
    # Squared shift of a step; 1 to 3. From here on likelihood ratios span so many orders of magnitude that replace-one
    # takes a geometric grid with signs first. Rows "1 of 100, z=1, replace" and "1 of 10, 10 epochs, z=.5, replace".
    signed_grid_shift: int = 2
    # Squared shift beyond the logarithm of the number of bins; 0 to 1. Below it, the sum hides the scales of one ratio
    # and one spacing does. Row "1 of 10 000, 3 epochs, z=.7, replace" (1.8e-2 wide on the other grid first).
    signed_grid_margin: float = 0.7

    # --- How fine ---
    # Squared spacing, in units of the width and of the relative variance of R; 1 to 2. The first grid of "1 of 100,
    # 10 epochs, z=1" is fine enough.
    grid_variance: float = 1.4
    # Spacing, in units of the deviation of one step's loss; 0.02 to 0.08. Decides where noise is little, as in row
    # "1 of 4, z=.5".
    coarsest_grid: float = 0.04
    # Share of δ that may lie beyond the grid; 1e-8 to 1e-6. Row "1 of 100, 10 epochs, z=.5".
    beyond_grid: float = 1e-7
    # Share of δ that thresholds, and steps told apart, may give up; 1e-6 to 1e-4. Row "1 of 100, z=1, replace".
    given_up: float = 1e-5
    # Share of the width, for the composition of the discrete pairs; 0.1 to 0.5.
    composition: float = 0.25
    # Deviations of the loss, up to which thresholds are dense; 4 to 8. Row "1 of 100 000, 10 epochs, z=1".
    dense: float = 6.0

    # --- When to try again, and when to stop ---
    # Grids that are tried at most; 3 to 6.
    rounds: int = 4
    # Times the wanted width, at which replace-one stops: its grids are dear; 2 to 4. The rows with "replace".
    replace_one_width: float = 2.5
    # Times the wanted width, beyond which another kind of grid is tried for very many bins; 2 to 10.
    # Row "1 of 100 000, 10 epochs, z=1, replace".
    retry_if_wider: int = 3
    # Times the wanted width, at which one of many targets stops; 1 to 3. A curve of 21 targets takes 5 s, not 113.
    curve_width: int = 2
    # Share of a profile that is not known at a threshold, from which on the threshold is of no use; 0.3 to 0.9.
    unknown: float = 0.5


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
