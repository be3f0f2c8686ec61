"""Only the last iterate: tiny runs are played out against the bound, the law of random costs against enumeration."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms.schemes import last_iterate_costs as last_iterate
from dpbounds.privacy.pairs.losses import law_of
from dpbounds.privacy.pairs.pairs import ShiftedGaussians, TaggedGaussians
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.moments import log_moment
from dpbounds.privacy.routes.combined import resolved

RE, ZO, AR = "replace-one", "zero-out-one", "add-or-remove-one"
ALPHAS = np.exp(np.array([-1.5, -0.5, 0.0, 0.3, 1.0, 2.0]))
GRID_ERROR = 2e-4


def run_of(z=4, m=100, epochs=10, step="0.01", order="fixed", checkpoints=()):
    return dp.LastIterate(
        dp.Gaussian(z), batches=m, epochs=epochs, smoothness_step=step, order=order, checkpoints=checkpoints
    )


def upper(mechanism, delta="1e-5", relation=RE):
    return float(dp.epsilon(mechanism, delta, relation).exact_upper)


def shifted_profile(squared, alphas):
    """The textbook curve of N(μ, 1) against N(0, 1), in floats, for α > 0 of any size."""
    mu, losses = np.sqrt(squared), np.log(alphas)
    return ndtr(mu / 2 - losses / mu) - alphas * ndtr(-mu / 2 - losses / mu)


def claimed(mechanism, relation=RE, alphas=ALPHAS):
    """The profile that the library claims, from the atoms of its one pair alone."""
    (each,) = neighbour_classes(mechanism, Relation(relation)).every()
    ((pair, count),) = each.product
    assert count == 1
    atoms = ((pair.squared_shift, 1),) if isinstance(pair, ShiftedGaussians) else pair.atoms
    return sum(float(weight) * shifted_profile(float(squared), alphas) for squared, weight in atoms)


# --- Runs on the line, by their densities -----------------------------------------------------------------------------

X = np.linspace(-11, 11, 551)


def played(maps, start=0.0):
    """The density of the last iterate: x <- map(x) + N(0, 1), one map per step."""
    first, *others = maps
    density = normal(X - first(np.array([start]))[0])
    for each in others:
        density = step_of(each) @ density
    return density


def step_of(each, size=1.0):
    return normal((X[:, None] - each(X)[None, :]) / size) / size * (X[1] - X[0])


def normal(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def divergences(one, other):
    return np.array([np.maximum(one - alpha * other, 0).sum() * (X[1] - X[0]) for alpha in ALPHAS])


def bent(rng, low, high):
    """A random function on the line whose slopes lie between two numbers, 0 at 0."""
    slopes = np.where(rng.random(len(X)) < 0.5, low, high) if rng.random() < 0.5 else rng.uniform(low, high, len(X))
    slopes = np.repeat(slopes[:: 1 + rng.integers(100)], 101)[: len(X)] if rng.random() < 0.7 else slopes
    slopes = np.resize(slopes, len(X))
    values = np.concatenate(([0.0], np.cumsum(slopes[:-1]) * (X[1] - X[0])))
    values -= np.interp(0.0, X, values)
    return lambda x: np.interp(x, X, values)


class Run:
    """One map x -> x - g(x) per batch, |g'| <= h; that of batch 0 has a record's part, of size bound at most."""

    def __init__(self, rng, batches, step, bound, relation, steered):
        def gradient(clip, most):
            centre = rng.uniform(-1, 1) * min(clip, 1)
            inner = (lambda x: steered * most * x) if steered else bent(rng, -most, most)
            return lambda x: np.clip(inner(x) + centre, -clip, clip)

        half = 0.0 if steered else step / 2  # of the slopes in its batch may be the record's
        sign = rng.choice([-1, 1])
        beside, own, other = gradient(20, step - half), gradient(bound, half), gradient(bound, half)
        if steered:
            own, other = (lambda x: x * 0 + sign * bound), (lambda x: x * 0 - sign * bound)
        if relation == ZO:
            other = lambda x: x * 0.0  # noqa: E731
        self.others = [gradient(20, step) for _ in range(batches - 1)]
        self.record, self.changed = (lambda x: beside(x) + own(x)), (lambda x: beside(x) + other(x))

    def densities(self, orders, sizes):
        """The last iterate's density on both datasets: at step t batch orders[k][t], a step and noise of sizes[t]."""
        found = []
        kept = {}
        for own in (self.record, self.changed):
            everyone = [own, *self.others]

            def after(density, batch, size, everyone=everyone):
                moved = lambda x: x - size * everyone[batch](x)  # noqa: E731
                if density is None:
                    return normal((X - moved(np.zeros(1))[0]) / size) / size
                if (key := (id(everyone[batch]), size)) not in kept:
                    kept[key] = step_of(moved, size)
                return kept[key] @ density

            total = 0.0
            for order in orders:
                density = None
                for batch, size in zip(order, sizes, strict=True):
                    density = after(density, batch, size)
                total = total + density / len(orders)
            found.append(total)
        return found


