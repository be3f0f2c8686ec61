import pytest

from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies.second_order import CHECKS
from dpbounds.algorithms.verification.sweeping.cells import Result

RATES = [one for one in CHECKS if "fails" in one.name or "operator norm" in one.name]


def result(planned, **numbers):
    (cell,) = planned.cells(Size.QUICK)
    return Result(cell, numbers, 0.0)


@pytest.mark.parametrize("planned", RATES, ids=lambda one: one.name)
def test_a_rate_above_its_bound_is_seen(planned):
    draws = 64.0
    assert planned.judge([result(planned, hits=0.0, draws=draws)], 0.9999).verdict is Verdict.HOLDS
    assert planned.judge([result(planned, hits=30.0, draws=draws)], 0.9999).verdict is Verdict.FAILS
    assert planned.judge([result(planned, hits=10.0, draws=draws)], 0.9999).verdict is Verdict.UNDECIDED


def test_a_ledger_above_its_budget_is_seen():
    spent = [one for one in CHECKS if one.kind == "spent"]
    assert len(spent) == 8
    for one in spent:
        assert one.judge([result(one, spent_lower=1.1, spent_upper=1.2)], 0.99).verdict is Verdict.FAILS
        assert one.judge([result(one, spent_lower=0.9, spent_upper=1.0)], 0.99).verdict is Verdict.HOLDS
