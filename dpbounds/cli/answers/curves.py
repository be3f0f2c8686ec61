"""Curves as numbers or pictures: certified δ(ε), and the trade-off between the two errors of an attacker."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpbounds.cli.printing import output
from dpbounds.cli.printing.output import json_number
from dpbounds.cli.questions.options import PICTURES, writing
from dpbounds.expressions.enclosure import End
from dpbounds.expressions.exact import Direction, to_decimal
from dpbounds.expressions.json_numbers import json_text
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation

if TYPE_CHECKING:
    from dpbounds.render.curves import Panel

_STEPS = 20  # a divisor of 1000, so that the grid consists of short decimals
_DIGITS = 17
PICTURE_TOLERANCE = 1e-3  # relative: a picture shows no more
_ROUNDED_UP = ("delta_upper", "type_one_error")


@dataclass(frozen=True, slots=True)
class ProvenCurve:
    """Proven ends of δ(ε) at increasing ε, each row no larger than the one before it."""

    epsilons: tuple[Fraction, ...]
    lowers: tuple[Fraction, ...]
    uppers: tuple[Fraction, ...]


def proven_curve(mechanism: Mechanism, relation: Relation, centre: End, tolerance: float) -> ProvenCurve:
    """Compute δ(ε) on a grid that reaches from 0 to about twice as far as ``centre``.

    δ(ε) never increases, so the smallest upper bound so far bounds it, too; and so does the largest lower bound to
    come.
    """
    from dpbounds.privacy.accountants.certified import delta_curve

    epsilons = tuple(grid(centre))
    points = delta_curve(mechanism, epsilons, relation, tolerance=tolerance)
    uppers, lowers = [Fraction(points[0].exact_upper)], [Fraction(points[-1].exact_lower)]
    for point in points[1:]:
        uppers.append(min(uppers[-1], Fraction(point.exact_upper)))
    for point in reversed(points[:-1]):
        lowers.append(max(lowers[-1], Fraction(point.exact_lower)))
    return ProvenCurve(epsilons, tuple(reversed(lowers)), tuple(uppers))


def grid(centre: End) -> Iterator[Fraction]:
    """0, ..., about 2 centre (2 where that is 0 or infinite): equal steps that are short decimals."""
    reach = 2 * centre if isinstance(centre, Fraction) and centre > 0 else Fraction(1)
    two_digits = Fraction(Decimal(to_decimal(reach, 2, "up")))
    return (two_digits * k / _STEPS for k in range(_STEPS + 1))


_CURVE = {"delta_upper": "proven to suffice", "delta_lower": "proven to be needed"}
_CURVE_WORDS = ("Privacy curve", "ε", "δ")
_TRADE_OFF = {"type_two_error_lower_bound": "no attack is below"}
_TRADE_OFF_WORDS = ("Errors of an attacker", "false positives", "false negatives")


def write_curve(path: Path, curve: ProvenCurve) -> None:
    """Columns epsilon, delta_lower, delta_upper; or a picture of both bounds."""
    _write(path, "--curve", _curve_columns(curve), _CURVE_WORDS, _CURVE, log_y=True)


def write_trade_off(path: Path, curve: ProvenCurve) -> None:
    """Columns type_one_error, type_two_error_lower_bound: with that much of the first, no attack has less of it."""
    _write(path, "--trade-off", _trade_off_columns(curve), _TRADE_OFF_WORDS, _TRADE_OFF)


def curve_panel(curve: ProvenCurve) -> Panel:
    """Return the picture of both bounds of δ(ε)."""
    return _panel(_curve_columns(curve), _CURVE_WORDS, _CURVE, log_y=True)


def trade_off_panel(curve: ProvenCurve) -> Panel:
    """Return the picture of an attacker's errors."""
    return _panel(_trade_off_columns(curve), _TRADE_OFF_WORDS, _TRADE_OFF)


def _curve_columns(curve: ProvenCurve) -> dict[str, list[str]]:
    return {
        "epsilon": _column("epsilon", curve.epsilons),
        "delta_lower": _column("delta_lower", curve.lowers),
        "delta_upper": _column("delta_upper", curve.uppers),
    }


def _trade_off_columns(curve: ProvenCurve) -> dict[str, list[str]]:
    from dpbounds.privacy.accountants.trade_off import TradeOff

    bound, firsts = TradeOff(zip(curve.epsilons, curve.uppers, strict=True)), tuple(errors())
    return {
        "type_one_error": _column("type_one_error", firsts),
        "type_two_error_lower_bound": _column("type_two_error_lower_bound", map(bound, firsts)),
    }


def _column(name: str, numbers: Iterable[Fraction]) -> list[str]:
    return [to_decimal(number, _DIGITS, _rounding(name)) for number in numbers]


def _rounding(name: str) -> Direction:
    return "up" if name in _ROUNDED_UP else "down"


def errors() -> Iterator[Fraction]:
    """0, then 1, 2 and 5 times the powers of ten from 1e-6 to 1e-3, then every hundredth up to 1."""
    yield Fraction(0)
    for power in range(-6, -2):
        yield from (Fraction(digit) * Fraction(10) ** power for digit in (1, 2, 5))
    yield from (Fraction(k, 100) for k in range(1, 101))


def _write(
    path: Path,
    option: str,
    columns: dict[str, list[str]],
    words: tuple[str, str, str],
    labels: dict[str, str],
    *,
    log_y: bool = False,
) -> None:
    """Columns of numbers as CSV, as JSON (lists of numbers by name), or as a picture with a line for each label."""
    if path.suffix.lower() in PICTURES:
        from dpbounds.render.curves import draw
        from dpbounds.render.style import drawn

        panel = _panel(columns, words, labels, log_y=log_y)
        writing(path, drawn(draw("", [panel]), path.suffix.lower()), option)
    elif path.suffix.lower() == ".json":
        document = {
            name: [json_number(Fraction(text), _rounding(name)) for text in column] for name, column in columns.items()
        }
        writing(path, json_text(document, indent=1) + "\n", option)
    else:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        writing(path, text.getvalue(), option)
    output.print_written(path, err=True)


def _panel(
    columns: dict[str, list[str]], words: tuple[str, str, str], labels: dict[str, str], *, log_y: bool = False
) -> Panel:
    from dpbounds.render.curves import Line as Line, Panel

    title, across, up = words
    at = [float(text) for text in next(iter(columns.values()))]
    lines = []
    for name, label in labels.items():
        points = [(x, float(y)) for x, y in zip(at, columns[name], strict=True) if not log_y or float(y) > 0]
        if points:
            lines.append(Line(label, tuple(x for x, _ in points), tuple(y for _, y in points)))
    if words is _TRADE_OFF_WORDS:
        lines.append(Line("guessing", (0.0, 1.0), (1.0, 0.0), level=True))
    return Panel(title, across, up, tuple(lines), log_y=log_y and bool(lines))
