"""Every dominating pair against the brute-force oracle: never exceeded, attained where that is claimed.

The oracle must also be able to say no: each planted bug below is a pair that somebody might have written; each is
caught.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import (  # type: ignore[import-untyped]  # the package ships no types
    GaussianDpEvent,
    NeighboringRelation,
    PoissonSampledDpEvent,
)
from dp_accounting.pld import PLDAccountant  # type: ignore[import-untyped]
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import special

from dpbounds.privacy.mechanisms import Composed, Gaussian, Mechanism, PoissonSampled
from dpbounds.privacy.pairs.domination import neighbour_classes
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.pairs.pairs import GaussianPair as Pair
from dpbounds.privacy.relations import Relation
from tests.privacy.brute_force import (
    Array,
    Attack,
    Grid,
    Records,
    Step,
    add_attacks,
    attained,
    bracket,
    cell_masses,
    game,
    losses,
    mixture,
    normal,
    others,
    profile,
    release,
    remove_attacks,
    replace_attacks,
)
from tests.privacy.products import products_of

ALPHAS = np.exp(0.05 * np.sinh(np.linspace(-5, 5, 41)))  # ε from -3.7 to 3.7, dense around 0
STEPS = [Step(0.5), Step(1.0), Step(2.0), Step(0.5, 0.3), Step(1.0, 0.5), Step(1.0, 0.9), Step(2.0, 0.1)]
SAMPLED = [step for step in STEPS if step.sample_rate < 1]
ORDERS = list(Direction)
ROUNDING = 1e-12  # of cell probabilities and of Gauss-Legendre sums
ATTACKS: dict[Direction, Callable[[Step, Sequence[Records], Sequence[tuple[float, ...]]], list[Attack]]] = {
    Direction.REMOVE: remove_attacks,
    Direction.ADD: add_attacks,
    Direction.REPLACE: replace_attacks,
}


def mechanism_of(step: Step) -> Mechanism:
    release = Gaussian(step.stddev)
    return release if step.sample_rate == 1 else PoissonSampled(release, step.sample_rate)


def product_of(mechanism: Mechanism, direction: Direction) -> list[Attack]:
    """The package's product of pairs for one order, each pair as two mixtures, written out as often as it counts."""
    replace = direction is Direction.REPLACE
    relation = Relation.REPLACE_ONE if replace else Relation.ADD_OR_REMOVE_ONE
    (each,) = neighbour_classes(mechanism, relation).along(direction)
    return [laws_of(pair) for pair, count in each.product for _ in range(count)]


def laws_of(pair: Pair) -> Attack:
    if isinstance(pair, ShiftedGaussians):
        return normal(math.sqrt(pair.squared_shift), 1.0), normal(0.0, 1.0)
    stddev, rate = math.sqrt(pair.variance), float(pair.sample_rate)
    towards = {sign: mixture(((1 - rate, 0.0), (rate, sign)), stddev) for sign in (1.0, -1.0)}
    laws = {
        Direction.REMOVE: (towards[1.0], normal(0.0, stddev)),
        Direction.ADD: (normal(0.0, stddev), towards[1.0]),
        Direction.REPLACE: (towards[1.0], towards[-1.0]),
    }
    return laws[pair.direction]


def pair_of(step: Step, direction: Direction) -> Attack:
    (laws,) = product_of(mechanism_of(step), direction)
    return laws


def line(values: Sequence[float]) -> list[tuple[float, ...]]:
    return [(value,) for value in values]


def line_attacks(step: Step, direction: Direction) -> list[Attack]:
    """At most four records: all on a grid for three, at the extremes for four, and some at random."""
    own = line([-1.0, -0.5, 0.0, 0.5, 1.0])
    shared = [*others(own, 2), *itertools.combinations_with_replacement(line([-1.0, 0.0, 1.0]), 3)]
    random = np.random.default_rng(20).uniform(-1, 1, (6, 5))
    found = ATTACKS[direction](step, shared, own)
    for row in random:
        found += ATTACKS[direction](step, [tuple(line(row[:3]))], line(row[3:]))
    return found


def few_attacks(step: Step, direction: Direction) -> list[Attack]:
    """At most two records, at the extremes: enough to refute."""
    own = line([-1.0, 1.0])
    return ATTACKS[direction](step, list(others(own, 1)), own)


