"""Enclosures hold what they claim to hold, and compare in three values."""

import math
from fractions import Fraction

import flint
import pytest
from flint import arb, fmpq
from hypothesis import given, strategies as st

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end

ends = st.tuples(st.fractions(-9, 9), st.fractions(-9, 9)).map(sorted).map(lambda pair: Enclosure(*pair))


@pytest.mark.rotating(4)
@given(ends, ends)
def test_comparison_is_three_valued(first, second):
    points = [(a, b) for a in (first.exact_lower, first.exact_upper) for b in (second.exact_lower, second.exact_upper)]
    for answer, truths in (
        (first.less_than(second), {a < b for a, b in points}),
        (first.at_most(second), {a <= b for a, b in points}),
    ):
        assert answer is (truths.pop() if len(truths) == 1 else None)
    if first.less_than(second) is None:
        with pytest.raises(NotCertified, match="not decided"):
            _ = first < second
    else:
        assert (first < second) is (not (first >= second))


@pytest.mark.rotating(4)
@given(ends, ends)
def test_hull_and_larger(first, second):
    hull = first.hull(second)
    assert hull.contains(first)
    assert hull.contains(second)
    for a in (first.exact_lower, first.exact_upper):
        for b in (second.exact_lower, second.exact_upper):
            assert first.larger(second).contains(max(a, b))
    assert first.overlaps(second) == (first.less_than(second) is not True and second.less_than(first) is not True)


def test_ends_are_checked():
    for pair in ((Fraction(2), Fraction(1)), (0.5, Fraction(1)), (math.nan, Fraction(1))):
        with pytest.raises(InvalidValue):
            Enclosure(*pair)


def test_floats_are_rounded_outwards():
    third = Enclosure.exactly("1/3")
    assert Fraction(third.lower) < Fraction(1, 3) < Fraction(third.upper)
    assert third.upper == math.nextafter(third.lower, 1)
    assert third.width == 0.0
    assert third.contains("1/3")
    assert not third.contains(1 / 3)


def test_no_silent_float():
    with pytest.raises(TypeError):
        float(Enclosure.exactly(1))


def test_digits_and_print():
    value = Enclosure(Fraction(12345, 1000), Fraction(12346, 1000))
    assert value.digits == 4
    assert str(value) == "[12.345, 12.346]"
    assert Enclosure(Fraction(0), math.inf).digits == 0
    assert Enclosure(Fraction(-1), Fraction(1)).digits == 0
    assert value._repr_latex_().startswith("$")


def test_infinite_ends():
    value = Enclosure(Fraction(1), math.inf)
    assert value.contains(math.inf)
    assert value.less_than(1) is False
    assert value.at_most(5) is None
    assert value.upper == value.width == math.inf


def test_from_balls():
    with flint.ctx.workprec(80):
        third = arb(fmpq(1, 3))
        value = Enclosure.from_balls(third, third + 1, "closed form", 80)
        assert value.exact_lower < Fraction(1, 3) < Fraction(4, 3) < value.exact_upper
        with pytest.raises(NotCertified, match="lost all accuracy"):
            Enclosure.from_balls(arb.nan(), third, "closed form", 80)


def test_ball_ends_are_exact_or_outwards():
    with flint.ctx.workprec(60):
        assert ball_end(arb(3), "down") == ball_end(arb(3), "up") == 3
        assert ball_end(-(arb(2) ** -70), "down") == Fraction(-1, 2**70)
        tiny = arb(3) * arb(2) ** -(1 << 23)
        assert ball_end(tiny, "down") == 0
        assert ball_end(tiny, "up") == Fraction(1, 1 << (1 << 19))
        assert ball_end(-tiny, "up") == 0
