"""Curves and maps as SVG, coloured by a style sheet; a point that is hovered or focused shows its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from dpbounds.expressions.exact import formatted_float
from dpbounds.theorems.references import cited_as, without_versions

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 20, 14, 66


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear or logarithmic scale from numbers to positions."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high, here = (math.log10(x) if self.log else x for x in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (here - low) / ((high - low) or 1)

    def ticks(self) -> Iterator[float]:
        """Round numbers, about six of them."""
        if self.log:
            low, high = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = max(1, round((high - low) / 6))
            yield from (10.0**power for power in range(low, high + 1, step))
            return
        rough = (self.high - self.low) / 6 or 1
        size = 10 ** math.floor(math.log10(rough))
        step = size * next(part for part in (1, 2, 5, 10) if part * size >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        yield from (step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1))


Labels = Callable[[float], Sequence[str]]  # the lines of text at a number of an axis


def _plain(value: float) -> Sequence[str]:
    return (f"{value:.4g}",)


def _frame(
    title: str, x: Axis, y: Axis, across: str, up: str, body: str, x_labels: Labels = _plain, y_labels: Labels = _plain
) -> Markup:
    lines = []
    for tick in x.ticks():
        lines.append(f'<line class="grid" x1="{x.at(tick):.1f}" x2="{x.at(tick):.1f}" y1="{y.start}" y2="{y.end}"/>')
        lines += _stacked(x.at(tick), y.start + 20, "middle", x_labels(tick))
    for tick in y.ticks():
        lines.append(f'<line class="grid" x1="{x.start}" x2="{x.end}" y1="{y.at(tick):.1f}" y2="{y.at(tick):.1f}"/>')
        labels = y_labels(tick)
        lines += _stacked(x.start - 8, y.at(tick) + 4 - 8 * (len(labels) - 1), "end", labels)
    middle, centre = (y.start + y.end) / 2, (x.start + x.end) / 2
    return Markup(  # noqa: S704 (numbers of ours, and texts that are escaped)
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" aria-label="{escape(title)}">'
        f"{''.join(lines)}"
        f'<text x="{centre}" y="{_HEIGHT - 8}" text-anchor="middle" class="axis">{escape(across)}</text>'
        f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle" class="axis">{escape(up)}</text>'
        f"{body}</svg>"
    )


def _stacked(at: float, top: float, anchor: str, labels: Sequence[str]) -> list[str]:
    under = ' class="axis under"'
    return [
        f'<text x="{at:.1f}" y="{top + 16 * row:.1f}" text-anchor="{anchor}"{under * bool(row)}>{escape(label)}</text>'
        for row, label in enumerate(labels)
    ]


def _axes(xs: Sequence[float], ys: Sequence[float], log_y: bool) -> tuple[Axis, Axis]:
    x = Axis(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT)
    low, high = (min(ys), max(ys)) if ys else (0.1, 1.0)
    if log_y:
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high) + 1e-9)
    return x, Axis(low, high, _HEIGHT - _BOTTOM, _TOP, log_y)


def curve(columns: Mapping[str, Sequence[Any]]) -> Markup:
    """Return δ(ε) with both proven bounds, on a logarithmic scale; δ = 0 is not shown."""
    at = [float(value) for value in columns["epsilon"]]
    ends = {name: [float(value) for value in columns[f"delta_{name}"]] for name in ("upper", "lower")}
    positive = [value for end in ends.values() for value in end if value > 0]
    x, y = _axes(at, positive, True)
    body = "".join(f'<polyline class="{name}" points="{_points(x, y, at, values)}"/>' for name, values in ends.items())
    for here, low, high in zip(at, ends["lower"], ends["upper"], strict=True):
        if high > 0:
            most, least = formatted_float(high, ".6g", "up"), formatted_float(low, ".6g", "down")
            told = (f"ε = {here:.6g}", f"δ ≤ {most}, proven", f"δ ≥ {least}, proven")
            body += _mark(x, y, here, high, told)
    return _frame("δ against ε, both proven bounds", x, y, "ε", "δ, on a logarithmic scale", body)


def trade_off(columns: Mapping[str, Sequence[Any]]) -> Markup:
    """Return the smallest false negative rate of an attack, by its false positive rate."""
    at = [float(value) for value in columns["type_one_error"]]
    least = [float(value) for value in columns["type_two_error_lower_bound"]]
    x, y = _axes([0.0, 1.0], [0.0, 1.0], False)
    body = f'<polyline class="reference" points="{_points(x, y, [0, 1], [1, 0])}"/>'
    body += f'<polyline class="upper" points="{_points(x, y, at, least)}"/>'
    for here, value in [pair for pair in zip(at, least, strict=True) if pair[0] >= 0.01][::5]:
        told = (f"false positive rate {here:.3g}", f"false negative rate ≥ {formatted_float(value, '.4g', 'down')}")
        body += _mark(x, y, here, value, told)
    title = "smallest false negative rate of an attack, by its false positive rate"
    return _frame(title, x, y, "false positive rate of the attack", "false negative rate", body)


def rates(found: Sequence[Mapping[str, Any]]) -> Markup:
    """Return the largest true positive rate of an attack, by its false positive rate, on logarithmic scales."""
    at = [float(one["false_positive_rate"]) for one in found]
    most = [min(float(one["true_positive_rate"]["upper"]), 1.0) for one in found]
    x = Axis(min(at), 1.0, _LEFT, _WIDTH - _RIGHT, log=True)
    y = Axis(10 ** math.floor(math.log10(min(at))), 1.0, _HEIGHT - _BOTTOM, _TOP, log=True)
    body = f'<polyline class="reference" points="{_points(x, y, [min(at), 1], [min(at), 1])}"/>'
    body += f'<polyline class="upper" points="{_points(x, y, [*at, 1], [*most, 1])}"/>'
    for here, value in zip(at, most, strict=True):
        told = (f"false positive rate {here:.4g}", f"true positive rate ≤ {formatted_float(value, '.4g', 'up')}")
        body += _mark(x, y, here, value, told)
    title = "largest true positive rate of an attack, by its false positive rate"
    across, up = "false positive rate of the attack, on a logarithmic scale", "true positive rate"
    return _frame(title, x, y, across, up, body)


def rates_in_rows(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return the false positive rates, with the bounds on the true positive rate of the best attack."""
    return [
        (
            f"{float(one['false_positive_rate']):.4g}",
            formatted_float(float(one["true_positive_rate"]["lower"]), ".6g", "down"),
            formatted_float(float(one["true_positive_rate"]["upper"]), ".6g", "up"),
        )
        for one in found
    ]


