"""The shapes of checks: each can hold, fail and be undecided, whatever the plan."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms.verification.judging.checks import Verdict, refused_check, unproven_check
from dpbounds.algorithms.verification.judging.estimates import quantile_check
from dpbounds.algorithms.verification.judging.planned_checks import (
    Size,
    always_bounded,
    bounded,
    by_size,
    cells,
    formula,
    in_turn,
    mean_bounded,
    quantile_bounded,
    rate_bounded,
    slope,
    spent,
)
from dpbounds.algorithms.verification.sweeping.cells import Cell, NotMeasured, Result, parameter, text, vector
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.theorems.record import Mode


def cell(size, records=100):
    return [Cell.of("a:b", records=records, size=str(size))]


def result(records=100, **numbers):
    return Result(cell(Size.QUICK, records)[0].key, numbers, 0.0)


def promise(value):
    return lambda result: Enclosure.exactly(value)


def judged(plan, *results):
    (plan,) = plan if isinstance(plan, tuple) else (plan,)
    check = plan.judge(results, 0.99)
    assert check.theorem == plan.theorem == "x/y"
    return check


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((0.5, 1.0), "holds"),
        ((0.9, 1.0000001), "undecided"),
        ((1.0000001, 1.1), "fails"),
        ((2.0, float("inf")), "fails"),
    ],
)
def test_spent(ends, verdict):
    plan = spent("x/y", "ledgers", cell, 1)
    small, one = result(spent_lower=0.1, spent_upper=0.2), result(spent_lower=ends[0], spent_upper=ends[1])
    alone, among = judged(plan, one), judged(plan, small, one, small)
    assert alone.verdict == among.verdict == verdict
    assert alone.measured == among.measured
    assert alone.reason.startswith("the ledger spends epsilon in [")
    assert among.reason.startswith("the most that 3 ledgers spend is epsilon in [")


def test_everyone_within_a_budget_of_his_own():
    plan = spent("x/y", "ledgers", cell)

    def ledger(epsilon, lower, upper):
        return Result(Cell.of("a:b", epsilon=epsilon).key, {"spent_lower": lower, "spent_upper": upper}, 0.0)

    kept = [ledger(8.0, 7.0, 7.5), ledger(0.5, 0.4, 0.499)]
    found = judged(plan, *kept)
    assert (found.verdict, found.measured.high, found.predicted.upper) == ("holds", 0.499, 0.5)
    assert judged(plan, *kept, ledger(1.0, 0.9, 1.5)).verdict == "undecided"
    broken = judged(plan, *kept, ledger(1.0, 0.9, 1.5), ledger(4.0, 4.1, 4.2))
    assert (broken.verdict, broken.measured.low, broken.predicted.upper) == ("fails", 4.1, 4.0)


def test_spent_of_another_name_against_an_exact_budget():
    third = Fraction(1, 3)
    plan = spent("x/y", "delta", cell, third, "delta")
    above = float(third) * (1 + 2**-52)
    assert judged(plan, result(delta_lower=0.1, delta_upper=float(third))).verdict is Verdict.HOLDS  # rounded down
    assert judged(plan, result(delta_lower=above, delta_upper=above)).verdict is Verdict.FAILS


@pytest.mark.parametrize(("bound", "verdict"), [(3, "holds"), (2, "undecided"), (1, "fails")])
def test_bounded(bound, verdict):
    samples = [1.9, 2.0, 2.1, 2.0] * 4
    by_name = bounded("x/y", "mean", cell, "gap", promise(bound))
    assert by_name[0].cells(Size.FULL) == cell(Size.FULL)
    assert judged(by_name, result(gap=samples)).verdict == verdict
    made = bounded("x/y", "mean", cell, lambda one: [2 * value for value in vector(one, "half")], promise(bound))
    assert judged(made, result(half=[value / 2 for value in samples])).verdict == verdict


def some_task(records, dimension, seed, repetitions=1):
    return {}


def test_cells_are_every_combination_at_each_size():
    runs = cells(some_task, dimension=(1, 2), records=by_size(10, (10, 20)))
    given = [[tuple(cell.parameters) for cell in runs(size)] for size in Size]
    assert given[0] == [(("dimension", 1), ("records", 10)), (("dimension", 2), ("records", 10))]
    assert [dict(each)["records"] for each in given[1]] == [10, 20, 10, 20]


def test_a_name_with_parameters_makes_a_check_of_each_cell():
    runs = cells(some_task, dimension=5, records=(10, 20), repetitions=by_size(2, 64))
    first, second = bounded("x/y", "d = {dimension}, n = {records}", runs, "gap", lambda result: bound_at(result))
    assert [first.name, second.name] == ["d = 5, n = 10", "d = 5, n = 20"]
    (quick,), (full,) = (second.cells(size) for size in Size)
    assert (dict(quick.parameters), dict(full.parameters)["repetitions"]) == (
        {"dimension": 5, "records": 20, "repetitions": 2},
        64,
    )
    verdicts = [
        plan.judge([Result(quick.key, {"gap": [1.0, 1.1]}, 0.0)], 0.9).predicted.upper for plan in (first, second)
    ]
    assert verdicts == [20, 20]  # the promise is that of the cell that was run
    assert in_turn((first, first), (second, second)) == (first, second, first, second)


def bound_at(result):
    return Enclosure.exactly(int(parameter(result, "records")))


def quantiles(bound, samples, failure=0.25):
    plan = quantile_bounded("x/y", "quantile", cell, "gap", failure, promise(bound))
    assert plan[0].mode is Mode.PROBABILITY
    return judged(plan, result(gap=samples))


def test_a_quantile():
    samples = [i / 100 for i in range(100)]  # its 3/4-quantile is 0.75
    assert quantiles("0.9", samples).verdict == "holds"
    assert quantiles("0.75", samples).verdict == "undecided"
    assert quantiles("0.6", samples).verdict == "fails"
    few = quantiles(100, samples[:18])  # even the largest of so few may lie below the quantile
    assert (few.verdict, few.measured.high) == ("undecided", float("inf"))
    assert quantiles(100, samples[:19]).verdict == "holds"
    for failure in (0, 1):
        with pytest.raises(InvalidValue, match="failure"):
            quantiles(1, samples, failure)


def test_a_small_mean_does_not_make_a_quantile_hold():
    """A fifth of the runs exceeds a bound that a tenth may: the mean is far below, the quantile above."""
    samples = [0.0] * 320 + [10.0] * 80
    assert judged(bounded("x/y", "mean", cell, "gap", promise(9)), result(gap=samples)).verdict == "holds"
    assert quantiles(9, samples, 0.1).verdict == "fails"


@pytest.mark.rotating(4)
def test_the_quantile_covers_as_often_as_it_says():
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(2000):
        found = quantile_check("x/y", rng.random(150).tolist(), Enclosure.exactly(1), 0.1, 0.9).measured
        missed += not found.low <= 0.9 <= found.high
    assert missed <= stats.binom.isf(1e-6, 2000, 0.1)


def test_what_always_holds():
    plan = always_bounded("x/y", "always", cell, "gap", promise(2))
    assert plan[0].mode is Mode.ALWAYS
    assert judged(plan, result(gap=[0.1, 2.0, 1.0])).verdict == "holds"
    found = judged(plan, result(gap=[0.1] * 1000 + [2.0001]))
    assert (found.verdict, found.measured.high) == ("fails", 2.0001)
    assert "which 1 exceed and none may" in found.reason
    wide = always_bounded("x/y", "always", cell, "gap", lambda result: Enclosure(Fraction(1), Fraction(3)))
    assert judged(wide, result(gap=[2.0])).verdict == "undecided"


def test_counts():
    counted = result(hits=5000.0, draws=10_000.0)
    assert [judged(rate_bounded("x/y", "rate", cell, promise(b)), counted).verdict for b in ("0.6", "0.5", "0.4")] == [
        "holds",
        "undecided",
        "fails",
    ]
    assert [judged(formula("x/y", "value", cell, promise(b)), counted).verdict for b in ("0.5", "0.6")] == [
        "holds",
        "fails",
    ]


def test_sums():
    summed = result(sum=500.0, squares=260.0, draws=1000.0)
    plan = mean_bounded("x/y", "mean", cell, promise("0.6"))
    assert (judged(plan, summed).verdict, plan[0].mode) == ("holds", Mode.EXPECTATION)
    with pytest.raises(KeyError):
        judged(rate_bounded("x/y", "rate", cell, promise("0.6")), summed)


def test_slope():
    sweep = [result(n, gap=[1 / n, 1.01 / n, 0.99 / n, 1 / n]) for n in (100, 200, 400)]
    found = {
        exponent: judged(slope("x/y", "slope", cell, "gap", exponent), *sweep).verdict
        for exponent in (-0.7, -1.0, -1.3)
    }
    assert found == {-0.7: "holds", -1.0: "holds", -1.3: "fails"}  # better than promised, as promised, worse


def test_readers_of_results():
    assert (parameter(result(7), "records"), text(result(7), "size")) == (7, "quick")
    with pytest.raises(InvalidValue):
        parameter(Result(Cell.of("a:b", x=None).key, {}, 0.0), "x")


def test_refused_runs_fail():
    check = refused_check("x/y", "slope", ["first\nledger", "second"], 3)
    assert (check.verdict, check.measured.mean, check.predicted.upper) == ("fails", 2, 0)
    assert check.reason == "the ledger refuses 2 of 3 runs: first"
    for refused, runs in (([], 3), (["a", "b"], 1)):
        with pytest.raises(InvalidValue):
            refused_check("x/y", "bound", refused, runs)


def test_runs_without_proof_are_undecided():
    check = unproven_check("x/y", "slope", ["first\nline", "second"], 3)
    assert (check.verdict, check.measured.mean, check.predicted.upper) == ("undecided", 2, 0)
    assert check.reason == "nothing is proven of 2 of 3 runs: first"
    for unproven, runs in (([], 3), (["a", "b"], 1)):
        with pytest.raises(InvalidValue):
            unproven_check("x/y", "bound", unproven, runs)


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("plan", "results"),
    [
        (bounded("x/y", "mean", cell, "gap", promise(1)), [result(gap=[1.0, NAN])]),
        (bounded("x/y", "mean", cell, "gap", promise(1)), [result(gap=[1.0, INFINITY])]),
        (spent("x/y", "ledger", cell, 1), [result(spent_lower=NAN, spent_upper=NAN)]),
        (formula("x/y", "value", cell, promise(1)), [result(sum=NAN, squares=1.0, draws=9.0)]),
        (rate_bounded("x/y", "rate", cell, promise(1)), [result(hits=NAN, draws=9.0)]),
        (slope("x/y", "s", cell, "gap", -1.0), [result(n, gap=[0.0, 1 / n]) for n in (1, 2, 4)]),
        (slope("x/y", "s", cell, "gap", -1.0), [result(n, gap=[NAN, 1 / n]) for n in (1, 2, 4)]),
    ],
)
def test_what_is_no_measurement_is_told_apart(plan, results):
    with pytest.raises(NotMeasured):
        judged(plan, *results)
