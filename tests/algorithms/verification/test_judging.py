"""Checks, alone and planned: each can hold, fail and be undecided, and intervals cover as often as they say."""

import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import problems
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget, Release
from dpbounds.algorithms.verification import Verdict, bound_check, noise_check, sensitivity_check, spent_check
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.checks import (
    Measured,
    Numerical,
    formatted_upper,
    mean_interval,
    refused_check,
    unproven_check,
)
from dpbounds.algorithms.verification.judging.estimates import formula_check, measured, quantile_check
from dpbounds.algorithms.verification.judging.planned_checks import Size, by_size
from dpbounds.algorithms.verification.sweeping.cells import Cell, NotMeasured, Result, parameter, text, vector
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.json_numbers import text_of
from dpbounds.theorems.record import Mode

SAMPLES = np.random.default_rng(0).exponential(size=50)
LEDGER = Ledger((Release(Fraction(20), Fraction(1, 2), count=16),))
NAN, INFINITY = math.nan, math.inf


def cell(size, records=100):
    return [Cell.of("a:b", records=records, size=str(size))]


def result(records=100, **numbers):
    return Result(cell(Size.QUICK, records)[0], numbers, 0.0)


def promise(value):
    return lambda result: value if isinstance(value, Enclosure) else Enclosure.exactly(value)


def judged(plan, *results):
    (plan,) = plan if isinstance(plan, tuple) else (plan,)
    check = plan.judge(results, 0.99)
    assert check.theorem == plan.theorem == "x/y"
    assert str(check.verdict) in str(check)
    return check


# --- Every kind, with promises on which it must decide one way or the other


def mean(bound, quantity="gap"):
    return kinds.bounded("x/y", "mean", cell, quantity, promise(bound))


doubled = partial(mean, quantity=lambda one: [2 * value for value in vector(one, "half")])


def quantile(bound, failure=0.25):
    return kinds.quantile_bounded("x/y", "quantile", cell, "gap", failure, promise(bound))


def always(bound):
    return kinds.always_bounded("x/y", "always", cell, "gap", promise(bound))


def rate(bound):
    return kinds.rate_bounded("x/y", "rate", cell, promise(bound))


def value(promised):
    return kinds.formula("x/y", "value", cell, promise(promised))


def summed(bound):
    return kinds.mean_bounded("x/y", "mean", cell, promise(bound))


def slope(exponent):
    return (kinds.slope("x/y", "slope", cell, "gap", exponent),)


