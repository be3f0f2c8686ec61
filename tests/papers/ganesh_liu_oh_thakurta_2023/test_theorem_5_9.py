"""Theorem 5.9, a second time from the text, and the bound with constants beside it."""

import pytest
from mpmath import ln, sqrt

from dpbounds.theorems.registry import theorem

TWINS = {"rate": lambda candidates, dataset_size: sqrt(ln(candidates)) / sqrt(dataset_size)}


@pytest.mark.parametrize(("coins", "flips"), [(16, 100), (2**40, 10**4)])
def test_the_constant(coins, flips):
    values = {"candidates": coins, "n": flips}
    stated, proved = (
        theorem(f"ganesh-liu-oh-thakurta-2023/{name}").evaluate(**values).value.lower
        for name in ("theorem-5.9", "theorem-5.9/explicit")
    )
    assert proved / stated == pytest.approx(3**0.5 / 16)
