"""Theorem 2: the exponents of its discretisation term."""

from mpmath import exp, ln, mpf

from tests.papers.reference_formulas import Point, evaluated
from tests.papers.wang_chen_xu_2019.reference_formulas import theorem_2_mixing


def test_the_limit_bounds_the_mixing_term():
    # e^a exp(-x e^-a) <= e^(2a)/x: the limit for many steps, with twice the κ
    for beta, records in ((3, 50), (10, 10**4), (30, 10**9)):
        values = {"growth_rate": mpf(1) / 2, "beta": beta, "n": records, "epsilon": mpf(1) / 3, "delta": mpf(10) ** -5}
        first = theorem_2_mixing(Point(values))
        second = exp(mpf(beta)) * beta * ln(mpf(10) ** 5) / (records / mpf(3)) ** 2
        assert first <= second


def test_its_conditions():
    values = {"growth_rate": "0.1", "beta": 30, "n": 1000, "epsilon": 1, "delta": "1e-5", "d": 20}
    found = evaluated("wang-chen-xu-2019/theorem-2")("empirical", T=10**6, regularisation="0.2", L=1, G=1, **values)
    assert found.applies is True
    colder = evaluated("wang-chen-xu-2019/theorem-2")("empirical", T=10**6, regularisation="0.1", L=1, G=1, **values)
    assert colder.applies is False