FEW = [1.9, 2.0, 2.1, 2.0] * 4
HUNDREDTHS = [i / 100 for i in range(100)]  # their 3/4-quantile is 0.75
COUNTED = {"hits": 5000.0, "draws": 10_000.0}
SUMMED = {"sum": 500.0, "squares": 260.0, "draws": 1000.0}
SWEEP = [result(n, gap=[1 / n, 1.01 / n, 0.99 / n, 1 / n]) for n in (100, 200, 400)]
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@pytest.mark.parametrize(
    ("plan", "mode", "results", "verdicts"),
    [
        (mean, Mode.EXPECTATION, [result(gap=FEW)], {3: HOLDS, 2: UNDECIDED, 1: FAILS}),
        (doubled, Mode.EXPECTATION, [result(half=[x / 2 for x in FEW])], {3: HOLDS, 2: UNDECIDED, 1: FAILS}),
        (quantile, Mode.PROBABILITY, [result(gap=HUNDREDTHS)], {"0.9": HOLDS, "0.75": UNDECIDED, "0.6": FAILS}),
        # even the largest of so few may lie below the quantile
        (quantile, Mode.PROBABILITY, [result(gap=HUNDREDTHS[:18])], {100: UNDECIDED}),
        (quantile, Mode.PROBABILITY, [result(gap=HUNDREDTHS[:19])], {100: HOLDS}),
        # a fifth of the runs exceeds what a tenth may: the mean is far below, the quantile above
        (mean, Mode.EXPECTATION, [result(gap=[0.0] * 320 + [10.0] * 80)], {9: HOLDS}),
        (partial(quantile, failure=0.1), Mode.PROBABILITY, [result(gap=[0.0] * 320 + [10.0] * 80)], {9: FAILS}),
        (always, Mode.ALWAYS, [result(gap=[0.1] * 999 + [2.0])],
         {2: HOLDS, "1.9999": FAILS, Enclosure(Fraction(1), Fraction(3)): UNDECIDED}),
        (rate, Mode.PROBABILITY, [result(**COUNTED)], {"0.6": HOLDS, "0.5": UNDECIDED, "0.4": FAILS}),
        (value, None, [result(**COUNTED)], {"0.5": HOLDS, "0.6": FAILS}),
        (summed, Mode.EXPECTATION, [result(**SUMMED)], {"0.6": HOLDS, "0.5": UNDECIDED, "0.4": FAILS}),
        # better than promised, as promised, worse
        (slope, None, SWEEP, {-0.7: HOLDS, -1.0: HOLDS, -1.3: FAILS}),
    ],
)  # fmt: skip
def test_verdicts(plan, mode, results, verdicts):
    for promised, verdict in verdicts.items():
        (made,) = plan(promised)
        assert made.mode is mode
        assert made.cells(Size.FULL) == cell(Size.FULL)
        assert judged(made, *results).verdict == verdict, promised


def test_what_is_said_of_the_largest():
    found = judged(always(2), result(gap=[0.1] * 1000 + [2.0001]))
    assert found.measured.high == 2.0001
    assert "which 1 exceed and none may" in found.reason
    assert judged(quantile(100), result(gap=HUNDREDTHS[:18])).measured.high == INFINITY
    with pytest.raises(KeyError):
        judged(rate("0.6"), result(**SUMMED))
    for failure in (0, 1):
        with pytest.raises(InvalidValue, match="failure"):
            judged(quantile(1, failure), result(gap=HUNDREDTHS))


@pytest.mark.parametrize(
    ("plan", "results"),
    [
        (mean(1), [result(gap=[1.0, NAN])]),
        (mean(1), [result(gap=[1.0, INFINITY])]),
        (kinds.spent("x/y", "ledger", cell, 1), [result(spent_lower=NAN, spent_upper=NAN)]),
        (value(1), [result(sum=NAN, squares=1.0, draws=9.0)]),
        (rate(1), [result(hits=NAN, draws=9.0)]),
        (slope(-1.0), [result(n, gap=[0.0, 1 / n]) for n in (1, 2, 4)]),
        (slope(-1.0), [result(n, gap=[NAN, 1 / n]) for n in (1, 2, 4)]),
    ],
)
def test_what_is_no_measurement_is_told_apart(plan, results):
    with pytest.raises(NotMeasured):
        judged(plan, *results)


# --- What was spent


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [(0.5, 1.0, HOLDS), (0.9, 1.0000001, UNDECIDED), (1.0000001, 1.1, FAILS), (2.0, INFINITY, FAILS)],
)
def test_spent(lower, upper, verdict):
    plan = kinds.spent("x/y", "ledgers", cell, 1)
    small, one = result(spent_lower=0.1, spent_upper=0.2), result(spent_lower=lower, spent_upper=upper)
    alone, among = judged(plan, one), judged(plan, small, one, small)
    assert alone.verdict == among.verdict == verdict
    assert alone.measured == among.measured
    assert alone.reason.startswith("the ledger spends epsilon in [")
    assert among.reason.startswith("the most that 3 ledgers spend is epsilon in [")