def plane_attacks(step: Step, direction: Direction) -> list[Attack]:
    """At most four records in the plane: directions at steps of 45° with lengths 1 and 1/2, and some at random."""
    circle = [(math.cos(angle), math.sin(angle)) for angle in np.arange(8) * math.pi / 4]
    own = [(1.0, 0.0), circle[1], circle[2], circle[3], (-1.0, 0.0), (0.0, 0.0), (0.3, -0.4)]
    shared: list[Records] = [(), ((1.0, 0.0),), (circle[3],), ((-0.5, 0.0), (0.0, 0.5))]
    found = ATTACKS[direction](step, shared, own[::2] if direction is Direction.REPLACE else own)
    generator = np.random.default_rng(21)
    for count in range(3):
        angles = generator.uniform(0, 2 * math.pi, count + 2)
        lengths = np.minimum(1.0, generator.uniform(0.3, 1.3, count + 2))
        vectors = [
            (r * math.cos(angle), r * math.sin(angle))
            for r, angle in zip(lengths.tolist(), angles.tolist(), strict=True)
        ]
        found += ATTACKS[direction](step, [tuple(vectors[2:])], vectors[:2])
    return found


def excess(attacks: Sequence[Attack], pair: Attack, width: float) -> Array:
    """For every α, by how much the best attack (a certain lower bound of it) exceeds the pair's profile."""
    best = np.max([attained(attack, ALPHAS, width) for attack in attacks], axis=0)
    values, error = profile(pair, ALPHAS)
    assert error.max() < ROUNDING
    return np.asarray(best - values)


# --- The oracle itself -----------------------------------------------------------------------------------------------


def test_brackets_hold_what_quadrature_finds() -> None:
    step = Step(1.0, 0.3)
    first, second = (1.0,), (-1.0,)
    shared = ((1.0,), (-1.0,), (0.5,))
    attack = step.publishes((*shared, first), 1), step.publishes((*shared, second), 1)
    values, error = profile(attack, ALPHAS)
    lower, upper = bracket(attack, ALPHAS, 0.005)
    assert error.max() < ROUNDING
    assert (lower <= values + ROUNDING).all()
    assert (values <= upper + ROUNDING).all()
    assert (upper - lower).max() < 3e-4
    assert (values - lower).max() < 1e-6  # cells that hold no sign change lose nothing


@pytest.mark.thorough
def test_brackets_in_the_plane_hold_what_quadrature_finds_on_the_line() -> None:
    """Vectors on one line in the plane are the line's attack, on any axis, also on an oblique one."""
    step = Step(1.0, 0.3)
    values, _ = profile((step.publishes(((1.0,), (0.5,)), 1), step.publishes(((-1.0,), (0.5,)), 1)), ALPHAS)
    for angle in (0.0, 0.7):
        turned = [(size * math.cos(angle), size * math.sin(angle)) for size in (1.0, 0.5, -1.0)]
        attack = step.publishes((turned[0], turned[1]), 2), step.publishes((turned[2], turned[1]), 2)
        lower, upper = bracket(attack, ALPHAS, 0.05)
        assert (lower <= values + ROUNDING).all()
        assert (values <= upper + ROUNDING).all()
        assert (values - lower).max() < 1e-4


def test_quadrature_against_the_closed_form_of_a_normal_shift() -> None:
    values, _ = profile((normal(1.0, 0.5), normal(0.0, 0.5)), ALPHAS)
    shift, epsilon = 2.0, np.log(ALPHAS)
    closed = special.ndtr(shift / 2 - epsilon / shift) - ALPHAS * special.ndtr(-shift / 2 - epsilon / shift)
    assert np.abs(values - closed).max() < ROUNDING


def test_all_subsets_are_enumerated() -> None:
    law = release(((1.0,), (0.5,), (-1.0,)), 1, 1.0, 0.25)
    found = dict(zip(law.means[:, 0].tolist(), (64 * law.weights).tolist(), strict=True))
    # none, two opposite ones; the three alone or with the opposite pair; two that add up; two that nearly cancel
    assert found == pytest.approx({0.0: 27 + 3, 1.0: 9, 0.5: 9 + 1, -1.0: 9, 1.5: 3, -0.5: 3})


