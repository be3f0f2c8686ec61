"""Pictures of verdicts: a line of measured intervals per check, with the claim across them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbounds.render.style import COLOURS, INK, canvas, plain_decades, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = {
    "holds": ("o", COLOURS[1]),
    "compatible": ("s", "white"),
    "undecided": ("o", "white"),
    "fails": ("X", COLOURS[2]),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One check.

    Attributes:
        low: Lower bound of the measured interval.
        mean: Inside of it.
        high: Its other end.
        verdict: "holds", "compatible" (a hollow square), "undecided" (a hollow dot) or "fails" (a cross).
    """

    label: str
    promised: float
    low: float
    mean: float
    high: float
    verdict: str


def verdicts(ratios: Sequence[Found], differences: Sequence[Found], caption: str) -> Figure:
    """Draw measured over claimed values (all greater than 0), or their difference, from top to bottom.

    One of the two is not empty.
    """
    groups = [group for group in (ratios, differences) if group]
    figure, axes = canvas(9, 2.0 + 0.3 * max(map(len, groups)), len(groups), caption=caption)
    for one, group in zip(axes, groups, strict=True):
        _group(one, group, over=group is ratios)
    return figure


def _group(axes: Axes, group: Sequence[Found], *, over: bool) -> None:
    axes.grid(visible=False, axis="y")
    axes.axvline(1 if over else 0, color=INK, linewidth=1.4, zorder=0)
    for place, row in enumerate(group):
        low, mean, high = (x / row.promised if over else x - row.promised for x in (row.low, row.mean, row.high))
        mark, colour = _MARKS[row.verdict]
        axes.plot([max(low, mean / 1000) if over else low, high], [place] * 2, color=COLOURS[5], linewidth=3, zorder=1)
        axes.plot([mean], [place], marker=mark, color=colour, markeredgecolor=INK, markersize=6, zorder=2)
    axes.set_yticks(range(len(group)), [row.label for row in group], fontsize=8)
    axes.set_ylim(len(group) - 0.4, -0.6)
    if over:
        axes.set_xscale("log")
        plain_decades(axes.xaxis)
    axes.set_xlabel("measured / claimed" if over else "measured - claimed")
    titled(axes, "Bounds and formulas" if over else "Exponents")
