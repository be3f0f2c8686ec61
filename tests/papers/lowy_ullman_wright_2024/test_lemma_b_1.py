"""Lemma B.1: against the certified accountant."""

import pytest

from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import ApproximateDP
from tests.papers.reference_formulas import evaluated


@pytest.mark.parametrize("steps", [1, 30])
def test_the_optimal_composition_spends_no_more(steps):
    evaluate = evaluated("lowy-ullman-wright-2024/lemma-b.1")
    values = {"epsilon_0": "0.1", "T": steps, "slack": "1e-5"}
    promised = evaluate("epsilon", **values).value
    total = evaluate("delta", T=steps, delta="1e-7", slack="1e-5").value
    spent = epsilon(
        ApproximateDP("0.1", "1e-7", relation="replace-one") ** steps, total.exact_upper, relation="replace-one"
    )
    assert spent.upper <= promised.upper
    assert steps == 1 or spent.lower > 0.5 * promised.lower
