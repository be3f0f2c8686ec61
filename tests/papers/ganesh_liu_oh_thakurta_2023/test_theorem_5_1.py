"""Theorem 5.1: its range."""

from mpmath import exp, mpf, ncdf

from tests.papers.reference_formulas import evaluated, reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-5.1")

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.1")


def failure(shift, epsilon):
    """δ at ε of two unit Gaussians: linear losses on the line with a quadratic regulariser, C = 1."""
    return ncdf(shift / 2 - epsilon / shift) - exp(epsilon) * ncdf(-shift / 2 - epsilon / shift)


def test_two_gaussians_refute_it_without_a_range():
    shift, delta = mpf(20), mpf("0.1")
    printed = twin("epsilon", G=mpf(10), beta=mpf(1), n=mpf(1), C_LS=mpf(1), delta=delta)  # 2Gβ/n = 20
    assert failure(shift, printed) > 0.99 > delta
    found = evaluate("epsilon", G=10, beta=1, n=1, C_LS=1, delta="0.1")
    assert found.applies is False
