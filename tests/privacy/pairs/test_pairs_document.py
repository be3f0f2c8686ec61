"""The statements of pairs.md, sampling.md and losses.md that carry numbers, and the claims that are new there.

Two partitions (pairs.md) are in ``test_domination.py``; the obvious pair for draws with replacement (sampling.md) and
monotone queries under replace-one (losses.md) are traps of ``proofs/privacy/test_cells.py``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dpbounds.privacy.pairs.pairs import (
    Direction,
    DrawnGaussians,
    Draws,
    Pair,
    Responses,
    Sampled,
    SampledGaussians,
    ShiftedGaussians,
    ShiftedLaplaces,
)
from dpbounds.privacy.routes.lattice import delta_bounds
from tests.privacy.oracle.noise import Array
from tests.privacy.products import curve_of

ALPHAS = np.exp(np.linspace(-1.5, 1.5, 13))


def profile(pair: Pair, alphas: Array = ALPHAS) -> Array:
    return curve_of(pair, alphas)


def normal(mean: float, points: Array, stddev: float = 1.0) -> Array:
    return np.asarray(np.exp(-((points - mean) ** 2) / (2 * stddev**2)) / (stddev * math.sqrt(2 * math.pi)))


# --- The Gaussian comparison for adaptive steps ----------------------------------------------------------------------

Types = Sequence[float]  # where each type lies, in one release
_POINTS = np.arange(-9, 9, 0.02)
_COARSE = np.arange(-9, 9, 0.05)


def played(choices: Sequence[Types], weights: Sequence[float], constant: float, stddev: float) -> float:
    """The best of an adversary who places the types anew after the first of two releases, by quadrature.

    Max of E (Σ_a w_a S_a - c)_+ where S_a is the likelihood ratio of type a to "not drawn".
    """
    ratios = {
        m: np.exp(m * _POINTS / stddev - m * m / (2 * stddev**2)) for m in {m for types in choices for m in types}
    }
    base = normal(0, _POINTS) * 0.02

    def second(state: Array) -> Array:  # one row per first output
        best = np.full(len(state), -1.0)
        for types in choices:
            total = sum(w * state[:, [a]] * ratios[m] for a, (w, m) in enumerate(zip(weights, types, strict=True)))
            best = np.maximum(best, np.maximum(total - constant, 0) @ base)
        return best

    found = []
    for types in choices:
        first = np.exp(np.outer(_COARSE, types) / stddev - np.array(types) ** 2 / (2 * stddev**2))
        found.append(float(second(first) @ (normal(0, _COARSE) * 0.05)))
    return max(found)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.6])
def test_two_adaptive_releases_on_one_poisson_sample_under_replace_one(alpha: float) -> None:
    rate, stddev = 0.4, 1.5
    choices = [(g, h) for g in (-1.0, 0.0, 1.0) for h in (-1.0, -0.5, 1.0)]
    best = played(choices, (rate, -alpha * rate), (alpha - 1) * (1 - rate), stddev)
    merged = SampledGaussians(Direction.REPLACE, Fraction(2, 5), Fraction(9, 8))  # 1/z² = 2 · 4/9
    alone = SampledGaussians(Direction.REPLACE, Fraction(2, 5), Fraction(9, 4))
    claimed = profile(merged, np.array([alpha]))[0]
    assert best == pytest.approx(claimed, abs=3e-4)  # dominated, and attained
    assert best < claimed + 3e-5
    assert best > profile(alone, np.array([alpha]))[0] + 0.02


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
@pytest.mark.parametrize("alpha", [0.8, 1.3])
def test_two_adaptive_releases_on_one_batch_with_replacement(direction: Direction, alpha: float) -> None:
    p, stddev = 1 / 3, 2.5  # three records, two slots: types "first slot", "second slot", "both"
    weights = np.array([p * (1 - p), p * (1 - p), p * p])
    absent = (1 - p) ** 2
    choices = [
        (g - one, g - other, 2 * g - one - other)
        for g, one, other in [(1.0, -1.0, -1.0), (-1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (1.0, 0.0, -1.0), (0.5, 0.0, 0.5)]
    ]
    if direction is Direction.REMOVE:
        best = played(choices, weights.tolist(), alpha - absent, stddev)
    else:
        best = played(choices, (-alpha * weights).tolist(), alpha * absent - 1, stddev)
    claimed = profile(DrawnGaussians(direction, Draws(Fraction(1, 3), 2), 2 * 4 * Fraction(4, 25)), np.array([alpha]))[
        0
    ]
    assert best == pytest.approx(claimed, abs=3e-4)
    assert best < claimed + 3e-5


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


# --- Chains ----------------------------------------------------------------------------------------------------------


@pytest.mark.seconds
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
    assert h(ALPHAS, a) == pytest.approx(profile(ShiftedLaplaces(Fraction(a))), abs=1e-12)
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
    assert (claimed <= profile(Responses(Fraction(2 * epsilon))) + 1e-12).all()
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


# --- Monotonicity ----------------------------------------------------------------------------------------------------


def two_guarantees(
    rate: float, alpha: float, present: Callable[[float], float], replaced: Callable[[float], float]
) -> float:
    inner = 1 + (alpha - 1) / rate
    beta = alpha / inner
    return rate * ((1 - beta) * present(inner) + beta * replaced(inner))


# --- Symmetrising ----------------------------------------------------------------------------------------------------


# --- Numbers that are stated -----------------------------------------------------------------------------------------


def test_a_distance_says_nothing_about_presence() -> None:
    # two releases, Δ = 2, stddev 1, q = 0.1, ε = 1: what joint convexity would give, and what two far vectors give
    alpha, rate = math.e, 0.1

    def h(at: float) -> float:
        return float(profile(ShiftedGaussians(Fraction(8)), np.array([at]))[0])

    assert two_guarantees(rate, alpha, h, h) == pytest.approx(0.0518, abs=5e-5)
    assert rate * h(alpha) == pytest.approx(0.0751, abs=5e-5)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_symmetrised_pair_inside_a_sample_is_not_attained() -> None:
    """One of two of four records is one of four."""
    inner = Sampled(Direction.REPLACE, Draws(Fraction(1, 2)), ShiftedGaussians(Fraction(4)))
    nested = ((Sampled(Direction.REMOVE, Draws(Fraction(1, 2)), inner), 2),)
    flat = ((SampledGaussians(Direction.REMOVE, Fraction(1, 4), Fraction(1, 4)), 2),)
    spent = [delta_bounds(product, Fraction(1, 5), tolerance=1e-3).enclosure for product in (nested, flat)]
    assert spent[0].lower > 0.2475
    assert spent[1].upper < 0.2411


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
    inner = profile(
        SampledGaussians(Direction.REPLACE, Fraction(rate), Fraction(1)), np.array([1 + (alpha - 1) * 3 / 2])
    )
    assert best == pytest.approx(0.1087, abs=2e-4)
    assert 2 / 3 * inner[0] == pytest.approx(0.1196, abs=5e-5)
