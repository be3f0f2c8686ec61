"""The lattice route, held against closed forms, direct integration, brute force, reference values and itself."""

from __future__ import annotations

import math
import random
import resource
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from itertools import product as cartesian
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import (
    Direction,
    Draws,
    Product,
    Sampled,
    SampledGaussians,
    ShiftedGaussians,
    ShiftedLaplaces,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice import bounds as lattice
from dpbounds.privacy.routes.lattice import delta_bounds, epsilon_bounds, saddle
from dpbounds.privacy.routes.lattice.composed import ComposedMeasure, Steps, compose, discretise
from dpbounds.privacy.routes.lattice.discretisation import RoundingDown, lower_atoms, pieces_of, upper_atoms
from dpbounds.privacy.routes.lattice.integer_measures import (
    LARGEST_WORK,
    Slots,
    Work,
    convolution,
    missing_mass,
    pack,
    power,
    scaled,
    unpack,
)
from dpbounds.privacy.routes.lattice.steps import Cells, Lattice, as_step, cut


def sampled(order: str, q: ExactLike, z: ExactLike, steps: int) -> Product:
    return ((SampledGaussians(Direction(order), exact(q), exact(z) ** 2), steps),)


def as_mpf(end: Fraction | float) -> Any:
    number = Fraction(end)
    return mpmath.mpf(number.numerator) / number.denominator


# --- independent formulas -------------------------------------------------------------------------------------------


def losses(order: str, q: Any, v: Any) -> tuple[list[Any], list[Any], Callable[[Any], Any], int]:
    """P-mixture, Q-mixture as (weight, mean), and the loss, as plain mpmath functions (not turned)."""

    def ratio(x: Any) -> Any:
        return 1 - q + q * mpmath.exp((2 * x - 1) / (2 * v))

    with_record, without = [(1 - q, 0), (q, 1)], [(1, 0)]
    other = [(1 - q, 0), (q, -1)]
    table: dict[str, tuple[list[Any], list[Any], Callable[[Any], Any], int]] = {
        "remove": (with_record, without, lambda x: mpmath.log(ratio(x)), 1),
        "add": (without, with_record, lambda x: -mpmath.log(ratio(x)), -1),
        "replace": (with_record, other, lambda x: mpmath.log(ratio(x)) - mpmath.log(ratio(-x)), 1),
    }
    return table[order]


def one_step_delta(order: str, q: Any, z: Any, epsilon: Any) -> Any:
    """δ(ε) of one step: the set {L > ε} is a half-line, found by bisection."""
    q, z, epsilon = mpmath.mpf(q), mpmath.mpf(z), mpmath.mpf(epsilon)
    first, second, loss, direction = losses(order, q, z**2)
    low, high = -60 * z - 60, 60 * z + 60
    if loss(direction * low) > epsilon:
        return 1 - mpmath.exp(epsilon)
    if loss(direction * high) <= epsilon:
        return mpmath.mpf(0)
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (low, middle) if loss(direction * middle) > epsilon else (middle, high)

    def beyond(mixture: list[Any]) -> Any:
        return sum(w * mpmath.erfc((high - direction * m) / (z * mpmath.sqrt(2))) / 2 for w, m in mixture)

    return beyond(first) - mpmath.exp(epsilon) * beyond(second)


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)

    def tail(x: Any) -> Any:
        return mpmath.erfc(x / mpmath.sqrt(2)) / 2

    return tail(epsilon / mu - mu / 2) - mpmath.exp(epsilon) * tail(epsilon / mu + mu / 2)


