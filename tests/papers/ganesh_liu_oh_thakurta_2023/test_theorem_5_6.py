"""Theorem 5.6: the logarithm that its statement in the introduction lacks."""

import pytest
from mpmath import ln, mpf, sqrt

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.6")


def test_the_introduction_lacks_a_logarithm():
    ratios = []
    for n in (10**4, 10**40, 10**400):
        stated = evaluate("rate", n=n, d=3, G=1, D=1, epsilon="0.3", delta="1e-5").value.lower
        ratios.append(stated / float(3 * sqrt(-ln(mpf("1e-5"))) / (mpf("0.3") * ln(3 * mpf(n)))))
    assert ratios == pytest.approx([float(ln(ln(mpf(n)))) for n in (10**4, 10**40, 10**400)])
