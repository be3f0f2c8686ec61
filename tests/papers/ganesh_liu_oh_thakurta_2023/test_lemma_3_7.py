"""Lemma 3.7."""

from dpbounds.theorems.registry import theorem


def test_the_second_form_follows_with_the_steps_of_algorithm_1():
    statement = theorem("ganesh-liu-oh-thakurta-2023/lemma-3.7")
    values = {"loss_range": 2, "smoothness": 3, "drift_threshold": "0.01"}
    plain = statement.evaluate("rate", **values).value.lower
    for fourth_power in (1, 16, 256):  # T = B M log⁴/γ²
        steps = 600 * fourth_power
        summed = statement.evaluate("with-steps", steps=steps, gradient_accuracy="0.1", **values).value.upper
        assert plain * fourth_power < summed <= 2 * plain * fourth_power * 1.0001