def few_steps_delta(order: str, q: float, z: float, steps: int, epsilon: float) -> float:
    """δ(ε) of two or three steps by summing over a fine grid: the last step in closed form, the others integrated."""
    v = z * z
    grid = np.linspace(-12 * z - 1, 12 * z + 1, 2401)
    width = grid[1] - grid[0]

    def log_ratio(x: Any) -> Any:
        return np.log1p(q * np.expm1((2 * x - 1) / (2 * v)))

    def density(mixture: list[Any], x: Any) -> Any:
        return sum(w * np.exp(-((x - m) ** 2) / (2 * v)) for w, m in mixture) / math.sqrt(2 * math.pi * v)

    first, second, _, direction = losses(order, q, v)
    table_of_losses: dict[str, Callable[[Any], Any]] = {
        "remove": lambda x: log_ratio(x),
        "add": lambda x: -log_ratio(x),
        "replace": lambda x: log_ratio(x) - log_ratio(-x),
    }
    loss = table_of_losses[order]
    weights, values = density(first, grid) * width, loss(grid)

    def last(e: Any) -> Any:
        low, high = np.full_like(e, -60 * z - 10), np.full_like(e, 60 * z + 10)
        for _ in range(70):
            middle = (low + high) / 2
            above = loss(direction * middle) > e
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        beyond = [
            sum(w * erfc((high - direction * m) / (z * math.sqrt(2))) / 2 for w, m in mixture)
            for mixture in (first, second)
        ]
        return beyond[0] - np.exp(e) * beyond[1]

    if steps == 2:
        return float(np.sum(weights * last(epsilon - values)))
    # three steps: the last in closed form, tabulated densely as a function of what is left
    total = 0.0
    table = np.linspace(epsilon - 2 * values.max() - 1e-9, epsilon - 2 * values.min() + 1e-9, 200_001)
    inner = last(table)
    for weight, value in zip(weights, values, strict=True):
        if weight > 1e-18:
            total += weight * float(np.sum(weights * np.interp(epsilon - value - values, table, inner)))
    return total


# --- against known values -------------------------------------------------------------------------------------------

REFERENCES = [
    ("remove", "0.01", "1", 10**4, "1e-6", "6.907384495045"),
    ("add", "0.01", "1", 10**4, "1e-6", "6.20748437879"),
    ("replace", "0.01", "1", 10**4, "1e-6", "11.9568577197"),
    ("remove", "0.001", "50", 10**4, "1e-8", "0.00816594754186"),
    ("remove", "0.001", "0.3", 10**4, "1e-8", "57.951206268"),
    ("remove", "0.01", "1", 10**4, "1e-300", "101.186654653"),
    ("add", "0.1", "1", 10**4, "1e-5", "107.386414005"),
]


@pytest.mark.rotating(4)
@pytest.mark.parametrize(("order", "q", "z", "steps", "delta", "value"), REFERENCES)
def test_the_other_route_agrees(order: str, q: str, z: str, steps: int, delta: str, value: str) -> None:
    enclosure = epsilon_bounds(sampled(order, q, z, steps), exact(delta)).enclosure
    assert enclosure.contains(value)
    assert enclosure.width <= 1e-3 * enclosure.upper


@pytest.mark.rotating(4)
@pytest.mark.parametrize(
    ("order", "value"), [("remove", "6.88023780128"), ("add", "6.27594040636"), ("replace", "12.4620101287")]
)
def test_different_steps_in_one_product(order: str, value: str) -> None:
    parts = [("0.01", "1", 5000), ("0.02", "1.5", 3000), ("0.005", "0.8", 2000)]
    everything = tuple(sampled(order, *part)[0] for part in parts)
    proof = epsilon_bounds(everything, exact("1e-6"))
    assert proof.enclosure.contains(value)
    assert proof.enclosure.width <= 1e-3 * proof.enclosure.upper
    offsets = proof.parameters["offsets"]
    assert isinstance(offsets, tuple)
    assert len(offsets) == 3


@pytest.mark.parametrize(
    ("squared_shift", "steps", "delta"),
    [("1", 2, "1e-5"), ("1/4", 50, "1e-2"), ("1/100", 1000, "1e-50"), ("9", 5, "1e-300"), ("1e-8", 3, "1e-5")],
)
def test_composed_gaussians_are_one_gaussian(squared_shift: str, steps: int, delta: str) -> None:
    enclosure = epsilon_bounds(((ShiftedGaussians(exact(squared_shift)), steps),), exact(delta)).enclosure
    with mpmath.workdps(400):
        mu = mpmath.sqrt(mpmath.mpf(exact(squared_shift).numerator) / exact(squared_shift).denominator * steps)
        wanted = mpmath.mpf(exact(delta).numerator) / exact(delta).denominator
        ends = [as_mpf(enclosure.exact_lower), as_mpf(enclosure.exact_upper)]
        assert gaussian_delta(mu, ends[0]) >= wanted >= gaussian_delta(mu, ends[1])
    assert 0 < enclosure.width <= 1e-3 * enclosure.upper


