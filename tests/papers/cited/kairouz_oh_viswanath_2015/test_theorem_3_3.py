"""Kairouz, Oh & Viswanath, Theorem 3.3: the sum as printed, against tails of binomials and the accountant."""

from fractions import Fraction

import pytest
from mpmath import exp, loggamma, mp, mpf

from dpbounds.privacy.notions.composition_theorems import EpsilonDelta
from dpbounds.privacy.notions.optimal_composition import optimal_delta
from dpbounds.theorems.registry import theorem


def pure_delta(steps, flips, step_epsilon):
    """The printed sum, outwards from its largest term until nothing changes."""
    k, i = int(steps), int(flips)

    def term(number):
        choose = exp(loggamma(k + 1) - loggamma(number + 1) - loggamma(k - number + 1))
        weights = exp((k - number) * step_epsilon) - exp((k - 2 * i + number) * step_epsilon)
        return choose * weights / (1 + exp(step_epsilon)) ** k

    middle = min(i - 1, k // (1 + int(exp(min(step_epsilon, mpf(50))))))
    total = mpf(0)
    for numbers in (range(middle, -1, -1), range(middle + 1, i)):
        for number in numbers:
            one = term(number)
            total += one
            if one < total * mpf(10) ** -mp.dps:
                break
    return total


TWINS = {
    "epsilon": lambda steps, flips, step_epsilon: steps * step_epsilon - 2 * flips * step_epsilon,
    "pure-delta": pure_delta,
    "delta": lambda steps, flips, step_epsilon, step_delta: (
        1 - (1 - step_delta) ** steps + (1 - step_delta) ** steps * pure_delta(steps, flips, step_epsilon)
    ),
}

STATEMENT = theorem("cited/kairouz-oh-viswanath-2015/theorem-3.3")


@pytest.mark.parametrize(("steps", "step", "failure"), [(2, "0.1", "0"), (9, "0.5", "1e-3"), (60, "0.2", "1e-6")])
def test_it_is_the_accountants_optimal_composition(steps, step, failure):
    for flips in range(steps // 2 + 1):
        values = {"steps": steps, "flips": flips, "step_epsilon": step}
        target = (steps - 2 * flips) * Fraction(step)
        found = STATEMENT.evaluate("delta", **values, step_delta=failure).value
        exact = optimal_delta(((EpsilonDelta(step, failure), steps),), target)
        assert float(exact.upper) == pytest.approx(found.upper, rel=1e-10, abs=1e-300)


def test_no_flips_are_basic_composition_without_its_loss():
    found = STATEMENT.evaluate("delta", steps=7, flips=0, step_epsilon=1, step_delta="1e-3").value
    assert found.contains(1 - (1 - Fraction(1, 1000)) ** 7)


def test_more_flips_than_half_are_reported():
    assert STATEMENT.evaluate("epsilon", steps=3, flips=2, step_epsilon=1).applies is False