def test_everyone_within_a_budget_of_his_own():
    plan = kinds.spent("x/y", "ledgers", cell)

    def found(*ledgers):
        cells = [(Cell.of("a:b", epsilon=epsilon), lower, upper) for epsilon, lower, upper in ledgers]
        check = judged(plan, *(Result(of, {"spent_lower": a, "spent_upper": b}, 0.0) for of, a, b in cells))
        return check.verdict, check.measured.high, check.predicted.upper

    kept, open_ = ((8.0, 7.0, 7.5), (0.5, 0.4, 0.499)), (1.0, 0.9, 1.5)
    assert found(*kept) == (HOLDS, 0.499, 0.5)
    assert found(*kept, open_) == (UNDECIDED, 1.5, 1.0)
    assert found(*kept, open_, (4.0, 4.1, 4.2)) == (FAILS, 4.2, 4.0)


def test_spent_of_another_name_against_an_exact_budget():
    third = Fraction(1, 3)
    plan, above = kinds.spent("x/y", "delta", cell, third, "delta"), float(third) * (1 + 2**-52)
    assert judged(plan, result(delta_lower=0.1, delta_upper=float(third))).verdict is Verdict.HOLDS  # rounded down
    assert judged(plan, result(delta_lower=above, delta_upper=above)).verdict is Verdict.FAILS


def test_a_ledger_against_its_budget():
    spent = LEDGER.spent("1e-5")
    assert spent.exact_lower < spent.exact_upper
    middle = (spent.exact_lower + spent.exact_upper) / 2
    for epsilon, verdict in ((10, Verdict.HOLDS), ("0.1", Verdict.FAILS), (middle, Verdict.UNDECIDED)):
        check = spent_check("x", LEDGER, PrivacyBudget.of(epsilon, "1e-5"))
        assert (check.verdict, check.kind, check.measured.high) == (verdict, "spent", spent.upper)


@pytest.mark.parametrize(
    ("check_of", "verdict", "said"),
    [
        (refused_check, FAILS, "the ledger refuses 2 of 3 runs: first"),
        (unproven_check, UNDECIDED, "nothing is proven of 2 of 3 runs: first"),
    ],
)
def test_runs_that_gave_nothing(check_of, verdict, said):
    check = check_of("x/y", "slope", ["first\nline", "second"], 3)
    assert (check.verdict, check.measured.mean, check.predicted.upper, check.reason) == (verdict, 2, 0, said)
    for reasons, runs in (([], 3), (["a", "b"], 1)):
        with pytest.raises(InvalidValue):
            check_of("x/y", "bound", reasons, runs)


# --- Intervals


def test_intervals_are_students():
    check = bound_check("some/id", SAMPLES, Enclosure.exactly(2))
    low, high = stats.ttest_1samp(SAMPLES, 0).confidence_interval(0.99)
    assert (check.measured.low, check.measured.high) == pytest.approx((low, high))
    assert check.measured.mean == pytest.approx(SAMPLES.mean())
    assert mean_interval([1.0]).low == -INFINITY
    draw = np.random.default_rng(0).normal(size=8)
    few = measured({"sum": draw.sum(), "squares": (draw**2).sum(), "draws": 8}, 0.99)
    assert (few.low, few.high) == pytest.approx(stats.ttest_1samp(draw, 0).confidence_interval(0.99))


def test_a_proportion():
    assert measured({"hits": 0, "draws": 1000}, 0.95).low == 0
    half = measured({"hits": 500, "draws": 1000}, 0.95)
    assert (half.low, half.high) == pytest.approx((0.4685, 0.5315), abs=1e-4)


def bound_held(rng):
    return bound_check("x", rng.normal(1, 1, 20), Enclosure.exactly(1), 0.9).verdict is not Verdict.HOLDS


def noise_held(rng):
    ledger = Ledger((Release(Fraction(2), Fraction(1), count=4),))
    squares = (2 * rng.standard_normal((5, 4, 3)) ** 2 * 2).sum(axis=2).mean(axis=1)
    found = noise_check("x", squares, dimension=3, steps=4, ledger=ledger, confidence=0.9)
    return found.measured.low <= found.predicted.lower <= found.measured.high


