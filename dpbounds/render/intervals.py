"""Pictures of intervals below one another, each from a mark to the end of a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbounds.render.style import COLOURS, INK, canvas, plain_decades, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Interval:
    """One row, from the measured value (a dot) to its bound (a bar across the line).

    Attributes:
        broken: Whether the dot lies on the wrong side: drawn as a cross.
    """

    label: str
    found: float
    bound: float
    broken: bool = False


def intervals(title: str, rows: Sequence[Interval], x_label: str, caption: str, *, log: bool = False) -> Figure:
    """Draw the rows from top to bottom; where ``log``, all ends must be greater than 0."""
    figure, (axes,) = canvas(9, 1.8 + 0.3 * len(rows), caption=caption)
    axes.grid(visible=False, axis="y")
    for place, row in enumerate(rows):
        axes.plot(
            [row.found, row.bound], [place, place], color=COLOURS[5], linewidth=3, solid_capstyle="butt", zorder=1
        )
        axes.plot([row.bound], [place], marker="|", color=INK, markersize=11, markeredgewidth=2, zorder=2)
        mark, colour = ("X", COLOURS[2]) if row.broken else ("o", COLOURS[1])
        axes.plot([row.found], [place], marker=mark, color=colour, markersize=6, zorder=3)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if log:
        axes.set_xscale("log")
        plain_decades(axes.xaxis)
    axes.set_xlabel(x_label)
    titled(axes, title)
    return figure