def _points(x: Axis, y: Axis, at: Sequence[float], values: Sequence[float]) -> str:
    shown = [(here, value) for here, value in zip(at, values, strict=True) if value > 0 or not y.log]
    return " ".join(f"{x.at(here):.1f},{y.at(value):.1f}" for here, value in shown)


def _mark(x: Axis, y: Axis, here: float, value: float, told: Sequence[str]) -> str:
    left, top = x.at(here), y.at(value)
    at, anchor = (left - 10, "end") if left > _WIDTH / 2 else (left + 10, "start")
    below = min(max(top, _TOP + 30), _HEIGHT - _BOTTOM - 34)
    tip = "".join(
        f'<tspan x="{at:.1f}" dy="{15 if row else 0}">{escape(text)}</tspan>' for row, text in enumerate(told)
    )
    return (
        f'<g class="mark" tabindex="0" role="img" aria-label="{escape(", ".join(told))}">'
        f'<circle class="reach" cx="{left:.1f}" cy="{top:.1f}" r="14"/><circle cx="{left:.1f}" cy="{top:.1f}" r="3.5"/>'
        f'<text class="tip" x="{at:.1f}" y="{below:.1f}" text-anchor="{anchor}">{tip}</text></g>'
    )


_POWERS = {0.0: "1", 0.5: "√d", 1.0: "d", 1.5: "d√d", 2.0: "d²", 3.0: "d³", 4.0: "d⁴"}


