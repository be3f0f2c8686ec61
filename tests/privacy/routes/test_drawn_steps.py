"""Bounds from the number of drawn steps: against integrals over few steps, other routes, and binomial tails."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

import dpbounds as dp
from dpbounds.expressions.enclosure import ball_end
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes.closed_forms import closed_form_delta
from dpbounds.privacy.routes.contour import contour_delta, contour_epsilon
from dpbounds.privacy.routes.drawn_steps import _more_than, delta_ends, epsilon_ends


def sampled(order, z, q):
    return SampledGaussians(order, Fraction(q), Fraction(z) ** 2)


def loss_and_density(order, z, q, at):
    """The loss of one step at the points ``at``, and the density of P there."""
    here = [scipy.stats.norm(mean, z).pdf(at) for mean in (-1, 0, 1)]
    record, other = (1 - q) * here[1] + q * here[2], (1 - q) * here[1] + q * here[0]
    first, second = {
        Direction.REMOVE: (record, here[1]),
        Direction.ADD: (here[1], record),
        Direction.REPLACE: (record, other),
    }[order]
    return np.log(first / second), first


@pytest.mark.parametrize("order", Direction)
@pytest.mark.parametrize(("z", "q"), [(0.25, 0.3), (0.5, 0.05), (0.2, 0.9)])
def test_two_steps_lie_between_the_ends(order, z, q):
    at, width = np.linspace(-1 - 9 * z, 1 + 9 * z, 2001, retstep=True)
    loss, density = loss_and_density(order, z, q, at)
    both, mass = loss[:, None] + loss, density[:, None] * density * width**2
    product = ((sampled(order, str(z), str(q)), 2),)
    for epsilon in (0, 1, 5, 10, 20):
        delta = float(np.sum(mass * np.maximum(0, -np.expm1(epsilon - both))))
        low, high = delta_ends(product, Fraction(epsilon))
        assert low <= delta * (1 + 1e-3) + 1e-12
        assert high >= delta * (1 - 1e-3) - 1e-12


def random_product(draw):
    """Two sampled releases, of one direction or of two, and perhaps a full batch."""
    orders = (
        [draw.choice(list(Direction)) for _ in range(2)] if draw.random() < 0.3 else [draw.choice(list(Direction))] * 2
    )
    kinds = {sampled(each, str(draw.choice([0.5, 0.7, 2])), str(draw.choice([0.01, 0.2, 0.7]))) for each in orders}
    full = ((ShiftedGaussians(Fraction(draw.choice([0.3, 2]))), 1),) if draw.random() < 0.5 else ()
    return (*((kind, draw.choice([1, 5, 30])) for kind in kinds), *full)


@pytest.mark.seconds
@pytest.mark.parametrize("seed", range(12))
def test_other_routes_lie_between_the_ends(seed):
    """At least some answers are known, and none contradicts."""
    draw = random.Random(seed)
    product, known = random_product(draw), []
    questions = [(epsilon_ends, contour_epsilon, target) for target in ("1/2", "1e-2", "1e-6")]
    questions += [(delta_ends, contour_delta, target) for target in ("1/10", "3", "30")]
    for ends, route, target in questions:
        low, high = ends(product, Fraction(target))
        assert 0 <= low <= high
        try:
            proven = route(product, Fraction(target)).enclosure
        except dp.DpboundsError:
            continue
        known.append(target)
        assert high >= proven.exact_lower
        assert low <= proven.exact_upper
    assert len(known) >= 2


@pytest.mark.parametrize("first", Direction)
def test_releases_of_several_directions(first):
    """A removed record is seen beside anything; an added one never is, but costs no more than its largest loss."""
    product = ((sampled(first, "0.01", "0.1"), 10), (sampled(Direction.ADD, "0.01", "0.1"), 10))
    low, high = epsilon_ends(product, Fraction("1e-3"))
    assert low == 0  # no attack is known where a record is added
    alone = epsilon_ends(product[:1], Fraction("1e-3"))[1]
    hidden = -10 * math.log1p(-0.1)
    assert alone <= high <= (float(alone) + hidden) * 1.02


@pytest.mark.parametrize("order", [Direction.REMOVE, Direction.REPLACE])
@pytest.mark.parametrize(("z", "q", "steps"), [("1e-40", "1e-3", 4000), ("1e-9", "0.2", 10), ("1e-9", "0.01", 6)])
def test_records_that_are_seen_wherever_they_are_drawn(order, z, q, steps):
    """With next to no noise δ is the probability of a draw, and k draws lose k/(2z²), more or less."""
    product, drawn = ((sampled(order, z, q), steps),), scipy.stats.binom(steps, float(q))
    low, high = delta_ends(product, Fraction(1))
    assert drawn.sf(0) * (1 - 1e-9) <= low <= high <= drawn.sf(0) * (1 + 1e-9)
    for k in {1, round(drawn.mean()), round(drawn.mean() + 3 * drawn.std())}:
        more = max(drawn.sf(k), 1e-300)
        below, above = (k + part / Fraction(10**3) for part in (-1, 1))
        between = delta_ends(product, above / (2 * Fraction(z) ** 2))
        assert more * (1 - 1e-9) <= between[0] <= between[1] <= more * (1 + 1e-9)
        ends = epsilon_ends(product, Fraction(drawn.pmf(k) / 2 + more))
        assert below / (2 * Fraction(z) ** 2) <= ends[0] <= ends[1] <= above / (2 * Fraction(z) ** 2)


@pytest.mark.parametrize("order", Direction)
def test_a_full_batch_beside_sampled_steps_is_not_lost(order):
    """The record is drawn with probability 1e-6; what the full batch spends is what there is."""
    product = ((sampled(order, "0.1", "1e-7"), 10), (ShiftedGaussians(Fraction(4)), 1))
    low, high = delta_ends(product, Fraction(1))
    alone = float(dp.delta(dp.Gaussian("0.5"), 1).exact_upper)
    assert high == pytest.approx(alone, rel=1e-4)
    assert low <= alone * (1 + 1e-9)
    assert order is Direction.ADD or low == pytest.approx(alone, rel=1e-4)


def test_steps_without_a_draw_lower_the_losses_of_an_attack():
    """Of a million steps at rate 1/1000 these take off 1000; ε at δ = 1/2 is at most the median of the loss."""
    z, q, steps = 0.2, 1e-3, 10**6
    low, high = epsilon_ends(((sampled(Direction.REMOVE, "0.2", "0.001"), steps),), Fraction(1, 2))
    at, width = np.linspace(-12 * z, 1 + 12 * z, 100_001, retstep=True)
    loss, density = loss_and_density(Direction.REMOVE, z, q, at)
    mean = float(np.sum(loss * density) * width)
    deviation = math.sqrt(float(np.sum(loss**2 * density) * width) - mean**2)
    median = steps * mean  # the sum is nearly normal
    assert median - 8 * math.sqrt(steps) * deviation < low < median + math.sqrt(steps) * deviation / 10
    assert high > median - math.sqrt(steps) * deviation / 10


def test_added_records_lose_no_more_than_what_hides_them():
    product = ((sampled(Direction.ADD, "0.001", "0.05"), 1000),)
    most = -1000 * math.log1p(-0.05)
    low, high = epsilon_ends(product, Fraction("1e-5"))
    assert low == 0
    assert high == pytest.approx(most, rel=1e-12)
    assert delta_ends(product, Fraction(most * 1.0001)) == (0, 0)


@pytest.mark.parametrize("order", [Direction.REMOVE, Direction.REPLACE])
def test_targets_next_to_the_probability_of_more_draws(order):
    """With δ barely above P(K > k), k draws lose as much as at a tiny δ: some 7 deviations above their mean."""
    z, q, steps, k = "0.0012", "0.05", 1000, 80
    with working(192):
        more, as_many = _more_than(k, steps, Fraction(q))[1], _more_than(k - 1, steps, Fraction(q))[0]
    low, high = epsilon_ends(((sampled(order, z, q), steps),), more + (as_many - more) / 10**12)
    mean, deviation = k / (2 * float(z) ** 2), math.sqrt(k) / float(z)
    assert mean + 6.8 * deviation < low <= high < mean + 7.2 * deviation


def test_far_tails_are_no_smaller_than_they_are():
    for shift, epsilon in ((1, 60), (Fraction(1, 4), 30), (100, 500)):
        low, high = delta_ends(((ShiftedGaussians(Fraction(shift)), 1),), Fraction(epsilon))
        exact = closed_form_delta(ShiftedGaussians(Fraction(shift)), Fraction(epsilon))[0]
        assert low == 0
        assert ball_end(exact, "down") <= high <= Fraction(1, 10**300)


@pytest.mark.seconds
def test_ends_are_close_where_losses_are_large():
    for z, most in (("0.0012", 2e-3), ("0.00005", 1e-4)):
        for order in (Direction.REMOVE, Direction.REPLACE):
            low, high = epsilon_ends(((sampled(order, z, "0.05"), 1000),), Fraction("1e-5"))
            assert high - low <= most * high


@pytest.mark.parametrize(("count", "rate"), [(1, "0.3"), (30, "0.2"), (1000, "1e-3"), (10**7, "1e-9"), (5, "1")])
def test_tails_of_the_number_of_draws(count, rate):
    for draws in (0, 1, 2, 5, 9, 29, 40, count - 1, count):
        with working(192):
            low, high = _more_than(draws, count, Fraction(rate))
        tail = scipy.stats.binom(count, float(rate)).sf(draws)
        assert low <= high
        if draws < 5000:
            assert float(low) == pytest.approx(tail, rel=1e-9)
        assert float(high) == pytest.approx(tail, rel=1e-9) or tail < 1e-300


@pytest.mark.parametrize("deviations", [-6, -2, -0.5, 0, 0.5, 2, 6])
def test_tails_of_many_draws_are_bounded_from_both_sides(deviations):
    count, rate = 10**6, 0.2
    draws = int(count * rate + deviations * math.sqrt(count * rate * (1 - rate)))
    with working(192):
        low, high = _more_than(draws, count, Fraction("0.2"))
    tail = scipy.stats.binom(count, rate).sf(draws)
    assert low <= tail * (1 + 1e-9)
    assert high >= tail * (1 - 1e-9)
    assert low > 0.8 if deviations <= -2 else high < 0.2 or abs(deviations) < 1


def test_tails_beyond_the_reach_of_an_incomplete_beta_function():
    with working(400):
        low, high = _more_than(200, 10**60, Fraction(1, 10**58))
    assert low == 0
    assert scipy.stats.poisson(100).sf(200) < high < Fraction("1e-15")


@pytest.mark.seconds
@pytest.mark.parametrize("rate", ["0.01", "0.05"])
@pytest.mark.parametrize("epsilon", ["1e7", "1e9"])
def test_noise_for_enormous_budgets_is_known_closely(rate, epsilon):
    found = dp.calibrate(lambda z: dp.PoissonSampled(dp.Gaussian(z), rate) ** 1000, epsilon, "1e-5")
    assert found.gap < Fraction(1, 200)
    assert dp.epsilon(found.mechanism, "1e-5").exact_upper <= Fraction(epsilon)
