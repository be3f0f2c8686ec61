"""Lemma 6.2."""

import pytest
from mpmath import ln, mpf, sqrt

from tests.papers.reference_formulas import evaluated


def test_for_pl_losses_it_is_the_square_of_the_noise_level_times_the_condition_number():
    values = {"G": 3, "L": 5, "k": 2, "Delta_F": "0.2", "n": 1000, "d": 10}
    mu = mpf("0.4")
    gamma = 1 / sqrt(2 * mu)
    found = evaluated("lowy-ullman-wright-2024/lemma-6.2")(
        "rate", **values, gamma=float(gamma), epsilon=1, delta="0.01"
    )
    level = 3 * sqrt(10 * ln(100)) / 1000
    assert found.value.lower == pytest.approx(float(level**2 / (2 * mu) * (1 + 5 / (2 * mu))))
