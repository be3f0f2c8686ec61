"""Theorem 5.7: its count changes with the unit of the loss."""

import pytest
from mpmath import ln, mpf, sqrt

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.7")


def printed_count(size, dimension, epsilon, delta, span):
    return size * epsilon**3 * ln(dimension) ** 3 * sqrt(-ln(delta)) / span


def rounds(size, dimension, epsilon, delta, span, start):
    """The proof's T, all constants 1: C/η ln(start/δ²) with C = nD² and η = 1/(β²G² ln(2T/δ)), ln(1/δ) for the last."""
    hot = epsilon * ln(size * dimension) / sqrt(-ln(delta))  # βGD
    del span  # of the loss: β is in units of 1/(GD), and T does not know of it
    return size * hot**2 * -ln(delta) * (start(hot) - 2 * ln(delta))


def test_the_printed_count_changes_with_the_unit_of_the_loss():
    n, d, epsilon, delta = mpf(10) ** 4, mpf(10), mpf("0.4"), mpf("1e-5")
    ratios = [
        rounds(n, d, epsilon, delta, span, ln) / printed_count(n, d, epsilon, delta, span)
        for span in (mpf(1), mpf(10) ** 6, mpf(10) ** 12)
    ]
    assert ratios[1] == pytest.approx(1e6 * ratios[0])
    assert printed_count(n, d, epsilon, delta, mpf(10) ** 12) < mpf("0.01")  # no data at all are looked at, on average
    values = {"n": 10**4, "d": 10, "epsilon": "0.4", "delta": "1e-5", "G": 10**12, "D": 1}
    relative = evaluate("rate", **values).value.lower / 1e12
    huge = evaluate("rate", **{**values, "n": 10**400, "d": 1}).value.lower / 1e12
    assert relative > 1 > huge  # and yet the risk would be small against GD
