"""Exact numbers in, correctly rounded numbers out."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import as_promised, exact, positive_integer, practical, rational, to_decimal, to_float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        (" 1e-6 ", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        ("2**-20", Fraction(1, 2**20)),
        ("-.5", Fraction(-1, 2)),
        ("1.5/0.5", Fraction(3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (0.1, Fraction(3602879701896397, 2**55)),
        (7, Fraction(7)),
        (Fraction(2, 3), Fraction(2, 3)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(13421773, 2**27)),
        (np.int64(2**53 + 1), Fraction(2**53 + 1)),  # no double holds it
        (sympy.Rational(1, 3), Fraction(1, 3)),
        (sympy.Integer(4), Fraction(4)),
        (mpmath.mpf("0.5"), Fraction(1, 2)),
    ],
)
def test_exact(value, expected):
    number = exact(value)
    assert number == expected
    assert type(number) is Fraction
    assert type(number.numerator) is int


@pytest.mark.parametrize(
    "value",
    [
        *(True, None, "one", "", "1e999999999", "1/0", "2**0.5", "0**-1", "9**99999999", "1 2", [1], 1j, "nan", "inf"),
        *(math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("Infinity"), sympy.Symbol("x"), sympy.pi, sympy.oo),
    ],
)
def test_refused(value):
    with pytest.raises(InvalidValue, match="thing"):
        exact(value, "thing")


def test_more_digits_than_a_double_are_never_dropped():
    with mpmath.workdps(50), pytest.raises(InvalidValue, match="give a fraction"):
        exact(mpmath.mpf(1) / 3)
    with pytest.raises(InvalidValue, match="give a fraction"):
        exact(np.longdouble(1) / 3)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_round_trip(value):
    assert to_float(exact(value), "down") == to_float(exact(value), "up") == value


@given(st.floats(min_value=1e-300, max_value=1e300) | st.floats(min_value=1e-12, max_value=1).map(np.float64))
def test_a_promised_float_is_at_most_itself_and_the_decimal_that_it_prints_as(value):
    promised = as_promised(value)
    typed = Fraction(str(float(value)))
    assert promised <= typed
    assert promised <= Fraction(float(value))
    assert promised in (typed, Fraction(float(value)))


def test_other_numbers_are_promised_exactly():
    assert as_promised("1/3") == Fraction(1, 3)
    assert as_promised(np.float32(0.1)) == Fraction(13421773, 2**27)
    with pytest.raises(InvalidValue, match="thing"):
        as_promised(math.nan, "thing")


@given(st.fractions())
def test_rounding_is_outwards_and_tight(value):
    down, up = to_float(value, "down"), to_float(value, "up")
    assert Fraction(down) <= value <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))


@given(st.fractions(), st.integers(1, 40))
def test_decimals_are_outwards_and_tight(value, digits):
    down, up = (Fraction(to_decimal(value, digits, direction)) for direction in ("down", "up"))
    assert down <= value <= up
    assert up - down <= abs(value) * Fraction(10, 10**digits)


def test_overflow():
    huge = Fraction(10**400)
    assert to_float(huge, "up") == math.inf
    assert to_float(huge, "down") == to_float(Fraction(2**1024), "down") == math.nextafter(math.inf, 0)
    assert to_float(-huge, "down") == -math.inf
    assert to_float(Fraction(1, 10**400), "down") == 0.0
    assert to_float(Fraction(1, 10**400), "up") == math.ulp(0.0)


LONG = "9" * 1001


@pytest.mark.parametrize(
    "value",
    [
        *(
            10**1000,
            10**5000,
            -(10**1000),
            Fraction(1, 10**1000),
            Fraction(10**1000, 7),
            Decimal("1E+999999"),
            "1e1000",
        ),
        *(
            Decimal("1E-999999"),
            Decimal(LONG),
            LONG,
            "1/" + LONG,
            "0." + LONG,
            "1e-1001",
            "1e" + "9" * 5000,
            "10**1000",
        ),
        *("2**-100000", "1e5000**2", "10**10**10", "1e999**2", "9" * 100_000, sympy.Integer(10) ** 1000, "2**3400"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_too_long_is_refused_at_once(value):
    with pytest.raises(InvalidValue, match="thing") as found:
        exact(value, "thing")
    assert len(str(found.value)) < 300


@pytest.mark.parametrize(
    "value", [np.True_, np.array(0.5), np.array([1, 2]), np.array([]), b"1", [1], sympy.true, object()]
)
def test_what_is_no_number_is_refused(value):
    for read in (exact, positive_integer):
        with pytest.raises(InvalidValue, match="thing"):
            read(value, "thing")


NUMBERS = st.one_of(
    st.fractions(),
    st.decimals(),
    st.floats(),
    st.integers(),
    st.integers(-5000, 5000).map(lambda power: f"1e{power}"),
    st.tuples(st.integers(-99, 99), st.integers(-9999, 9999)).map(lambda pair: f"{pair[0]}**{pair[1]}"),
    st.integers(1, 6000).map(lambda length: "7" * length),
    st.integers(-6000, 6000).map(lambda length: Fraction(7) ** length),
    st.text(max_size=40),
)


@pytest.mark.seconds
@given(NUMBERS)
def test_every_number_that_gets_in_can_be_written_and_rounded(value):
    try:
        number = exact(value, "thing")
    except InvalidValue:
        return
    for found in (number, number**2, 10**30 * number):
        assert str(found)
        assert Fraction(repr(found).removeprefix("Fraction(").removesuffix(")").replace(", ", "/")) == found
        for direction in ("down", "up"):
            assert isinstance(to_float(found, direction), float)
            assert to_decimal(found, 17, direction)


def test_practical_numbers_have_products_that_are_doubles():
    for text in ("1e100", "1e-100", "0", "-1e100"):
        assert isinstance(float(practical(text) ** 3), float)
    for text in ("1e101", "1e-101", "-1e101"):
        with pytest.raises(InvalidValue, match="between 1e-100 and 1e100"):
            practical(text, "thing")


def test_computed_fractions_pass_however_long_they_are():
    assert rational(Fraction(1, 10**5000)) == Fraction(1, 10**5000)
    with pytest.raises(InvalidValue):
        rational("1e-5000")


def test_counts_are_bounded():
    assert positive_integer("1e30", "steps") == 10**30
    for value in (10**30 + 1, "1e31", 10**5000):
        with pytest.raises(InvalidValue, match="steps"):
            positive_integer(value, "steps")
    with pytest.raises(InvalidValue, match="up to 1024"):
        positive_integer(1025, "jobs", 1024)


@pytest.mark.parametrize("value", [3, np.int32(3), 3.0, "3", "6/2", Fraction(3), Decimal(3)])
def test_positive_integer(value):
    assert positive_integer(value, "steps") == 3


@pytest.mark.parametrize("value", [0, -1, 2.5, "1/2", True, None, math.inf, "three"])
def test_no_positive_integer(value):
    with pytest.raises(InvalidValue, match="steps"):
        positive_integer(value, "steps")