def regime_map(
    regions: Sequence[Mapping[str, Any]], point: tuple[float, float] | None, log_d: float | None = None
) -> Markup:
    """Return the map of the best results: n = d^a across, ε = d^(-b) up.

    Args:
        regions: Corners, values and best results of the regions.
        point: The a and b of the reader.
        log_d: The natural logarithm of the reader's d, for which the axes show n and ε, too.
    """
    x = Axis(0, 4, _LEFT, _WIDTH - _RIGHT)
    y = Axis(0, 2, _HEIGHT - _BOTTOM, _TOP)
    body = ""
    for region, index in _tinted(regions):
        corners = region["corners"]
        outline = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in corners)
        told = f"{region['value']}: {', '.join(named(region['best']))}"
        middle = (sum(a for a, _ in corners) / len(corners), sum(b for _, b in corners) / len(corners))
        body += (
            f'<g class="region" tabindex="0" role="img" aria-label="{escape(told)}"><title>{escape(told)}</title>'
            f'<polygon class="tint{index % 7}" points="{outline}"/>'
            f'<text x="{x.at(middle[0]):.1f}" y="{y.at(middle[1]) + 4:.1f}" text-anchor="middle">'
            f"{_letter(index)}</text></g>"
        )
    if point is not None:
        left, top = x.at(min(max(point[0], 0), 4)), y.at(min(max(point[1], 0), 2))
        body += f'<circle class="here" cx="{left:.1f}" cy="{top:.1f}" r="7"><title>your n, d and ε</title></circle>'

    def records(power: float) -> Sequence[str]:
        return (_POWERS[power], *(() if log_d is None else (power_of_ten(power * log_d),)))

    def privacy(power: float) -> Sequence[str]:
        name = "1" if power == 0 else f"1/{_POWERS[power]}" if power != 1.5 else "1/(d√d)"
        return (name, *(() if log_d is None else (power_of_ten(-power * log_d),)))

    title = "the best result for each number of records n, number of parameters d, and ε"
    second = "" if log_d is None else f"; below, for d = {power_of_ten(log_d)}"
    across = f"number of records n, in powers of d{second}"
    return _frame(title, x, y, across, "ε, in powers of d", body, records, privacy)


def power_of_ten(exponent: float) -> str:
    """Return e^x in two digits, also where no double holds it.

    >>> power_of_ten(math.log(100)), power_of_ten(-2000.0)
    ('100', '2.6e-869')
    """
    power = exponent / math.log(10)
    whole = math.floor(power + 1e-9)
    digits = f"{10 ** (power - whole):.2g}"
    if -3 <= whole <= 3:
        return f"{10**power:.4g}" if digits == "1" else f"{10**power:.2g}"
    return f"1e{whole}" if digits == "1" else f"{digits}e{whole}"


def _tinted(regions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield the regions that have an area, with the number of their best results."""
    winners: dict[tuple[str, ...], int] = {}
    for region in regions:
        if len(region["corners"]) >= 3:
            yield region, winners.setdefault(tuple(region["best"]), len(winners))


def _letter(index: int) -> str:
    return chr(ord("A") + index)


def named(best: Sequence[str]) -> list[str]:
    """Return the best results by authors, year and number; a version with constants is not named beside its original.

    >>> named(["trivial"]), named(["wang-xu-2019/theorem-2", "wang-xu-2019/theorem-2/explicit"])
    (['the bound without any algorithm'], ['Wang & Xu 2019, Theorem 2'])
    """
    return [cited_as(name) for name in without_versions(best)]


def lettered(regions: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str, list[str]]]:
    """Letter, tint, value and best results of each region of the map, once."""
    found: dict[int, tuple[list[str], list[str]]] = {}
    for region, index in _tinted(regions):
        found.setdefault(index, ([], list(region["best"])))[0].append(region["value"])
    return [
        (_letter(index), index % 7, "; ".join(dict.fromkeys(values)), best) for index, (values, best) in found.items()
    ]
