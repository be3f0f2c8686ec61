"""Lemma 3.3 with constants: runs whose steps react to their own errors."""

import numpy as np

from tests.papers.reference_formulas import evaluated


def test_errors_of_reacting_paths_stay_below():
    # the path doubles its step whenever the error has grown: the worst that a predictable path can easily do
    generator = np.random.default_rng(5)
    dimension, threshold, first, second, cap, runs = 4, 0.3, 0.2, 1.1, 5, 400
    bound = float(
        evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.3/explicit")(
            sigma="0.2", sigma_2="1.1", kappa="0.3", d=dimension, fresh_estimates=cap, zeta="0.05"
        ).value.upper
    )
    missed, largest = 0, 0.0
    for _ in range(runs):
        worst = 0.0
        for _ in range(cap):
            error, drift, length = first * generator.normal(size=dimension), 0.0, 0.05
            worst = max(worst, np.linalg.norm(error))
            while drift + length**2 < threshold:
                drift += length**2
                before = np.linalg.norm(error)
                error = error + second * length * generator.normal(size=dimension)
                length = min(0.3, 2 * length) if np.linalg.norm(error) > before else 0.05
                worst = max(worst, np.linalg.norm(error))
        missed += worst > bound
        largest = max(largest, worst)
    assert missed <= 0.05 * runs
    assert 0.4 * bound < largest
