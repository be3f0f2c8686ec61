"""Equation (6): against a volume computed by integration, and the accountant."""

import pytest
from mpmath import mpf, quad, workdps

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

STATEMENT = theorem("tholeti-kalyani-2020/equation-6")
evaluate = evaluated("tholeti-kalyani-2020/equation-6")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("distance", ["0.1", "1", "1.5"])
def test_it_is_the_volume_outside_of_the_overlap(dimension, distance):
    with workdps(40):
        half = mpf(distance) / 2

        def slice_of(x):
            return (1 - x**2) ** (mpf(dimension - 1) / 2)

        overlap = 2 * quad(slice_of, [half, 1])  # two caps
        ball = 2 * quad(slice_of, [0, half, 1])
        value = evaluate(Delta_g=distance, r_u=1, d=dimension).value
        assert value.lower == pytest.approx(float(1 - overlap / ball), rel=1e-12)


def test_what_is_spent_is_the_formula_at_every_epsilon():
    values = {"distance": 1, "radius": 1, "dimension": 3}
    found = spending(STATEMENT, {**values, "delta": "0.6875"})
    assert found.spent.overlaps(evaluate(**values).value)
    assert spending(STATEMENT, {**values, "delta": "0.6876"}).kept is True
    assert spending(STATEMENT, {**values, "delta": "0.6874"}).kept is False


def test_beyond_the_printed_range_the_balls_do_not_meet():
    for distance in (2, 7):
        assert evaluate(Delta_g=distance, r_u=1, d=5).value.lower == 1
