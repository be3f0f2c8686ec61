"""One of m bins under replace-one: the profile against quadrature and enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy.special import ndtr

import dpbounds as dp
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import prove_delta, prove_epsilon
from dpbounds.privacy.pairs.losses import ball, law_at
from dpbounds.privacy.pairs.pairs import Allocated, Direction, Discrete, Product, ShiftedGaussians, ShiftedLaplaces
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.allocation import (
    bin_sums,
    convex_hulls,
    discrete_pairs,
    one_bin,
    published_bin,
    replace_one,
    windows,
)
from dpbounds.privacy.routes.allocation.bin_sums import Window
from dpbounds.privacy.routes.allocation.convex_hulls import Point
from dpbounds.privacy.routes.allocation.one_bin import Bin, cells_of, rounded
from dpbounds.privacy.routes.allocation.replace_one import point
from dpbounds.privacy.routes.allocation.tuning import Fineness

F = Fraction
RE = dp.Relation.REPLACE_ONE
Floats = NDArray[np.float64]
COARSE, FINE = Fineness(24, 10, 6), Fineness(64, 16, 20)


def pair_of(bins: int, *shares: tuple[str, int]) -> Allocated:
    return Allocated(Direction.REPLACE, bins, tuple((ShiftedGaussians(F(squared)), n) for squared, n in shares))


# --- Against quadrature ---------------------------------------------------------------------------------------------


def one_more(rest: Floats, mu: float, alpha: float) -> Floats:
    """E (V + s)_+ for each s, V = e^(μy - μ²/2) - α e^(-μy - μ²/2), y normal: one root, as V increases, and tails."""
    c = math.exp(-mu * mu / 2)
    u = (-rest / c + np.sqrt((rest / c) ** 2 + 4 * alpha)) / 2  # c (u - α/u) = -s
    y = np.log(u) / mu
    return np.asarray(ndtr(mu - y) - alpha * ndtr(-mu - y) + rest * ndtr(-y))


def by_quadrature(shifts: list[float], idle: int, alpha: float) -> float:
    """H_α of the mean over bins: all but one by sums over fine grids, the last one in closed form."""
    *others, last = shifts
    y = np.linspace(-9, 9, 2401 if len(others) == 1 else 601)
    density = np.exp(-y * y / 2) * (y[1] - y[0]) / math.sqrt(2 * math.pi)
    values, masses = np.array([idle * (1 - alpha)]), np.array([1.0])
    for mu in others:
        v = np.exp(mu * y - mu * mu / 2) - alpha * np.exp(-mu * y - mu * mu / 2)
        values, masses = np.add.outer(values, v).ravel(), np.multiply.outer(masses, density).ravel()
    return float((masses * one_more(values, last, alpha)).sum() / (len(shifts) + idle))


CASES = {
    "two": (pair_of(2, ("1", 2)), [1.0, 1.0], 0),
    "three": (pair_of(3, ("1", 3)), [1.0] * 3, 0),
    "cut short": (pair_of(4, ("1", 2)), [1.0] * 2, 2),
    "kept, the last epoch cut short": (pair_of(3, ("2", 1), ("1", 2)), [1.0, 1.0, math.sqrt(2)], 0),
    "one step of many": (pair_of(5, ("1/4", 1)), [0.5], 4),
}


def contained(pair: Allocated, shifts: list[float], idle: int, fineness: Fineness) -> Iterator[tuple[bool, float]]:
    """Whether the proven bounds hold the truth; and their width, where there is much to tell."""
    for loss in (0.0, 0.6, 1.5):
        found = point(pair, math.exp(loss), fineness)
        truth = by_quadrature(shifts, idle, float(found.alpha))
        low = float(found.seen - found.alpha * found.mistaken)
        holds = low <= truth * (1 + 1e-9) + 1e-16 and truth <= float(found.profile) * (1 + 1e-9) + 1e-16
        yield holds, found.width if truth > 1e-6 else 0.0


@pytest.mark.seconds_cases("kept, the last epoch cut short")
@pytest.mark.parametrize("name", CASES)
def test_the_profile_is_enclosed(name: str) -> None:
    for holds, width in contained(*CASES[name], FINE):
        assert holds
        assert width < 3e-3


@pytest.mark.seconds
@pytest.mark.parametrize("fineness", [COARSE, Fineness(16, 8, 6), Fineness(64, 16, 20, reach=0.75)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_it_is_enclosed_whatever_is_chosen(name: str, fineness: Fineness) -> None:
    assert all(holds for holds, _ in contained(*CASES[name], fineness))


def test_the_figures_of_the_specification() -> None:
    """One of 100 steps, z = 1: floating point, from above, of another discretisation; a Monte Carlo agreed."""
    for loss, value in ((0.0, 0.0856365), (0.5, 0.00100510), (1.0, 1.05002e-6)):
        found = point(pair_of(100, ("1", 100)), math.exp(loss), FINE)
        assert float(found.seen - found.alpha * found.mistaken) <= value <= float(found.profile) * (1 + 1e-3)
        assert found.width < 3e-3


# --- What rounding may do -------------------------------------------------------------------------------------------


def exact_call(squared: Fraction, alpha: float, threshold: float) -> arb:
    """E (V - a)_+ in balls."""
    with working(200):
        mu, c = ball(squared).sqrt(), (-ball(squared) / 2).exp()
        x = arb(threshold) / c
        y = ((x + (x * x + 4 * arb(alpha)).sqrt()) / 2).log() / mu

        def tail(z: arb) -> arb:
            return (z / arb(2).sqrt()).erfc() / 2

        return tail(y - mu) - arb(alpha) * tail(y + mu) - arb(threshold) * tail(y)


@pytest.mark.seconds
def test_one_bin_is_never_lowered() -> None:
    """E (V' - a)_+ of the rounded law is at least E (V - a)_+ less what it says was moved or lost."""
    for squared, alpha, spacing in ((F(1), 1.0, 0.25), (F(1), 3.0, 2.0), (F(1, 4), 1.5, 1 / 64)):
        cells = cells_of(squared, 24)
        half = (len(cells.none) - 2) // 2
        for reach in (2, 5):
            law = rounded(cells, alpha, spacing, (half - reach * 24, half + reach * 24), 3)
            with working(200):
                masses = [arb(mass) * (1 + 2 * arb(law.off)) for mass in law.none.tolist()]
                for threshold in (-3.0, -0.5, 0.1, 1.0, 4.0):
                    found = arb(law.moved) + arb(law.lost)
                    for g, mass in zip(law.multiples.tolist(), masses, strict=True):
                        found += mass * max(0.0, g * spacing - threshold)
                    assert found >= exact_call(squared, alpha, threshold)
    with working(200):
        law = rounded(cells_of(F(1), 64), 2.0, 1 / 64, (64, 1000), 1)
        found = sum(mass * max(0.0, g / 64 - 0.5) for g, mass in zip(law.multiples, law.none, strict=True))
        assert float(found) < float(exact_call(F(1), 2.0, 0.5)) * (1 + 1e-3)


def test_values_at_the_cuts_are_enclosed() -> None:
    cells, alpha = cells_of(F(2), 24), 1.7
    low, high = one_bin.values_at_cuts(cells, alpha)
    half = (len(low) - 1) // 2
    with working(200):
        mu = ball(F(2)).sqrt()
        for j in range(-half, half + 1, 7):
            v = (mu * ball(F(j, 24)) - 1).exp() - arb(alpha) * (-mu * ball(F(j, 24)) - 1).exp()
            assert arb(float(low[j + half])) <= v
            assert arb(float(high[j + half])) >= v
    assert float(np.max((high - low) / (np.abs(high) + 1))) < 1e-13


# --- The sum of all bins but one --------------------------------------------------------------------------------------

SMALL = Bin(
    3, -2, np.array([0.1, 0.2, 0.3, 0.15, 0.25]), np.array([0.0, 0.1, 0.2, 0.3, 0.4]), np.zeros(5), 0.0, 0.0, 0.0
)
OTHER = Bin(1, -1, np.array([0.5, 0.25, 0.25]), np.zeros(3), np.zeros(3), 0.0, 0.0, 0.0)
WINDOWS = {
    "roomy": Window(0.5, -20, 64, 3.0, 3.0),
    "tight": Window(0.5, -5, 16, 3.0, 3.0),
    "too short": Window(0.5, -3, 8, 1.0, 1.0),
    "tilted": Window(0.5, -20, 64, 3.0, 3.0, 1.3),
    "tilted and tight": Window(0.5, -5, 16, 3.0, 3.0, 2.0),
}


def summed(weights: Floats) -> Fraction:
    """Σ of the weights of one more bin like SMALL where the sum is positive, two of SMALL and OTHER beside it."""
    total = F(0)
    for outcome in itertools.product(range(5), range(5), range(3)):
        mass = F(SMALL.none[outcome[0]]) * F(SMALL.none[outcome[1]]) * F(OTHER.none[outcome[2]])
        rest = outcome[0] + outcome[1] + outcome[2] + 2 * SMALL.start + OTHER.start
        total += mass * sum((F(w) for g, w in enumerate(weights, SMALL.start) if g + rest > 0), F(0))
    return total


def test_sums_by_enumeration() -> None:
    for window in WINDOWS.values():
        found = bin_sums.Sum.of([(SMALL, 2), (OTHER, 1)], window)
        for weights in (SMALL.none * SMALL.multiples, SMALL.first):
            low, high = (found.weighed(SMALL, weights, side) for side in (-1, 1))
            assert F(low) <= summed(weights) <= F(high)
    found = bin_sums.Sum.of([(SMALL, 2), (OTHER, 1)], WINDOWS["roomy"])
    assert found.weighed(SMALL, SMALL.first, 1) - found.weighed(SMALL, SMALL.first, -1) < 1e-9
    alone = bin_sums.Sum.of([(OTHER, 1)], WINDOWS["tight"])
    assert alone.off == alone.above == alone.below == alone.wrapped == 0
    assert alone.weighed(SMALL, SMALL.none, 1) == pytest.approx(0.5 * 0.25 + 0.25 * 0.4 + 0.25 * 0.7)


def test_what_lies_beyond_a_place_by_enumeration() -> None:
    """E (S - at)_+ and P(S > at), two of SMALL and OTHER in S, wherever the window lets them be asked for."""
    outcomes = [
        (a + b + c + 2 * SMALL.start + OTHER.start, F(SMALL.none[a]) * F(SMALL.none[b]) * F(OTHER.none[c]))
        for a, b, c in itertools.product(range(5), range(5), range(3))
    ]
    for window in WINDOWS.values():
        found = bin_sums.Sum.of([(SMALL, 2), (OTHER, 1)], window)
        for at in range(-3, 7):
            for weighted in (False, True):
                exact = sum((mass * (max(s - at, 0) if weighted else s > at) for s, mass in outcomes), F(0))
                try:
                    low, high = (found.beyond([at], weighted=weighted, side=side)[0] for side in (-1, 1))
                except Declined:
                    continue
                assert F(low) <= exact <= F(high)
    found = bin_sums.Sum.of([(SMALL, 2), (OTHER, 1)], WINDOWS["tilted"])
    assert found.beyond([2], weighted=True, side=1)[0] - found.beyond([2], weighted=True, side=-1)[0] < 1e-9
    with pytest.raises(Declined, match="beyond the window"):
        found.beyond([1000], weighted=False, side=1)


def test_values_read_backwards() -> None:
    values = np.arange(5.0)
    for first, length in itertools.product(range(-7, 12), range(1, 14)):
        expected = values[np.clip(first - np.arange(length), 0, 4)]
        assert np.array_equal(bin_sums._read_backwards(values, first, length), expected)


def test_what_is_rare_is_known_by_a_tilt() -> None:
    """One of 100 bins, a profile of about 1e-11: without the tilt the transform's round-off hides it."""
    pair = pair_of(100, ("1/4", 100))
    tilted = point(pair, math.exp(0.6), FINE)
    assert 1e-12 < float(tilted.profile) < 1e-10
    assert tilted.width < 5e-2
    window = windows.window_of

    def untilted(*given: Any) -> Window:
        return replace(window(*given), tilt=0.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "window_of", untilted)
        assert point(pair, math.exp(0.6), FINE).width > 0.3


def test_the_transforms_round_off_counts() -> None:
    laws = bin_sums.Sum.of([(SMALL, 2), (OTHER, 1)], WINDOWS["roomy"])
    exact = {
        k: sum(
            F(SMALL.none[a]) * F(SMALL.none[b]) * F(OTHER.none[c])
            for a, b, c in itertools.product(range(5), range(5), range(3))
            if a + b + c - 5 == k
        )
        for k in range(-5, 8)
    }
    errors = [F(float(mass)) - exact.get(k, F(0)) for k, mass in enumerate(laws.masses, laws.window.start)]
    assert 0 < math.sqrt(float(sum(error * error for error in errors))) <= laws.off


# --- Two pairs ------------------------------------------------------------------------------------------------------


def profile_at(pair: Discrete, loss: float) -> float:
    with working(160):
        return float(law_at(pair, 160).delta(arb(loss)).mid())


@pytest.mark.seconds
def test_one_pair_dominates_the_other() -> None:
    pair = pair_of(3, ("1", 3))
    upper, lower = replace_one.between(pair, COARSE, 1e-7)
    for loss in np.linspace(-4, 4, 81):
        truth = by_quadrature([1.0] * 3, 0, math.exp(loss)) if loss in (-4.0, 0.0, 1.0) else None
        low, high = profile_at(lower, loss), profile_at(upper, loss)
        assert low <= high + 1e-15
        if truth is not None:
            assert low - 1e-12 <= truth <= high + 1e-12
    assert sum(mass for _, mass in upper.points) + upper.infinite == 1
    assert sum(mass for _, mass in lower.points) <= 1


def test_hulls_of_few_points() -> None:
    """Exact points of N(1) against N(-1): the hulls lie on either side of it, and touch it there."""
    single = ShiftedGaussians(F(4))
    points = []
    for loss in (0.0, 0.7, 1.6):
        alpha = math.exp(loss)
        seen, mistaken = float(ndtr(1 - math.log(alpha) / 2)), float(ndtr(-1 - math.log(alpha) / 2))
        points.append(Point(F(alpha), F(seen) - F(alpha) * F(mistaken), F(seen), F(mistaken)))
    upper, lower = convex_hulls.hull_of_bounds(points, points), convex_hulls.hull_of_tests(points, points)
    with working(160):
        law = law_at(single, 160)
        for loss in np.linspace(-3, 1.6, 47):
            truth = float(law.delta(arb(loss)).mid())
            assert profile_at(lower, loss) <= truth + 1e-12
            assert truth <= profile_at(upper, loss) + 1e-12
        for each in points:
            loss = math.log(each.alpha)
            assert profile_at(lower, loss) == pytest.approx(profile_at(upper, loss), rel=1e-9)
            assert profile_at(upper, -loss) == pytest.approx(profile_at(lower, -loss), rel=1e-9)


@pytest.mark.minutes
def test_more_than_the_bin_published_is_never_said() -> None:
    """Far out the transform says nothing, and a published bin, of the replacement another one, bounds what is spent."""
    pair = pair_of(3, ("1", 3))
    found = prove_epsilon(((pair, 1),), F(1, 10**30), 1e-2).enclosure
    two = dp.epsilon(dp.Gaussian(1) ** 2, F(1, 10**30)).exact_upper
    assert two < dp.epsilon(dp.Gaussian(1), F(1, 10**30), RE).exact_lower * F(3, 4)
    assert found.exact_upper <= two * F(102, 100)
    for alpha in (1.0, 3.0, 20.0):
        bound = float(published_bin.profile_if_published(pair_of(2, ("1", 2)), alpha))
        assert by_quadrature([1.0, 1.0], 0, alpha) <= bound * (1 + 1e-9)


@pytest.mark.seconds_cases("0.0-remove", "0.0-add")
@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
@pytest.mark.parametrize("loss", [0.0, 0.6, 1.5])
def test_added_and_removed_records_at_a_threshold(direction: Direction, loss: float) -> None:
    """Two of three steps are run: quadrature of (u_1 + u_2 + 1)/3 - α, or of 1 - α (u_1 + u_2 + 1)/3."""
    pair = Allocated(direction, 3, ((ShiftedGaussians(F(1)), 2),))
    y = np.linspace(-9, 9, 1801)
    density = np.exp(-y * y / 2) * (y[1] - y[0]) / math.sqrt(2 * math.pi)
    ratio = (np.add.outer(np.exp(y - 0.5), np.exp(y - 0.5)) + 1) / 3
    found = point(pair, math.exp(loss), FINE)
    gain = ratio - float(found.alpha) if direction is Direction.REMOVE else 1 - float(found.alpha) * ratio
    truth = float(np.multiply.outer(density, density).ravel() @ np.maximum(gain, 0).ravel())
    assert float(found.seen - found.alpha * found.mistaken) <= truth * (1 + 1e-4) + 1e-16
    assert truth * (1 - 1e-4) <= float(found.profile) + 1e-16
    assert found.width < 3e-3 or truth < 1e-6


@pytest.mark.minutes
def test_where_no_grid_holds_the_sum() -> None:
    """Much noise, many bins: refused before. Between the two, both ways agree."""
    wide = dp.epsilon(dp.RandomlyAllocated(dp.Gaussian(50), 100), "1e-5", tolerance=1e-2)
    assert F("0.00437") < wide.exact_lower < wide.exact_upper < F("0.00442")
    product = ((Allocated(Direction.ADD, 10, ((ShiftedGaussians(F(1)), 10),)), 2),)

    def proved(product: Product, at: Sequence[Fraction]) -> list[Proof]:
        return [prove_epsilon(product, delta, 1e-3) for delta in at]

    grids = [discrete_pairs.Grid(F(1, 512), 1e-16, FINE, 1e-11, by_threshold) for by_threshold in (False, True)]
    ways = [discrete_pairs.enclosed_by_pairs(product, [F(1, 10**5)], True, grid, proved)[0].enclosure for grid in grids]
    assert ways[0].overlaps(ways[1])
    assert all(way.width < 5e-3 * way.upper for way in ways)


def test_what_the_pair_is_for() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        point(pair_of(3, ("1", 3)), 0.5, COARSE)
    with pytest.raises(AssertionError):
        point(Allocated(Direction.REPLACE, 3, ((ShiftedLaplaces(F(1)), 3),)), 1.0, COARSE)
    with pytest.raises(Declined, match="so little noise"):
        cells_of(F(10**4), 24)
    found = dp.epsilon(dp.RandomlyAllocated(dp.Gaussian("0.01"), 3), "1e-5", RE)  # one step below, published bins above
    assert 5e3 < found.lower < found.upper < dp.epsilon(dp.Gaussian("0.01"), "1e-5", RE).upper


# --- What is spent --------------------------------------------------------------------------------------------------


@pytest.mark.seconds
def test_between_what_it_must_lie() -> None:
    """No less than adding or removing the record, no more than knowing the step."""
    mechanism = dp.RandomlyAllocated(dp.Gaussian(2), 3)
    found = dp.delta(mechanism, "0.5", RE, tolerance=1e-2)
    assert found.exact_lower > dp.delta(mechanism, "0.5", tolerance=1e-2).exact_upper
    assert found.exact_upper < dp.delta(dp.Gaussian(2), "0.5", RE).exact_lower
    assert by_quadrature([0.5] * 3, 0, math.exp(0.5)) == pytest.approx(found.lower, rel=2e-2)


@pytest.mark.seconds
def test_beside_other_releases_of_either_kind() -> None:
    mechanism = dp.RandomlyAllocated(dp.Gaussian(2), 3)
    both = dp.epsilon(mechanism @ dp.Gaussian(4), "0.01", RE, tolerance=1e-2)
    assert both.exact_lower > dp.epsilon(mechanism, "0.01", RE, tolerance=1e-2).exact_upper
    assert both.exact_upper < dp.epsilon(dp.Gaussian(2) @ dp.Gaussian(4), "0.01", RE).exact_lower


@pytest.mark.minutes
def test_kept_bins_cost_more_and_less_noise_does() -> None:
    def spent(epochs: str, *, redraw: bool, z: str = "2") -> dp.Enclosure:
        return dp.epsilon(dp.BallsInBins(dp.Gaussian(z), 10, epochs, redraw=redraw), "1e-5", RE, tolerance=1e-2)

    assert spent("2", redraw=True).exact_upper < spent("2", redraw=False).exact_lower
    assert spent("1", redraw=True).exact_upper < spent("1.5", redraw=True).exact_lower
    assert spent("1.5", redraw=False).exact_upper < spent("2", redraw=False).exact_lower
    assert spent("2", redraw=True, z="3").exact_upper < spent("2", redraw=True).exact_lower


@pytest.mark.minutes
def test_the_answers_are_narrow() -> None:
    for mechanism, low, high in (
        (dp.RandomlyAllocated(dp.Gaussian(1), 100) ** 10, "2.8320", "2.8344"),
        (dp.BallsInBins(dp.Gaussian(4), 100, 10, redraw=False), "0.5824", "0.5829"),
    ):
        found = dp.epsilon(mechanism, "1e-5", RE)
        assert F(low) <= found.exact_lower <= found.exact_upper <= F(high)
        assert found.width <= 1e-3 * found.upper
        back = dp.delta(mechanism, found.exact_upper, RE)
        assert back.exact_lower <= F(1, 10**5)
        assert back.exact_upper >= F(99, 10**7)


@pytest.mark.seconds
def test_sums_of_many_bins_against_a_law_of_large_numbers() -> None:
    """For many bins the sum is nearly normal: δ(0) is about the deviation of V over √(2πm), V of two unit variances."""
    found = prove_delta(((pair_of(400, ("1/4", 400)), 1),), F(0), 1e-2).enclosure
    deviation = math.sqrt(2 * (math.exp(0.25) - math.exp(-0.25)))
    assert found.lower == pytest.approx(deviation / math.sqrt(2 * math.pi * 400), rel=2e-2)


@pytest.mark.minutes
def test_noise_is_calibrated() -> None:
    """The search ends although no proof is finer than 1e-3."""
    found = dp.calibrate(lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 10) ** 2, 1, "1e-5", RE)
    assert found.fails_at is not None
    assert found.fails_at < found.value < found.fails_at * F(1002, 1000)
    assert dp.epsilon(dp.RandomlyAllocated(dp.Gaussian(found.value), 10) ** 2, "1e-5", RE).exact_upper <= 1
