"""The suite: every check holds at a small size, planted errors fail, and what is unknown is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from algorithms.verification.checks import Verdict
from algorithms.verification.estimates import estimate_check, formula_check, measured
from algorithms.verification.store import Store
from algorithms.verification.suite import Size, failed, planned, run_suite
from algorithms.verification.tasks import formulas
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.theorems.registry import theorem


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("suite") / "store.db") as store:
        yield run_suite(Size.QUICK, store)


def test_every_check_holds(outcomes):
    assert [one.check.reason for one in failed(outcomes)] == []
    holding = [one for one in outcomes if one.check.verdict is Verdict.HOLDS]
    assert len(holding) >= 0.8 * len(outcomes)
    assert len(outcomes) == len(planned())


def test_every_check_belongs_to_a_statement():
    for one in planned():
        assert theorem(one.theorem).id == one.theorem
        assert one.kind in ("spent", "bound", "slope", "formula")
        assert one.cells(Size.QUICK)
        assert one.cells(Size.FULL) != one.cells(Size.QUICK)


def test_one_paper_alone(tmp_path):
    with Store(tmp_path / "store.db") as store:
        found = run_suite(Size.QUICK, store, theorems=["tholeti-kalyani-2020/equation-6"])
        assert {one.planned.theorem for one in found} == {"tholeti-kalyani-2020/equation-6"}
        assert len(store.keys()) == len(found)
        with pytest.raises(InvalidValue, match="one with a check: "):
            run_suite(Size.QUICK, store, theorems=["nobody-1999"])


def test_planted_errors_fail(outcomes):
    """A constant that is wrong by 10 % is seen, and a bound that is cut below what is measured."""
    for one in outcomes:
        if one.planned.kind not in ("formula", "bound"):
            continue
        wrong = Enclosure.exactly(Fraction(one.check.predicted.exact_upper) * Fraction(11, 10))
        if one.planned.kind == "formula" and one.check.measured.high < 1.1 * one.check.predicted.lower:
            numbers = {"hits": round(one.check.measured.mean * 10**6), "draws": 10**6}
            assert formula_check("x/y", numbers, wrong).verdict is Verdict.FAILS
        if one.planned.kind == "bound" and one.check.measured.mean > 0:  # a rate of 0 has nothing below it
            low = Enclosure.exactly(Fraction(one.check.measured.low) * Fraction(9, 10))
            numbers = {"sum": one.check.measured.mean * 100, "squares": one.check.measured.mean**2 * 100, "draws": 100}
            assert estimate_check("x/y", numbers, low).verdict is Verdict.FAILS


def test_intervals():
    assert measured({"hits": 0, "draws": 1000}, 0.95).low == 0
    half = measured({"hits": 500, "draws": 1000}, 0.95)
    assert half.low == pytest.approx(0.4685, abs=1e-3)
    assert half.high == pytest.approx(0.5315, abs=1e-3)
    draw = np.random.default_rng(0).normal(size=10_000)
    mean = measured({"sum": draw.sum(), "squares": (draw**2).sum(), "draws": 10_000}, 0.95)
    assert mean.high - mean.low == pytest.approx(2 * 1.96 / 100, rel=0.05)
    for numbers in ({"hits": 1}, {"draws": 10}, {"sum": 1.0, "draws": 10}):
        with pytest.raises(InvalidValue):
            measured(numbers, 0.95)
    with pytest.raises(InvalidValue):
        measured({"hits": 1, "draws": 10}, 1)


def test_too_few_draws_are_undecided():
    rare = Enclosure.exactly(Fraction(1, 10**6))
    assert formula_check("x/y", {"hits": 0, "draws": 100}, rare).verdict is Verdict.UNDECIDED


def test_the_same_seed_gives_the_same_numbers():
    first = formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=7)
    assert first == formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=7)
    assert first != formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=8)


def test_outcomes_are_records(outcomes):
    assert replace(outcomes[0], seconds=0.0).planned is outcomes[0].planned
