"""Closed forms against 80-digit twins written from the definitions."""

import itertools
from fractions import Fraction
from unittest.mock import Mock

import mpmath as mp
import pytest
from flint import ctx
from hypothesis import given, settings, strategies as st

from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes import closed_forms as profiles
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta, losses_stay_below
from tests.privacy.routes.twins import gaussian_profile, one_step_delta, product, real

DIGITS = 80


def contains(pair, epsilon, truth, digits):
    value, precision = closed_form_delta(pair, epsilon, 100)
    with ctx.workprec(precision):
        low, high = value.lower(), value.upper()
    slack = abs(truth) * mp.mpf(10) ** -digits
    return mp.mpf(low.str(90, radius=False)) - slack <= truth <= mp.mpf(high.str(90, radius=False)) + slack


@pytest.mark.parametrize(
    "squared_shift", [Fraction(1, 10**6), Fraction(1, 25), Fraction(1), Fraction(40), Fraction(10**4)]
)
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(30), Fraction(700)])
def test_shifted_gaussians_against_80_digits(squared_shift, epsilon):
    with mp.workdps(DIGITS + 40):
        truth = gaussian_profile(mp.sqrt(real(squared_shift)), real(epsilon))
        assert contains(ShiftedGaussians(squared_shift), epsilon, truth, DIGITS - 5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(
    ("q", "variance", "epsilon"),
    [
        ("1/100", "1", "0"),
        ("1/100", "1", "1/200"),
        ("1/10", "9/100", "1/20"),
        ("1/2", "4", "1/3"),
        ("99/100", "1/4", "2"),
        ("1/100000", "9/100", "1/200000"),
    ],
)
def test_one_sampled_release_against_80_digits(direction, q, variance, epsilon):
    rate, v, e = Fraction(q), Fraction(variance), Fraction(epsilon)
    with mp.workdps(DIGITS + 40):
        truth = one_step_delta(direction, real(rate), mp.sqrt(real(v)), real(e))
        assert contains(SampledGaussians(direction, rate, v), e, truth, DIGITS - 5)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@given(
    q=st.fractions(Fraction(1, 10**5), Fraction(99, 100), max_denominator=10**5),
    z=st.fractions(Fraction(3, 10), Fraction(20), max_denominator=100),
    epsilons=st.lists(st.fractions(0, 30, max_denominator=1000), min_size=2, max_size=4),
)
@settings(max_examples=40)
def test_profiles_do_not_increase_and_stay_in_range(q, z, epsilons):
    for direction in Direction:
        values = [closed_form_delta(SampledGaussians(direction, q, z * z), e)[0] for e in sorted(epsilons)]
        assert all(value >= 0 for value in values)
        assert all(value <= 1 for value in values)
        for earlier, later in itertools.pairwise(values):
            assert later.lower() <= earlier.upper()


def test_rate_one_is_a_shifted_pair():
    nearly = Fraction(10**30 - 1, 10**30)
    for order, factor in ((Direction.REMOVE, 1), (Direction.ADD, 1), (Direction.REPLACE, 2)):
        sampled, _ = closed_form_delta(SampledGaussians(order, nearly, Fraction(4)), Fraction(1, 2))
        full, _ = closed_form_delta(ShiftedGaussians(Fraction(factor**2, 4)), Fraction(1, 2))
        assert abs(float(sampled / full) - 1) < 1e-13


def test_bounded_losses_are_recognised():
    bounded = product("add", (0.01, 1, 10))
    assert losses_stay_below(bounded, Fraction("0.1006"))  # 10 · -log(0.99) = 0.10050...
    assert not losses_stay_below(bounded, Fraction("0.1005"))
    assert not losses_stay_below(product("remove", (0.01, 1, 10)), Fraction(5))


def test_huge_epsilon_needs_no_floor():
    value, precision = closed_form_delta(ShiftedGaussians(Fraction(1)), Fraction(10**4))
    with ctx.workprec(precision):
        assert 0 < value < ball(Fraction(1, 10**300)) ** 1000


@pytest.mark.parametrize("exponent", range(-20, 24, 2))
def test_few_evaluations_invert_a_profile(monkeypatch, exponent):
    """Whether the first root found lies above or below the true one, no bracket is searched again."""
    counted = Mock(side_effect=closed_form_delta)
    monkeypatch.setattr(profiles, "closed_form_delta", counted)
    profiles.closed_form_epsilon(ShiftedGaussians(Fraction(10) ** exponent), Fraction(1, 10**5))
    assert counted.call_count <= 16