def test_a_game_without_choice_is_the_product_of_its_steps() -> None:
    pair = pair_of(Step(1.0, 0.5), Direction.REPLACE)
    grid = Grid(0.005, 1600, 3000)
    first, second = cell_masses(pair, 0.02)
    joint_first, joint_second = np.outer(first, first), np.outer(second, second)
    value = game([losses([pair], grid)] * 2, grid)
    for index in (grid.half - 200, grid.half, grid.half + 160):
        direct = np.maximum(joint_first - grid.alphas[index] * joint_second, 0).sum()
        assert value[index] == pytest.approx(direct, abs=1e-5)


def test_a_game_without_choice_is_the_product_of_its_steps_for_normals() -> None:
    grid = Grid(0.005, 1600, 3000)
    value = game([losses([(normal(1.0, 2.0), normal(0.0, 2.0))], grid)] * 3, grid)
    inner = grid.between(-4, 4)
    exact, _ = profile((normal(math.sqrt(3) / 2, 1.0), normal(0.0, 1.0)), grid.alphas[inner][::40])
    assert np.abs(value[inner][::40] - exact).max() < 1e-5


def test_adaptive_adversaries_are_found() -> None:
    """Half of the records without replacement, replace-one: neither of two attacks alone, nor the larger of the two.

    With P = N(2), Q = N(0), γ = 1/2: the attack A is ((1-γ)Q + γP, Q) and B is (P, (1-γ)P + γQ). An adversary who
    picks A or B for the second release after having seen the first beats both, so that a maximum taken at the end
    would be wrong for that mechanism (which has no pair in the package).
    """
    a = mixture(((0.5, 0.0), (0.5, 2.0)), 1.0), normal(0.0, 1.0)
    b = normal(2.0, 1.0), mixture(((0.5, 2.0), (0.5, 0.0)), 1.0)
    grid = Grid(0.005, 1600, 3000)
    point = grid.half + 20  # ε = 0.1
    either = max(game([losses([attack], grid)] * 2, grid)[point] for attack in (a, b))
    assert either == pytest.approx(0.47998, abs=3e-5)
    assert game([losses([a, b], grid)] * 2, grid)[point] > either + 0.02


# --- One step --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough_cases("Step(stddev=0.5, sample_rate=0.3)-replace")
@pytest.mark.rotating(8)
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_one_step_on_the_line_is_dominated_and_attained(step: Step, direction: Direction) -> None:
    over = excess(line_attacks(step, direction), pair_of(step, direction), 0.01)
    assert over.max() < ROUNDING
    assert over.min() > -2e-5  # attained, at every α, up to what cells lose


@pytest.mark.rotating(4)
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("step", [Step(1.0), Step(0.5, 0.3), Step(1.0, 0.5)], ids=str)
def test_one_step_in_the_plane_is_dominated(step: Step, direction: Direction) -> None:
    over = excess(plane_attacks(step, direction), pair_of(step, direction), 0.1)
    assert over.max() < ROUNDING
    assert over.min() > -1e-3


@pytest.mark.thorough
@given(
    z=st.floats(0.3, 3.0),
    rate=st.floats(0.01, 1.0),
    vectors=st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=4),
    direction=st.sampled_from(ORDERS),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_one_step_of_any_kind_is_dominated(z: float, rate: float, vectors: list[float], direction: Direction) -> None:
    assume(max(map(abs, vectors[:2])) > 1e-3)  # a record that moves nothing is no attack
    step = Step(z, rate)
    attacks = ATTACKS[direction](step, [tuple(line(vectors[2:]))], line(vectors[:2]))
    if attacks:  # two equal vectors are no replacement
        assert excess(attacks, pair_of(step, direction), 0.02).max() < ROUNDING


@pytest.mark.rotating(4)
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_left_out_orders_are_mirror_images(step: Step) -> None:
    """Where only one order is returned, both have the same profile."""
    orders = [Direction.REPLACE] if step.sample_rate < 1 else [Direction.REPLACE, Direction.REMOVE]
    for order in orders:
        first, second = pair_of(step, order)
        assert np.abs(profile((first, second), ALPHAS)[0] - profile((second, first), ALPHAS)[0]).max() < ROUNDING