def test_full_sampling_is_a_shift() -> None:
    replaced = epsilon_bounds(sampled("replace", 1, 2, 9), exact("1e-6")).enclosure
    added = epsilon_bounds(sampled("add", 1, 1, 9), exact("1e-6")).enclosure
    shifted = epsilon_bounds(((ShiftedGaussians(Fraction(9)), 1),), exact("1e-6")).enclosure
    assert replaced.overlaps(shifted)
    assert added.overlaps(shifted)


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    ("q", "z", "epsilon"),
    [("0.1", "0.7", "0.05"), ("0.001", "0.3", "0.01"), ("0.5", "2", "0.3"), ("0.01", "50", "1e-4"), ("0.2", "1", "0")],
)
def test_one_step_has_a_closed_form(order: str, q: str, z: str, epsilon: str) -> None:
    if order == "add" and float(epsilon) >= -math.log1p(-float(q)):  # there δ is 0
        epsilon = "0.0005"
    proof = delta_bounds(sampled(order, q, z, 1), exact(epsilon))
    with mpmath.workdps(60):
        truth = one_step_delta(order, q, z, epsilon)
        assert as_mpf(proof.enclosure.exact_lower) <= truth <= as_mpf(proof.enclosure.exact_upper)
    assert proof.enclosure.upper - proof.enclosure.lower <= 1e-3 * max(1, -math.log(truth)) * proof.enclosure.upper


@pytest.mark.rotating(4)
@pytest.mark.parametrize("order", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    ("q", "z", "steps", "epsilon"),
    [
        (0.1, 1.0, 2, 0.15),
        (0.3, 2.0, 3, 0.1),
        *(
            pytest.param(*numbers, marks=pytest.mark.thorough)
            for numbers in ((0.25, 0.6, 2, 0.4), (0.01, 0.5, 2, 0.1), (0.1, 1.0, 3, 0.2))
        ),
    ],
)
def test_few_steps_by_direct_integration(order: str, q: float, z: float, steps: int, epsilon: float) -> None:
    if order == "add":  # stay below the largest loss
        epsilon = min(epsilon, -0.7 * steps * math.log1p(-q))
    truth = few_steps_delta(order, q, z, steps, epsilon)
    proof = delta_bounds(sampled(order, q, z, steps), Fraction(epsilon))
    assert proof.enclosure.lower - 1e-10 <= truth <= proof.enclosure.upper + 1e-10
    assert proof.enclosure.width > 1e-8, "the integration must be much more accurate than what it checks"
    delta = Fraction(truth)
    found = epsilon_bounds(sampled(order, q, z, steps), delta, tolerance=2e-3).enclosure
    assert found.lower - 1e-7 <= epsilon <= found.upper + 1e-7


# --- against itself -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    st.sampled_from(["remove", "add", "replace"]),
    st.floats(-5, 0),
    st.floats(-0.5, 1.5),
    st.floats(0.3, 2),
    st.floats(-60, -2),
)
def test_enclosures_of_one_number_overlap(
    order: str, log_q: float, log_z: float, log_steps: float, log_delta: float
) -> None:
    steps = sampled(order, 10.0**log_q, 10.0**log_z, int(10**log_steps))
    delta = Fraction(10.0**log_delta)
    try:
        coarse, fine = (epsilon_bounds(steps, delta, tolerance=t) for t in (0.05, 4e-3))
    except Declined:
        return
    assert coarse.enclosure.overlaps(fine.enclosure)
    assert fine.enclosure.width <= 4e-3 * fine.enclosure.upper
    if fine.enclosure.lower > 0:  # and back: δ at the ends of ε
        try:
            at_upper = delta_bounds(steps, Fraction(fine.enclosure.exact_upper), tolerance=0.05).enclosure
            at_lower = delta_bounds(steps, Fraction(fine.enclosure.exact_lower), tolerance=0.05).enclosure
        except Declined:
            return
        assert at_upper.exact_lower <= delta <= at_lower.exact_upper


