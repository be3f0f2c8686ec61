"""Theorem A.6: a coin flip that refutes the factor d."""

from itertools import product

import numpy as np
import pytest
from mpmath import mpf

from tests.papers.reference_formulas import reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-a.6")


def test_one_coin_flip_exceeds_the_printed_bound():
    printed = twin("tail", d=1, deviation=mpf(1), matrix_variance=mpf(1), matrix_norm=mpf(1)) / 2
    probability = sum(abs(sign) >= 1 for sign in (1, -1)) / 2  # d = m = 1, X = ±1, t = 1
    assert float(printed) == pytest.approx(0.687, abs=1e-3)
    assert printed < probability == 1 <= 2 * printed


@pytest.mark.parametrize("threshold", [1.0, 2.0, 3.5, 5.0])
def test_small_sums_of_signed_matrices_exactly(threshold):
    generator = np.random.default_rng(3)
    matrices = generator.normal(size=(8, 3, 3))
    matrices = [(one + one.T) / np.linalg.norm(one + one.T, 2) for one in matrices]
    variance = np.linalg.norm(sum(one @ one for one in matrices), 2)
    norms = [
        np.linalg.norm(sum(sign * one for sign, one in zip(signs, matrices, strict=True)), 2)
        for signs in product((1, -1), repeat=8)
    ]
    probability = np.mean([norm >= threshold for norm in norms])
    assert probability <= twin(
        "tail", d=3, deviation=mpf(threshold), matrix_variance=mpf(float(variance)), matrix_norm=mpf(1)
    )