def quantile_held(rng):
    found = quantile_check("x/y", rng.random(150).tolist(), Enclosure.exactly(1), 0.1, 0.9).measured
    return found.low <= 0.9 <= found.high


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("held", "least", "most"),
    [(bound_held, 0.93, 0.97), (noise_held, 0.87, 0.93), (quantile_held, 0.87, 0.98)],  # the first on one side alone
)
def test_an_interval_covers_as_often_as_it_says(held, least, most):
    rng = np.random.default_rng(1)
    assert least < sum(held(rng) for _ in range(1000)) / 1000 < most


def test_the_ends_of_a_bound_are_on_the_safe_side():
    end = Fraction(bound_check("x", SAMPLES, Enclosure.exactly(1)).measured.high)
    assert bound_check("x", SAMPLES, Enclosure(end - 1, end + 1)).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("repetitions", "factor", "verdict"), [(10, 1.0, UNDECIDED), (200, 1.0, HOLDS), (200, 0.5, FAILS), (10, 0.2, FAILS)]
)
def test_noise_is_not_confirmed_by_an_interval_that_has_half_of_it(repetitions, factor, verdict):
    ledger = Ledger((Release(Fraction(2), Fraction(1), count=4),))
    squares = factor * np.random.default_rng(0).chisquare(3 * 4, size=repetitions)  # E‖e‖² is dσ² = 12
    assert noise_check("x", squares, dimension=3, steps=4, ledger=ledger, confidence=0.99).verdict == verdict


def test_what_is_predicted_is_written_on_the_safe_side():
    """As doubles and as decimals: 0.1 and 0.3 hold binary values above and below what these decimals say."""
    check = bound_check("x", SAMPLES, Enclosure(Fraction(0.3), Fraction(0.1) + 1))
    ends = check.as_json()["predicted"]
    assert Fraction(text_of(ends["lower"])) <= check.predicted.exact_lower
    assert Fraction(text_of(ends["upper"])) >= check.predicted.exact_upper
    assert (ends["lower"], ends["upper"]) == (check.predicted.lower, check.predicted.upper)
    spent = Measured(0.1, 0.3, 0.1).as_json()  # of privacy, the mean is the upper end
    assert list(map(text_of, spent.values())) == ["0.10000000000000001", "0.29999999999999998", "0.10000000000000001"]
    assert Measured(0.1, -math.inf, math.inf).as_json() == {"mean": 0.1, "low": "-inf", "high": "inf"}
    assert formatted_upper(Enclosure.exactly(Fraction(1141, 10**5)), ".2e") == "1.15e-02"
    assert formatted_upper(Enclosure.exactly(Fraction(1, 3)), ".4g") == "0.3334"
    assert formatted_upper(Enclosure(Fraction(0), math.inf), ".4g") == "inf"
    assert formatted_upper(Numerical(1 / 3, 0.0), ".4g") == "0.3333"


def test_one_repetition_is_undecided():
    check = bound_check("x", [0.5], Enclosure.exactly(10))
    assert check.verdict is Verdict.UNDECIDED
    record = json.loads(json.dumps(check.as_json()))
    assert set(record) == {"theorem", "kind", "predicted", "measured", "verdict", "reason"}
    assert record["measured"] == {"mean": 0.5, "low": "-inf", "high": "inf"}


def test_what_is_numerical_is_not_called_proven():
    numbers = {"hits": 500_000.0, "draws": 1_000_000.0}
    near, far = (formula_check("x/y", numbers, Numerical(at, 0.001)) for at in (0.5005, 0.51))
    assert (near.verdict, far.verdict) == (Verdict.HOLDS, Verdict.FAILS)
    assert far.reason.endswith("misses 0.511 (numerical, not proven)")