@pytest.mark.thorough
def test_a_narrower_enclosure_on_request() -> None:
    enclosure = epsilon_bounds(sampled("remove", "0.01", 1, 1000), exact("1e-6"), tolerance=1e-5).enclosure
    assert enclosure.width <= 1e-5 * enclosure.upper
    assert epsilon_bounds(sampled("remove", "0.01", 1, 1000), exact("1e-6")).enclosure.overlaps(enclosure)


@pytest.mark.thorough
@pytest.mark.parametrize(("q", "z", "steps"), [("1e-5", "0.3", 2), ("1e-5", "0.3", 10**5), ("1e-3", "1", 20)])
@pytest.mark.parametrize("delta", ["1e-2", "1e-8", "1e-50", "1e-300"])
@pytest.mark.parametrize("order", ["remove", "add"])
def test_rare_large_losses(order: str, q: str, z: str, steps: int, delta: str) -> None:
    proof = epsilon_bounds(sampled(order, q, z, steps), exact(delta))
    assert proof.enclosure.width <= 1e-3 * proof.enclosure.upper
    if order == "add":  # no loss exceeds -log(1-q)
        assert proof.enclosure.lower <= -steps * math.log1p(-float(q))


@pytest.mark.rotating(4)
def test_exactly_zero_at_the_total_variation() -> None:
    steps = sampled("remove", "0.1", 10, 5)
    variation = delta_bounds(steps, Fraction(0)).enclosure
    assert epsilon_bounds(steps, Fraction(variation.exact_upper) * 2).enclosure.exact_upper == 0
    just_below = epsilon_bounds(steps, Fraction(variation.exact_lower) * Fraction(98, 100)).enclosure
    assert just_below.lower > 0
    assert just_below.width <= 1e-3 * just_below.upper
    assert epsilon_bounds((), exact("0.1")).enclosure.exact_upper == 0
    assert epsilon_bounds(steps, Fraction(1)).enclosure.exact_upper == 0
    assert epsilon_bounds(((ShiftedGaussians(Fraction(0)), 3),), exact("0.1")).enclosure.exact_upper == 0


def test_delta_is_zero_beyond_the_largest_loss() -> None:
    steps = sampled("add", "0.1", 1, 10)
    assert delta_bounds(steps, Fraction(2)).enclosure.exact_upper == 0
    assert delta_bounds(steps, Fraction(1)).enclosure.lower > 0
    assert delta_bounds((), Fraction(0)).enclosure.exact_upper == 0


def test_what_is_out_of_domain_is_refused() -> None:
    steps = sampled("remove", "0.1", 1, 10)
    with pytest.raises(InvalidValue, match="delta"):
        epsilon_bounds(steps, Fraction(0))
    with pytest.raises(InvalidValue, match="epsilon"):
        delta_bounds(steps, Fraction(-1))
    with pytest.raises(InvalidValue, match="tolerance"):
        epsilon_bounds(steps, Fraction(1, 10), tolerance=0.0)
    with pytest.raises(InvalidValue, match="sample_rate"):
        epsilon_bounds(sampled("remove", 2, 1, 10), Fraction(1, 10))
    with pytest.raises(InvalidValue, match="variance"):
        epsilon_bounds(sampled("remove", "0.1", 0, 10), Fraction(1, 10))
    with pytest.raises(InvalidValue, match="count"):
        epsilon_bounds(sampled("remove", "0.1", 1, 0), Fraction(1, 10))
    with pytest.raises(InvalidValue, match="marks"):
        cut(as_step(steps[0][0]), Lattice(Fraction(0), Fraction(1, 8)), (0, 0, 1))


def test_too_much_work_is_declined() -> None:
    with pytest.raises(Declined):
        epsilon_bounds(sampled("remove", "0.01", 1, 10**5), exact("1e-6"), tolerance=1e-7)


def test_the_precision_of_the_process_is_left_alone() -> None:
    before = flint.ctx.prec
    epsilon_bounds(sampled("replace", "0.1", 1, 3), exact("1e-3"))
    assert flint.ctx.prec == before


# --- the parts of the proof -----------------------------------------------------------------------------------------


