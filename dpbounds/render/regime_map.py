"""A map of regimes: the plane of exponents, n = d^a and ε = d^(-b), with each region's winner; readable in grey."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbounds import documents
from dpbounds.rates.planes import Point, polygon
from dpbounds.rates.regimes import Regime, by_winner
from dpbounds.rates.spaces import Space, in_letters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 3  # names per region in the legend
_SHADES = ("#ffffff", "#e6e6e6", "#cccccc", "#b3b3b3", "#f2f2f2", "#d9d9d9", "#bfbfbf")
_HATCHES = ("", "//", "", "..", "\\\\", "", "xx")


def regime_map(
    regimes: Sequence[Regime],
    space: Space,
    *,
    title: str = "",
    names: Mapping[str, str] | None = None,
    largest: Sequence[Fraction | int] = (4, 2),
) -> Figure:
    """Draw regions with exact boundaries.

    Args:
        regimes: What ``rates.regimes`` found in the space of n, d and ε.
        space: That space.
        title: Above the map.
        names: What a winner is called in the legend, by id.
        largest: Where the map ends: the largest a and b.
    """
    from matplotlib.figure import Figure

    called = names or {}
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    winners: dict[tuple[str, ...], int] = {}
    for regime in by_winner(regimes):
        corners = polygon(regime.cone, space, largest)
        if len(corners) < 3:
            continue
        index = winners.setdefault(regime.best, len(winners))
        label = _label([called.get(name, name) for name in regime.best])
        already = axes.get_legend_handles_labels()[1]
        axes.fill(
            [float(a) for a, _ in corners],
            [float(b) for _, b in corners],
            facecolor=_SHADES[index % len(_SHADES)],
            hatch=_HATCHES[index % len(_HATCHES)],
            edgecolor="#444444",
            linewidth=1.0,
            label=f"_{label}" if label in already else label,
        )
        _write_inside(axes, corners, in_letters(regime.value))
    axes.set(
        xlabel="a  (n = d^a)",
        ylabel="b  (ε = d^(-b))",
        xlim=(0, float(largest[0])),
        ylim=(0, float(largest[1])),
        title=title,
    )
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", fontsize="small", title="best result", ncols=2)
    return figure


def _label(names: Sequence[str]) -> str:
    shown = list(names[:_SHOWN]) + ([f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else [])
    return "\n".join(shown)


def _write_inside(axes: Any, corners: Sequence[Point], text: str) -> None:
    """The value at the middle of the region, if there is room."""
    across = [a for a, _ in corners]
    up = [b for _, b in corners]
    if max(across) - min(across) < Fraction(1, 3) or max(up) - min(up) < Fraction(1, 8):
        return
    axes.text(
        float(sum(across) / len(across)),
        float(sum(up) / len(up)),
        text,
        ha="center",
        va="center",
        fontsize="small",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
    )


def save(figure: Figure, path: Path) -> None:
    """As PNG, SVG or PDF, by the file's ending; without a date, so that the same map is the same file."""
    documents.write(path, drawn(figure, path.suffix.lower()))


def drawn(figure: Figure, ending: str) -> bytes:
    """The file with this ending (.png, .svg or .pdf)."""
    from matplotlib import rc_context

    undated = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[ending]
    made = io.BytesIO()
    with rc_context({"svg.hashsalt": "dpbounds", "svg.fonttype": "path"}):
        figure.savefig(made, format=ending[1:], dpi=130, metadata=undated)
    return made.getvalue()
