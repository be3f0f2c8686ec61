"""Curves: what is promised looks like what it is promised of; names and captions hide nothing."""

from itertools import combinations

import pytest

from dpbounds.render.curves import Line, Panel, draw
from dpbounds.render.style import SOFT

X = (1000.0, 4000.0, 16000.0)
MEASURED = Line("measured", X, (3.0, 2.0, 1.0), low=(2.9, 1.9, 0.9), high=(3.1, 2.1, 1.1))
PROMISED = Line("promised", X, (6.0, 4.0, 2.0), promised=True)
OTHER = Line("another one that has a long name", X, (1.0, 1.0, 1.0))
LEVEL = Line("budget", X, (2.0, 2.0, 2.0), level=True)
CAPTION = (
    "A sentence that says how to read it, and that is longer than the figure is wide, so that it has to be broken."
)


def test_a_promise_has_the_colour_and_the_mark_of_its_curve_and_a_level_none():
    figure = draw("", [Panel("", "n", "y", (OTHER, MEASURED, PROMISED, LEVEL), log_x=True)])
    other, measured, promised, level = figure.axes[0].get_lines()
    assert measured.get_color() == promised.get_color() != other.get_color()
    assert measured.get_marker() == promised.get_marker() != other.get_marker()
    assert promised.get_markerfacecolor() == "none"
    assert (level.get_color(), level.get_marker()) == (SOFT, "None")


@pytest.mark.seconds
@pytest.mark.parametrize("panels", [1, 2])
def test_nothing_lies_on_anything_else(panels):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    one = Panel("title", "records", "y", (MEASURED, PROMISED, OTHER, LEVEL), log_x=True)
    figure = draw("Above all, and so long that one line does not hold it: " * 2, [one] * panels, CAPTION)
    drawer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(drawer)
    (key,) = figure.legends
    assert key.get_title().get_text().replace("\n", " ") == CAPTION
    pieces = [figure._suptitle, key, *figure.axes]
    boxes = [piece.get_tightbbox(drawer) for piece in pieces]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in boxes)


@pytest.mark.parametrize(("ends", "plain"), [((0.02, 0.09), True), ((0.5, 40), True), ((1e-12, 1), False)])
def test_few_decades_are_written_without_powers(ends, plain):
    lines = (Line("a", (1.0, 2.0), ends),)
    axis = draw("", [Panel("", "x", "y", lines)]).axes[0].yaxis
    told = [label for label in axis.get_major_formatter().format_ticks([0.01, 0.1, 1]) if label]
    assert (told == ["0.01", "0.1", "1"]) is plain
