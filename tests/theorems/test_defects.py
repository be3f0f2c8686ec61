"""Defects of a record of a statement: each kind is found in a record that is wrong in that alone."""

import pytest
from sympy import sqrt

from dpbounds.theorems.checking import defects
from dpbounds.theorems.language import Bound, Rate, q
from tests.theorems.made import statement

RATE = sqrt(q.d) / (q.n * q.epsilon)


@pytest.mark.parametrize(
    "part",
    [
        Bound(q.G * RATE),
        Rate(RATE, hides="G"),
        Rate(RATE, hides="G", restored=q.G * RATE),
    ],
)
def test_sound_records_have_none(part):
    assert defects(statement(part)) == ()


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (Bound(q.G * RATE, increasing_in="n"), "not increasing in dataset_size"),
        (Bound(q.G * RATE, decreasing_in="d"), "not decreasing in dimension"),
        (Bound(q.G**2 * RATE), "scales with exponent 2, expected 1"),
        (Rate(RATE, hides="G", restored=2 * q.G * RATE), "the restored formula differs from the printed one"),
        (Rate(RATE, hides="G", restored=q.G**2 * RATE), "scales with exponent 2, expected 1"),
    ],
)
def test_a_wrong_record_has_one(part, found):
    said = defects(statement(part))
    assert any(found in text for text in said), said
