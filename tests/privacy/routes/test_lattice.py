"""The lattice route, held against closed forms, direct integration, brute force, reference values and itself."""

import functools
import math
import random
import resource
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product as cartesian
from unittest.mock import Mock

import flint
import mpmath
import pytest
from flint import arb, fmpq
from hypothesis import given, settings, strategies as st

from dpbounds.errors import InvalidValue
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Direction, Draws, FourPoints, Sampled, ShiftedGaussians, ShiftedLaplaces
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice import attempts, bounds, delta_bounds, epsilon_bounds, products, saddle
from dpbounds.privacy.routes.lattice.composed import compose, discretise
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
from tests.privacy.routes.twins import (
    DIRECTIONS,
    REFERENCES,
    composed_delta,
    gaussian_profile,
    one_step_delta,
    product,
    real,
)

TEN = product("remove", ("0.1", 1, 10))
every_direction = pytest.mark.parametrize("direction", DIRECTIONS)


# --- against known values -------------------------------------------------------------------------------------------


@pytest.mark.seconds_cases("parts11-1e-6-replace-12.4620101287")
@pytest.mark.one_in(6)
@pytest.mark.parametrize(("parts", "delta", "direction", "value"), REFERENCES)
def test_the_other_route_agrees(parts, delta, direction, value):
    proof = epsilon_bounds(product(direction, *parts), Fraction(delta))
    assert proof.enclosure.contains(value)
    assert proof.enclosure.width <= 1e-3 * proof.enclosure.upper
    assert len(proof.parameters["offsets"]) == len(parts)


@pytest.mark.seconds_cases("9-5-1e-300")
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("squared_shift", "steps", "delta"),
    [("1", 2, "1e-5"), ("1/4", 50, "1e-2"), ("1/100", 1000, "1e-50"), ("9", 5, "1e-300"), ("1e-8", 3, "1e-5")],
)
def test_composed_gaussians_are_one_gaussian(squared_shift, steps, delta):
    enclosure = epsilon_bounds(((ShiftedGaussians(Fraction(squared_shift)), steps),), Fraction(delta)).enclosure
    with mpmath.workdps(400):
        mu, wanted = mpmath.sqrt(real(squared_shift) * steps), real(delta)
        low, high = real(enclosure.exact_lower), real(enclosure.exact_upper)
        assert gaussian_profile(mu, low) >= wanted >= gaussian_profile(mu, high)
    assert 0 < enclosure.width <= 1e-3 * enclosure.upper


def test_full_sampling_is_a_shift():
    shifted = epsilon_bounds(((ShiftedGaussians(Fraction(9)), 1),), Fraction("1e-6")).enclosure
    for direction, z in (("replace", 2), ("add", 1)):
        assert epsilon_bounds(product(direction, (1, z, 9)), Fraction("1e-6")).enclosure.overlaps(shifted)


@pytest.mark.seconds
@every_direction
@pytest.mark.parametrize(
    ("q", "z", "epsilon"),
    [("0.1", "0.7", "0.05"), ("0.001", "0.3", "0.01"), ("0.5", "2", "0.3"), ("0.01", "50", "1e-4"), ("0.2", "1", "0")],
)
def test_one_step_has_a_closed_form(direction, q, z, epsilon):
    if direction == "add" and float(epsilon) >= -math.log1p(-float(q)):  # there δ is 0
        epsilon = "0.0005"
    found = delta_bounds(product(direction, (q, z, 1)), Fraction(epsilon)).enclosure
    with mpmath.workdps(60):
        truth = one_step_delta(direction, q, z, epsilon)
        assert real(found.exact_lower) <= truth <= real(found.exact_upper)
    assert found.upper - found.lower <= 1e-3 * max(1, -math.log(truth)) * found.upper