def test_an_interval_that_would_contain_a_tenth_more_decides_nothing():
    half, rare = Enclosure.exactly(Fraction(1, 2)), Enclosure.exactly(Fraction(1, 10**6))
    found = {draws: formula_check("x/y", {"hits": draws / 2, "draws": draws}, half) for draws in (1000, 4000)}
    assert found[1000].measured.high - found[1000].measured.low > 0.15 / 2
    assert [one.verdict for one in found.values()] == [Verdict.UNDECIDED, Verdict.HOLDS]
    assert "wider than 15%" in found[1000].reason
    assert formula_check("x/y", {"hits": 0, "draws": 100}, rare).verdict is Verdict.UNDECIDED


MIXED = Ledger((Release(Fraction(2), Fraction(1)), Release(Fraction(3), Fraction(1))))


@pytest.mark.parametrize(
    ("match", "call"),
    [
        ("noise levels", lambda: noise_check("x", [1.0], dimension=1, steps=2, ledger=MIXED)),
        ("noise levels", lambda: noise_check("x", [1.0], dimension=1, steps=2, ledger=Ledger())),
        ("empty", lambda: sensitivity_check("x", problems.sigmoid_loss([[1.0]], [1]), [[0.0]], Ledger())),
        *(
            ("repetitions", lambda samples=samples: bound_check("x", samples, Enclosure.exactly(1)))
            for samples in ([], [[1.0]], [1.0, NAN], [INFINITY, 1.0])
        ),
        *(
            ("confidence", lambda share=share: bound_check("x", SAMPLES, Enclosure.exactly(1), share))
            for share in (0, 1, -1, NAN)
        ),
        *(
            ("draws|numbers", lambda numbers=numbers: measured(numbers, 0.95))
            for numbers in ({"hits": 1}, {"draws": 10}, {"sum": 1.0, "draws": 10})
        ),
        ("confidence", lambda: measured({"hits": 1, "draws": 10}, 1)),
        ("numerical", lambda: Numerical(NAN, 0.0)),
        ("numerical", lambda: Numerical(1.0, -1.0)),
        ("x", lambda: parameter(Result(Cell.of("a:b", x=None), {}, 0.0), "x")),
    ],
)
def test_refusals(match, call):
    with pytest.raises(InvalidValue, match=match):
        call()


# --- Cells


def some_task(records, dimension, seed, repetitions=1):
    return {}


def test_cells_are_every_combination_at_each_size():
    runs = kinds.cells(some_task, dimension=(1, 2), records=by_size(10, (10, 20)))
    given = [[dict(cell.parameters) for cell in runs(size)] for size in Size]
    assert given[0] == [{"dimension": 1, "records": 10}, {"dimension": 2, "records": 10}]
    assert [each["records"] for each in given[1]] == [10, 20, 10, 20]
    assert (parameter(result(7), "records"), text(result(7), "size")) == (7, "quick")


def test_a_name_with_parameters_makes_a_check_of_each_cell():
    runs = kinds.cells(some_task, dimension=5, records=(10, 20), repetitions=by_size(2, 64))
    plans = kinds.bounded(
        "x/y", "d = {dimension}, n = {records}", runs, "gap", lambda run: Enclosure.exactly(parameter(run, "records"))
    )
    assert [plan.name for plan in plans] == ["d = 5, n = 10", "d = 5, n = 20"]
    (quick,), (full,) = (plans[1].cells(size) for size in Size)
    assert dict(quick.parameters) == {"dimension": 5, "records": 20, "repetitions": 2}
    assert dict(full.parameters) == {"dimension": 5, "records": 20, "repetitions": 64}
    ran = Result(quick, {"gap": [1.0, 1.1]}, 0.0)
    assert [plan.judge([ran], 0.9).predicted.upper for plan in plans] == [20, 20]  # of the cell that was run
    first, second = plans
    assert kinds.in_turn((first, first), (second, second)) == (first, second, first, second)
