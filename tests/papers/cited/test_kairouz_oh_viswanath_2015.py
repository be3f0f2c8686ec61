"""Kairouz, Oh & Viswanath, Theorem 3.3: the sum as printed, against tails of binomials and the accountant."""

from fractions import Fraction

import pytest

from dpbounds.privacy.notions.composition_theorems import EpsilonDelta
from dpbounds.privacy.notions.optimal_composition import optimal_delta
from tests.papers.reference_formulas import evaluated

evaluate = evaluated("cited/kairouz-oh-viswanath-2015/theorem-3.3")


@pytest.mark.parametrize(("steps", "step", "failure"), [(2, "0.1", "0"), (9, "0.5", "1e-3"), (60, "0.2", "1e-6")])
def test_it_is_the_accountants_optimal_composition(steps, step, failure):
    for flips in range(steps // 2 + 1):
        values = {"T": steps, "flips": flips, "epsilon_0": step}
        target = (steps - 2 * flips) * Fraction(step)
        found = evaluate("delta", **values, step_delta=failure).value
        exact = optimal_delta(((EpsilonDelta(step, failure), steps),), target)
        assert float(exact.upper) == pytest.approx(found.upper, rel=1e-10, abs=1e-300)


def test_no_flips_are_basic_composition_without_its_loss():
    found = evaluate("delta", T=7, flips=0, epsilon_0=1, step_delta="1e-3").value
    assert found.contains(1 - (1 - Fraction(1, 1000)) ** 7)