@pytest.mark.rotating(4)
def test_explicit_sensitivity_means_the_final_distance() -> None:
    release = Gaussian(noise_stddev=3, sensitivity=2)
    for direction in ORDERS:
        (pair,) = product_of(release, direction)
        reference = normal(2.0, 3.0), normal(0.0, 3.0)
        assert np.abs(profile(pair, ALPHAS)[0] - profile(reference, ALPHAS)[0]).max() < ROUNDING
    for direction in (Direction.REMOVE, Direction.ADD):  # a record of norm at most 2 is there or not
        (pair,) = product_of(PoissonSampled(release, 0.3), direction)
        (same,) = product_of(PoissonSampled(Gaussian("1.5"), 0.3), direction)
        assert np.array_equal(profile(pair, ALPHAS)[0], profile(same, ALPHAS)[0])


# --- Two and three adaptive steps ------------------------------------------------------------------------------------

GRID = Grid(0.01, 1400, 2000)
SHOWN = GRID.between(-4, 4)
COMPOSITIONS = [
    [Step(1.0)] * 2,
    [Step(1.0, 0.5)] * 2,
    [Step(2.0, 0.1)] * 3,
    [Step(0.5, 0.3)] * 3,
    [Step(1.0, 0.5), Step(2.0), Step(2.0, 0.9)],
    [Step(2.0), Step(0.7, 0.2)],
]


def adaptive(steps: Sequence[Step], direction: Direction) -> Array:
    own = line([-1.0, 0.0, 0.5, 1.0])
    shared = list(others(line([-1.0, 0.5, 1.0]), 2))
    table = {step: losses(ATTACKS[direction](step, shared, own), GRID) for step in set(steps)}
    return game([table[step] for step in steps], GRID)


def composed(pairs: Sequence[Attack]) -> Array:
    return game([losses([pair], GRID) for pair in pairs], GRID)


@pytest.mark.rotating(4)
@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("steps", COMPOSITIONS, ids=str)
def test_adaptive_steps_are_dominated_and_attained(steps: list[Step], direction: Direction) -> None:
    """The other records' vectors and the record's own may depend on everything published before."""
    mechanism = Composed(tuple((mechanism_of(step), count) for step, count in Counter(steps).items()))
    over = (adaptive(steps, direction) - composed([pair_of(step, direction) for step in steps]))[SHOWN]
    assert over.max() < 1e-9  # same grid, same step by step: nothing but rounding and cut-off differ
    assert over.min() > -1e-4
    # The package merges full-batch steps into one; on the grid that changes the O(Δ²) of the interpolation only.
    merged = composed(product_of(mechanism, direction))
    assert np.abs(merged - composed([pair_of(step, direction) for step in steps]))[SHOWN].max() < 2e-5


@pytest.mark.parametrize("direction", ORDERS)
def test_adaptive_steps_in_the_plane_are_dominated(direction: Direction) -> None:
    step = Step(1.0, 0.5)
    attacks = losses(plane_attacks(step, direction), GRID, 0.1)
    over = (game([attacks] * 2, GRID) - composed([pair_of(step, direction)] * 2))[SHOWN]
    assert over.max() < 1e-5  # the pair's own cells are finer, and lose less than this
    assert over.min() > -1e-3


# --- Planted bugs ----------------------------------------------------------------------------------------------------


def test_catches_the_wrong_factor_under_replace_one() -> None:
    """A replaced record moves the sum by 2C, not C."""
    over = excess(few_attacks(Step(1.0), Direction.REPLACE), (normal(1.0, 1.0), normal(0.0, 1.0)), 0.02)
    assert over.max() > 0.2
    assert excess(plane_attacks(Step(1.0), Direction.REPLACE), (normal(1.0, 1.0), normal(0.0, 1.0)), 0.1).max() > 0.2


@pytest.mark.parametrize("step", SAMPLED, ids=str)
def test_catches_the_remove_pair_under_replace_one(step: Step) -> None:
    over = excess(few_attacks(step, Direction.REPLACE), pair_of(step, Direction.REMOVE), 0.02)
    assert over.max() > 0.01


@pytest.mark.rotating(4)
@pytest.mark.parametrize("step", SAMPLED, ids=str)
@pytest.mark.parametrize("direction", ORDERS)
def test_catches_half_the_sample_rate(step: Step, direction: Direction) -> None:
    half = Step(step.stddev, step.sample_rate / 2)
    assert excess(few_attacks(step, direction), pair_of(half, direction), 0.02).max() > 0.009
    planted = composed([pair_of(half, direction)] * 2)
    assert (adaptive([step] * 2, direction) - planted)[SHOWN].max() > 0.009


