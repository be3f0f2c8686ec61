"""Theorem 5.11: its first term exceeds the largest possible risk; group privacy on average."""

import numpy as np
import pytest
from mpmath import ln, mpf
from scipy.stats import binom


def test_it_exceeds_the_largest_possible_risk():
    size = 10**8
    dimension = int(ln(size) ** 2)
    level = mpf(size) / 100 * ln(2)  # δ = 2^{-n/100}
    assert dimension * level / size > 2  # GD on the unit ball


def test_group_privacy_averaged_over_the_number_of_records():
    size, share, epsilon = 40, 0.07, 0.8
    counts = np.arange(size + 1)
    mean = binom.pmf(counts, size, share) @ np.exp(epsilon * counts)
    assert mean == pytest.approx((1 + share * np.expm1(epsilon)) ** size)
    assert mean <= np.exp(size * share * np.expm1(epsilon))
