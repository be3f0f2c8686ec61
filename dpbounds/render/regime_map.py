"""A map of regimes: the plane of exponents, n = d^a and ε = d^(-b), with each region's winner."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpbounds.rates.planes import Point, polygon
from dpbounds.rates.regimes import Regimes, by_winner
from dpbounds.rates.spaces import Space, in_letters
from dpbounds.render.style import HATCHES, SOFT, TINTS, canvas, titled
from dpbounds.theorems.references import cited_as, without_versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 3  # names per region in the legend


def regime_map(
    regimes: Regimes,
    space: Space,
    *,
    title: str = "",
    largest: Sequence[Fraction | int] = (4, 2),
) -> Figure:
    """Draw regions with exact boundaries.

    Args:
        regimes: The result of ``rates.regimes`` in the space of n, d and ε.
        space: That space.
        title: Above the map.
        largest: The ends of the map: the largest a and b.
    """
    figure, (axes,) = canvas(8, 6.2)
    axes.grid(visible=False)
    winners: dict[tuple[str, ...], int] = {}
    largest_of: dict[tuple[int, str], tuple[Point, ...]] = {}  # each value is written once, where there is most room
    for regime in by_winner(regimes):
        corners = polygon(regime.cone, space, largest)
        if len(corners) < 3:
            continue
        index = winners.setdefault(regime.best, len(winners))
        label = _label(list(map(cited_as, without_versions(regime.best))))
        already = axes.get_legend_handles_labels()[1]
        axes.fill(
            [float(a) for a, _ in corners],
            [float(b) for _, b in corners],
            facecolor=TINTS[index % len(TINTS)],
            hatch=HATCHES[index % len(HATCHES)],
            edgecolor=SOFT,
            linewidth=1.0,
            label=f"_{label}" if label in already else label,
        )
        place = index, _mathematics(in_letters(regime.value))
        largest_of[place] = max(largest_of.get(place, corners), corners, key=_area)
    for (index, text), corners in largest_of.items():
        _write_inside(axes, corners, text, TINTS[index % len(TINTS)])
    axes.set(
        xlabel=r"$a$, where $n = d^a$",
        ylabel=r"$b$, where $\varepsilon = d^{-b}$",
        xlim=(0, float(largest[0])),
        ylim=(0, float(largest[1])),
    )
    titled(axes, title)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", fontsize=9, title="best result", ncols=2, frameon=False)
    return figure


def _label(names: Sequence[str]) -> str:
    shown = list(names[:_SHOWN]) + ([f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else [])
    return "\n".join(shown)


def _mathematics(letters: str) -> str:
    r"""Return a value as matplotlib sets it.

    >>> _mathematics("d^(1/3)/(n √ε)")
    '$d^{1/3}/(n \\, \\sqrt{\\varepsilon})$'
    """
    raised = re.sub(r"\^\(([^)]*)\)", r"^{\1}", letters)
    rooted = re.sub(r"√(\w+)", r"\\sqrt{\1}", raised)
    return f"${rooted.replace('ε', chr(92) + 'varepsilon').replace(' ', ' ' + chr(92) + ', ')}$"


def _area(corners: Sequence[Point]) -> Fraction:
    """Return twice the area of a convex polygon (Gauss's formula)."""
    turns = zip(corners, (*corners[1:], corners[0]), strict=True)
    return abs(sum((a * d - b * c for (a, b), (c, d) in turns), Fraction(0)))


def _write_inside(axes: Any, corners: Sequence[Point], text: str, tint: str) -> None:
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
        fontsize=11,
        bbox={"facecolor": tint, "edgecolor": "none", "pad": 2},
    )