@pytest.mark.seconds
@pytest.mark.one_in(6)
@every_direction
@pytest.mark.parametrize(
    ("q", "z", "steps", "epsilon"),
    [(0.1, 1.0, 2, 0.15), (0.3, 2.0, 3, 0.1), (0.25, 0.6, 2, 0.4)],
)
def test_few_steps_by_brute_force(direction, q, z, steps, epsilon):
    if direction == "add":  # stay below the largest loss
        epsilon = min(epsilon, -0.7 * steps * math.log1p(-q))
    question, truth = product(direction, (q, z, steps)), composed_delta(direction, ((q, z, steps),), epsilon)
    found = delta_bounds(question, Fraction(epsilon)).enclosure
    assert found.lower * (1 - 1e-6) <= truth <= found.upper * (1 + 1e-6)
    assert found.width > 1e-5 * found.upper, "the oracle must be much more accurate than what it checks"
    back = epsilon_bounds(question, Fraction(truth), tolerance=2e-3).enclosure
    assert back.lower - 1e-6 <= epsilon <= back.upper + 1e-6


# --- against itself -------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@settings(max_examples=10)
@given(st.sampled_from(DIRECTIONS), st.floats(-5, 0), st.floats(-0.5, 1.5), st.floats(0.3, 2), st.floats(-60, -2))
def test_enclosures_of_one_number_overlap(direction, log_q, log_z, log_steps, log_delta):
    steps = product(direction, (10.0**log_q, 10.0**log_z, int(10**log_steps)))
    delta = Fraction(10.0**log_delta)
    try:
        coarse, fine = (epsilon_bounds(steps, delta, tolerance=t).enclosure for t in (0.05, 4e-3))
        assert coarse.overlaps(fine)
        assert fine.width <= 4e-3 * fine.upper
        if fine.lower > 0:  # and back: δ at the ends of ε
            ends = (Fraction(end) for end in (fine.exact_upper, fine.exact_lower))
            at_upper, at_lower = (delta_bounds(steps, end, tolerance=0.05).enclosure for end in ends)
            assert at_upper.exact_lower <= delta <= at_lower.exact_upper
    except Declined:
        return


@pytest.mark.seconds
@pytest.mark.parametrize(("q", "z", "steps"), [("1e-5", "0.3", 2), ("1e-5", "0.3", 10**5), ("1e-3", "1", 20)])
@pytest.mark.parametrize("delta", ["1e-2", "1e-8", "1e-50", "1e-300"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_rare_large_losses(direction, q, z, steps, delta):
    proof = epsilon_bounds(product(direction, (q, z, steps)), Fraction(delta))
    assert proof.enclosure.width <= 1e-3 * proof.enclosure.upper
    if direction == "add":  # no loss exceeds -log(1-q)
        assert proof.enclosure.lower <= -steps * math.log1p(-float(q))


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_exactly_zero_at_the_total_variation():
    steps = product("remove", ("0.1", 10, 5))
    variation = delta_bounds(steps, Fraction(0)).enclosure
    assert epsilon_bounds(steps, Fraction(variation.exact_upper) * 2).enclosure.exact_upper == 0
    just_below = epsilon_bounds(steps, Fraction(variation.exact_lower) * Fraction(98, 100)).enclosure
    assert just_below.lower > 0
    assert just_below.width <= 1e-3 * just_below.upper
    assert epsilon_bounds((), Fraction("0.1")).enclosure.exact_upper == 0
    assert epsilon_bounds(steps, Fraction(1)).enclosure.exact_upper == 0
    assert epsilon_bounds(((ShiftedGaussians(Fraction(0)), 3),), Fraction("0.1")).enclosure.exact_upper == 0


def test_delta_is_zero_beyond_the_largest_loss():
    steps = product("add", ("0.1", 1, 10))
    assert delta_bounds(steps, Fraction(2)).enclosure.exact_upper == 0
    assert delta_bounds(steps, Fraction(1)).enclosure.lower > 0
    assert delta_bounds((), Fraction(0)).enclosure.exact_upper == 0


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: epsilon_bounds(TEN, Fraction(0)), "delta"),
        (lambda: delta_bounds(TEN, Fraction(-1)), "epsilon"),
        (lambda: epsilon_bounds(TEN, Fraction(1, 10), tolerance=0.0), "tolerance"),
        (lambda: epsilon_bounds(product("remove", (2, 1, 10)), Fraction(1, 10)), "sample_rate"),
        (lambda: epsilon_bounds(product("remove", ("0.1", 0, 10)), Fraction(1, 10)), "variance"),
        (lambda: epsilon_bounds(product("remove", ("0.1", 1, 0)), Fraction(1, 10)), "count"),
        (lambda: cut(as_step(TEN[0][0]), Lattice(Fraction(0), Fraction(1, 8)), (0, 0, 1)), "marks"),
    ],
)
def test_what_is_out_of_domain_is_refused(ask, words):
    with pytest.raises(InvalidValue, match=words):
        ask()


