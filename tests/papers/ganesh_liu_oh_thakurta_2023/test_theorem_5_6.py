"""Theorem 5.6: its constant, what it spends, and two slips in print."""

import pytest
from mpmath import ln, mpf, sqrt
from sympy import exp, log, simplify, sqrt as root, symbols

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.6")


def test_the_exponential_is_a_power_of_nd():
    n, d, gradient, width, epsilon, level, c = symbols("n d G D epsilon level c", positive=True)
    beta = c * epsilon * log(n * d) / (gradient * width * root(level))
    strength = d / (width**2 * beta)
    derived = gradient**2 * exp(beta * gradient * width) / (n * strength)
    power = c * epsilon / root(level)
    right = c * gradient * width * epsilon * log(n * d) * (n * d) ** (power - 1) / root(level)
    assert simplify(log(derived / right).expand(force=True)) == 0
    printed = c * gradient * width * epsilon * log(n) * n ** (power - 1) / (d * root(level))
    point = {n: 10**6, d: 10**4, gradient: 1, width: 1, epsilon: 0.4, level: 1, c: 0.3}
    assert (derived / printed).subs(point).evalf() > 4  # more than the factor log(nd)/log(n) < 2


def test_the_introduction_lacks_a_logarithm():
    ratios = []
    for n in (10**4, 10**40, 10**400):
        stated = evaluate("rate", n=n, d=3, G=1, D=1, epsilon="0.3", delta="1e-5").value.lower
        ratios.append(stated / float(3 * sqrt(-ln(mpf("1e-5"))) / (mpf("0.3") * ln(3 * mpf(n)))))
    assert ratios == pytest.approx([float(ln(ln(mpf(n)))) for n in (10**4, 10**40, 10**400)])


def test_every_constant_up_to_three_tenths_is_private_by_the_printed_route():
    worst = mpf(0)
    for failure in (mpf("0.499999"), mpf("0.1"), mpf("1e-12")):
        level, epsilon, c = -ln(failure), mpf("0.499999"), mpf("0.3")
        for power in range(1, 400):
            product = mpf(10) ** (mpf(power) / 20)  # nd; n√d >= √(nd)
            loss = 2 * c * ln(product) * sqrt(2 + 1 / level) * product ** (c * epsilon / (2 * sqrt(level)))
            worst = max(worst, loss / sqrt(product))
    assert mpf("0.98") < worst < 1
