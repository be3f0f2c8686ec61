"""Curves with intervals: what an experiment measured beside what a statement promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbounds.render.style import COLOURS, DASHES, MARKS, canvas, keyed, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 12  # points up to which each one gets a mark


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a picture.

    Attributes:
        x: Where, shape (K,).
        low: Lower ends of an interval, shape (K,), or empty.
        promised: Whether this is a statement's value rather than something measured (drawn thin and dashed; where it
            has few points, with the mark of the curve before it, hollow).
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    promised: bool = False


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
    for axes, panel in zip(row, panels, strict=True):
        for index, curve in enumerate(panel.curves):
            _add(axes, curve, index)
        titled(axes, panel.title)
        axes.set(xlabel=panel.x_label, ylabel=panel.y_label)
        axes.set_xscale("log" if panel.log_x else "linear")
        sizes = panel.curves[0].x if panel.curves else ()
        if panel.log_x and len(sizes) <= _FEW:
            axes.set_xticks(sizes, [f"{size:.4g}" for size in sizes])
            axes.set_xticks([], minor=True)
        axes.set_yscale("log" if panel.log_y else "linear")
        if panel.curves:
            keyed(axes)
    return figure


def _add(axes: Axes, curve: Line, index: int) -> None:
    colour = COLOURS[index % len(COLOURS)]
    mark = MARKS[(index - curve.promised) % len(MARKS)] if len(curve.x) <= _FEW else None
    style = "--" if curve.promised else DASHES[index % len(DASHES)]
    width = 1.1 if curve.promised else 1.8
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
