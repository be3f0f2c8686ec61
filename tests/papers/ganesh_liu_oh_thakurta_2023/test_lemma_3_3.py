"""Lemma 3.3: from the text; Lemma 2.4 where its parameters depend on the past.

With constants: against runs whose steps react to their own errors.
"""

import numpy as np
from mpmath import erfc, expm1, log, log1p, mpf, sqrt

from tests.papers.reference_formulas import evaluated


def chance_of_exceeding(constant, failure, terms):
    """A lower bound on P(|S| > c √(V log(2/ω))): d = 1, V the sum of the variances that were met.

    S = Σ s_i g_i with s_i² = 10⁸ times the variance so far, as long as |S| <= a √V, and s_i = 0 ever after. Where the
    first i - 1 sums are within, |g_i| > a (√(1 + 1e-8) + 1e-4) is enough for the next to be outside.
    """
    a = constant * sqrt(log(2 / failure))
    one = erfc(a * (sqrt(1 + mpf("1e-8")) + mpf("1e-4")) / sqrt(2))
    return -expm1(terms * log1p(-one))


def test_no_constant_serves_parameters_that_depend_on_the_past():
    for constant in (1, 3, 10):
        failure = mpf("0.1")
        tail = erfc(constant * sqrt(log(2 / failure)) * mpf("1.001") / sqrt(2))
        assert chance_of_exceeding(constant, failure, 10 / tail) > mpf("0.99") > failure
    assert chance_of_exceeding(3, mpf("0.1"), 1) < mpf("0.1")  # one term, fixed in advance: no contradiction


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
