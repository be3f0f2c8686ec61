"""Lemma 5.5: its constant."""

from dpbounds.theorems.registry import theorem


def test_the_constant_is_two():
    values = {"n": 7, "lipschitz": 2, "inverse_temperature": "0.5", "diameter": 3, "regularisation": "0.1"}
    rate, transport = (
        theorem(f"ganesh-liu-oh-thakurta-2023/{name}").evaluate(part, **values).value
        for name, part in (("lemma-5.5", "rate"), ("lemma-5.5/explicit", "transport"))
    )
    assert abs(transport.lower / rate.lower - 2) < 1e-12
