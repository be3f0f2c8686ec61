"""Lemma 3.5: its chain breaks in the middle, its ends hold.

With constants: against a quadratic, and where it is attained.
"""

import numpy as np

from tests.papers.reference_formulas import evaluated


def test_the_printed_chain_breaks_in_its_middle():
    # γ = M = 1, |∇F| = 1, the estimate shorter by γ/4
    estimate = 0.75
    assert -(estimate**2) / 6 > -1 / 6
    change = -(1 - 0.25**2) / 2  # what smoothness gives
    assert change <= -1 / 6
    assert change <= -(estimate**2) / 6


def test_both_ends_hold_with_their_best_constants():
    worst = [np.inf, np.inf]
    for gradient in (1.0, 1.3, 4.0):
        for error in np.linspace(0, 0.25, 11):
            for angle in np.linspace(0, np.pi, 13):
                estimate = np.hypot(gradient + error * np.cos(angle), error * np.sin(angle))
                fall = (gradient**2 - error**2) / 2
                worst = [min(worst[0], fall / estimate**2), min(worst[1], fall)]
    assert abs(worst[0] - 3 / 10) < 1e-12
    assert abs(worst[1] - 15 / 32) < 1e-12


def test_quadratics_stay_below_and_attain_it():
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.5/explicit")
    generator = np.random.default_rng(4)
    curvatures = np.array([2.0, 1.0, -0.5, -2.0])  # M = 2
    for _ in range(30):
        x, error = generator.normal(size=4), generator.normal(size=4)
        gradient = curvatures * x
        after = x - (gradient + error) / 2
        change = (curvatures * (after**2 - x**2)).sum() / 2
        norms = {"estimation_error": float(np.linalg.norm(error)), "L": 2}
        first = evaluate(gradient_norm=float(np.linalg.norm(gradient)), **norms).value.upper
        second = evaluate("by-estimate", estimate_norm=float(np.linalg.norm(gradient + error)), **norms)
        assert change <= first + 1e-12
        assert change <= second.value.upper + 1e-12
    # e = 2∇F, curvature M: F = x², x = 1, g = 6, x⁺ = -2
    attained = evaluate("by-estimate", estimation_error=4, estimate_norm=6, L=2).value
    assert attained.lower == 3 == (-2) ** 2 - 1
    assert evaluate("bound", estimation_error=4, gradient_norm=2, L=2).value.lower == 3
