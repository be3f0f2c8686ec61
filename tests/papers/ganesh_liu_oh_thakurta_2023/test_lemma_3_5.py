"""Lemma 3.5 with constants: quadratics stay below it, and one attains it."""

import numpy as np

from tests.papers.reference_formulas import evaluated


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