@pytest.mark.parametrize("step", SAMPLED, ids=str)
def test_catches_swapped_orders_at_negative_epsilon(step: Step) -> None:
    """One remove pair for both orders looks right for every ε >= 0, and is wrong below."""
    over = excess(few_attacks(step, Direction.ADD), pair_of(step, Direction.REMOVE), 0.02)
    assert over[ALPHAS >= 1].max() < ROUNDING
    assert over[ALPHAS < 1].max() > 0.005
    back = excess(few_attacks(step, Direction.REMOVE), pair_of(step, Direction.ADD), 0.02)
    assert back[ALPHAS > 1].max() > 0.005


def test_catches_a_distance_taken_for_the_record_bound() -> None:
    """Two records that are near each other but far from the origin: why an explicit distance is refused here.

    Distance 1, so that a pair with components at +1/2 and -1/2 of the middle one might seem to do; but an output far
    out tells that the record was sampled, and nothing is left of the amplification.
    """
    near = mixture(((0.9, 0.0), (0.1, 0.5)), 1.0), mixture(((0.9, 0.0), (0.1, -0.5)), 1.0)
    far = mixture(((0.9, 0.0), (0.1, 9.0)), 1.0), mixture(((0.9, 0.0), (0.1, 8.0)), 1.0)
    assert excess([far], near, 0.02)[ALPHAS >= 1].max() > 0.02


def test_catches_noise_of_the_wrong_size() -> None:
    """Reading the variance as the standard deviation: too small below one, too large above."""
    wrong = SampledGaussians(Direction.REPLACE, Fraction(1, 10), Fraction(4))
    mistaken = normal(0.0, 4.0), mixture(((0.9, 0.0), (0.1, 1.0)), 4.0)
    assert excess(few_attacks(Step(2.0, 0.1), Direction.ADD), mistaken, 0.02).max() > 0.005
    assert excess(few_attacks(Step(2.0, 0.1), Direction.REPLACE), laws_of(wrong), 0.02).max() < ROUNDING


