"""Dwork & Roth, Theorem 3.16: against the accountant's own."""

from fractions import Fraction

from dpbounds.privacy.notions.composition_theorems import EpsilonDelta, basic
from dpbounds.privacy.notions.optimal_composition import optimal_delta
from tests.papers.twins import evaluated

evaluate = evaluated("cited/dwork-roth-2014/theorem-3.16")


def test_it_is_the_accountants_basic_composition():
    values = {"steps": 7, "step_epsilon": "0.3", "step_delta": "1e-3"}
    total = basic(((EpsilonDelta("0.3", "1e-3"), 7),))
    assert evaluate("epsilon", T=7, epsilon_0="0.3").value.contains(total.epsilon)
    found = evaluate("delta", T=values["steps"], step_delta=values["step_delta"]).value
    assert found.contains(total.delta)


def test_the_optimal_composition_leaks_no_more_and_nearly_as_much():
    least = optimal_delta(((EpsilonDelta("0.3", "1e-3"), 7),), Fraction(21, 10))
    assert 0.99 * 7e-3 < least.lower <= least.upper <= 7e-3
