"""Lemma A.4: the certified conversion is never worse."""

from fractions import Fraction

import pytest

from dpbounds.privacy.accountants.certified import epsilon as certified
from dpbounds.privacy.mechanisms import ZCDP
from tests.papers.reference_formulas import evaluated


@pytest.mark.parametrize("rho", ["0.01", "0.5", "4"])
def test_the_certified_conversion_is_never_worse(rho):
    stated = evaluated("ganesh-liu-oh-thakurta-2023/lemma-a.4")("epsilon", rho=rho, delta="1e-5").value
    found = certified(ZCDP(rho, relation="replace-one"), "1e-5", relation="replace-one")
    assert Fraction(found.exact_upper) <= Fraction(stated.exact_upper)
