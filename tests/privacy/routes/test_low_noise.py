"""Steps allocated in secret with so little noise that they are told apart: against quadrature, and the lattice."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

import dpbounds as dp
from dpbounds.privacy.pairs.pairs import Allocated, AllocatedTo, Direction, ShiftedGaussians
from dpbounds.privacy.routes.allocation.low_noise import _added, _reach, _steps, told_apart

AR = dp.Relation.ADD_OR_REMOVE_ONE
SHIFT = 16


def of_two(direction: Direction = Direction.REMOVE, shift: int = SHIFT) -> Allocated:
    return Allocated(direction, 2, ((ShiftedGaussians(Fraction(shift**2)), 2),))


def integrated(epsilon: float, shift: float = SHIFT) -> float:
    """δ(ε) of one of two steps, removed, by a sum over the second step's outcome; exact over the first."""
    y, step = np.linspace(-12, shift + 14, 400_001, retstep=True)
    logarithm = shift * y - shift**2 / 2 - math.log(2) - epsilon  # of the second ratio, over 2α
    c = 1 - np.exp(np.minimum(logarithm, 0))
    with np.errstate(divide="ignore"):
        t = (epsilon + math.log(2) + np.log(c)) / shift + shift / 2
    log_density = -(y**2) / 2 - math.log(math.sqrt(2 * math.pi))
    above = ndtr(shift - t) / 2 * np.exp(log_density)
    above -= np.exp(epsilon + np.log(np.maximum(c, 1e-300)) + log_ndtr(-t) + log_density)
    beyond = logarithm > 0  # whatever the first step shows
    own = np.exp(shift * y - shift**2 / 2 - math.log(2) + log_density)
    removed = np.where(beyond, own + np.exp(log_density) / 2 - np.exp(epsilon + log_density), above)
    return float(np.sum(removed) * step)


@pytest.mark.parametrize("epsilon", [150, 170, 185, 200])
def test_one_of_two_steps_is_enclosed(epsilon: int) -> None:
    def prove(product: object, targets: list[Fraction], width: float) -> list[object]:
        ((pair, _),) = product  # type: ignore[misc]
        z = 1 / math.sqrt(float(pair.squared_shift))
        return [Proven(z, at) for at in targets]

    found = told_apart(((of_two(), 1),), [Fraction(epsilon)], False, 1e-2, prove)  # type: ignore[arg-type]
    assert found is not None
    ((low, high),) = found
    told = integrated(epsilon)
    assert float(low) <= told * (1 + 1e-6)
    assert told <= float(high) * (1 + 1e-6)
    assert high - low <= low / 1000


class Proven:
    """What a Gaussian's proof looks like."""

    def __init__(self, z: float, epsilon: Fraction) -> None:
        self.enclosure = dp.delta(dp.Gaussian(Fraction(z)), epsilon, AR)


def test_the_chance_that_steps_are_not_told_apart_is_taken_off_delta() -> None:
    asked: list[Fraction] = []

    def prove(product: object, targets: list[Fraction], width: float) -> list[object]:
        asked.extend(targets)
        return [SimpleNamespace(enclosure=dp.Enclosure(Fraction(150), Fraction(151)))]

    delta = Fraction(1, 10**5)
    found = told_apart(((of_two(), 1),), [delta], True, 1e-2, prove)  # type: ignore[arg-type]
    assert found is not None
    lower, upper = asked
    assert lower == delta
    assert 0 < delta - upper < delta / 1000
    slack = math.log1p(math.exp(2 * SHIFT * far_of(delta - upper, 2) - SHIFT**2))
    assert float(found[0][1]) == pytest.approx(151 - math.log(2) + slack, rel=1e-6)


def test_the_lattice_agrees_from_above() -> None:
    """Values of the lattice, which is slower by far: at most 185.1796 and 167 at least (without this module)."""
    found = dp.epsilon(dp.RandomlyAllocated(dp.Gaussian("0.0636"), 100), "1e-5", AR)
    assert 185.1793 < found.exact_lower <= found.exact_upper < 185.1795


