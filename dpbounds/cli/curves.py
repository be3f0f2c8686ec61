"""Curves as CSV: certified δ(ε), and the trade-off between the two errors of an attacker."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import click

from dpbounds.cli.options import writing
from dpbounds.expressions.enclosure import Enclosure, End
from dpbounds.expressions.exact import to_decimal
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation

_STEPS = 20  # a divisor of 1000, so that the grid consists of short decimals
_DIGITS = 17


@dataclass(frozen=True, slots=True)
class Curve:
    """Proven ends of δ(ε) at increasing ε, each row no larger than the one before it."""

    epsilons: tuple[Fraction, ...]
    lowers: tuple[Fraction, ...]
    uppers: tuple[Fraction, ...]


def proven_curve(mechanism: Mechanism, relation: Relation, centre: End, tolerance: float) -> Curve:
    """Compute δ(ε) on a grid that reaches from 0 to about twice as far as ``centre``.

    δ(ε) never increases, so the smallest upper end so far bounds it, too; and so does the largest lower end to come.
    """
    from dpbounds.privacy.accountants import delta

    epsilons = tuple(grid(centre))
    points: list[Enclosure] = []
    for done, epsilon in enumerate(epsilons):
        if sys.stderr.isatty():
            click.echo(f"\rcurve: point {done + 1} of {len(epsilons)} ", err=True, nl=done + 1 == len(epsilons))
        points.append(delta(mechanism, epsilon, relation, tolerance=tolerance))
    uppers, lowers = [Fraction(points[0].exact_upper)], [Fraction(points[-1].exact_lower)]
    for point in points[1:]:
        uppers.append(min(uppers[-1], Fraction(point.exact_upper)))
    for point in reversed(points[:-1]):
        lowers.append(max(lowers[-1], Fraction(point.exact_lower)))
    return Curve(epsilons, tuple(reversed(lowers)), tuple(uppers))


def grid(centre: End) -> Iterator[Fraction]:
    """0, ..., about 2 centre (2 where that is 0 or infinite): equal steps that are short decimals."""
    reach = 2 * centre if isinstance(centre, Fraction) and centre > 0 else Fraction(1)
    two_digits = Fraction(Decimal(to_decimal(reach, 2, "up")))
    return (two_digits * k / _STEPS for k in range(_STEPS + 1))


def write_curve(path: Path, curve: Curve) -> None:
    """Columns epsilon, delta_lower, delta_upper."""
    rows = zip(curve.epsilons, curve.lowers, curve.uppers, strict=True)
    _write(path, "--curve", ("epsilon", "delta_lower", "delta_upper"), (_row(e, lo, hi) for e, lo, hi in rows))


def _row(epsilon: Fraction, lower: Fraction, upper: Fraction) -> list[str]:
    return [to_decimal(epsilon, _DIGITS, "down"), to_decimal(lower, _DIGITS, "down"), to_decimal(upper, _DIGITS, "up")]


def write_trade_off(path: Path, curve: Curve) -> None:
    """Columns type_one_error, type_two_error_lower_bound: with that much of the first, no attack has less of it."""
    from dpbounds.privacy.trade_off import TradeOff

    bound = TradeOff(zip(curve.epsilons, curve.uppers, strict=True))
    rows = ([to_decimal(a, _DIGITS, "up"), to_decimal(bound(a), _DIGITS, "down")] for a in errors())
    _write(path, "--trade-off", ("type_one_error", "type_two_error_lower_bound"), rows)


def errors() -> Iterator[Fraction]:
    """0, then 1, 2 and 5 times the powers of ten from 1e-6 to 1e-3, then every hundredth up to 1."""
    yield Fraction(0)
    for power in range(-6, -2):
        yield from (Fraction(digit) * Fraction(10) ** power for digit in (1, 2, 5))
    yield from (Fraction(k, 100) for k in range(1, 101))


def _write(path: Path, option: str, header: tuple[str, ...], rows: Iterable[list[str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    writing(path, text.getvalue(), option)
    click.echo(f"wrote {path}", err=True)