def test_catches_a_pair_that_dominates_for_nonnegative_epsilon_only() -> None:
    """Why α < 1 counts: a pair that dominates a step for every α >= 1 may fail for α >= 1 after two of them.

    Randomised response (truth with probability 9/10) on a sample of rate 3/4, in exact arithmetic. The remove pair
    dominates the add pair for α >= 1, yet two add steps beat two remove steps. No such case is known for Gaussian
    noise; the package composes both orders all the same.
    """
    without = Fraction(1, 10), Fraction(9, 10)
    sampled = tuple(Fraction(1, 4) * p + Fraction(3, 4) * (1 - p) for p in without)

    def divergence(first: Sequence[Fraction], second: Sequence[Fraction], alpha: Fraction) -> Fraction:
        return sum((max(p - alpha * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))

    def twice(law: Sequence[Fraction]) -> list[Fraction]:
        return [p * q for p in law for q in law]

    for percent in range(100, 1000):
        alpha = Fraction(percent, 100)
        assert divergence(sampled, without, alpha) >= divergence(without, sampled, alpha)
    assert divergence(sampled, without, Fraction(1, 2)) < divergence(without, sampled, Fraction(1, 2))
    alpha = Fraction(47, 20)
    removed = divergence(twice(sampled), twice(without), alpha)
    added = divergence(twice(without), twice(sampled), alpha)
    assert added - removed == Fraction(33, 250)


# --- Anchors from elsewhere ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", SAMPLED, ids=str)
def test_closed_forms_at_epsilon_zero(step: Step) -> None:
    """Total variation: the common part of the mixtures cancels."""
    z, rate = step.stddev, step.sample_rate
    for order, distance in ((Direction.REPLACE, 2.0), (Direction.REMOVE, 1.0), (Direction.ADD, 1.0)):
        value = profile(pair_of(step, order), np.array([1.0]))[0][0]
        assert value == pytest.approx(rate * (2 * special.ndtr(distance / (2 * z)) - 1), abs=ROUNDING)


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
def test_mixture_split(direction: Direction) -> None:
    """Add and remove profiles of a sampled release, from that of the unsampled one."""
    step = Step(1.0, 0.3)
    rate, alphas = step.sample_rate, ALPHAS[np.abs(np.log(ALPHAS)) > 0.4]
    values, _ = profile(pair_of(step, direction), alphas)

    def remove(threshold: float) -> float:
        if threshold <= 1 - rate:
            return 1 - threshold
        inner = (threshold - 1 + rate) / rate
        return float(rate * profile((normal(1.0, 1.0), normal(0.0, 1.0)), np.array([inner]))[0][0])

    for alpha, value in zip(alphas.tolist(), values.tolist(), strict=True):
        split = remove(alpha) if direction is Direction.REMOVE else 1 - alpha + alpha * remove(1 / alpha)
        assert value == pytest.approx(split, abs=1e-11)


@pytest.mark.parametrize("steps", [1, 2, 100])
@pytest.mark.parametrize("relation", list(Relation))
def test_dp_accounting_agrees(relation: Relation, steps: int) -> None:
    """The accountant of dp-accounting at δ = 1e-5, far above the round-off of its Fourier transforms."""
    theirs = (
        NeighboringRelation.REPLACE_ONE if relation is Relation.REPLACE_ONE else NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    accountant = PLDAccountant(theirs, value_discretization_interval=1e-3)
    accountant.compose(PoissonSampledDpEvent(0.1, GaussianDpEvent(2.0)), steps)
    grid = Grid(0.001, 8000, 6000)  # log α up to 8
    mechanism = PoissonSampled(Gaussian(2), "0.1") ** steps
    curves = []
    for product in products_of(mechanism, relation):
        ((pair, count),) = product
        curves.append(game([losses([laws_of(pair)], grid, 0.002)] * count, grid))
    curve = np.max(curves, axis=0)
    for delta in (1e-3, 1e-5, 1e-6):
        beyond = int(np.flatnonzero(curve <= delta)[0])
        ends = [beyond, beyond - 1]
        epsilon = float(np.interp(math.log(delta), np.log(curve[ends]), np.log(grid.alphas[ends])))
        assert epsilon == pytest.approx(accountant.get_epsilon(delta), abs=2e-4)
        if (relation, steps, delta) == (Relation.REPLACE_ONE, 100, 1e-5):
            assert epsilon == pytest.approx(4.3681, abs=2e-4)
    assert curve[grid.half] == pytest.approx(accountant.get_delta(0.0), abs=2e-5)


# --- Monotonicity, on which calibration rests ------------------------------------------------------------------------


def both(step: Step, direction: Direction) -> tuple[Array, Array]:
    """The profiles of one step and of two."""
    pair = pair_of(step, direction)
    return profile(pair, ALPHAS)[0], composed([pair] * 2)[SHOWN]


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ORDERS)
def test_more_noise_never_hurts(direction: Direction) -> None:
    for rate in (0.1, 0.5, 1.0):
        curves = [both(Step(z, rate), direction) for z in (0.5, 0.8, 1.0, 1.5, 3.0)]
        for (one, two), (one_next, two_next) in itertools.pairwise(curves):
            assert (one_next <= one + ROUNDING).all()
            assert (two_next <= two + 1e-9).all()
            assert (one - one_next).max() > 1e-3


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ORDERS)
def test_a_higher_sample_rate_never_helps(direction: Direction) -> None:
    for z in (0.5, 1.0, 2.0):
        curves = [both(Step(z, rate), direction) for rate in (0.05, 0.2, 0.5, 0.9, 1.0)]
        for (one, two), (one_next, two_next) in itertools.pairwise(curves):
            assert (one <= one_next + ROUNDING).all()
            assert (two <= two_next + 1e-9).all()
            assert (one_next - one).max() > 1e-3


@pytest.mark.parametrize("direction", ORDERS)
@pytest.mark.parametrize("step", [Step(1.0), *SAMPLED], ids=str)
def test_one_step_more_never_helps(step: Step, direction: Direction) -> None:
    curves = [composed([pair_of(step, direction)] * count)[SHOWN] for count in (1, 2, 3, 5)]
    for fewer, more in itertools.pairwise(curves):
        assert (fewer <= more + 1e-9).all()
        assert (more - fewer).max() > 1e-3
