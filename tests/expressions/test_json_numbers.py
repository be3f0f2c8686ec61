"""Ends of intervals as JSON numbers: on the safe side as doubles and as decimals."""

import copy
import json
import math
import sys
from fractions import Fraction

import pytest
from hypothesis import example, given, settings, strategies as st

from dpbounds.expressions.exact import to_float
from dpbounds.expressions.json_numbers import OutwardFloat, json_text, outward, text_of

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
FRACTIONS = st.one_of(
    st.fractions(max_denominator=10**400),
    st.builds(
        lambda double, shift: Fraction(double) * (1 + shift), DOUBLES, st.fractions(-1, 1).map(lambda x: x / 2**53)
    ),
)
CORNERS = [
    *(Fraction(2) ** power for power in (-1074, -1073, -1022, -1021, -52, -1, 0, 1, 53, 1000, 1023)),
    *(
        Fraction(sys.float_info.max),
        Fraction(math.nextafter(0.0, 1.0)) / 3,
        Fraction(1, 10),
        Fraction(9007199254740993),
    ),
    *(Fraction(math.nextafter(2.0**power, side)) for power in (-1022, 0, 3, 1000) for side in (0.0, math.inf)),
]


def check(end, direction):
    """The text of the double for an end: the double, and the right side."""
    found = outward(end, direction)
    text = json.dumps(found) if not isinstance(found, OutwardFloat) else found.text
    assert text_of(found) == text
    assert float(text) == found == to_float(end, direction)
    assert json.loads(text, parse_float=str, parse_int=str) == text
    exact = Fraction(text)
    assert exact <= end if direction == "down" else exact >= end
    digits = text.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    assert len(digits) <= 18
    if isinstance(found, OutwardFloat):  # only where the shortest decimal will not do
        shortest = Fraction(repr(float(found)))
        assert shortest > end if direction == "down" else shortest < end


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "end", [*CORNERS, *(float(corner) for corner in CORNERS)], ids=lambda end: f"{float(end):.17g}"
)
def test_corners(end, sign):
    for direction in ("down", "up"):
        check(sign * end, direction)


@settings(max_examples=50)
@given(FRACTIONS.filter(lambda end: abs(end) <= sys.float_info.max), st.sampled_from(["down", "up"]))
def test_any_end(end, direction):
    check(end, direction)


@settings(max_examples=100)
@given(DOUBLES, st.sampled_from(["down", "up"]))
@example(9.007199254740993e15, "up")
def test_any_double_as_the_end_itself(end, direction):
    check(end, direction)


def test_what_needs_no_other_decimal_is_a_plain_float():
    for end, direction in ((Fraction(1, 2), "up"), (Fraction(1, 10), "up"), (Fraction(3), "down"), (0.0, "down")):
        assert type(outward(end, direction)) is float
    assert outward(math.inf, "up") == math.inf
    assert outward(Fraction(10) ** 400, "up") == math.inf


def test_a_double_is_copied_with_its_decimal():
    end = outward(0.1, "up")
    for again in (copy.copy(end), copy.deepcopy([end])[0]):
        assert (again, again.text) == (0.1, "0.10000000000000001")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | DOUBLES | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
HELD = st.lists(st.builds(outward, DOUBLES, st.sampled_from(["down", "up"])), max_size=3)


@settings(max_examples=20)
@given(PLAIN, HELD, st.integers(0, 4))
def test_a_document_is_written_as_json_writes_it_but_for_the_decimals_of_ends(document, ends, indent):
    whole = {"document": document, "ends": ends, "deep": [{"end": end, "tuple": (end,)} for end in ends]}
    text = json_text(whole, indent)
    for name in (text_of(end) for end in ends if isinstance(end, OutwardFloat)):
        assert text.count(name) >= 3
    plain = json.dumps(whole, indent=indent, allow_nan=False)
    assert json.loads(text) == json.loads(plain)
    shortest = {text_of(end): repr(float(end)) for end in ends}
    lines = zip(text.split("\n"), plain.split("\n"), strict=True)
    assert all(one == other or one.replace(*_differing(one, shortest)) == other for one, other in lines)


def _differing(line, shortest):
    """The decimal of an end in a line, and the one that it stands for."""
    return next((long, short) for long, short in shortest.items() if long in line)


def test_not_a_number_is_no_json():
    for document in ({"a": math.nan}, {"a": math.inf, "b": outward(0.1, "up")}):
        with pytest.raises(ValueError, match="JSON compliant"):
            json_text(document, 2)
