"""Lemma B.1: against the certified accountant."""

import pytest

from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import ApproximateDP
from dpbounds.theorems.registry import theorem


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
