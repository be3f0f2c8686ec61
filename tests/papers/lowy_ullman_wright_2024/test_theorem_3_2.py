"""Theorem 3.2: its two-line proof."""

import sympy
from mpmath import ln, mpf, sqrt

from dpbounds.expressions.symbols import excess_risk, initial_gap
from dpbounds.papers.lowy_ullman_wright_2024 import lemma_3_1, theorem_3_2
from tests.papers.reference_formulas import evaluated


def test_it_is_the_lemma_with_the_warm_gap():
    difference = lemma_3_1.rate.subs(initial_gap, excess_risk) - theorem_3_2.rate
    assert sympy.simplify(sympy.powdenest(difference, force=True)) == 0


def test_the_bad_event_costs_no_more_than_the_first_term():
    evaluate = evaluated("lowy-ullman-wright-2024/theorem-3.2")
    values = {"G": 3, "L": 1, "psi": "1e-9", "n": 1000, "d": 10, "epsilon": "0.5"}
    worst = 10**0.5 / 500
    for failure, holds in (("0.36", True), ("0.9", False)):
        found = evaluate("rate", delta=failure, zeta="0.006", **values)
        assert found.applies is holds
        first = 3 * float(sqrt(10 * ln(1 / mpf(failure)))) / 500
        assert (3 * worst <= first) is holds
    assert evaluate("rate", delta="0.1", zeta="0.007", **values).applies is False
