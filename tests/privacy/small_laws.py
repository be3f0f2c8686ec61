"""Pairs of laws on few outcomes, as tables of (P, Q) masses, and what they spend by definition; numbers in mpmath."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp

from dpbounds.expressions.enclosure import Enclosure

Pair = Sequence[tuple[Any, Any]]  # (P, Q) masses of each outcome: floats, fractions or mpmath numbers


def m(value: Fraction | int | str) -> mp.mpf:
    """An exact number, rounded to mpmath's precision."""
    number = Fraction(value)
    return mp.mpf(number.numerator) / number.denominator


def hockey_stick(pair: Pair, growth: Any) -> Any:
    """Σ (P - growth Q)_+, with growth = e^ε."""
    return sum(max(p - growth * q, 0 * p) for p, q in pair)


def divergence(pair: Pair, order: Any) -> mp.mpf:
    """D_λ(P ‖ Q)."""
    return mp.log(sum(p**order * q ** (1 - order) for p, q in pair if p > 0)) / (order - 1)


def swapped(pair: Pair) -> Pair:
    """(Q, P)."""
    return tuple((q, p) for p, q in pair)


def product(pairs: Iterable[Pair]) -> Pair:
    """The pair of all outcomes together."""
    return [(mp.fprod(p for p, _ in outcome), mp.fprod(q for _, q in outcome)) for outcome in itertools.product(*pairs)]


def responses(growth: Any, delta: Any = 0) -> Pair:
    """The extremal (ε, δ) pair, growth = e^ε: randomised response, and with probability δ the truth."""
    p = (1 - delta) * growth / (1 + growth)
    told = [(delta, 0 * growth), (0 * growth, delta)] if delta else []
    return [(p, 1 - delta - p), (1 - delta - p, p), *told]


def encloses(enclosure: Enclosure, value: mp.mpf, width: str = "1e-15") -> bool:
    """Whether a number known to forty digits lies in the enclosure, which is that narrow, relatively."""
    low, high, slack = m(enclosure.exact_lower), m(enclosure.exact_upper), abs(value) * mp.mpf("1e-40")
    return bool(low - slack <= value <= high + slack and high - low <= abs(value) * mp.mpf(width) + mp.mpf("1e-50"))
