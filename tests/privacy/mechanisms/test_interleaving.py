"""A session of AboveThreshold with releases in between costs what ``proofs/privacy/test_interleaving.py`` plays."""

import itertools
import math

import pytest

import dpbounds as dp


@pytest.mark.parametrize(
    ("relation", "monotone", "epsilon"), [("replace-one", False, "1"), ("add-or-remove-one", True, "0.75")]
)
def test_a_session_composes_as_randomised_response(relation: str, monotone: bool, epsilon: str) -> None:
    test = dp.AboveThreshold(threshold_noise=2, query_noise=4, relation=relation, monotone=monotone)
    assert test.epsilon == dp.PureDP(epsilon, relation=relation).epsilon
    truths = [1 / (1 + math.exp(-spent)) for spent in (float(epsilon), 0.5, 0.5)]
    outcomes = list(itertools.product(*([(t, 1 - t), (1 - t, t)] for t in truths)))
    variation = math.fsum(max(0.0, math.prod(p for p, _ in each) - math.prod(r for _, r in each)) for each in outcomes)
    run = test @ dp.PureDP("0.5", relation=relation) ** 2
    assert dp.delta(run, epsilon=0, relation=relation).upper == pytest.approx(variation)
