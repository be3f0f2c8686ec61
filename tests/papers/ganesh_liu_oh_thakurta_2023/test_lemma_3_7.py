"""Lemma 3.7. With constants: against runs along a ramp."""

import numpy as np

from tests.papers.reference_formulas import evaluated


def test_the_second_form_follows_with_the_steps_of_algorithm_1():
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.7")
    values = {"B": 2, "L": 3, "kappa": "0.01"}
    plain = evaluate("rate", **values).value.lower
    for fourth_power in (1, 16, 256):  # T = B M log⁴/γ²
        steps = 600 * fourth_power
        summed = evaluate("with-steps", T=steps, gradient_accuracy="0.1", **values).value.upper
        assert plain * fourth_power < summed <= 2 * plain * fourth_power * 1.0001


def test_runs_ask_no_more_often():
    # F = softplus-like ramp of slope 1 that ends after length 40; M = 1
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.7/explicit")
    generator = np.random.default_rng(6)
    for size in (0.0, 0.2, 1.0):
        x, drift, fresh, errors = 40.0, np.inf, 0, 0.0
        for _ in range(200):
            if drift >= 3.0:
                fresh, drift = fresh + 1, 0.0
            error = size * generator.uniform(-1, 1)
            estimate = np.clip(x, 0, 1) + error  # F' of x²/2 up to 1, then linear: 1-smooth, F(40) = 39.5
            x, drift, errors = x - estimate, drift + estimate**2, errors + error**2
        bound = evaluate("by-sum", B="39.5", L=1, kappa=3, squared_errors=errors)
        assert fresh <= bound.value.upper
        assert fresh >= 0.1 * bound.value.lower