def test_too_much_work_is_declined():
    with pytest.raises(Declined):
        epsilon_bounds(product("remove", ("0.01", 1, 10**5)), Fraction("1e-6"), tolerance=1e-7)


def test_the_precision_of_the_process_is_left_alone():
    before = flint.ctx.prec
    epsilon_bounds(product("replace", ("0.1", 1, 3)), Fraction("1e-3"))
    assert flint.ctx.prec == before


# --- the parts of the proof -----------------------------------------------------------------------------------------


def brute_force(atoms, steps, epsilon):
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
def test_the_order_of_the_measures_by_brute_force(seed, from_left):
    dice = random.Random(seed)
    with flint.ctx.workprec(300):
        points = Lattice(Fraction(dice.randrange(-8, 8), 64), Fraction(1, 4))
        marks = (-6, -4, -3, -2, -1, 0, 1, 2, 3, 5) if seed % 2 else (-6, -4, -3, -1, 0, 2, 3, 5)
        law, masses = [], []
        for first, second in pairwise(marks):
            inside = [
                (points.point(first) + arb(dice.randrange(1, 100)) / 101 * (second - first) * ball(points.spacing))
                for _ in range(3)
            ]
            weights = [arb(fmpq(dice.randrange(1, 10 ** dice.randrange(1, 5)), 10**6)) for _ in inside]
            law += list(zip(inside, weights, strict=True))
            seconds = (w * (-loss).exp() for loss, w in zip(inside, weights, strict=True))
            masses.append((sum(weights, arb(0)), sum(seconds, arb(0))))
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


@every_direction
@pytest.mark.parametrize(("q", "z"), [("0.2", "0.8"), ("1e-5", "20"), ("0.9", "0.4")])
def test_cells_hold_the_masses_of_both_laws(direction, q, z):
    spacing = Fraction(q) / 50
    with flint.ctx.workprec(250):
        lattice_points = Lattice(Fraction(0), spacing)
        cells = cut(as_step(product(direction, (q, z, 1))[0][0]), lattice_points, tuple(range(-4, 5)))
        for (first, last), (p, r) in zip(pairwise(cells.marks), cells.masses, strict=True):
            # Q-mass / P-mass of a cell lies between the likelihood ratios at its ends
            assert not p * lattice_points.ratio(last) > r
            assert not p * lattice_points.ratio(first) < r
        assert sum((p for p, _ in cells.masses), cells.below + cells.above).overlaps(arb(1))
        with mpmath.workdps(50):
            truth = one_step_delta(direction, q, z, 2 * real(spacing))
        above = [mass for mark, mass in zip(cells.marks[:-1], cells.masses, strict=True) if mark >= 2]
        beyond = sum((p - r * (2 * ball(spacing)).exp() for p, r in above), arb(0))
        assert float(beyond) <= float(truth) + 1e-30


@functools.cache
def small_composition(bits, cut_off=1e-12):
    """Two sides for six composed Gaussians, an ε, and δ there by the closed form."""
    steps = ((as_step(ShiftedGaussians(Fraction(1, 4))), 6),)
    log_delta, knobs = math.log(1e-6), attempts.Knobs(engine="integers")
    parts = products.cut_sketches(products.sketches_of(steps, log_delta), math.log(cut_off))
    aim = saddle.saddle_for_delta(parts, log_delta, math.inf, 1e-3)
    chosen = attempts.choose(parts, aim, 1e-3 * aim.epsilon, knobs)
    chosen = replace(chosen, slots=Slots.holding(bits), allowance=1e-15)
    found = discretise(steps, chosen)
    upper, _ = compose(steps, chosen, found.uppers, found.infinite, Work())
    lower, _ = compose(steps, chosen, found.lowers, None, Work())
    with mpmath.workdps(40):
        truth = gaussian_profile(mpmath.sqrt(mpmath.mpf(6) / 4), aim.epsilon)
    return upper, lower, Fraction(aim.epsilon), truth


