"""Closed forms against 80-digit twins written from the definitions, and against quadrature of the densities."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes import closed_forms as profiles
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta, losses_stay_below

DIGITS = 80


def _mp(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def shifted_twin(squared_shift: Fraction, epsilon: Fraction) -> mp.mpf:
    mu, e = mp.sqrt(_mp(squared_shift)), _mp(epsilon)
    return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)


def densities(direction: Direction, q: Fraction, variance: Fraction):
    """P and Q as plain functions of x, from the definition of the pair."""
    rate, z = _mp(q), mp.sqrt(_mp(variance))

    def normal(x: mp.mpf, mean: int) -> mp.mpf:
        return mp.npdf(x, mean, z)

    def mixture(x: mp.mpf, mean: int) -> mp.mpf:
        return (1 - rate) * normal(x, 0) + rate * normal(x, mean)

    return {
        Direction.REMOVE: (lambda x: mixture(x, 1), lambda x: normal(x, 0)),
        Direction.ADD: (lambda x: normal(x, 0), lambda x: mixture(x, 1)),
        Direction.REPLACE: (lambda x: mixture(x, 1), lambda x: mixture(x, -1)),
    }[direction]


def sampled_twin(direction: Direction, q: Fraction, variance: Fraction, epsilon: Fraction) -> mp.mpf:
    """∫ (P - e^ε Q)_+ by splitting at the sign change, which is found by bisection."""
    p_density, q_density = densities(direction, q, variance)
    z, growth = mp.sqrt(_mp(variance)), mp.exp(_mp(epsilon))

    def gap(x: mp.mpf) -> mp.mpf:
        return p_density(x) - growth * q_density(x)

    sign = -1 if direction is Direction.ADD else 1
    low, high = mp.mpf(-60) * z - 2, mp.mpf(60) * z + 2
    if mp.sign(gap(low)) == mp.sign(gap(high)):
        return mp.mpf(0)
    for _ in range(300):
        middle = (low + high) / 2
        if mp.sign(gap(middle)) == mp.sign(gap(high)):
            high = middle
        else:
            low = middle
    points = [low + sign * k * z for k in (0, 1, 2, 4, 8, 16, 40)]
    return mp.quad(gap, points if sign > 0 else points[::-1])


def contains(pair: ShiftedGaussians | SampledGaussians, epsilon: Fraction, truth: mp.mpf, digits: int) -> bool:
    value, precision = closed_form_delta(pair, epsilon, 100)
    with ctx.workprec(precision):
        low, high = value.lower(), value.upper()
    slack = abs(truth) * mp.mpf(10) ** -digits
    return mp.mpf(low.str(90, radius=False)) - slack <= truth <= mp.mpf(high.str(90, radius=False)) + slack


@pytest.mark.parametrize(
    "squared_shift", [Fraction(1, 10**6), Fraction(1, 25), Fraction(1), Fraction(40), Fraction(10**4)]
)
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 1000), Fraction(1), Fraction(30), Fraction(700)])
def test_shifted_gaussians_against_80_digits(squared_shift: Fraction, epsilon: Fraction) -> None:
    with mp.workdps(DIGITS + 40):
        truth = shifted_twin(squared_shift, epsilon)
        assert contains(ShiftedGaussians(squared_shift), epsilon, truth, DIGITS - 5)


@pytest.mark.thorough
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
def test_one_sampled_release_against_quadrature(direction: Direction, q: str, variance: str, epsilon: str) -> None:
    rate, v, e = Fraction(q), Fraction(variance), Fraction(epsilon)
    with mp.workdps(30):
        truth = sampled_twin(direction, rate, v, e)
        assert contains(SampledGaussians(direction, rate, v), e, truth, 18)


@pytest.mark.rotating(4)
@given(
    q=st.fractions(Fraction(1, 10**5), Fraction(99, 100), max_denominator=10**5),
    z=st.fractions(Fraction(3, 10), Fraction(20), max_denominator=100),
    epsilons=st.lists(st.fractions(0, 30, max_denominator=1000), min_size=2, max_size=4),
)
@settings(deadline=None, max_examples=40)
def test_profiles_do_not_increase_and_stay_in_range(q: Fraction, z: Fraction, epsilons: list[Fraction]) -> None:
    for direction in Direction:
        values = [closed_form_delta(SampledGaussians(direction, q, z * z), e)[0] for e in sorted(epsilons)]
        assert all(value >= 0 for value in values)
        assert all(value <= 1 for value in values)
        for earlier, later in itertools.pairwise(values):
            assert later.lower() <= earlier.upper()


def test_rate_one_is_a_shifted_pair() -> None:
    nearly = Fraction(10**30 - 1, 10**30)
    for order, factor in ((Direction.REMOVE, 1), (Direction.ADD, 1), (Direction.REPLACE, 2)):
        sampled, _ = closed_form_delta(SampledGaussians(order, nearly, Fraction(4)), Fraction(1, 2))
        full, _ = closed_form_delta(ShiftedGaussians(Fraction(factor**2, 4)), Fraction(1, 2))
        assert abs(float(sampled / full) - 1) < 1e-13


def test_bounded_losses_are_recognised() -> None:
    product = ((SampledGaussians(Direction.ADD, Fraction(1, 100), Fraction(1)), 10),)
    assert losses_stay_below(product, Fraction("0.1006"))  # 10 · -log(0.99) = 0.10050...
    assert not losses_stay_below(product, Fraction("0.1005"))
    assert not losses_stay_below(
        ((SampledGaussians(Direction.REMOVE, Fraction(1, 100), Fraction(1)), 10),), Fraction(5)
    )


def test_huge_epsilon_needs_no_floor() -> None:
    value, precision = closed_form_delta(ShiftedGaussians(Fraction(1)), Fraction(10**4))
    with ctx.workprec(precision):
        assert 0 < value < ball(Fraction(1, 10**300)) ** 1000


@pytest.mark.parametrize("exponent", range(-20, 24, 2))
def test_few_evaluations_invert_a_profile(monkeypatch: pytest.MonkeyPatch, exponent: int) -> None:
    """Whether the first root found lies above or below the true one, no bracket is searched again."""
    count = 0

    def counted(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        return closed_form_delta(*arguments)

    monkeypatch.setattr(profiles, "closed_form_delta", counted)
    profiles.closed_form_epsilon(ShiftedGaussians(Fraction(10) ** exponent), Fraction(1, 10**5))
    assert count <= 16
