"""What the lattice expects of δ decides how long it takes, never what it proves."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpbounds.privacy.lattice import bounds, delta_bounds
from dpbounds.privacy.pairs import Draws, Order, Product, Sampled, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.proofs import Declined

SEVERAL: Product = ((Sampled(Order.REPLACE, Draws(Fraction(1, 50), 5), ShiftedGaussians(Fraction(1, 16))), 40),)
ONE: Product = ((SampledGaussians(Order.REMOVE, Fraction(1, 10), Fraction(4)), 40),)


@pytest.mark.parametrize("product", [SEVERAL, ONE])
@pytest.mark.parametrize("wrong_by", [-6.0, -2.0, 2.0, 6.0])
def test_a_wrong_expectation_costs_attempts_only(
    product: Product, wrong_by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = delta_bounds(product, Fraction(1), tolerance=1e-3)
    expected = math.log(truth.enclosure.upper)
    monkeypatch.setattr(bounds, "_expected_log_delta", lambda *_: min(expected + wrong_by, -1e-3))
    found = delta_bounds(product, Fraction(1), tolerance=1e-3)
    assert found.enclosure.overlaps(truth.enclosure)
    assert found.parameters["attempts"] <= 4
    # what is moved to infinity follows δ once: neither too much of it, nor so little that cells are wasted
    assert 1e-5 < found.error_budget["moved to infinity"] < 1e-3


def test_a_delta_that_the_precision_hides_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "log_of", lambda _: -math.inf)
    with pytest.raises(Declined, match="precision"):
        delta_bounds(ONE, Fraction(1), tolerance=1e-3)
