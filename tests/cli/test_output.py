import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbounds.cli import output
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.proofs import Proof

FRACTIONS = st.fractions(min_value=Fraction(1, 10**320), max_value=10**6, max_denominator=10**330)


@pytest.mark.parametrize("text", ["0.01", "1e-06", "3", "1000000", "1/3", "0.123456789012", "12345.5", "1/7"])
def test_a_number_is_shown_as_it_was_typed(text):
    assert output.plain(exact(text)) == text


def test_a_long_number_says_that_it_is_shortened():
    shown = output.plain(Fraction(math.pi))
    assert shown == "about 3.14159265358"


@given(FRACTIONS)
def test_json_numbers_round_in_their_direction(number):
    lower, upper = output.json_number(number, "down"), output.json_number(number, "up")
    assert exact(lower) <= number <= exact(upper)
    small = number < Fraction(1, 10**300)
    assert isinstance(lower, str) == small
    assert isinstance(upper, str) == small


@given(FRACTIONS, FRACTIONS, st.integers(1, 40))
def test_json_ends_contain_the_enclosure_and_survive_json(first, second, digits):
    enclosure = Enclosure(min(first, second), max(first, second))
    ends = json.loads(json.dumps(output.json_ends(enclosure, digits)))
    assert exact(ends["lower"]) <= enclosure.exact_lower
    assert enclosure.exact_upper <= exact(ends["upper"])
    if digits > 15:
        assert isinstance(ends["upper"], str)
        assert len(ends["upper"].split("e")[0].split("E")[0].replace(".", "").lstrip("0")) <= digits


def test_json_never_holds_infinity():
    ends = output.json_ends(Enclosure(Fraction(1), math.inf))
    assert ends == {"lower": 1.0, "upper": "inf"}
    huge = output.json_number(Fraction(10) ** 400 + 1, "up")
    assert isinstance(huge, str)
    assert exact(huge) > 10**400


def test_given_numbers_come_back_as_the_nearest_double():
    assert output.json_given(exact("1e-5")) == 1e-5
    assert output.json_given(exact("0.1")) == 0.1
    assert output.json_given(None) is None
    assert isinstance(output.json_given(exact("1e-400")), str)


@given(FRACTIONS, FRACTIONS, st.integers(1, 30))
def test_the_shown_value_is_never_below_the_upper_end(first, second, digits):
    enclosure = Enclosure(min(first, second), max(first, second))
    assert exact(output.shown(enclosure, digits).split()[0]) >= enclosure.exact_upper


def test_an_exact_zero_is_shown_as_such():
    assert output.shown(Enclosure.exactly(0)) == "0  (proven, exact)"


def test_proofs_become_plain_data():
    proof = Proof(
        Enclosure(Fraction(1), Fraction(2), "lattice", 0),
        "lattice",
        {"cells": 7, "spacing": Fraction(1, 3), "nodes": ({"a": math.inf},), "odd": object},
        {"rounding": 0.5},
    )
    (entry,) = output.explained([("remove", proof)], "dominates")
    assert json.loads(json.dumps(entry, allow_nan=False))["parameters"]["nodes"] == [{"a": "inf"}]
    assert entry["error_budget"] == {"rounding": 0.5}