@pytest.mark.parametrize("bits", [14, 24, 60])
def test_few_bits_widen_but_do_not_mislead(bits):
    upper, lower, epsilon, truth = small_composition(bits)
    assert float(lower.delta(epsilon).lower()) <= truth <= float(upper.delta(epsilon).upper())


def test_planted_bugs_would_show():
    upper, _, epsilon, truth = small_composition(9)
    forgotten = replace(upper, missing=arb(0))  # rounded down, and the loss not added back
    assert float(forgotten.delta(epsilon).upper()) < truth <= float(upper.delta(epsilon).lower())
    upper, lower, *_ = small_composition(60)
    shifted = replace(lower, origin=lower.origin + 6 * lower.spacing)  # every atom one point too high
    assert float(shifted.delta(epsilon).lower()) > truth
    uncompensated = replace(upper, log_scale=Fraction(0))
    half = replace(upper, tilt=upper.tilt / 2)  # one tilt going in, another coming out
    for wrong in (uncompensated, half):
        assert not 0.9 * truth < float(wrong.delta(epsilon).mid()) < 1.1 * truth


def test_what_is_cut_off_counts_as_infinite_loss():
    upper, _, epsilon, truth = small_composition(60, 0.05)
    assert 0.02 < float(upper.infinite) <= 0.0501  # of all six steps
    assert float(replace(upper, infinite=arb(0)).delta(epsilon).upper()) < truth <= float(upper.delta(epsilon).lower())


def test_integer_convolution_is_exact_up_to_the_floor():
    dice = random.Random(3)
    slots = Slots.holding(20)
    unit = slots.unit_bits
    first = [(k, dice.randrange(0, 1 << (unit - 6))) for k in (-3, -1, 0, 4, 9)]
    second = [(k, dice.randrange(0, 1 << (unit - 6))) for k in (2, 3, 7)]
    folded = convolution(pack(first, slots), pack(second, slots), slots, Work())
    wanted: dict[int, int] = {}
    for (j, a), (k, b) in cartesian(first, second):
        wanted[j + k] = wanted.get(j + k, 0) + a * b
    for index, mass in enumerate(unpack(folded, slots, folded.start, folded.start + folded.length), folded.start):
        assert mass == wanted.get(index, 0) >> unit
    assert folded.sum == sum(mass >> unit for mass in wanted.values())


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_powers_stay_below_the_truth_by_the_missing_mass(count):
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


def test_slots_never_overflow():
    slots = Slots.holding(10)
    full = (1 << (slots.width - slots.unit_bits)) - 1
    with pytest.raises(Declined, match="too large"):
        pack([(0, full + 1)], slots)
    with pytest.raises(Declined, match="empty"):
        pack([(0, 0)], slots)
    heavy = pack([(0, full)], slots)
    with pytest.raises(Declined, match="slots"):
        power(heavy, 64, slots, 0.0, Work())


def test_the_chance_of_an_infinite_loss_grows_with_the_steps():
    steps = products.steps_of(((FourPoints(Fraction(1, 2), Fraction(1, 10)), 3), (ShiftedGaussians(Fraction(1)), 2)))
    assert products.certainly_infinite(steps).overlaps(arb(fmpq(271, 1000)))  # 1 - (9/10)^3
    assert products.certainly_infinite(steps).rel_accuracy_bits() > 60


