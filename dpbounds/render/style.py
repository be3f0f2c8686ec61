"""Style of pictures: colours that survive colour blindness, dashes and marks that survive grey print."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbounds import documents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe & Ito 2008, in an order in which neighbours differ in lightness, too
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
# the same, pale enough for text to stand on; their lightness differs
TINTS = ("#ffffff", "#9ec9e8", "#f7cbb0", "#cfe8df", "#e9b8d3", "#dff0fb", "#f3e3b3")
HATCHES = ("", "", "//", "..", "\\\\", "xx", "--")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (1, 1.2)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
MARKS = ("o", "s", "^", "v", "D", "x")
INK, SOFT = "#1a1a1a", "#6b6b6b"
_RULES: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "hatch.linewidth": 0.5,
    "hatch.color": "#8a8a8a",
    "mathtext.fontset": "dejavusans",
}
_ENDINGS = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def canvas(
    width: float, height: float, columns: int = 1, *, title: str = "", caption: str = "", share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes side by side.

    Args:
        width: In inches.
        height: In inches.
        columns: The number of axes.
        title: Above all of them.
        caption: Below all of them; it is also in the file, for screen readers.
        share_y: Whether they share the axis upwards.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_RULES):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = list(figure.subplots(1, columns, squeeze=False, sharey=share_y)[0])
        if title:
            figure.suptitle(textwrap.fill(title, int(9 * width)), x=0.01, ha="left", weight="bold", fontsize=12)
        if caption:
            figure.supxlabel(caption, x=0.01, ha="left", fontsize=9, color=SOFT, wrap=True)
    figure.set_label(caption or title)
    return figure, axes


def titled(axes: Axes, text: str) -> None:
    """A title above one pair of axes."""
    axes.set_title(text, loc="left", weight="bold", fontsize=11)


def keyed(axes: Axes) -> None:
    """Add a legend of the lines, readable where lines pass behind it."""
    axes.legend(frameon=True, framealpha=0.85, edgecolor="none", facecolor="white", fontsize=9)


def keyed_below(figure: Figure, columns: int) -> None:
    """Add one legend for all axes, below them and their caption: for lines that need more room."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    caption = figure.get_supxlabel()
    wide = figure.get_figwidth()
    figure.supxlabel("")
    key = figure.legend(
        handles,
        labels,
        loc="outside lower left",
        ncols=columns,
        title=textwrap.fill(caption, int(13.5 * wide)),
        alignment="left",
        frameon=False,
    )
    key.get_title().set(fontsize=9, color=SOFT)


def plain_decades(axis: Axis) -> None:
    """Write 0.06 instead of 6 x 10^-2 on a logarithmic axis that spans few decades near 1."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if not 1e-4 <= low < high <= 1e5 or high / low > 1e3:
        return
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if high / low < 30:
        axis.set_minor_locator(LogLocator(subs=(2, 3, 5) if high / low < 8 else (2, 5)))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        axis.set_minor_formatter(NullFormatter())


def drawn(figure: Figure, ending: str) -> bytes:
    """Return the file with this ending (.png, .svg or .pdf); undated, so that the same picture is the same file."""
    from matplotlib import rc_context

    told = str(figure.get_label())
    named = {"Title": told} if told else {}
    content = io.BytesIO()
    with rc_context({**_RULES, "svg.hashsalt": "dpbounds", "svg.fonttype": "path"}):
        figure.savefig(content, format=ending[1:], dpi=160, metadata={**_ENDINGS[ending], **named})
    return content.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write the picture, by the file's ending."""
    documents.write(path, drawn(figure, path.suffix.lower()))