def brute_force(atoms: list[tuple[arb, arb]], steps: int, epsilon: arb) -> arb:
    """F for the law with (loss, mass) atoms, by going through all combinations."""
    result = arb(0)
    for combination in cartesian(atoms, repeat=steps):
        excess = 1 - (epsilon - sum((loss for loss, _ in combination), arb(0))).exp()
        if excess > 0:
            mass = arb(1)
            for _, one in combination:
                mass *= one
            result += excess * mass
    return result


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("from_left", [0, 3, 99])
def test_the_order_of_the_measures_by_brute_force(seed: int, from_left: int) -> None:
    dice = random.Random(seed)
    with flint.ctx.workprec(300):
        points = Lattice(Fraction(dice.randrange(-8, 8), 64), Fraction(1, 4))
        marks = (-6, -4, -3, -2, -1, 0, 1, 2, 3, 5)
        law: list[tuple[arb, arb]] = []
        masses = []
        for first, second in pairwise(marks):
            inside = [
                (points.point(first) + arb(dice.randrange(1, 100)) / 101 * (second - first) * ball(points.spacing))
                for _ in range(3)
            ]
            weights = [arb(fmpq(dice.randrange(1, 10 ** dice.randrange(1, 5)), 10**6)) for _ in inside]
            law += list(zip(inside, weights, strict=True))
            masses.append(
                (
                    sum(weights, arb(0)),
                    sum((w * (-loss).exp() for loss, w in zip(inside, weights, strict=True)), arb(0)),
                )
            )
        cells = Cells(marks, tuple(masses), arb(0), arb(0))
        pieces, _ = pieces_of(cells)
        rule = RoundingDown(1.0, 0.0, 1e-3)
        sides = [upper_atoms(cells, points), lower_atoms(pieces, points, rule, min(from_left, len(pieces)))]
        upper, lower = ([(points.point(k), mass) for k, mass in atoms] for atoms in sides)
        for steps in (1, 2):
            for epsilon in (arb(0), arb("0.3"), arb("0.7"), arb("-0.6")):
                truth = brute_force(law, steps, epsilon)
                assert not brute_force(upper, steps, epsilon) < truth
                assert not brute_force(lower, steps, epsilon) > truth
        # P-mass and Q-mass stay: exactly above; below, what was rounded down gains Q-mass
        p, q = (sum((pair[i] for pair in masses), arb(0)) for i in (0, 1))
        for atoms in (upper, lower):
            assert sum((mass for _, mass in atoms), arb(0)).overlaps(p)
        assert sum((mass * (-loss).exp() for loss, mass in upper), arb(0)).overlaps(q)
        assert not sum((mass * (-loss).exp() for loss, mass in lower), arb(0)) < q


@pytest.mark.parametrize("order", ["remove", "add", "replace"])
@pytest.mark.parametrize(("q", "z"), [("0.2", "0.8"), ("1e-5", "20"), ("0.9", "0.4")])
def test_cells_hold_the_masses_of_both_laws(order: str, q: str, z: str) -> None:
    pair = sampled(order, q, z, 1)[0][0]
    step = as_step(pair)
    with flint.ctx.workprec(250):
        spacing = Fraction(exact(q) / 50)
        cells = cut(step, Lattice(Fraction(0), spacing), tuple(range(-4, 5)))
        for i, (p, r) in enumerate(cells.masses):
            high = (-(cells.marks[i] * ball(spacing))).exp()
            low = (-(cells.marks[i + 1] * ball(spacing))).exp()
            assert not p * low > r, "Q-mass / P-mass of a cell lies between the likelihood ratios at its ends"
            assert not p * high < r
        total = sum((p for p, _ in cells.masses), cells.below + cells.above)
        assert total.overlaps(arb(1))
        one = sum((p - r for p, r in cells.masses if True), arb(0))
        with mpmath.workdps(50):
            epsilon = mpmath.mpf(spacing.numerator) / spacing.denominator * 2
            truth = one_step_delta(order, q, z, epsilon)
        above = [(p, r) for mark, (p, r) in zip(cells.marks, cells.masses, strict=False) if mark >= 2]
        beyond = sum((p - r * (2 * ball(spacing)).exp() for p, r in above), arb(0))
        if order == "add":
            assert one.is_finite()
        assert float(beyond) <= float(truth) + 1e-30


