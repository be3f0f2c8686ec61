"""pairs.md, sampling.md and losses.md: samples, chains, adversaries who look back, and why α < 1 counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray


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


# --- Adversaries who look back, chains, and samples of samples ----------------------------------------------------

Array = NDArray[np.float64]
Types = Sequence[float]  # where each type lies, in one release
ALPHAS = np.exp(np.linspace(-1.5, 1.5, 13))
_COARSE = np.arange(-9, 9, 0.05)


def normal(mean: float, points: Array) -> Array:
    return np.asarray(np.exp(-((points - mean) ** 2) / 2) / math.sqrt(2 * math.pi))


# The types are sets of steps: {1}, {2} and {1, 2}; what is weighed by -α is the same for another record, or nothing.
WEIGHTS = (0.35, 0.4, 0.15)


def patterns(first: float, second: float) -> tuple[Types, Types]:
    """Where the three types lie in either release, for vectors of one record."""
    return (first, 0.0, first), (0.0, second, second)


def correlated(first: float, second: float) -> tuple[Types, Types]:
    """The same where a part of the first vector comes back in the second release, with the other sign."""
    return (first, 0.0, first), (-0.6 * first, second, second - 0.6 * first)


Placed = Callable[[float, float], tuple[Types, Types]]


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("placed", [patterns, correlated])
@pytest.mark.parametrize("relation", ["remove", "add", "replace"])
def test_radii_that_depend_on_the_step(placed: Placed, relation: str, alpha: float) -> None:
    """An adversary who places the record anew after the first release stays below the extreme vectors."""
    values = (-1.0, -0.4, 0.0, 1.0)
    others = (0.0,) if relation == "remove" else values
    own = (0.0,) if relation == "add" else values
    absent = 1 - sum(WEIGHTS)
    constant = {"remove": alpha - absent, "add": alpha * absent - 1, "replace": (alpha - 1) * absent}[relation]
    weights = np.array([*WEIGHTS, *(-alpha * w for w in WEIGHTS)])
    weights = weights[:3] if relation == "remove" else weights[3:] if relation == "add" else weights
    x, mass = _COARSE, normal(0, _COARSE) * 0.05

    def ratios(types: Types, at: Array) -> Array:  # one row per type
        return np.asarray(np.exp(np.outer(types, at) - np.array(types)[:, None] ** 2 / 2))

    def places(g: float, h: float, k: float, m: float) -> tuple[Types, Types]:
        """Of the types that count: the first record's, the second's, or both."""
        mine, other = placed(g, h), placed(k, m)
        if relation == "replace":
            return (*mine[0], *other[0]), (*mine[1], *other[1])
        return mine if relation == "remove" else other

    def value(first: Types, seconds: Sequence[Types]) -> float:
        state = ratios(first, x)
        best = np.full(len(x), -1.0)
        for second in seconds:
            total = (weights[:, None] * state).T @ ratios(second, x)
            best = np.maximum(best, np.maximum(total - constant, 0) @ mass)
        return float(best @ mass)

    best = max(
        value(places(g, 0, k, 0)[0], [places(g, h, k, m)[1] for h in own for m in others]) for g in own for k in others
    )
    radii = (0.0, 0.0) if placed is patterns else (0.6, 0.6)

    def extreme(sign: float) -> tuple[Types, Types]:
        return (sign, 0.0, sign), (sign * radii[0], sign, sign * (1 + radii[1]))

    up, down = extreme(1.0), extreme(-1.0)
    first, second = {
        "remove": up,
        "add": down,
        "replace": ((*up[0], *down[0]), (*up[1], *down[1])),
    }[relation]
    claimed = value(first, [second])
    assert best <= claimed + 1e-9
    if placed is patterns:
        assert best == pytest.approx(claimed, abs=1e-9)
    if placed is patterns and relation == "replace":  # a mutant: the other record on the same side
        assert value((*up[0], *up[0]), [(*up[1], *up[1])]) < best - 0.05


@given(a=st.floats(0.05, 3), b=st.floats(0.05, 3))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_two_axes_of_laplace_noise_cost_no_more_than_one(a: float, b: float) -> None:
    def h(alpha: Array, shift: float) -> Array:
        inside = 1 - np.sqrt(alpha) * math.exp(-shift / 2)
        return np.where(alpha <= math.exp(-shift), 1 - alpha, np.where(alpha >= math.exp(shift), 0, inside))

    points = np.linspace(-30, 30, 60001)
    masses = np.exp(-np.abs(points - a)) / 2 * (points[1] - points[0])
    ratio = np.exp(np.abs(points - a) - np.abs(points))  # Q/P of the first axis
    both = np.array([float(masses @ h(alpha * ratio, b)) for alpha in ALPHAS])
    assert (both <= h(ALPHAS, a + b) + 1e-6).all()
    assert (both >= h(ALPHAS, max(a, b)) - 1e-6).all()


def three_points(epsilon: float, alphas: Array) -> Array:
    """Losses 2ε, 0, -2ε: what two links of a pure guarantee cost together."""
    top = 1 / (1 + math.exp(-epsilon))
    low = top * math.exp(-2 * epsilon)
    middle = 1 - top - low
    return np.asarray(
        np.maximum(top - alphas * low, 0) + middle * np.maximum(1 - alphas, 0) + np.maximum(low - alphas * top, 0)
    )


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_two_links_of_a_pure_guarantee(epsilon: float) -> None:
    claimed = three_points(epsilon, ALPHAS)
    generator = np.random.default_rng(3)
    high, low = math.exp(epsilon), math.exp(-epsilon)
    best = np.zeros(len(ALPHAS))

    def link(middle: Array, raised: Array) -> Array:
        """Raise some outcomes by e^ε and lower the others by e^-ε, one of them by what is left."""
        order = np.argsort(-raised)
        law, rest = low * middle, 1 - low
        for i in order:
            more = min(rest, (high - low) * middle[i])
            law[i], rest = law[i] + more, rest - more
        return np.asarray(law)

    for _ in range(400):
        middle = generator.dirichlet(np.full(5, 0.7))
        first, second = link(middle, generator.random(5)), link(middle, generator.random(5))
        assert (first <= high * middle + 1e-12).all()
        assert (first >= low * middle - 1e-12).all()
        best = np.maximum(best, np.maximum(first - ALPHAS[:, None] * second, 0).sum(1))
    assert (best <= claimed + 1e-12).all()
    share = 1 / (1 + high)
    middle = np.array([share, share, 1 - 2 * share])
    first, second = link(middle, np.array([1.0, 0, 0])), link(middle, np.array([0, 1.0, 0]))
    attained = np.maximum(first - ALPHAS[:, None] * second, 0).sum(1)
    assert attained == pytest.approx(claimed, abs=1e-12)
    assert three_points(epsilon, np.array([1.0]))[0] == pytest.approx(-math.expm1(-epsilon))


def test_a_poisson_sample_of_a_batch_wants_the_others_in_two_places() -> None:
    """Two of three records, each then kept with probability 1/2: the best on a grid, and what would be attained."""
    points = np.linspace(-9, 9, 601)
    width, alpha, rate = points[1] - points[0], 1.5, 0.5

    def published(data: tuple[float, ...]) -> Array:
        law = np.zeros(len(points))
        for batch in itertools.combinations(data, 2):
            for kept in itertools.product((0, 1), repeat=2):
                law += normal(sum(x * k for x, k in zip(batch, kept, strict=True)), points) / 12
        return law

    values = np.linspace(-1, 1, 5).tolist()
    best = max(
        float(np.maximum(published((*others, 1.0)) - alpha * published((*others, own)), 0).sum() * width)
        for others in itertools.combinations_with_replacement(values, 2)
        for own in values
    )
    up, down = ((1 - rate) * normal(0, points) + rate * normal(sign, points) for sign in (1, -1))
    inner = float(np.maximum(up - (1 + (alpha - 1) * 3 / 2) * down, 0).sum() * width)
    assert best == pytest.approx(0.1087, abs=2e-4)
    assert 2 / 3 * inner == pytest.approx(0.1196, abs=5e-5)
