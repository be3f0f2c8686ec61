"""ε at δ ends at a short decimal where δ at it is proven: what was calibrated for an ε spends that ε."""

from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.rounding import rounded, short_decimal
from dpbounds.privacy.proofs import Proof


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        ("0.0999992", "0.1000009", "0.1"),
        ("7.9998", "8.0002", "8"),
        ("0.24999", "0.25001", "0.25"),
        ("119.9999", "120.0001", "120"),
        ("0.1", "0.1000001", "0.1"),
        ("0.0999999", "0.1", None),  # the end is one already
        ("0.1", "0.2", None),  # wide
        ("0.123456", "0.123457", None),
        ("0.09999999999", "0.10000000001", "0.1"),
        ("0", "0.000001", None),
    ],
)
def test_the_shortest_decimal_inside(low, high, found):
    expected = None if found is None else Fraction(found)
    assert short_decimal(Fraction(low), Fraction(high)) == expected


def proof(low, high, route="lattice"):
    return Proof(Enclosure(Fraction(low), Fraction(high), route), route)


PROOFS = [proof("0.0999992", "0.1000009"), proof("0.05", "0.06"), proof("0", "0.2", "dominated")]


def asking(value, asked):
    def ask(index, epsilon):
        asked.append((index, epsilon))
        return proof(0, value)

    return ask


def test_one_question_is_asked_about_what_ends_above():
    asked = []
    found = rounded(PROOFS, Fraction(1, 1000), asking("0.001", asked))
    assert asked == [(0, Fraction(1, 10))]
    assert found[0].enclosure.exact_upper == Fraction(1, 10)
    assert found[0].enclosure.exact_lower == PROOFS[0].enclosure.exact_lower
    assert "δ at a rounded ε" in found[0].enclosure.method
    assert found[1:] == PROOFS[1:]


def test_what_is_not_proven_there_stays():
    asked = []
    assert rounded(PROOFS, Fraction(1, 1000), asking("0.0010001", asked)) == PROOFS
    assert len(asked) == 1
    assert rounded(PROOFS[1:], Fraction(1, 1000), asking("0", asked)) == PROOFS[1:]
    assert len(asked) == 1  # nothing is near a short decimal


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("factory", "epsilon"),
    [
        (lambda z: dp.Laplace(z) ** 10, 8),
        (lambda z: dp.BallsInBins(dp.Gaussian(z), 10, 20, redraw=False), 8),
    ],
    ids=["laplace", "bins"],
)
def test_what_was_calibrated_keeps_its_budget_when_asked_again(factory, epsilon):
    found = dp.calibrate(factory, epsilon, "1e-5")
    again = dp.epsilon(factory(found.value), "1e-5")
    assert again.exact_upper <= epsilon
    assert again.exact_lower > epsilon * (1 - Fraction(1, 10**3))