def small_composition(bits: int, steps: int = 6) -> tuple[Steps, ComposedMeasure, ComposedMeasure, float]:
    """Two sides for composed Gaussians, and δ there (by the closed form)."""
    pair = ShiftedGaussians(Fraction(1, 4))
    typed: Steps = ((as_step(pair), steps),)
    sketches = lattice.sketches_of(typed, math.log(1e-6))
    parts = lattice.cut_sketches(sketches, math.log(1e-12))
    aim = saddle.saddle_for_delta(parts, math.log(1e-6), math.inf, 1e-3)
    chosen = lattice._choose(parts, aim, 1e-3 * aim.epsilon, lattice._Knobs(), 1e-12, "integers")
    chosen = replace(chosen, slots=Slots.holding(bits), allowance=1e-15)
    found = discretise(typed, chosen)
    upper, _ = compose(typed, chosen, found.uppers, found.infinite, Work())
    lower, _ = compose(typed, chosen, found.lowers, None, Work())
    return typed, upper, lower, aim.epsilon


@pytest.mark.parametrize("bits", [14, 24, 60])
def test_few_bits_widen_but_do_not_mislead(bits: int) -> None:
    _, upper, lower, epsilon = small_composition(bits)
    with mpmath.workdps(40):
        truth = gaussian_delta(mpmath.sqrt(mpmath.mpf(6) / 4), epsilon)
    assert float(upper.delta(Fraction(epsilon)).upper()) >= truth
    assert float(lower.delta(Fraction(epsilon)).lower()) <= truth


def test_planted_bugs_would_show() -> None:
    _, upper, lower, epsilon = small_composition(9)
    with mpmath.workdps(40):
        truth = gaussian_delta(mpmath.sqrt(mpmath.mpf(6) / 4), epsilon)
    where = Fraction(epsilon)
    forgotten = replace(upper, missing=arb(0))  # rounded down, and the loss not added back
    assert float(forgotten.delta(where).upper()) < truth <= float(upper.delta(where).lower())
    _, upper, lower, _ = small_composition(60)
    uncompensated = replace(upper, log_scale=Fraction(0))
    assert not 0.9 * truth < float(uncompensated.delta(where).mid()) < 1.1 * truth
    shifted = replace(lower, origin=lower.origin + 6 * lower.spacing)  # every atom one point too high
    assert float(shifted.delta(where).lower()) > truth
    half = replace(upper, tilt=upper.tilt / 2)  # one tilt going in, another coming out
    assert not 0.9 * truth < float(half.delta(where).mid()) < 1.1 * truth


