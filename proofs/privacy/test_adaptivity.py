"""filters.md and groups.md: why filters do not account for the sequence that ran, and why later links have factors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

Law = list[tuple[Fraction, Fraction]]  # of every outcome its chance under either dataset


def hockey_stick(law: Law, alpha: Fraction) -> Fraction:
    return sum((max(p - alpha * q, Fraction(0)) for p, q in law), Fraction(0))


def interaction(first: Law, second: Callable[[int], Law]) -> Law:
    """The law of both outputs, the second mechanism chosen in view of the first output."""
    return [(p * pp, q * qq) for y, (p, q) in enumerate(first) for pp, qq in second(y)]


def test_accounting_for_the_sequence_that_ran_under_reports() -> None:
    """Each sequence's certified account is right for that sequence fixed in advance, and too small for the choice."""
    two, delta = Fraction(2), Fraction(2, 9)
    response: Law = [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]
    leak: Law = [(delta, Fraction(0)), (1 - delta, 1 - delta), (Fraction(0), delta)]  # all published with chance δ
    for second in (response, leak):
        assert hockey_stick(interaction(response, lambda _, second=second: second), two) == Fraction(2, 9)  # type: ignore[misc]
    assert hockey_stick(interaction(response, lambda y: (response, leak)[y]), two) == Fraction(8, 27)


def test_chains_need_the_factors() -> None:
    """Without e^(ε_1 + ...) in front of later links, some chain of laws on three points would beat the sum."""

    def lost(p: np.ndarray, q: np.ndarray, epsilon: int) -> float:
        return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())

    raw = np.random.default_rng(17).random((200, 3, 3)) ** 2 + 0.01
    chains = raw / raw.sum(axis=2, keepdims=True)
    sums = [sum(lost(p, q, 1) for p, q in itertools.pairwise(laws)) for laws in chains]
    assert any(lost(laws[0], laws[-1], 2) > total + 1e-9 for laws, total in zip(chains, sums, strict=True))
