"""Printed rates against what balancing gives: the exponents come out of the sums, and where they do not, it shows."""

from fractions import Fraction

import pytest
from sympy import Rational, sqrt

from dpbounds.expressions.symbols import (
    dataset_size as n,
    dimension as d,
    drift_threshold,
    epsilon,
    lipschitz,
    rank,
    smoothness,
    steps,
)
from dpbounds.rates.derivations import DERIVATIONS, corollary_by_kl_exponent
from dpbounds.rates.orders import LOGARITHMS, Order
from dpbounds.theorems.registry import theorem

BY_ID = {one.id: one for one in DERIVATIONS}
DIFFERENT = {"ganesh-liu-oh-thakurta-2023/theorem-4.6"}


@pytest.mark.parametrize("name", [name for name in BY_ID if name not in DIFFERENT])
def test_print_and_derivation_agree(name):
    assert BY_ID[name].agrees()
    assert BY_ID[name].exceeds() == ()


def test_the_population_rate_has_a_window_that_print_leaves_out():
    derivation = BY_ID["ganesh-liu-oh-thakurta-2023/theorem-4.6"]
    assert not derivation.agrees()
    (window,) = derivation.exceeds()
    # between: with x = √d/(nε) = n^p the cross term (x/√n)^(1/4) is the largest for -5/6 < p < -7/10
    derived, printed = derivation.compared()
    for power in ("-9/10", "-5/6", "-4/5", "-7/9", "-3/4", "-7/10", "-3/5"):
        p = Fraction(power)
        # d = 1: ε = n^(-1-p) would be above 1; take d = n^(2p+2), ε = 1
        from dpbounds.rates.spaces import standard

        point = (Fraction(1), 2 * p + 2, Fraction(0))
        larger = standard().value(derived, point) > standard().value(printed, point)
        assert larger == (Fraction(-5, 6) < p < Fraction(-7, 10)), power
    assert len(window) == 2


def test_what_is_chosen_is_what_is_prescribed():
    chosen = dict(BY_ID["wang-xu-2019/theorem-2"].derive().choices)[steps]
    prescribed = theorem("wang-xu-2019/theorem-2").part("steps")
    hidden = prescribed.hides
    assert chosen.without(hidden).terms == Order.of(prescribed.expression).terms
    chosen = dict(BY_ID["lowy-ullman-wright-2024/corollary-8.2"].derive().choices)[d]
    prescribed = theorem("lowy-ullman-wright-2024/corollary-8.2").part("projected_dimension")
    assert chosen.terms == Order.of(prescribed.expression).terms
    assert chosen.terms == Order.of((n * epsilon) ** Rational(6, 7)).minimum(Order.of(rank)).terms


def test_the_threshold_of_stochastic_spider():
    # κ = (G/L²) E up to a constant, whatever E is
    from dpbounds.expressions.symbols import stationarity

    chosen = dict(BY_ID["ganesh-liu-oh-thakurta-2023/theorem-4.2"].derive().choices)[drift_threshold]
    assert chosen.terms == Order.of(lipschitz * stationarity / smoothness**2).terms


@pytest.mark.parametrize("exponent", ["1", "5/4", "3/2", "2"])
def test_the_kl_corollary_at_each_exponent(exponent):
    derived, printed = corollary_by_kl_exponent(Fraction(exponent))
    assert derived.without(LOGARITHMS).terms == printed.without(LOGARITHMS).terms


def test_a_wrong_exponent_is_seen():
    derivation = BY_ID["lowy-ullman-wright-2024/corollary-8.2"]
    derived, _ = derivation.compared()
    wrong = Order.of(1 / sqrt(n)).maximum(Order.of((n * epsilon) ** Rational(-2, 7)))  # as the introduction prints it
    assert derived.terms != wrong.terms
