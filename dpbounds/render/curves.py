"""Curves with intervals: what an experiment measured beside what a statement promises; readable in grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES: tuple[Any, ...] = ("-", (0, (5, 1)), "-.", (0, (1, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)))
_MARKS = ("o", "s", "^", "v", "D", "x")
_GREYS = ("#000000", "#444444", "#777777", "#222222", "#555555", "#888888")
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


def draw(title: str, panels: Sequence[Panel]) -> Figure:
    """Draw the panels side by side under one title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6.0, 4.6 * len(panels)), 4.2), layout="constrained")
    figure.suptitle(title)
    row = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel in zip(row, panels, strict=True):
        for index, curve in enumerate(panel.curves):
            _add(axes, curve, index)
        axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
        axes.set_xscale("log" if panel.log_x else "linear")
        sizes = panel.curves[0].x if panel.curves else ()
        if panel.log_x and len(sizes) <= _FEW:
            axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
            axes.set_xticks([], minor=True)
        axes.set_yscale("log" if panel.log_y else "linear")
        axes.legend(fontsize="small")
    return figure


def _add(axes: Axes, curve: Line, index: int) -> None:
    grey = _GREYS[index % len(_GREYS)]
    mark = _MARKS[(index - curve.promised) % len(_MARKS)] if len(curve.x) <= _FEW else None
    style = "--" if curve.promised else _DASHES[index % len(_DASHES)]
    width = 0.8 if curve.promised else 1.4
    axes.plot(
        curve.x,
        curve.y,
        linestyle=style,
        color=grey,
        marker=mark,
        markersize=4,
        markerfacecolor="none" if curve.promised else grey,
        linewidth=width,
        label=curve.label,
    )
    if curve.low:
        axes.fill_between(curve.x, curve.low, curve.high, color=grey, alpha=0.15, linewidth=0)
