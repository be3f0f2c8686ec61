import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import problems
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget, Release
from dpbounds.algorithms.verification import Verdict, bound_check, noise_check, sensitivity_check, spent_check
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure

SAMPLES = np.random.default_rng(0).exponential(size=50)
LEDGER = Ledger((Release(Fraction(20), Fraction(1, 2), count=16),))


def test_bound_check_interval_is_students():
    check = bound_check("some/id", SAMPLES, Enclosure.exactly(2))
    low, high = stats.ttest_1samp(SAMPLES, 0).confidence_interval(0.99)
    assert (check.measured.low, check.measured.high) == pytest.approx((low, high))
    assert check.measured.mean == pytest.approx(SAMPLES.mean())


@pytest.mark.parametrize(
    ("bound", "verdict"), [(10, Verdict.HOLDS), ("0.1", Verdict.FAILS), (float(SAMPLES.mean()), Verdict.UNDECIDED)]
)
def test_bound_check_verdicts(bound, verdict):
    check = bound_check("some/id", SAMPLES, Enclosure.exactly(bound))
    assert check.verdict is verdict
    assert check.reason
    assert str(check).startswith(str(verdict))


def test_bound_check_uses_the_ends_of_the_bound_on_the_safe_side():
    check = bound_check("x", SAMPLES, Enclosure.exactly(1))
    wide = Enclosure(Fraction(check.measured.high) - 1, Fraction(check.measured.high) + 1)
    assert bound_check("x", SAMPLES, wide).verdict is Verdict.UNDECIDED


def test_one_repetition_is_undecided():
    check = bound_check("x", [0.5], Enclosure.exactly(10))
    assert check.verdict is Verdict.UNDECIDED
    assert json.loads(json.dumps(check.as_json()))["measured"]["high"] == "inf"


@pytest.mark.rotating(4)
def test_a_wrong_bound_is_found_as_often_as_the_confidence_says():
    rng = np.random.default_rng(1)
    undecided_or_failed = sum(
        bound_check("x", rng.normal(1, 1, 20), Enclosure.exactly(1), confidence=0.9).verdict is not Verdict.HOLDS
        for _ in range(2000)
    )
    assert 0.93 < undecided_or_failed / 2000 < 0.97  # one side of a 90 % interval: 95 %


@pytest.mark.parametrize(("epsilon", "verdict"), [(10, Verdict.HOLDS), ("0.1", Verdict.FAILS)])
def test_spent_check_verdicts(epsilon, verdict):
    check = spent_check("x", LEDGER, PrivacyBudget.of(epsilon, "1e-5"))
    assert check.verdict is verdict
    assert check.kind == "spent"
    assert check.measured.high == LEDGER.spent("1e-5").upper


def test_spent_check_is_undecided_inside_the_enclosure():
    spent = LEDGER.spent("1e-5")
    assert spent.exact_lower < spent.exact_upper
    middle = (spent.exact_lower + spent.exact_upper) / 2
    assert spent_check("x", LEDGER, PrivacyBudget.of(middle, "1e-5")).verdict is Verdict.UNDECIDED


@pytest.mark.rotating(4)
def test_noise_check_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(2)
    ledger = Ledger((Release(Fraction(2), Fraction(1), count=4),))
    held = sum(
        noise_check(
            "x",
            (2 * rng.standard_normal((5, 4, 3)) ** 2 * 2).sum(axis=2).mean(axis=1),
            dimension=3,
            steps=4,
            ledger=ledger,
            confidence=0.9,
        ).verdict
        is Verdict.HOLDS
        for _ in range(2000)
    )
    assert 0.87 < held / 2000 < 0.93


def test_noise_check_needs_one_noise_level():
    mixed = Ledger((Release(Fraction(2), Fraction(1)), Release(Fraction(3), Fraction(1))))
    for ledger in (mixed, Ledger()):
        with pytest.raises(InvalidValue, match="noise levels"):
            noise_check("x", [1.0], dimension=1, steps=2, ledger=ledger)


def test_sensitivity_check_needs_a_release():
    problem = problems.sigmoid_loss([[1.0]], [1])
    with pytest.raises(InvalidValue, match="empty"):
        sensitivity_check("x", problem, [[0.0]], Ledger())


@pytest.mark.parametrize("samples", [[], [[1.0]], [1.0, math.nan], [math.inf, 1.0]])
def test_broken_measurements_are_refused(samples):
    with pytest.raises(InvalidValue, match="repetitions"):
        bound_check("x", samples, Enclosure.exactly(1))


@pytest.mark.parametrize("confidence", [0, 1, -1, math.nan])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(InvalidValue, match="confidence"):
        bound_check("x", SAMPLES, Enclosure.exactly(1), confidence)


def test_checks_as_json_have_the_fields_programs_read():
    record = bound_check("some/id", SAMPLES, Enclosure.exactly(10)).as_json()
    assert set(record) == {"theorem", "kind", "predicted", "measured", "verdict", "reason"}
    assert set(record["measured"]) == {"mean", "low", "high"}
    assert json.loads(json.dumps(record))["verdict"] == "holds"
