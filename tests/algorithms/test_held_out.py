"""A private score: its value, its noise, and that neighbours are as close as its mechanism says."""

from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.estimators.held_out import held_out, private_mean


def test_the_split_depends_on_the_number_of_records_only():
    first, again, other = held_out(100, Fraction(1, 4)), held_out(100, Fraction(1, 4)), held_out(101, Fraction(1, 4))
    assert first.sum() == other.sum() == 25
    np.testing.assert_array_equal(first, again)
    assert (first != other[:100]).any()


@pytest.mark.parametrize("half_steps", [1, 500])
def test_the_mean_without_noise_is_that_of_the_losses(half_steps):
    losses = np.array([0.0, 1.0, 1.0, 0.5, np.nan, 7.0, -2.0])
    found = private_mean(losses, half_steps, Fraction(10**9), "gaussian")
    assert found.mean == pytest.approx((0 + 1 + 1 + 0.5 + 1 + 1 + 0) / 7)


@pytest.mark.parametrize("half_steps", [1, 500])
@pytest.mark.parametrize("epsilon", ["1/10", "3"])
def test_the_mechanism_keeps_epsilon_under_replace_one_and_no_less(half_steps, epsilon):
    found = private_mean(np.zeros(3), half_steps, Fraction(epsilon), "gaussian")
    pure = dp.epsilon(found.mechanism, 0, "replace-one")
    assert pure.at_most(Fraction(epsilon))
    assert not pure.at_most(Fraction(epsilon) * Fraction(99, 100))


def test_one_record_moves_the_sum_by_as_much_as_the_mechanism_allows():
    """The extreme losses are 2K apart: twice the per-record bound of the mechanism."""
    low, high = (private_mean(np.array([loss]), 500, Fraction(10**9), "gaussian") for loss in (0.0, 1.0))
    assert round((high.mean - low.mean) * 2 * 500) == 2 * low.mechanism.bound


def test_noise_has_the_distribution_of_the_mechanism():
    epsilon, runs = Fraction(2), 4000
    means = [private_mean(np.zeros(1), 1, epsilon, "gaussian").mean for _ in range(runs)]
    noise = np.rint(np.array(means) * 2).astype(int)  # K = 1, one record: (noise - 1 + 1)/2
    ratio = float(np.exp(-1.0))  # scale 2K/ε = 1
    for value in (-2, -1, 0, 1, 2):
        expected = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
        assert abs((noise == value).mean() - expected) < 6 * (expected / runs) ** 0.5
    assert private_mean(np.zeros(5), 1, epsilon, "gaussian").typical_error == 0.1


@pytest.mark.seconds
def test_secure_noise_is_of_the_same_size():
    pytest.importorskip("opendp")
    means = [private_mean(np.full(10, 0.5), 500, Fraction(1), "secure").mean for _ in range(300)]
    found = private_mean(np.full(10, 0.5), 500, Fraction(1), "secure")
    assert "OpenDP" in found.noise_drawn
    errors = np.abs(np.array(means) - 0.5)
    assert 0.8 * found.typical_error < errors.mean() < 1.25 * found.typical_error
