"""Corollary 4.3: from Theorem 3.2 and equation (2); where it helps; what it spends.

With constants: the warm start enumerated on an interval, and what both halves
spend.
"""

from math import ceil, exp, sin

import pytest
import sympy
from mpmath import ln, mpf, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, diameter, dimension, epsilon, excess_risk, lipschitz
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_4_3, equation_2, theorem_3_2
from tests.papers.reference_formulas import evaluated

explicit = evaluated("lowy-ullman-wright-2024/corollary-4.3/explicit")


# they meet at A² d = 1

evaluate = evaluated("lowy-ullman-wright-2024/corollary-4.3")


def test_it_is_the_theorem_with_the_warm_start_up_to_logarithms():
    logs = sympy.log(1 / delta)
    gap = equation_2.bound / (20 * sympy.log(epsilon * dataset_size / sympy.sqrt(dimension)))
    assert sympy.simplify(gap - lipschitz * diameter * dimension / (epsilon * dataset_size)) == 0
    derived = theorem_3_2.rate.subs(excess_risk, gap)
    printed = corollary_4_3.rate
    first = lipschitz * corollary_4_3.noise_ratio
    share = sympy.powdenest(sympy.expand_power_base((derived - first) / (printed - first), force=True), force=True)
    assert sympy.simplify(share * logs ** sympy.Rational(1, 6)) == 1  # ln(1/δ) enters to the power 1/3, not 1/2


@pytest.mark.parametrize(("size", "warm"), [(500, True), (300, False)])
def test_the_warm_start_helps_in_small_dimension(size, warm):
    d, failure = 100, 1e-5  # d √ln(1/δ) = 339
    a = float(sqrt(d * ln(1 / mpf(failure))) / size)
    value = float(evaluate("combined", d=d, delta="1e-5", epsilon=1, n=size).value.lower)
    assert value == pytest.approx(a * d ** (1 / 6) if warm else a ** (2 / 3))
    assert (d * float(sqrt(ln(1e5))) < size) is warm


VALUES = {"G": 1, "D": 1, "d": 1, "n": 400, "rho": "0.5", "L": 2}


@pytest.mark.parametrize("size", [30, 400])
def test_the_warm_start_on_an_interval(size):
    """W = [0, 1], the risk sin(10 w)/10: the exact mean of the mechanism over a net of the prescribed radius."""
    budget = float(explicit("epsilon", rho="0.5").value.lower)
    count = ceil(budget * size / 2)  # intervals of twice the radius 1/(ε n)
    risk = [sin(10 * (j + 0.5) / count) / 10 for j in range(count)]
    weights = [exp(-budget * size / 2 * r) for r in risk]
    mean = sum(w * r for w, r in zip(weights, risk, strict=True)) / sum(weights) + 0.1
    promised = explicit("excess_risk", G=1, D=1, d=1, n=size, rho="0.5").value.lower
    assert 0.03 * promised < mean < promised


def test_it_is_the_theorem_with_that_risk_and_half_of_the_budget():
    psi = explicit("excess_risk", digits=40, G=1, D=1, d=1, n=400, rho="0.5").value
    theirs = evaluated("lowy-ullman-wright-2024/theorem-3.2/explicit")(
        "bound", psi=psi, G=1, L=2, d=1, n=400, rho="0.25"
    )
    assert theirs.value.overlaps(explicit("bound", **VALUES).value)


def test_the_order_of_growth():
    """d^{2/3}/n: 1000 times the records, 1000 times less up to a logarithm; DP-SPIDER alone gains a factor 100."""
    values = {"G": 1, "D": 1, "L": 1, "rho": "0.5"}
    at = [explicit("bound", d=8, n=n, **values).value.lower for n in (10**5, 10**8)]
    assert 500 < at[0] / at[1] < 1000
    wide = explicit("bound", d=64, n=10**8, **values).value.lower
    assert wide / at[1] == pytest.approx(8 ** (2 / 3), rel=0.1)