def orders_of(kind, batches, epochs):
    """The equally likely sequences of batches; the record is in batch 0."""
    every = list(itertools.permutations(range(batches)))
    if kind == "fixed":
        return [list(each) * epochs for each in every]  # (each a run of its own)
    if kind == "secret":
        return [list(each) * epochs for each in every]
    return [[batch for epoch in choice for batch in epoch] for choice in itertools.product(every, repeat=epochs)]


def excess(rng, mechanism, relation, steered=0.0):
    """How far a random run's divergences, in both orders, lie above what is claimed."""
    z, steps = mechanism.mechanism.noise_multiplier, [float(each) for each in mechanism.schedule]
    step = steps[0] if steps else float(mechanism.smoothness_step)
    sizes = [each / step for each in steps] or [1.0] * (mechanism.batches * mechanism.epochs)
    run = Run(rng, mechanism.batches, step, 1 / float(z), relation, steered)  # in units of the first step's noise
    orders = orders_of(mechanism.order, mechanism.batches, mechanism.epochs)
    promised = claimed(mechanism, relation)
    worst = -math.inf
    for together in [[each] for each in orders] if mechanism.order == "fixed" else [orders]:
        one, other = run.densities(together, sizes)
        worst = max(worst, *(divergences(one, other) - promised), *(divergences(other, one) - promised))
    return worst


