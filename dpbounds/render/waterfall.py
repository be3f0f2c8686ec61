"""A waterfall of factors: from a number to a larger one, one bar a line on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbounds.render.style import INK, SOFT, canvas, plain_decades, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOST, _GAINED, _BROKEN = "#5a9bc9", "#cfe8df", "#000000"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, from ``left`` to ``right``, both greater than 0.

    Attributes:
        broken: Whether this must not be: drawn black.
    """

    label: str
    left: float
    right: float
    broken: bool = False


def waterfall(title: str, bars: Sequence[Bar], x_label: str) -> Figure:
    """Draw the bars from top to bottom, each with its factor, between the first left end and the last right one."""
    figure, (axes,) = canvas(9, 1.8 + 0.45 * len(bars))
    axes.grid(visible=False, axis="y")
    for row, bar in enumerate(bars):
        low, high = sorted((bar.left, bar.right))
        shade = _BROKEN if bar.broken else _LOST if bar.right >= bar.left else _GAINED
        axes.barh(row, high - low, left=low, color=shade, edgecolor=INK, linewidth=0.6, height=0.6)
        axes.annotate(
            f"x {bar.right / bar.left:.3g}", (high, row), (4, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.axvline(bars[0].left, color=SOFT, linewidth=1, linestyle=":")
    axes.axvline(bars[-1].right, color=SOFT, linewidth=1, linestyle="--")
    axes.set_xscale("log")
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars], fontsize=9)
    axes.invert_yaxis()
    ends = [end for bar in bars for end in (bar.left, bar.right)]
    room = (max(ends) / min(ends)) ** 0.08  # for the lines at both endpoints, and for the last factor
    axes.set_xlim(min(ends) / room, max(ends) * room)
    plain_decades(axes.xaxis)
    axes.set_xlabel(x_label)
    titled(axes, title)
    return figure
