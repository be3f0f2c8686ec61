"""pairs.md and sampling.md: two guarantees on a sample, pairs that can be symmetrised, and why α < 1 counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st


def two_guarantees(
    rate: float, alpha: float, present: Callable[[float], float], replaced: Callable[[float], float]
) -> float:
    inner = 1 + (alpha - 1) / rate
    beta = alpha / inner
    return rate * ((1 - beta) * present(inner) + beta * replaced(inner))


def response(epsilon: float) -> Callable[[float], float]:
    return lambda alpha: max(0.0, (math.exp(epsilon) - alpha) / (1 + math.exp(epsilon)))


@given(
    epsilon=st.floats(0.1, 5),
    more=st.floats(0, 5),
    alpha=st.floats(1, 20),
    rate=st.floats(0.01, 1),
    less=st.floats(0.05, 1),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_two_guarantees_grow_with_the_rate_where_replacing_costs_more(
    epsilon: float, more: float, alpha: float, rate: float, less: float
) -> None:
    present, replaced = response(epsilon), response(epsilon + more)
    lower = two_guarantees(rate * less, alpha, present, replaced)
    assert lower <= two_guarantees(rate, alpha, present, replaced) + 1e-12


def test_two_guarantees_need_not_grow_where_replacing_costs_less() -> None:
    present = response(1.0)
    values = [two_guarantees(rate, 1.2, present, lambda alpha: 0.0) for rate in (0.5, 1.0)]
    assert values[0] > 0.02
    assert values[1] == 0


def kink(points: Sequence[tuple[float, float]]) -> float:
    """1 - g(1) + 2 g'(1+) for a pair with these losses and P-masses."""
    above = sum(p for loss, p in points if loss > 0)
    below = sum(p * math.exp(-loss) for loss, p in points if loss > 0)
    return 1 - (above - below) - 2 * below


def test_a_symmetric_pair_can_be_symmetrised_and_a_lopsided_one_cannot() -> None:
    odds = math.exp(0.7)
    fair = [(0.7, odds / (1 + odds)), (-0.7, 1 / (1 + odds))]
    assert kink(fair) == pytest.approx(0, abs=1e-15)
    lopsided = [(0.1, 0.9), (-0.9, 0.1)]  # losses moved up by a lattice
    assert kink(lopsided) < -0.7


def test_a_pair_that_dominates_for_nonnegative_epsilon_only_fails_when_composed() -> None:
    """Why α < 1 counts: a pair that dominates a step for every α >= 1 may fail for α >= 1 after two of them.

    Randomised response (truth with probability 9/10) on a sample of rate 3/4, in exact arithmetic. The remove pair
    dominates the add pair for α >= 1, yet two add steps beat two remove steps. No such case is known for Gaussian
    noise; the package composes both orders all the same.
    """
    without = Fraction(1, 10), Fraction(9, 10)
    sampled = tuple(Fraction(1, 4) * p + Fraction(3, 4) * (1 - p) for p in without)

    def exactly(first: Sequence[Fraction], second: Sequence[Fraction], alpha: Fraction) -> Fraction:
        return sum((max(p - alpha * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))

    def twice(law: Sequence[Fraction]) -> list[Fraction]:
        return [p * q for p in law for q in law]

    for percent in range(100, 1000):
        alpha = Fraction(percent, 100)
        assert exactly(sampled, without, alpha) >= exactly(without, sampled, alpha)
    assert exactly(sampled, without, Fraction(1, 2)) < exactly(without, sampled, Fraction(1, 2))
    alpha = Fraction(47, 20)
    removed, added = (exactly(twice(p), twice(q), alpha) for p, q in ((sampled, without), (without, sampled)))
    assert added - removed == Fraction(33, 250)
