"""Theorem A.3: against the accountant's own composition."""

from fractions import Fraction

from dpbounds.privacy.mechanisms import ZCDP, Gaussian
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.reference_formulas import evaluated


def test_the_accountant_adds_budgets():
    together = ZCDP("0.02", relation="replace-one") ** 7
    stated = evaluated("ganesh-liu-oh-thakurta-2023/theorem-a.3")("total", rho="0.02", T=7).value
    assert zcdp_rho(together, Relation.REPLACE_ONE) == Fraction(7, 50)
    assert Fraction(stated.exact_lower) <= Fraction(7, 50) <= Fraction(stated.exact_upper)


def test_gaussian_noise_attains_it():
    one, many = Gaussian(5), Gaussian(5) ** 9
    assert zcdp_rho(many, Relation.REPLACE_ONE) == 9 * zcdp_rho(one, Relation.REPLACE_ONE)
