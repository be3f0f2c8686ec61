"""Theorem 5.9: the bound with constants beside it."""

import pytest

from dpbounds.theorems.registry import theorem


@pytest.mark.parametrize(("coins", "flips"), [(16, 100), (2**40, 10**4)])
def test_the_constant(coins, flips):
    values = {"candidates": coins, "n": flips}
    stated, proved = (
        theorem(f"ganesh-liu-oh-thakurta-2023/{name}").evaluate(**values).value.lower
        for name in ("theorem-5.9", "theorem-5.9/explicit")
    )
    assert proved / stated == pytest.approx(3**0.5 / 16)
