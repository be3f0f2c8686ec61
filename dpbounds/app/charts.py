"""Curves and maps as SVG, coloured by a style sheet; a point that is hovered or focused shows its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from dpbounds.expressions.exact import formatted_float

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 88, 20, 14, 66


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


def _frame(title: str, x: Axis, y: Axis, across: str, up: str, body: str) -> Markup:
    lines = []
    for tick in x.ticks():
        lines.append(f'<line class="grid" x1="{x.at(tick):.1f}" x2="{x.at(tick):.1f}" y1="{y.start}" y2="{y.end}"/>')
        lines.append(f'<text x="{x.at(tick):.1f}" y="{y.start + 22}" text-anchor="middle">{tick:.4g}</text>')
    for tick in y.ticks():
        lines.append(f'<line class="grid" x1="{x.start}" x2="{x.end}" y1="{y.at(tick):.1f}" y2="{y.at(tick):.1f}"/>')
        lines.append(f'<text x="{x.start - 8}" y="{y.at(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    middle, centre = (y.start + y.end) / 2, (x.start + x.end) / 2
    return Markup(  # noqa: S704 (numbers of ours, and texts that are escaped)
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="group" aria-label="{escape(title)}">'
        f"{''.join(lines)}"
        f'<text x="{centre}" y="{_HEIGHT - 10}" text-anchor="middle" class="axis">{escape(across)}</text>'
        f'<text transform="translate(20 {middle}) rotate(-90)" text-anchor="middle" class="axis">{escape(up)}</text>'
        f"{body}</svg>"
    )


def _axes(xs: Sequence[float], ys: Sequence[float], log_y: bool) -> tuple[Axis, Axis]:
    x = Axis(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT)
    low, high = (min(ys), max(ys)) if ys else (0.1, 1.0)
    if log_y:
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high) + 1e-9)
    return x, Axis(low, high, _HEIGHT - _BOTTOM, _TOP, log_y)


def curve(columns: Mapping[str, Sequence[Any]]) -> Markup:
    """δ(ε) with both proven ends, on a logarithmic scale; δ = 0 is not shown."""
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
    return _frame("δ against ε, both proven ends", x, y, "ε", "δ", body)


def trade_off(columns: Mapping[str, Sequence[Any]]) -> Markup:
    """Return the least that an attacker misses, against wrong accusations."""
    at = [float(value) for value in columns["type_one_error"]]
    least = [float(value) for value in columns["type_two_error_lower_bound"]]
    x, y = _axes([0.0, 1.0], [0.0, 1.0], False)
    body = f'<polyline class="reference" points="{_points(x, y, [0, 1], [1, 0])}"/>'
    body += f'<polyline class="upper" points="{_points(x, y, at, least)}"/>'
    for here, value in [pair for pair in zip(at, least, strict=True) if pair[0] >= 0.01][::5]:
        told = (f"wrongly accused {here:.3g}", f"at least {formatted_float(value, '.4g', 'down')} missed")
        body += _mark(x, y, here, value, told)
    return _frame("smallest false negative rate of an attack", x, y, "wrong accusations", "true ones missed", body)


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


def regime_map(regions: Sequence[Mapping[str, Any]], point: tuple[float, float] | None) -> Markup:
    """Who wins where: n = d^a across, ε = d^(-b) up; and where one stands."""
    x = Axis(0, 4, _LEFT, _WIDTH - _RIGHT)
    y = Axis(0, 2, _HEIGHT - _BOTTOM, _TOP)
    winners: dict[tuple[str, ...], int] = {}
    body = ""
    for region in regions:
        corners = region["corners"]
        if len(corners) < 3:
            continue
        index = winners.setdefault(tuple(region["best"]), len(winners))
        outline = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in corners)
        told = f"{region['value']} by {', '.join(region['best'])}"
        middle = (sum(a for a, _ in corners) / len(corners), sum(b for _, b in corners) / len(corners))
        body += (
            f'<g class="region" tabindex="0" role="img" aria-label="{escape(told)}"><title>{escape(told)}</title>'
            f'<polygon class="tint{index % 7}" points="{outline}"/>'
            f'<text x="{x.at(middle[0]):.1f}" y="{y.at(middle[1]) + 4:.1f}" text-anchor="middle">'
            f"{chr(ord('A') + index)}</text></g>"
        )
    if point is not None:
        left, top = x.at(min(max(point[0], 0), 4)), y.at(min(max(point[1], 0), 2))
        body += f'<circle class="here" cx="{left:.1f}" cy="{top:.1f}" r="7"><title>your n, d and ε</title></circle>'
    return _frame("who wins where", x, y, "a, where n = d^a", "b, where ε = d^(-b)", body)


def lettered(regions: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str, list[str]]]:
    """Letter, tint, value and winners of each region of the map, once."""
    winners: dict[tuple[str, ...], list[str]] = {}
    for region in regions:
        if len(region["corners"]) >= 3:
            winners.setdefault(tuple(region["best"]), []).append(region["value"])
    return [
        (chr(ord("A") + index), index % 7, "; ".join(dict.fromkeys(values)), list(best))
        for index, (best, values) in enumerate(winners.items())
    ]
