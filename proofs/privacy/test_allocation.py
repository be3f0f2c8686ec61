"""allocation.md: the theorem against best responses, and what its conditions leave out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

Law = tuple[tuple[float, float], ...]  # likelihood ratio and probability under Q

ALPHAS = (0.0, 0.3, 0.8, 1.0, 1.2, 1.7, 2.6)


def responses(epsilon: float) -> Law:
    odds = math.exp(epsilon)
    return ((odds, 1 / (1 + odds)), (1 / odds, odds / (1 + odds)))


BASE = responses(1.0)

# What is dominated by BASE, of which an adversary may take another at every history: erased, noisier, nothing
OPTIONS: tuple[Law, ...] = (
    BASE,
    responses(0.4),
    ((1.0, 1.0),),
    (*((x, 0.6 * q) for x, q in BASE), (1.0, 0.4)),
)


def mean(products: Sequence[float], idle: int = 0) -> float:
    return (sum(products) + idle) / (len(products) + idle)


def best_response(visits: Sequence[int], bins: int, payoff: Callable[[Sequence[float]], float]) -> float:
    """The largest E_Q of a payoff of the bins' ratios, the law of every visit chosen in view of all before."""

    def value(ratios: tuple[float, ...], left: Sequence[int]) -> float:
        if not left:
            return payoff(ratios)
        at, *later = left
        return max(
            sum(q * value((*ratios[:at], ratios[at] * x, *ratios[at + 1 :]), later) for x, q in law) for law in OPTIONS
        )

    return value((1.0,) * bins, visits)


def attained(visits: Sequence[int], bins: int, payoff: Callable[[Sequence[float]], float]) -> float:
    """The same for BASE throughout."""
    total = 0.0
    for outcome in itertools.product(BASE, repeat=len(visits)):
        ratios = [
            math.prod(x for (x, _), at in zip(outcome, visits, strict=True) if at == each) for each in range(bins)
        ]
        total += math.prod(q for _, q in outcome) * payoff(ratios)
    return total


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("bins", "idle"), [(2, 0), (3, 0), (2, 3)])
def test_no_adaptive_choice_tells_more_than_the_pair(bins: int, idle: int, alpha: float) -> None:
    for payoff in (
        lambda ratios: max(0.0, mean(ratios, idle) - alpha),
        lambda ratios: max(0.0, 1 - alpha * mean(ratios, idle)),
    ):
        claimed = attained(range(bins), bins, payoff)
        assert best_response(range(bins), bins, payoff) == pytest.approx(claimed, abs=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_kept_bins_whose_visits_interleave(alpha: float) -> None:
    for visits in ((0, 1, 0, 1), (0, 1, 0)):  # two epochs, and one and a half
        for payoff in (lambda r: max(0.0, mean(r) - alpha), lambda r: max(0.0, 1 - alpha * mean(r))):
            claimed = attained(visits, 2, payoff)
            assert best_response(visits, 2, payoff) == pytest.approx(claimed, abs=1e-12)


def test_kept_bins_are_no_fresh_bins() -> None:
    """Two epochs over two bins: products of two means, against the mean of two products."""
    kept = attained((0, 1, 0, 1), 2, lambda r: max(0.0, mean(r) - 3))
    fresh = attained((0, 1, 2, 3), 4, lambda r: max(0.0, mean(r[:2]) * mean(r[2:]) - 3))
    assert kept > 1.5 * fresh


def test_a_record_that_displaces_another_is_not_covered() -> None:
    """Condition (ii): two records, one per step, of which one pushes the other elsewhere: more than the pair says."""
    # x and o are dealt to two steps, one each (an equal split); without x, o is dealt alone. Steps publish sum + noise.
    z, edges = 1.0, np.linspace(-9, 9, 721)
    centres = (edges[1:] + edges[:-1]) / 2

    def step(value: float) -> np.ndarray:
        density = np.exp(-((centres - value) ** 2) / (2 * z * z))
        return density / density.sum()

    x, o = 1.0, -1.0
    together = (np.multiply.outer(step(x), step(o)) + np.multiply.outer(step(o), step(x))) / 2
    alone = (np.multiply.outer(step(0), step(o)) + np.multiply.outer(step(o), step(0))) / 2
    pair = (np.multiply.outer(step(1), step(0)) + np.multiply.outer(step(0), step(1))) / 2
    none = np.multiply.outer(step(0), step(0))
    alpha = math.exp(0.5)
    assert np.maximum(together - alpha * alone, 0).sum() > 1.2 * np.maximum(pair - alpha * none, 0).sum()


# --- Replaced: two steps, one of which holds the record x, another or the same one x' --------------------------------


def best_of_two(options: Sequence[tuple[float, float]], alpha: float) -> float:
    """The vectors of x and x' may depend on the past."""
    y = np.linspace(-8, 8, 161)
    density = np.exp(-y * y / 2) * (y[1] - y[0]) / math.sqrt(2 * math.pi)

    def ratio(v: float) -> np.ndarray:
        return np.asarray(np.exp(v * y - v * v / 2))

    total = -math.inf
    for first, other in options:
        best = np.full(len(y), -math.inf)
        for second, also in options:
            gains = ratio(second) - alpha * ratio(also)
            summed = (ratio(first) - alpha * ratio(other))[:, None] + gains
            best = np.maximum(best, np.maximum(summed, 0.0) @ density)
        total = max(total, float(best @ density))
    return total / 2


OPPOSITE = [(1.0, -1.0)]
ALL = list(itertools.product((-1.0, -0.4, 0.0, 0.7, 1.0), repeat=2))


@pytest.mark.parametrize("alpha", [0.4, 1.0, 1.8, 4.0])
def test_no_adaptive_choice_tells_more_than_opposite_vectors(alpha: float) -> None:
    assert best_of_two(ALL, alpha) == pytest.approx(best_of_two(OPPOSITE, alpha), abs=1e-12)
    for dropped in ((1.0, 0.0), (0.0, -1.0), (1.0, 1.0)):  # the replacement, the record, the sign
        assert alpha != 1.8 or best_of_two(ALL, alpha) > 1.2 * best_of_two([dropped], alpha)
