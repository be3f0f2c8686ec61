"""Lemma A.4: both conversions against exact laws."""

from fractions import Fraction

import pytest
from mpmath import exp, log, mpf

from dpbounds.privacy.accountants.certified import epsilon as certified
from dpbounds.privacy.mechanisms import ZCDP
from tests.papers.reference_formulas import evaluated, reference_of

twin = reference_of("ganesh-liu-oh-thakurta-2023/lemma-a.4")


@pytest.mark.parametrize("rho", ["0.01", "0.5", "4"])
def test_the_certified_conversion_is_never_worse(rho):
    stated = evaluated("ganesh-liu-oh-thakurta-2023/lemma-a.4")("epsilon", rho=rho, delta="1e-5").value
    found = certified(ZCDP(rho, relation="replace-one"), "1e-5", relation="replace-one")
    assert Fraction(found.exact_upper) <= Fraction(stated.exact_upper)


@pytest.mark.parametrize("epsilon", [mpf("0.1"), mpf(1), mpf(5)])
def test_randomised_response_keeps_its_square_budget(epsilon):
    high, low = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))  # the worst pure mechanism
    for order in (mpf("1.01"), mpf(2), mpf(7), mpf(60)):
        divergence = log(high**order * low ** (1 - order) + low**order * high ** (1 - order)) / (order - 1)
        assert divergence <= order * twin("rho", epsilon=epsilon)
