"""Theorem 7: no constant serves the printed range."""

import pytest

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending

STATEMENT = theorem("wang-chen-xu-2019/theorem-7")


@pytest.mark.parametrize("constant", [8, 40])
@pytest.mark.parametrize("share", [2, 100])
def test_no_constant_serves_the_printed_range(constant, share):
    # the iterates of linear losses are a composed Gaussian, μ = 2ε/√(c ln(1/δ)); ε = T/share is below c₁T
    epsilon = 12 * constant
    far = {"epsilon": epsilon, "delta": "1e-5", "steps": share * epsilon, "noise_constant": constant}
    assert spending(STATEMENT, far).kept is False
    near = {"epsilon": 1, "delta": "0.9999", "steps": 10 * share, "noise_constant": constant}
    assert spending(STATEMENT, near).kept is False