def test_delta_and_epsilon_agree() -> None:
    mechanism = dp.BallsInBins(dp.Gaussian("0.2"), 100, 10, redraw=False)
    epsilon = dp.epsilon(mechanism, "1e-5", AR)
    delta = dp.delta(mechanism, epsilon.exact_upper, AR)
    assert float(delta.exact_lower) == pytest.approx(1e-5, rel=1e-3)
    assert delta.exact_lower <= Fraction(1, 100_000) * Fraction(1001, 1000)


def test_added_is_bounded_where_the_other_order_is_dearer() -> None:
    steps, order, plain = _steps(((of_two(Direction.ADD), 1),)) or ([], None, None)
    assert (order, plain) == (Direction.ADD, 0)
    for epsilon in (100, 130, 160):
        assert float(_added(steps, Fraction(epsilon))) <= integrated(epsilon)


@pytest.mark.seconds_cases("4.0")
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_what_is_added_is_no_more_than_its_bound(epsilon: float) -> None:
    """By a sum over both outcomes, at more noise, where there is something to see."""
    steps, _, _ = _steps(((of_two(Direction.ADD, 3), 1),)) or ([], None, None)
    y, step = np.linspace(-9, 9, 1801, retstep=True)
    density, ratio = np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi) * step, np.exp(3 * y - 4.5)
    spent = np.maximum(0, 1 - math.exp(epsilon) * (ratio[:, None] + ratio) / 2)
    told = float(density @ spent @ density)
    assert 0 < told <= float(_added(steps, Fraction(epsilon))) <= 3 * told


@pytest.mark.parametrize("shift", [1, 4, 8])
def test_with_more_noise_nothing_is_said(shift: int) -> None:
    pair = of_two(shift=shift)
    steps, _, _ = _steps(((pair, 1),)) or ([], None, None)
    assert _reach(steps, 1e-10)[0] > 0.1


def test_what_is_given_up_is_small_beside_delta() -> None:
    steps, _, _ = _steps(((of_two(), 3),)) or ([], None, None)
    slack, rare = _reach(steps, 1e-10)
    assert 0 < rare <= Fraction(2, 10**10)
    assert slack == pytest.approx(3 * math.log1p(math.exp(2 * SHIFT * far_of(rare, 6) - SHIFT**2)), rel=1e-2)


def far_of(rare: Fraction, terms: int) -> float:
    return float(norm.isf(float(rare) / terms))


def test_sets_of_steps() -> None:
    pair = AllocatedTo(Direction.REMOVE, 20, 4, ShiftedGaussians(Fraction(9)))
    ((step,), _, plain) = _steps(((pair, 2), (ShiftedGaussians(Fraction(5)), 3)))  # type: ignore[misc]
    assert (step.squared_shift, step.ways, step.apart, step.count, plain) == (36, math.comb(20, 4), 5, 2, 15)
    unlike = Allocated(Direction.REMOVE, 3, ((ShiftedGaussians(Fraction(9)), 2),))
    replaced = Allocated(Direction.REPLACE, 2, ((ShiftedGaussians(Fraction(9)), 2),))
    assert _steps(((unlike, 1),)) is None
    assert _steps(((replaced, 1),)) is None


@pytest.mark.seconds
@pytest.mark.parametrize(("z", "steps", "of", "asked"), [("0.14", 4, 20, 200), ("0.5", 2, 10, 10), ("0.2", 2, 10, 50)])
def test_an_attack_on_sets_of_steps_sees_them_told_apart(z: str, steps: int, of: int, asked: int) -> None:
    """Where no grid held the ratios, its lower end was that of one step, or 0, and calibrations waited for grids."""
    found = dp.delta(dp.RandomlyAllocated(dp.Gaussian(z), of, steps), asked, AR, tolerance=1e-2)
    together = dp.Gaussian(Fraction(z)) ** steps  # of the steps, were they known
    of_one = dp.delta(together, asked + Fraction(math.log(math.comb(of, steps))), AR)
    assert found.lower >= of_one.lower * (1 - 1e-6)
    assert found.exact_lower < found.exact_upper < 4 * found.exact_lower
