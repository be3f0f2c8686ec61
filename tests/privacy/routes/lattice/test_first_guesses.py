"""What the lattice expects of δ decides how long it takes, never what it proves."""

import math
from fractions import Fraction

import pytest

from dpbounds.privacy.pairs.pairs import Direction, Draws, Product, Sampled, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.lattice import (
    bounds,
    delta_bounds,
    epsilon_bounds,
    expected_log_delta,
    products,
    rough as transforms,
)
from dpbounds.privacy.routes.lattice.saddle import GaussianSaddle, saddle_for_epsilon

SEVERAL: Product = ((Sampled(Direction.REPLACE, Draws(Fraction(1, 50), 5), ShiftedGaussians(Fraction(1, 16))), 40),)
ONE: Product = ((SampledGaussians(Direction.REMOVE, Fraction(1, 10), Fraction(4)), 40),)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("product", [SEVERAL, ONE])
@pytest.mark.parametrize("wrong_by", [-6.0, -2.0, 2.0, 6.0])
def test_a_wrong_expectation_costs_attempts_only(product, wrong_by, monkeypatch):
    truth = delta_bounds(product, Fraction(1), tolerance=1e-3)
    expected = math.log(truth.enclosure.upper)
    monkeypatch.setattr(bounds, "rough_log_delta", lambda *_: min(expected + wrong_by, -1e-3))
    found = delta_bounds(product, Fraction(1), tolerance=1e-3)
    assert found.enclosure.overlaps(truth.enclosure)
    assert found.parameters["attempts"] <= 4
    # what is moved to infinity follows δ once: neither too much of it, nor so little that cells are wasted
    assert 1e-5 < found.error_budget["moved to infinity"] < 1e-3


def test_a_delta_that_the_precision_hides_is_declined(monkeypatch):
    monkeypatch.setattr(bounds, "log_of", lambda _: -math.inf)
    with pytest.raises(Declined, match="precision"):
        delta_bounds(ONE, Fraction(1), tolerance=1e-3)


# --- the float transform ---------------------------------------------------------------------------------------------

HEAVY: Product = ((Sampled(Direction.REPLACE, Draws(Fraction(1, 1000), 100), ShiftedGaussians(Fraction(1, 20))), 100),)


@pytest.mark.seconds
@pytest.mark.parametrize("product", [SEVERAL, HEAVY])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_estimates_of_delta_are_close(product, epsilon):
    proven = delta_bounds(product, epsilon, tolerance=1e-3).enclosure
    middle = math.log((proven.lower + proven.upper) / 2)
    assert abs(expected_log_delta(product, float(epsilon)) - middle) < 0.03


@pytest.mark.seconds
def test_a_transform_sees_rare_large_losses_that_a_saddle_point_does_not():
    steps = products.steps_of(HEAVY)
    parts = products.cut_sketches(products.sketches_of(steps, -12.0), -22.0)
    aim = saddle_for_epsilon(parts, 1.0)
    proven = math.log(delta_bounds(HEAVY, Fraction(1), tolerance=1e-3).enclosure.upper)
    seen = transforms.sharpened(parts, aim)
    assert abs(aim.log_delta - proven) > 0.5
    assert abs(seen.log_delta - proven) < 0.03
    there = transforms.sharpened(parts, aim, seen.log_delta)  # and back: the ε at which δ is that
    assert there.epsilon == pytest.approx(1.0, rel=1e-3)


def test_where_a_transform_sees_nothing_the_saddle_point_stands():
    steps = products.steps_of(SEVERAL)
    parts = products.cut_sketches(products.sketches_of(steps, -12.0), -22.0)
    aim = saddle_for_epsilon(parts, 1.0)
    assert transforms.sharpened(parts, aim, -1e4) == aim


@pytest.mark.seconds
@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_a_wrong_transform_misleads_nobody(factor, monkeypatch):
    truth = epsilon_bounds(SEVERAL, Fraction(1, 10**6), tolerance=1e-4).enclosure
    honest = bounds.sharpened

    def misled(parts, aim, log_delta=None):
        seen = honest(parts, aim, log_delta)
        return GaussianSaddle(
            seen.tilt,
            seen.epsilon,
            seen.log_delta + math.log(factor),
            factor * seen.slope,
            seen.sharpness / factor,
            seen.deviation,
            seen.share,
        )

    monkeypatch.setattr(bounds, "sharpened", misled)
    assert epsilon_bounds(SEVERAL, Fraction(1, 10**6), tolerance=1e-3).enclosure.overlaps(truth)
    delta = delta_bounds(SEVERAL, Fraction(truth.exact_upper), tolerance=1e-3).enclosure
    assert delta.exact_lower <= Fraction(1, 10**6)