CASES = [
    *((1, 2, "fixed"), (2, 1, "fixed"), (2, 2, "fixed"), (2, 1, "shuffled"), (2, 2, "shuffled")),
    *((3, 1, "secret"), (2, 2, "secret")),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", [RE, ZO])
@pytest.mark.parametrize(("m", "epochs", "order"), CASES)
def test_no_tiny_run_tells_neighbours_apart_better_than_is_claimed(m, epochs, order, relation):
    rng = np.random.default_rng([m, epochs, len(order)])
    for step, z in (("0.3", 1), ("1.5", 2)):
        mechanism = run_of(z, m, epochs, step, order)
        for _ in range(1 if order == "shuffled" and epochs == 2 else 3):
            assert excess(rng, mechanism, relation) < GRID_ERROR
        for steered in (-1.0, 1.0):
            assert excess(rng, mechanism, relation, steered) < GRID_ERROR


@pytest.mark.seconds_cases("fixed", "shuffled")
@pytest.mark.parametrize("order", ["fixed", "shuffled", "secret"])
def test_nor_does_one_whose_steps_change(order):
    rng = np.random.default_rng(5)
    for steps in (["0.5", "0.8"], ["0.8", "0.4"], ["0.3", "0.5", "0.7", "0.4"]):
        for steered in (0.0, -1.0, 1.0):
            assert excess(rng, run_of(1, 2, 2, steps, order), RE, steered) < GRID_ERROR


@pytest.mark.seconds
@pytest.mark.parametrize("relation", [RE, ZO])
def test_no_longer_run_does_either(relation):
    rng = np.random.default_rng(16)
    for m, epochs, order in (
        (2, 3, "fixed"),
        (3, 2, "fixed"),
        (2, 3, "shuffled"),
        (3, 2, "secret"),
        (4, 1, "shuffled"),
    ):
        for step, z in (("0.05", "0.7"), ("0.6", 1), ("2.5", 3)):
            for _ in range(4):
                assert excess(rng, run_of(z, m, epochs, step, order), relation) < GRID_ERROR
            for steered in (-1.0, 1.0):
                assert excess(rng, run_of(z, m, epochs, step, order), relation, steered) < GRID_ERROR


def test_one_participation_that_is_carried_on_attains_the_bound():
    # the record comes first, one step that stretches follows: the cost is w(2)
    c = 1.5
    shifted, still = (played([lambda x, s=s: x + s, lambda x: c * x]) for s in (1.0, 0.0))
    squared = float(last_iterate.window_cost(Fraction(3, 2), 2))
    assert squared == pytest.approx(1 / (1 + c**-2), rel=1e-15)
    assert divergences(shifted, still) == pytest.approx(shifted_profile(squared, ALPHAS), abs=GRID_ERROR)


# --- The law of costs under fresh permutations ------------------------------------------------------------------------


def enumerated(run):
    """Every sequence of positions, each with its cost: from the definition, in floats."""
    m, steps = run.batches, [float(each) for each in run.schedule]
    steps = steps or [float(run.smoothness_step)] * (m * run.epochs)

    @functools.cache
    def window(start, gap):
        total, carried = 0.0, 1.0
        for step in range(start, start + gap):
            carried /= 1 + steps[step] if step > start else 1
            total += (carried * steps[step] / steps[start]) ** 2
        return 1 / total

    ends = set(itertools.accumulate(run.segments))
    law = []
    for places in itertools.product(range(m), repeat=run.epochs):
        cost = sum(
            window((epoch - 1) * m + place, m - place + (0 if epoch in ends else places[epoch]))
            for epoch, place in enumerate(places, start=1)
        )
        law.append((cost, m**-run.epochs))
    return law


def curve(law, squared_shift, alphas):
    costs, weights = (np.array(column, dtype=float) for column in zip(*law, strict=True))
    moving = costs > 0
    still = weights[~moving].sum() * np.maximum(1 - alphas, 0)
    each = shifted_profile(costs[moving, None] * float(squared_shift), alphas)
    return weights[moving] @ each + still


WIDE = np.exp(np.linspace(-2, 4, 25))
FRESH = [(2, 3, "0.5"), (3, 3, "0.01"), (5, 2, "1"), (7, 4, "0.1"), (40, 2, "0.001"), (400, 1, "0.01")]
FRESH += [(5, 3, ("0.1", "0.3", "0.02")), (4, 3, [f"0.{k}" for k in range(10, 22)])]


@pytest.mark.parametrize(("m", "epochs", "step"), FRESH)
def test_the_law_of_costs_lies_just_above_enumeration(m, epochs, step):
    run = run_of(4, m, epochs, step, "shuffled")
    for squared in (Fraction(1, 4), Fraction(30)):
        law = last_iterate.shuffled_law(run, squared)
        assert sum(weight for _, weight in law) == 1
        ours, true = curve(law, squared, WIDE), curve(enumerated(run), squared, WIDE)
        assert (ours >= true * (1 - 1e-12)).all()
        assert ours == pytest.approx(true, rel=6e-3, abs=1e-12)


def test_kept_orders_cost_what_each_place_does():
    for step in ("0.3", ("0.1", "0.4", "0.2"), [f"0.{k}" for k in range(10, 22)]):
        fixed, secret = (run_of(4, 4, 3, step, order, (2,)) for order in ("fixed", "secret"))
        same = zip(enumerated(fixed), itertools.product(range(4), repeat=3), strict=True)
        costs = sorted(cost for (cost, _), places in same if len(set(places)) == 1)
        assert float(last_iterate.fixed_cost(fixed)) == pytest.approx(costs[-1], rel=1e-10)
        law = last_iterate.kept_law(secret)
        assert [float(cost) for cost, weight in law for _ in range(int(4 * weight))] == pytest.approx(costs, rel=2e-2)
        assert sum(weight for _, weight in law) == 1


def test_straight_attacks_on_changing_steps_by_hand():
    steps = ["0.1", "0.2", "0.3", "0.4"]  # two epochs of two batches
    noise = Fraction(1 + 4 + 9 + 16)
    for order, shift in (("fixed", 6), ("secret", 4), ("shuffled", 4)):
        assert last_iterate.attained_cost(run_of(1, 2, 2, steps, order)) == shift**2 / noise
    assert last_iterate.attained_cost(run_of(1, 2, 2, steps, checkpoints=(1,))) == Fraction(4, 5) + Fraction(16, 25)


def test_blocks_of_positions_and_segments_only_add(monkeypatch):
    run, squared = run_of(4, 9, 4, "0.2", "shuffled"), Fraction(1, 4)
    true = curve(enumerated(run), squared, WIDE)
    for name, value in (("_PAIRS_OF_BLOCKS", 60), ("_LONGEST", 2), ("_CELLS", 64), ("_ATOMS", 12)):
        with monkeypatch.context() as patch:
            patch.setattr(last_iterate, name, value)
            patch.setattr(last_iterate, "_LEAST_BLOCKS", 4)
            last_iterate._fresh_masses.cache_clear()
            ours = curve(last_iterate.shuffled_law(run, squared), squared, WIDE)
        assert (ours >= true * (1 - 1e-12)).all()
        assert (ours > true * (1 + 1e-5)).any()
    last_iterate._fresh_masses.cache_clear()


def test_a_cost_between_two_places_is_divided_soundly():
    rng = np.random.default_rng(7)
    for _ in range(200):
        low, high = (
            np.sort(rng.exponential(1, 2)) * rng.choice([0, 1, 1], 2)[[0, 0]] * [0 if rng.random() < 0.1 else 1, 1]
        )
        if not high > low:
            continue
        cost = rng.uniform(low, high)
        found = last_iterate._gathered(np.array([cost]), np.array([1.0]), np.array([low, high]), 1, 1)
        divided = sum(
            mass * (shifted_profile(place, WIDE) if place else np.maximum(1 - WIDE, 0))
            for place, mass in zip(found.costs, found.masses, strict=True)
        )
        assert (divided >= shifted_profile(cost, WIDE) - 1e-14).all()
        assert divided.max() <= shifted_profile(high, WIDE).max() + 1e-14


def test_positions_are_rounded_to_dearer_ones():
    """Of the position that is kept, by summing w(g) = 1/(1 + c^-2 + ... + c^-2(g-1)) for every position."""
    run = run_of(m=40, epochs=3, step="0.05", order="secret")
    windows = 1 / np.cumsum(1.05 ** (-2.0 * np.arange(40)))
    exact = np.sort(2 * windows[-1] + windows)
    law = last_iterate.kept_law(run)
    assert sum(weight for _, weight in law) == 1
    assert 1 < len(law) < 40
    rounded = np.repeat([float(cost) for cost, _ in law], [int(40 * weight) for _, weight in law])
    assert (rounded >= exact * (1 - 1e-12)).all()
    assert (rounded <= exact * 1.02).all()


def test_fewer_tags_dominate():
    law = last_iterate.kept_law(run_of(order="secret"))
    assert len(last_iterate.coarser(law, 5)) <= 5
    assert last_iterate.coarser(law, 1000) == law
    for atoms in (3, 5, 20):
        few = last_iterate.coarser(law, atoms)
        assert sum(weight for _, weight in few) == 1
        assert (curve(few, 1, WIDE) >= curve(law, 1, WIDE)).all()


# --- The pair ---------------------------------------------------------------------------------------------------------


def test_a_tagged_pair_is_the_average_of_its_pairs():
    atoms = ((Fraction(0), Fraction(1, 8)), (Fraction(1, 3), Fraction(5, 8)), (Fraction(2), Fraction(1, 4)))
    pair, law = TaggedGaussians(atoms), law_of(TaggedGaussians(atoms))
    parts = [(weight, law_of(ShiftedGaussians(squared))) for squared, weight in atoms if squared]
    for loss in ("-1", "0.2", "3"):
        for side in (0, 1):
            mean = sum(float(weight) * float(part.tail(_arb(loss))[side].mid()) for weight, part in parts)
            assert float(law.tail(_arb(loss))[side].mid()) == pytest.approx(mean, rel=1e-12)
    assert float(law.delta(_arb("0.5")).mid()) == pytest.approx(curve(atoms[1:], 1, np.exp([0.5]))[0], rel=1e-9)
    expected = math.log(sum(float(w) * math.exp(3 * 2 * float(v) / 2) for v, w in atoms))
    assert float(log_moment(pair, 3).mid()) == pytest.approx(expected, rel=1e-12)


def _arb(text):
    from flint import arb

    return arb(text)


@pytest.mark.seconds
def test_tagged_pairs_compose_like_what_they_stand_for():
    mechanism = run_of(4, 3, 2, "0.5", "secret")
    ((pair, _),) = next(iter(neighbour_classes(mechanism, Relation(RE)).every())).product
    both = [(a + b, p * q) for (a, p), (b, q) in itertools.product(pair.atoms, repeat=2)]
    for epsilon in ("0.1", "1"):
        found = dp.delta(mechanism**2, epsilon, RE)
        assert float(found.exact_upper) == pytest.approx(curve(both, 1, np.exp([float(epsilon)]))[0], rel=2e-3)
        assert float(found.exact_upper) >= curve(both, 1, np.exp([float(epsilon)]))[0]
    assert resolved(((pair, 1),)) == ((pair, 1),)


# --- Numbers, relations, refusals -------------------------------------------------------------------------------------

PUBLISHED = [  # by another hand, in floats or by simulation
    *((4, 100, "1e-9", "fixed", 2.0914, 1e-4), (4, 100, "0.001", "fixed", 2.1013, 1e-4)),
    *(
        (4, 100, "0.01", "fixed", 2.2126, 1e-4),
        (4, 100, "0.1", "fixed", 3.3884, 1e-4),
        (4, 100, "1", "fixed", 6.4501, 1e-4),
    ),
    *((1, 100, "0.01", "fixed", 11.2231, 1e-4), (1, 100, "1", "fixed", 38.5057, 1e-4)),
    *((4, 100, "0.01", "secret", 1.5196, 3e-3), (1, 100, "0.01", "secret", 8.5795, 3e-3)),
    *(
        pytest.param(*each, marks=pytest.mark.seconds)
        for each in [
            *((4, 100, "0.01", "shuffled", 1.5622, 1e-3), (1, 100, "0.01", "shuffled", 8.85, 5e-3)),
            *((4, 1000, "0.01", "shuffled", 1.075, 1e-2), (2, 1000, "0.001", "shuffled", 2.366, 5e-3)),
        ]
    ),
]


@pytest.mark.parametrize(("z", "m", "step", "order", "value", "within"), PUBLISHED)
def test_values_of_a_reading_by_another_hand(z, m, step, order, value, within):
    assert upper(run_of(z, m, 10, step, order)) == pytest.approx(value, rel=within)


def by_transform(m, step, epochs, spacing=1e-3, points=1 << 14):
    """Costs and their law with fresh permutations, whose characteristic function is a product of Toeplitz matrices.

    Windows are rounded at random, up or down, to multiples of the spacing: over many of them this cancels.
    """
    windows = np.array([0.0, *(float(last_iterate.window_cost(1 + Fraction(step), g)) for g in range(1, 2 * m))])
    places = np.floor(windows / spacing + np.random.default_rng(1).random(2 * m)).astype(int)
    found = np.empty(points // 2 + 1, complex)
    for first in range(0, len(found), 256):
        turns = np.exp(-2j * np.pi / points * np.outer(np.arange(first, min(first + 256, len(found))), places))
        kernel = np.fft.fft(turns[:, :0:-1], 4 * m, axis=1)  # of what comes m + j - i steps later
        state = turns[:, m:0:-1] / m
        for _ in range(epochs - 1):
            state = np.fft.ifft(kernel * np.fft.fft(state, 4 * m, axis=1), axis=1)[:, m - 1 : 2 * m - 1] / m
        found[first : first + 256] = state.sum(axis=1)
    return np.arange(points) * spacing, np.maximum(np.fft.irfft(found, points), 0)


@pytest.mark.seconds
@pytest.mark.parametrize(("z", "m", "step"), [(4, 100, "0.01"), (1, 100, "0.01"), (4, 300, "0.001"), (10, 300, "0.01")])
def test_shuffled_costs_by_their_characteristic_function(z, m, step):
    costs, law = by_transform(m, step, 10)
    some = law > 1e-18
    mu = 2 / z * np.sqrt(costs[some].clip(1e-9))

    def lost(epsilon):
        return ((ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)) * law[some]).sum()

    bound = upper(run_of(z, m, 10, step, "shuffled"))
    assert lost(bound / 1.001) > 1e-5 > lost(bound * 1.0002)


@pytest.mark.seconds_cases("secret")
@pytest.mark.parametrize("order", ["fixed", pytest.param("shuffled", marks=pytest.mark.seconds), "secret"])
def test_more_of_anything_that_hides_spends_less(order):
    base = {"z": 2, "m": 20, "epochs": 6, "step": "0.05", "order": order}
    found = upper(run_of(**base))
    assert upper(run_of(**{**base, "z": 3})) < found < upper(run_of(**{**base, "epochs": 8}))
    assert upper(run_of(**{**base, "m": 40})) < found < upper(run_of(**{**base, "step": "0.5"}))
    assert found < upper(run_of(**base, checkpoints=(2,))) < upper(run_of(**base, checkpoints=(1, 2, 4)))
    every = upper(dp.shuffled_epochs(2, 6))
    assert upper(run_of(**base, checkpoints=(1, 2, 3, 4, 5))) <= every * (1 + 1e-9)
    if order != "fixed":
        assert found < upper(run_of(**{**base, "order": "fixed"}))
    assert upper(run_of(**base), relation=ZO) == pytest.approx(upper(run_of(**{**base, "z": 4})), rel=1e-4)


def test_the_full_batch_gains_nothing_and_is_tight():
    for order in ("fixed", "shuffled", "secret"):
        mechanism = run_of(4, 1, 10, "0.01", order)
        assert dp.epsilon(mechanism, "1e-5", RE) == dp.epsilon(dp.Gaussian(4) ** 10, "1e-5", RE)
        assert dp.account(mechanism, delta="1e-5", relation=RE).tight


@pytest.mark.seconds_cases("shuffled")
@pytest.mark.parametrize("order", ["fixed", "shuffled", "secret"])
def test_the_straight_attack_is_what_a_run_attains(order):
    # all gradients constant: the sum of m E noises, shifted by E times 2/z
    account = dp.account(run_of(2, 50, 4, "1e-6", order), delta="1e-5", relation=RE)
    assert not account.tight
    squared = Fraction(4, 4) * Fraction(4, 50)
    ((_, attack),) = account.attacks
    alpha = np.exp([float(attack.enclosure.exact_lower)])
    assert shifted_profile(float(squared), alpha)[0] == pytest.approx(1e-5, rel=2e-3)


@pytest.mark.parametrize("steps", [1, 2, 5, 1000])
def test_contracting_full_batch_steps_are_tight_and_forget(steps):
    # x <- c x + shift + noise, by hand: the last iterate is Gaussian
    c = Fraction(7, 8)
    run = dp.LastIterate(
        dp.Gaussian(4), batches=1, epochs=steps, smoothness_step="1/8", weight_decay_step="1/4", order="secret"
    )
    shift, variance = sum(c**k for k in range(steps)), sum(c ** (2 * k) for k in range(steps))
    by_hand = dp.epsilon(dp.Gaussian(noise_stddev=1, sensitivity=math.sqrt(shift**2 / variance) / 2), "1e-5")
    found = dp.epsilon(run, "1e-5", RE)
    assert float(found.exact_upper) == pytest.approx(float(by_hand.exact_upper), rel=1e-12)
    assert float(found.exact_lower) == pytest.approx(float(found.exact_upper), rel=1e-12)
    assert last_iterate.fixed_cost(run) < 15 + Fraction(1, 10**12)
    parts = dp.LastIterate(
        dp.Gaussian(4), batches=1, epochs=2 * steps, smoothness_step="1/8", weight_decay_step="1/4", checkpoints=[steps]
    )
    assert float(last_iterate.fixed_cost(parts)) == pytest.approx(2 * float(last_iterate.fixed_cost(run)), rel=1e-12)


@pytest.mark.seconds_cases("shuffled")
@pytest.mark.parametrize("order", ["fixed", "shuffled", "secret"])
def test_contracting_batches_forget_what_others_see(order):
    given = {"batches": 8, "epochs": 4, "smoothness_step": "0.05", "order": order}
    plain = dp.LastIterate(dp.Gaussian(2), **given)
    found = dp.LastIterate(dp.Gaussian(2), **given, weight_decay_step="0.15")
    assert upper(found) < upper(dp.LastIterate(dp.Gaussian(2), **given, weight_decay_step="0.04")) < upper(plain)
    assert dp.epsilon(found, "1e-5", RE).exact_lower > 0
    assert last_iterate.window_cost(Fraction(9, 10), 3) == pytest.approx(float(1 / (1 + 0.9**-2 + 0.9**-4)), rel=1e-12)


def test_no_contracting_run_tells_more_than_is_claimed():
    # maps with slopes of at most 0.6 stand for weight decay and gradients together
    rng = np.random.default_rng(11)
    for m, epochs in ((1, 3), (2, 2)):
        mechanism = dp.LastIterate(
            dp.Gaussian(1), batches=m, epochs=epochs, smoothness_step="0.1", weight_decay_step="0.5"
        )
        promised = claimed(mechanism)
        for _ in range(8):
            shared = [bent(rng, -0.6, 0.6) for _ in range(m)]
            densities = [played(_drifted(shared, epochs, sign)) for sign in (1, -1)]
            assert (divergences(*densities) < promised + GRID_ERROR).all()


def _drifted(shared, epochs, sign):
    """Every map as often as there are epochs; the record is in the last."""
    *others, last = shared
    return [*others, lambda x: last(x) + sign] * epochs


def test_a_steered_attack_is_a_gaussian_run():
    # the record in the last of two batches, slopes 1/2: shifts 1/4 + 1 ... against the noise of all steps, by hand
    run = run_of(1, 2, 2, "0.5")
    found = last_iterate._steered_cost(run, Fraction(1, 2), Fraction(3, 2), 1)
    weights = [Fraction(1), Fraction(1, 2), Fraction(3, 4), Fraction(3, 8)]  # of steps 4, 3, 2, 1 in the last iterate
    exact = (weights[0] + weights[2]) ** 2 / sum(each**2 for each in weights)
    assert exact * (1 - Fraction(1, 10**20)) <= found <= exact
    assert last_iterate.attained_cost(run) >= found
    assert last_iterate.attained_cost(run) <= last_iterate.fixed_cost(run)


@pytest.mark.seconds
def test_noise_is_calibrated_by_what_is_proven_on_either_side():
    found = dp.calibrate(lambda z: run_of(z, 20, 3, "0.1"), 1, "1e-5", RE)
    assert float(found.epsilon.exact_upper) <= 1
    assert upper(run_of(found.value * Fraction(999, 1000), 20, 3, "0.1")) > 1
    assert found.fails_at is not None
    assert dp.epsilon(run_of(found.fails_at, 20, 3, "0.1"), "1e-5", RE).exact_lower > 1
    assert found.fails_at < found.value * Fraction(9, 10)  # an attack's, not the dominating pair's


@pytest.mark.parametrize(
    ("mechanism", "relation", "said"),
    [
        (run_of(), AR, "--relation replace-one or --relation zero-out-one"),
        (dp.PoissonSampled(run_of(), "0.5"), RE, "run it on the whole dataset"),
        (dp.SampledWithoutReplacement(run_of(), 5, 50), ZO, "run it on the whole dataset"),
        (dp.SampledWithReplacement(run_of(), 5, 50), RE, "run it on the whole dataset"),
        (dp.InParallel((run_of(), run_of())), RE, "run it on the whole dataset"),
    ],
)
def test_what_is_not_proven_is_refused(mechanism, relation, said):
    with pytest.raises(UnsupportedMechanism, match=said):
        dp.epsilon(mechanism, "1e-5", relation)


def test_blocks_by_position_may_each_publish_their_last_iterate():
    blocks = dp.InParallel((run_of(4), run_of(5)), "index")
    assert dp.epsilon(blocks, "1e-5", RE) == dp.epsilon(run_of(4), "1e-5", RE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mechanism": dp.Laplace(1)}, "of type Gaussian"),
        ({"smoothness_step": 0}, "greater than 0"),
        ({"smoothness_step": bytearray(b"1")}, "a number"),
        ({"order": "cyclic"}, "fixed or shuffled or secret"),
        ({"batches": 0}, "positive whole number"),
        ({"epochs": "2.5"}, "positive whole number"),
        ({"smoothness_step": ("0.1", "0.2")}, r"one per epoch \(10\), or one per step \(50\)"),
        ({"smoothness_step": ("0.1", 0) * 5}, "greater than 0"),
        ({"smoothness_step": ("0.1", "0.2"), "epochs": 2, "batches": 3000}, "one number beyond 2000"),
        ({"weight_decay_step": "1.5"}, "between 0 and 1"),
        ({"weight_decay_step": "0.5", "smoothness_step": ("0.1", "0.2") * 5}, "0 where smoothness_step is a list"),
        ({"checkpoints": (3, 2)}, "increasing"),
        ({"checkpoints": (10,)}, "before the last, 10"),
        ({"checkpoints": 3}, "a list of epochs"),
    ],
)
def test_fields_are_checked(change, said):
    given = {"mechanism": dp.Gaussian(1), "batches": 5, "epochs": 10, "smoothness_step": "0.1", **change}
    with pytest.raises(InvalidValue, match=said):
        dp.LastIterate(given.pop("mechanism"), **given)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", ["fixed", "shuffled", "secret"])
@pytest.mark.parametrize(
    ("m", "epochs", "step", "z"),
    [
        pytest.param(10**9, 10**9, "1e-9", 1000, marks=pytest.mark.seconds),
        (10**5, 3, "1e30", 9),
        (3, 10**6, "1e-300", "1e-9"),
    ],
)
def test_numbers_of_any_size_are_answered(order, m, epochs, step, z):
    found = dp.epsilon(run_of(z, m, epochs, step, order), "1e-6", RE)
    assert 0 <= found.exact_lower <= found.exact_upper < math.inf
