"""Enclosures hold what they claim to hold, and compare in three values."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, strategies as st

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end

ends = st.tuples(st.fractions(-9, 9), st.fractions(-9, 9)).map(sorted).map(lambda pair: Enclosure(*pair))


@pytest.mark.one_in(4)
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


@pytest.mark.one_in(4)
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


def test_only_what_is_a_double_becomes_one():
    assert float(Enclosure.exactly("1.5")) == 1.5
    assert math.isinf(Enclosure(math.inf, math.inf))
    for narrow in (Enclosure.exactly("0.1"), Enclosure(Fraction(1), Fraction(1) + Fraction(1, 2**80))):
        with pytest.raises(NotCertified, match=r"use \.upper"):
            float(narrow)


@pytest.mark.one_in(4)
@given(ends, ends, st.fractions(-9, 9))
def test_arithmetic_encloses_and_is_exact_at_the_ends(first, second, number):
    points = [(a, b) for a in (first.exact_lower, first.exact_upper) for b in (second.exact_lower, second.exact_upper)]
    answers = [(first + second, [a + b for a, b in points]), (first * second, [a * b for a, b in points])]
    answers.append((first - second, [a - b for a, b in points]))
    if not second.contains(0):
        answers.append((first / second, [a / b for a, b in points]))
        answers.append((number / second, [number / b for _, b in points]))
    answers += [(number + first, [number + a for a, _ in points]), (number - first, [number - a for a, _ in points])]
    for answer, exact in answers:
        assert (answer.exact_lower, answer.exact_upper) == (min(exact), max(exact))
    size = abs(first)
    assert size.contains(abs(first.exact_lower))
    assert size.exact_lower == (0 if first.contains(0) else min(abs(first.exact_lower), abs(first.exact_upper)))


def test_arithmetic_with_numbers_infinities_and_long_ends():
    third, open_ended = Enclosure.exactly("1/3", "contour"), Enclosure(Fraction(-1), math.inf, "lattice", 80)
    for answer in (2 * third, third * 2, third + third, np.float64(2) * third):
        assert answer == Enclosure.exactly("2/3", "contour")
    assert (third + open_ended).method == "contour and lattice"
    assert (third + open_ended).exact_upper == math.inf
    assert (open_ended - open_ended) == Enclosure(-math.inf, math.inf, "lattice", 80)
    assert (open_ended * 0).width == 0
    assert (1 / Enclosure(Fraction(2), math.inf)).exact_lower == 0
    with pytest.raises(InvalidValue, match="does not hold 0"):
        _ = 1 / open_ended
    with pytest.raises(InvalidValue, match="no arithmetic with infinity"):
        _ = Enclosure(math.inf, math.inf) - 1
    long = Enclosure.exactly(Fraction(10**900 + 1, 3**1500))
    product = long * long * long * long
    assert product.exact_lower < long.exact_lower**4 < product.exact_upper
    assert product.exact_upper - product.exact_lower < product.exact_lower / 2**4000
    tiny = Enclosure.exactly(Fraction(1, 1 << (1 << 19)))
    assert (tiny * tiny).exact_lower == 0 < (tiny * tiny).exact_upper


@pytest.mark.parametrize(
    ("shape", "lower", "upper"),
    [
        (".3g", "0.333", "0.667"),
        ("8.2f", "    0.33", "    0.67"),
        (".2e", "3.33e-1", "6.67e-1"),
        (".1%", "33.3%", "66.7%"),
        ("+.0f", "+0", "+1"),
        ("", "0.33", "0.67"),
    ],
)
def test_formats_round_outwards(shape, lower, upper):
    value = Enclosure(Fraction(1, 3), Fraction(2, 3))
    assert f"{value:{shape}}" == f"[{lower}, {upper}]"
    below = f"{-value:{shape}}"[1:].partition(", ")[0]
    assert below.strip() == f"-{upper.strip().lstrip('+')}"


@pytest.mark.one_in(4)
@given(st.fractions(), st.integers(1, 60), st.sampled_from("efg%"))
def test_a_format_never_moves_an_end_inwards(number, digits, kind):
    lower, upper = f"{Enclosure.exactly(number):.{digits}{kind}}"[1:-1].split(", ")
    scale = 100 if kind == "%" else 1
    assert Fraction(lower.rstrip("%")) <= number * scale <= Fraction(upper.rstrip("%"))


def test_wrong_formats_are_refused():
    assert f"{Enclosure(Fraction(1), math.inf):.3f}" == "[1.000, Infinity]"
    for shape in ("d", ".4x", ".9999f", "s"):
        with pytest.raises(InvalidValue, match="a format of e, f, g or %"):
            format(Enclosure.exactly(1), shape)


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
