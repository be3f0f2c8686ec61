"""Lemma 5.5, a second time from the text, and its constant."""

from mpmath import e

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda lipschitz, inverse_temperature, diameter, dataset_size, regularisation: (
        lipschitz * lipschitz / dataset_size * e ** (inverse_temperature * lipschitz * diameter) / regularisation
    )
}


def test_the_constant_is_two():
    values = {"n": 7, "lipschitz": 2, "inverse_temperature": "0.5", "diameter": 3, "regularisation": "0.1"}
    rate, transport = (
        theorem(f"ganesh-liu-oh-thakurta-2023/{name}").evaluate(part, **values).value
        for name, part in (("lemma-5.5", "rate"), ("lemma-5.5/explicit", "transport"))
    )
    assert abs(transport.lower / rate.lower - 2) < 1e-12
