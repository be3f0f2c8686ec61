"""Raginsky et al., Proposition 8: the order; it is what the discretisation term of Wang, Chen & Xu's Theorem 2 says."""

import pytest
from mpmath import ln, mpf, power

from tests.papers.reference_formulas import evaluated


def test_it_gives_the_discretisation_term_of_the_private_algorithm():
    """(nε)^(5/2) / (β^(3/4) T^(1/4) log(1/δ)^(5/4)), with ηT = n²ε²/(β log(1/δ))."""
    product, beta, steps, logarithm = mpf(500), mpf(20), 10**6, ln(mpf(10) ** 5)
    step = product**2 / (beta * logarithm * steps)
    found = evaluated("cited/raginsky-et-al-2017/proposition-8")(beta=20, eta=float(step), T=steps)
    printed = power(product, mpf(5) / 2) / (
        power(beta, mpf(3) / 4) * power(steps, mpf(1) / 4) * power(logarithm, mpf(5) / 4)
    )
    assert found.value.lower == pytest.approx(float(printed))