def test_integer_convolution_is_exact_up_to_the_floor() -> None:
    dice = random.Random(3)
    slots = Slots.holding(20)
    unit = slots.unit_bits
    first = [(k, dice.randrange(0, 1 << (unit - 6))) for k in (-3, -1, 0, 4, 9)]
    second = [(k, dice.randrange(0, 1 << (unit - 6))) for k in (2, 3, 7)]
    product = convolution(pack(first, slots), pack(second, slots), slots, Work())
    wanted: dict[int, int] = {}
    for (j, a), (k, b) in cartesian(first, second):
        wanted[j + k] = wanted.get(j + k, 0) + a * b
    for index, mass in enumerate(unpack(product, slots, product.start, product.start + product.length), product.start):
        assert mass == wanted.get(index, 0) >> unit
    assert product.sum == sum(mass >> unit for mass in wanted.values())


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_powers_stay_below_the_truth_by_the_missing_mass(count: int) -> None:
    slots = Slots.holding(24)
    one = Fraction(1, 1 << slots.unit_bits)
    masses = [(k, (1 << slots.unit_bits) // d) for k, d in ((-1, 3), (0, 2), (2, 9), (5, 40))]
    base = pack(masses, slots)
    result, _ = power(base, count, slots, 1e-4, Work())
    truth = {0: Fraction(1)}
    for _ in range(count):
        step: dict[int, Fraction] = {}
        for (j, a), (k, b) in cartesian(truth.items(), masses):
            step[j + k] = step.get(j + k, Fraction(0)) + a * b * one
        truth = step
    found = dict(enumerate(unpack(result, slots, result.start, result.start + result.length), result.start))
    assert all(mass * one <= truth.get(k, 0) for k, mass in found.items())
    missing = sum(truth.values()) - sum(found.values()) * one
    with flint.ctx.workprec(300):
        assert missing_mass([(base, count)], result, slots).contains(fmpq(missing.numerator, missing.denominator))
    assert missing < Fraction(1, 500)


def test_slots_never_overflow() -> None:
    slots = Slots.holding(10)
    full = (1 << (slots.width - slots.unit_bits)) - 1
    with pytest.raises(Declined, match="too large"):
        pack([(0, full + 1)], slots)
    with pytest.raises(Declined, match="empty"):
        pack([(0, 0)], slots)
    heavy = pack([(0, full)], slots)
    with pytest.raises(Declined, match="slots"):
        power(heavy, 64, slots, 0.0, Work())


def test_attempts_share_their_work() -> None:
    work = Work(100)
    with pytest.raises(Declined, match="work limit"):
        work.spend(101)
    assert work.left == 100  # what was refused was not done
    work.spend(100)
    work.reserve()
    assert 0 < work.left < LARGEST_WORK
    product = ((SampledGaussians(Direction.REMOVE, Fraction(1, 10), Fraction(1)), 100),)
    with pytest.raises(Declined, match="work limit"):
        epsilon_bounds(product, Fraction(1, 10**5), work=Work(10))
    with pytest.raises(Declined, match="work limit"):
        delta_bounds(product, Fraction(1), work=Work(10))


def test_masses_are_rounded_outwards() -> None:
    slots = Slots.holding(30)
    third = arb(fmpq(1, 3))
    low, high = (scaled(third, slots, upwards=side) for side in (False, True))
    assert low + 1 == high
    assert low * 3 < 1 << slots.unit_bits < high * 3
    assert scaled(arb(-1), slots, upwards=False) == 0


# --- the ranges promised --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sweep_over_the_stated_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(11)
    declined = 0
    for _ in range(120):
        order = dice.choice(["remove", "add", "replace"])
        q, z = 10 ** dice.uniform(-5, 0), 10 ** dice.uniform(math.log10(0.3), 4)
        steps = int(10 ** dice.uniform(math.log10(2), 5))
        delta = 10 ** -dice.choice([dice.uniform(2, 20), dice.uniform(2, 300)])
        try:
            proof = epsilon_bounds(sampled(order, q, z, steps), Fraction(delta))
        except Declined as refusal:
            declined += 1
            text = f"declined ({refusal})"
        else:
            upper = proof.enclosure.upper
            text = f"ε = {upper:.6g}, relative width {proof.enclosure.width / max(upper, 1e-300):.1e}"
            assert proof.enclosure.width <= 1e-3 * upper
        with capsys.disabled():
            print(f"{order:8} q={q:.2g} z={z:.3g} T={steps} δ={delta:.1e}: {text}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with capsys.disabled():
        print(f"{declined} declined, peak memory {memory:.0f} MB")
    assert declined <= 6


@pytest.mark.rotating(4)
@pytest.mark.parametrize(("noise", "rate", "steps"), [("1", "0.01", 1000), ("0.5", "0.001", 3000)])
def test_the_spacing_is_found_in_two_attempts(
    monkeypatch: pytest.MonkeyPatch, noise: str, rate: str, steps: int
) -> None:
    """One attempt measures how far the one-step measures lie apart; the next is fine enough."""
    attempts = 0

    def counted(*arguments: Any) -> Any:
        nonlocal attempts
        attempts += 1
        return discretise(*arguments)

    monkeypatch.setattr(lattice, "discretise", counted)
    pair = Sampled(Direction.REMOVE, Draws(Fraction(rate)), ShiftedLaplaces(1 / Fraction(noise)))
    proof = epsilon_bounds(((pair, steps),), Fraction(1, 10**5), tolerance=1e-5)
    assert proof.enclosure.width <= 1e-5 * proof.enclosure.upper
    assert attempts <= 2
