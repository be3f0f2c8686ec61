"""Curves with intervals: measurements of an experiment, with the claim of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbounds.render.style import COLOURS, DASHES, MARKS, SOFT, canvas, keyed, keyed_below, plain_decades, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 12  # points up to which each one gets a mark
_INSIDE = 3  # lines up to which their names stand between them
_SHORT = 16  # letters of a name
_MANY = 150  # points from which a line is drawn thinner: paths of runs, which shake


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a picture.

    Attributes:
        x: The positions, shape (K,).
        low: Lower endpoints of intervals, shape (K,), or empty.
        promised: Whether this is what a statement says of the curve before it: in its colour, thin and dashed, and
            where it has few points with its mark, hollow.
        level: Whether it belongs to no curve, such as a budget: grey and dashed.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    promised: bool = False
    level: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = True


def draw(title: str, panels: Sequence[Panel], caption: str = "") -> Figure:
    """Draw the panels side by side under one title, above a caption."""
    figure, row = canvas(max(6.4, 4.8 * len(panels)), 4.4, len(panels), title=title, caption=caption)
    labels = [[curve.label for curve in panel.curves if not curve.label.startswith("_")] for panel in panels]
    below = len(labels[0]) > _INSIDE and all(each == labels[0] for each in labels)
    for axes, panel in zip(row, panels, strict=True):
        index = -1
        for curve in panel.curves:
            index += not (curve.promised or curve.level)
            _add(axes, curve, max(index, 0))
        titled(axes, panel.title)
        axes.set(xlabel=panel.x_label, ylabel=panel.y_label)
        axes.set_xscale("log" if panel.log_x else "linear")
        sizes = panel.curves[0].x if panel.curves else ()
        if panel.log_x and len(sizes) <= _FEW:
            axes.set_xticks(sizes, [_written(size) for size in sizes])
            axes.set_xticks([], minor=True)
        axes.set_yscale("log" if panel.log_y else "linear")
        if panel.log_y:
            plain_decades(axes.yaxis)
        if panel.curves and not below:
            keyed(axes)
    if below:
        longest = max(map(len, labels[0]))
        keyed_below(figure, len(panels) * (3 if longest < _SHORT else 2 if longest < 2 * _SHORT else 1))
    return figure


def _written(size: float) -> str:
    """Return a number of records, its thousands apart."""
    return f"{size:,.0f}".replace(",", "\u202f") if size == int(size) else f"{size:.4g}"


def _add(axes: Axes, curve: Line, index: int) -> None:
    colour = SOFT if curve.level else COLOURS[index % len(COLOURS)]
    mark = MARKS[index % len(MARKS)] if len(curve.x) <= _FEW and not curve.level else None
    style = "--" if curve.promised or curve.level else DASHES[index % len(DASHES)]
    width = 1.1 if curve.promised or curve.level or len(curve.x) >= _MANY else 1.8
    axes.plot(
        curve.x,
        curve.y,
        linestyle=style,
        color=colour,
        marker=mark,
        markerfacecolor="none" if curve.promised else colour,
        linewidth=width,
        label=curve.label,
    )
    if curve.low:
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
