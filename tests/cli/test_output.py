import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from dpbounds.cli.printing import output
from dpbounds.cli.verbs.evaluate import _spent
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.record import Claim
from dpbounds.theorems.spending import Spending

FRACTIONS = st.fractions(min_value=Fraction(1, 10**320), max_value=10**6, max_denominator=10**330)


@pytest.mark.parametrize("text", ["0.01", "1e-06", "3", "1000000", "1/3", "0.123456789012", "12345.5", "1/7"])
def test_a_number_is_shown_as_it_was_typed(text):
    assert output.plain(exact(text)) == text


def test_a_long_number_says_that_it_is_shortened():
    shown = output.plain(Fraction(math.pi))
    assert shown == "about 3.14159265358"


@settings(max_examples=15)
@given(FRACTIONS)
def test_json_numbers_round_in_their_direction(number):
    lower, upper = output.json_number(number, "down"), output.json_number(number, "up")
    assert exact(lower) <= number <= exact(upper)
    small = number < Fraction(1, 10**300)
    assert isinstance(lower, str) == small
    assert isinstance(upper, str) == small


@pytest.mark.seconds
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


@settings(max_examples=30)
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


# --- What is spent beside what is allowed ---

SHARE = st.fractions(0, 1, max_denominator=10**9)


@given(
    st.fractions("1e-9", 100), SHARE, st.sampled_from([1, Fraction(1, 10**5), Fraction(1, 10**14), Fraction(1, 10**50)])
)
@example(Fraction(1, 10), Fraction(0), 1)
def test_an_end_that_keeps_a_limit_is_not_rounded_beyond_it(limit, share, scale):
    upper = limit * (1 - share * scale)
    text = output.shown(Enclosure(upper * Fraction(9, 10), upper), limit=limit).split("  (")[0]
    assert text == output.plain(limit) or upper <= Fraction(text) <= limit


@given(st.fractions("1e-6", 100, max_denominator=10**6), SHARE, st.sampled_from([-1, -(10**20), 0, 1]), st.booleans())
@example(Fraction(1, 10), Fraction(1, 10**6), 1, True)
def test_a_promise_that_is_kept_is_not_contradicted_by_what_is_spent(promised, share, side, exact):
    """The text never says less than what is spent, and no number above the promise without the reason."""
    upper = max(promised * (1 + side * share * Fraction(1, 10**25)), promised / 2)
    spent = Enclosure(upper if exact else upper * Fraction(99, 100), upper)
    found = Spending(Claim.ZCDP, Relation.REPLACE_ONE, promised, spent, Gaussian(1))
    assert found.kept
    number, _, rest = _spent(found).partition("  (")[0].partition(", and at most ")
    said = promised if number == output.plain(promised) else Fraction(number)
    assert said <= promised
    assert said + Fraction(rest.removesuffix(" more") or 0) >= upper
    assert bool(rest) == (upper > promised)


def test_the_example_of_a_promise_kept_to_the_last_digit(said):
    page = str(Path(__file__).parents[2] / "docs" / "my_theorem.py")
    printed = said("evaluate", page, "--part", "spent", "n=1e4", "T=100", "rho=0.1")
    assert "spent      0.1, and at most" in printed
    assert "0.1000000001" not in printed


@pytest.mark.parametrize("upper", ["1.2", "1.00000000000001", "30"])
def test_an_end_beyond_the_limit_is_not_printed_as_the_limit(upper):
    text = output.shown(Enclosure(Fraction(9, 10), exact(upper)), limit=Fraction(1)).split("  (")[0]
    assert Fraction(text) >= exact(upper)
