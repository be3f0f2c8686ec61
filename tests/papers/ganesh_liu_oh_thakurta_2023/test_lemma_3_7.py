"""Lemma 3.7, a second time from the text."""

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda loss_range, smoothness, drift_threshold: loss_range / smoothness / drift_threshold,
    "with-steps": lambda loss_range, smoothness, drift_threshold, steps, gradient_accuracy: (
        (loss_range / smoothness + steps * (gradient_accuracy / smoothness) ** 2) / drift_threshold
    ),
}


def test_the_second_form_follows_with_the_steps_of_algorithm_1():
    statement = theorem("ganesh-liu-oh-thakurta-2023/lemma-3.7")
    values = {"loss_range": 2, "smoothness": 3, "drift_threshold": "0.01"}
    plain = statement.evaluate("rate", **values).value.lower
    for fourth_power in (1, 16, 256):  # T = B M log⁴/γ²
        steps = 600 * fourth_power
        summed = statement.evaluate("with-steps", steps=steps, gradient_accuracy="0.1", **values).value.upper
        assert plain * fourth_power < summed <= 2 * plain * fourth_power * 1.0001