@pytest.mark.parametrize("short", [0.0, 1e-10, 3e-7])
def test_ends_move_outwards_until_their_own_sides_prove_them(short):
    """The upper side is 2 e^-ε, the lower one e^-ε, and the search stopped a little short of both crossings."""

    class Side:
        def __init__(self, factor):
            self.factor = factor

        def delta(self, epsilon):
            return self.factor * (-ball(epsilon)).exp()

    low, high = -math.log(1e-5) * (1 + short), -math.log(0.5e-5) * (1 - short)
    found = bounds._certified_epsilon(Side(2), Side(1), high, low, ball(Fraction(1, 10**5)), None)
    assert found.exact_lower <= -math.log(1e-5) * (1 + 1e-15)
    assert found.exact_upper >= -math.log(0.5e-5) * (1 - 1e-15)


def test_attempts_share_their_work():
    work = Work(100)
    with pytest.raises(Declined, match="work limit"):
        work.spend(101)
    assert work.left == 100  # what was refused was not done
    work.spend(100)
    work.reserve()
    assert 0 < work.left < LARGEST_WORK
    with pytest.raises(Declined, match="work limit"):
        epsilon_bounds(TEN, Fraction(1, 10**5), work=Work(10))
    with pytest.raises(Declined, match="work limit"):
        delta_bounds(TEN, Fraction(1), work=Work(10))


def test_masses_are_rounded_outwards():
    slots = Slots.holding(30)
    third = arb(fmpq(1, 3))
    low, high = (scaled(third, slots, upwards=side) for side in (False, True))
    assert low + 1 == high
    assert low * 3 < 1 << slots.unit_bits < high * 3
    assert scaled(arb(-1), slots, upwards=False) == 0


# --- the ranges promised --------------------------------------------------------------------------------------------


@pytest.mark.minutes
def test_a_sweep_over_the_stated_ranges(capsys):
    dice = random.Random(11)
    declined = 0
    for _ in range(120):
        direction = dice.choice(DIRECTIONS)
        q, z = 10 ** dice.uniform(-5, 0), 10 ** dice.uniform(math.log10(0.3), 4)
        steps = int(10 ** dice.uniform(math.log10(2), 5))
        delta = 10 ** -dice.choice([dice.uniform(2, 20), dice.uniform(2, 300)])
        try:
            proof = epsilon_bounds(product(direction, (q, z, steps)), Fraction(delta))
        except Declined as refusal:
            declined += 1
            text = f"declined ({refusal})"
        else:
            upper = proof.enclosure.upper
            text = f"ε = {upper:.6g}, relative width {proof.enclosure.width / max(upper, 1e-300):.1e}"
            assert proof.enclosure.width <= 1e-3 * upper
        with capsys.disabled():
            print(f"{direction:8} q={q:.2g} z={z:.3g} T={steps} δ={delta:.1e}: {text}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with capsys.disabled():
        print(f"{declined} declined, peak memory {memory:.0f} MB")
    assert declined <= 6


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("noise", "rate", "steps"), [("1", "0.01", 1000), ("0.5", "0.001", 3000)])
def test_the_spacing_is_found_in_two_attempts(monkeypatch, noise, rate, steps):
    """One attempt measures how far the one-step measures lie apart; the next is fine enough."""
    counted = Mock(side_effect=discretise)
    monkeypatch.setattr(attempts, "discretise", counted)
    pair = Sampled(Direction.REMOVE, Draws(Fraction(rate)), ShiftedLaplaces(1 / Fraction(noise)))
    proof = epsilon_bounds(((pair, steps),), Fraction(1, 10**5), tolerance=1e-5)
    assert proof.enclosure.width <= 1e-5 * proof.enclosure.upper
    assert counted.call_count <= 2


@pytest.mark.parametrize("scale", ["1/100", "1/1000"])
def test_losses_that_lie_far_apart(scale):
    """Nearly all mass at one loss, and 1 of e^100 far below it: where the lattice begins was once the log of 0."""
    pair = Sampled(Direction.REMOVE, Draws(Fraction(1, 2)), ShiftedLaplaces(1 / Fraction(scale)))
    proof = delta_bounds(((pair, 10),), Fraction(0), tolerance=1e-2)
    assert proof.enclosure.contains(1 - Fraction(1, 2**10))  # to within e^-100: the record shows once it is drawn
