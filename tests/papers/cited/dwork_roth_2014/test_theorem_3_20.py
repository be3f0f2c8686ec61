"""Dwork & Roth, Theorem 3.20: against the accountant's own and the exact composition."""

import pytest

from dpbounds.privacy.notions.composition_theorems import EpsilonDelta, advanced_epsilon
from dpbounds.privacy.notions.optimal_composition import optimal_delta
from tests.papers.twins import evaluated

evaluate = evaluated("cited/dwork-roth-2014/theorem-3.20")


@pytest.mark.parametrize(("steps", "step"), [(1, "0.5"), (100, "0.1"), (10_000, "0.01"), (50, 1)])
@pytest.mark.parametrize("slack", ["1e-6", "0.2"])
def test_it_is_the_accountants_and_above_the_exact_composition(steps, step, slack):
    promised = evaluate("epsilon", T=steps, epsilon_0=step, delta=slack).value
    own = advanced_epsilon(((EpsilonDelta(step, 0), steps),), slack, "classical")
    assert promised.overlaps(own)
    exact = optimal_delta(((EpsilonDelta(step, 0), steps),), promised.exact_upper)
    assert exact.upper <= float(slack)


def test_failures_add_up():
    found = evaluate("delta", T=100, step_delta="1e-8", delta="1e-6").value
    assert found.lower == pytest.approx(2e-6)
    promised = evaluate("epsilon", T=100, epsilon_0="0.1", delta="1e-6").value
    assert optimal_delta(((EpsilonDelta("0.1", "1e-8"), 100),), promised.exact_upper).upper <= found.upper
