"""Corollary 4.3: from Theorem 3.2 and equation (2); where it helps; what it spends."""

import pytest
import sympy
from mpmath import ln, mpf, sqrt

from dpbounds.expressions.symbols import dataset_size, delta, diameter, dimension, epsilon, excess_risk, lipschitz
from dpbounds.papers.lowy_ullman_wright_2024 import corollary_4_3, equation_2, theorem_3_2

# they meet at A² d = 1
from tests.papers.twins import evaluated

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
