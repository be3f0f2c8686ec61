"""Schedules that grow: fast when asked after each epoch, and the same bits whatever was asked before."""

import random
from fractions import Fraction

import pytest

from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.contour import contour_epsilon, growing
from dpbounds.privacy.routes.contour.estimate import settled_plan
from tests.work import calls

DELTA = Fraction(1, 10**5)
LOG_DELTA = -11.512925464970229
Schedule = tuple[tuple[SampledGaussians | ShiftedGaussians, int], ...]


def schedule(levels, direction=Direction.REMOVE, steps=100):
    """A little more noise in each epoch."""
    return tuple(
        (SampledGaussians(direction, Fraction(1, 100), (Fraction(4, 5) + Fraction(level, 80)) ** 2), steps)
        for level in range(levels)
    )


def falling(levels, steps=5):
    """A little less noise in each epoch, of few steps: where jumps matter, each asks for a tilt of its own."""
    return tuple(
        (SampledGaussians(Direction.REMOVE, Fraction(1, 100), (2 - Fraction(level, 100)) ** 2), steps)
        for level in range(levels)
    )


def fresh(product):
    growing.forget()
    return contour_epsilon(product, DELTA)


@pytest.mark.seconds
def test_an_answer_does_not_depend_on_earlier_ones():
    lengths = [16, 17, 23, 24]
    alone = {levels: fresh(schedule(levels)) for levels in lengths}
    growing.forget()
    asked = lengths * 2
    random.Random(3).shuffle(asked)
    for levels in asked:
        found = contour_epsilon(schedule(levels), DELTA)
        assert found == alone[levels]
        assert found.enclosure.exact_lower == alone[levels].enclosure.exact_lower
        assert found.enclosure.exact_upper == alone[levels].enclosure.exact_upper


@pytest.mark.seconds
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("levels", [16, 23, 31])
def test_the_beginning_serves_the_whole(direction, levels, monkeypatch):
    """Its answer is narrow and meets the one of the schedule's own plan."""
    product = ((ShiftedGaussians(Fraction(1, 20)), 1), *schedule(levels, direction))
    growing.growing_plan(product, LOG_DELTA, 1e-13)  # is not declined
    ours = fresh(product).enclosure
    monkeypatch.setattr(growing, "_FEWEST", 1000)
    own = contour_epsilon(product, DELTA).enclosure
    assert ours.overlaps(own)
    assert ours.exact_upper - ours.exact_lower <= Fraction(1, 10**11) * ours.exact_upper


@pytest.mark.seconds
def test_one_more_epoch_is_a_small_part_of_the_work():
    whole = calls(lambda: fresh(schedule(23)))
    growing.forget()
    contour_epsilon(schedule(22), DELTA)
    assert calls(lambda: contour_epsilon(schedule(23), DELTA)) < whole / 4


@pytest.mark.seconds
@pytest.mark.parametrize("steps", [5, 100])
def test_noise_that_falls_is_served_as_well(steps):
    """Of four epochs in a row at most two need a contour of their own, and every answer is narrow."""
    growing.forget()
    works = []
    for levels in (9, 10, 11, 12):
        works.append(calls(lambda levels=levels: contour_epsilon(falling(levels, steps), DELTA)))
        found = contour_epsilon(falling(levels, steps), DELTA).enclosure
        assert found.exact_upper - found.exact_lower <= Fraction(1, 10**11) * found.exact_upper
    assert sorted(works)[1] < max(works) / 3


@pytest.mark.seconds
def test_a_beginning_unlike_the_whole_is_not_relied_on():
    last = (SampledGaussians(Direction.REMOVE, Fraction(1, 20), Fraction(1)), 20_000)
    product = (*schedule(16), last)
    with pytest.raises(Declined):
        growing.growing_plan(product, LOG_DELTA, 1e-13)
    found, own = fresh(product), settled_plan(product, log_delta=LOG_DELTA, accuracy=1e-13)
    assert found.parameters["tilt"] == own.tilt
