"""Lemma 3.7."""

from tests.papers.twins import evaluated


def test_the_second_form_follows_with_the_steps_of_algorithm_1():
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-3.7")
    values = {"B": 2, "L": 3, "kappa": "0.01"}
    plain = evaluate("rate", **values).value.lower
    for fourth_power in (1, 16, 256):  # T = B M log⁴/γ²
        steps = 600 * fourth_power
        summed = evaluate("with-steps", T=steps, gradient_accuracy="0.1", **values).value.upper
        assert plain * fourth_power < summed <= 2 * plain * fourth_power * 1.0001
