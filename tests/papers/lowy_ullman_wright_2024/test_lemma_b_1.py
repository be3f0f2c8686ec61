"""Lemma B.1, a second time, and against the certified accountant."""

import pytest
from mpmath import expm1, ln, sqrt

from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import ApproximateDP
from dpbounds.theorems.registry import theorem

TWINS = {
    "epsilon": lambda step_epsilon, steps, slack: (
        step_epsilon * (sqrt(-2 * steps * ln(slack)) + steps * expm1(step_epsilon))
    ),
    "delta": lambda steps, delta, slack: slack + delta * steps,
}


@pytest.mark.parametrize("steps", [1, 30])
def test_the_optimal_composition_spends_no_more(steps):
    statement = theorem("lowy-ullman-wright-2024/lemma-b.1")
    values = {"step_epsilon": "0.1", "steps": steps, "slack": "1e-5"}
    promised = statement.evaluate("epsilon", **values).value
    total = statement.evaluate("delta", steps=steps, delta="1e-7", slack="1e-5").value
    spent = epsilon(
        ApproximateDP("0.1", "1e-7", relation="replace-one") ** steps, total.exact_upper, relation="replace-one"
    )
    assert spent.upper <= promised.upper
    assert steps == 1 or spent.lower > 0.5 * promised.lower
