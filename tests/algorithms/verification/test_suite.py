"""The suite: every check holds at a small size, planted errors fail, and what is unknown is refused."""

import csv
import json
import math
import sys
import types
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import GradientOracle
from dpbounds.algorithms.verification import suite
from dpbounds.algorithms.verification.attacks import experiments
from dpbounds.algorithms.verification.judging import planned_checks
from dpbounds.algorithms.verification.judging.checks import Verdict
from dpbounds.algorithms.verification.judging.planned_checks import MOST_CHECKS, SUITE_ERROR, Size
from dpbounds.algorithms.verification.judging.slopes import confidence_of, slope_check
from dpbounds.algorithms.verification.studies import formulas
from dpbounds.algorithms.verification.suite import failed, planned, run_suite
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, run
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.algorithms.verification.sweeping.sweeps import sweep
from dpbounds.cli import main
from dpbounds.errors import BudgetExceeded, InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.papers.wang_xu_2019 import theorem_2_explicit
from dpbounds.theorems.record import Mode
from dpbounds.theorems.registry import theorem

# of every kind and of most rooms, and quick: the whole suite is a step of .ci/run, and a slow test
SOME = (
    "cited/dwork-roth-2014/theorem-a.1",
    "tholeti-kalyani-2020/equation-6",
    "wang-xu-2019/lemma-4",
    "wang-xu-2019/theorem-2",
    "wang-xu-2019/theorem-4/explicit",
    "wang-chen-xu-2019/algorithm-4/explicit",
    "ganesh-liu-oh-thakurta-2023/theorem-4.2/explicit",
    "lowy-ullman-wright-2024/proposition-d.1/explicit",
)


@pytest.fixture(scope="module")
def judged():
    """Outcomes, each with its results."""
    store = Store()
    outcomes = run_suite(Size.QUICK, store, theorems=SOME)
    return [(one, [store.results[cell.key] for cell in one.planned.cells(Size.QUICK)]) for one in outcomes]


@pytest.mark.seconds
def test_some_checks_hold(judged):
    outcomes = [one for one, _ in judged]
    assert [one.check.reason for one in failed(outcomes)] == []
    assert {one.planned.kind for one in outcomes} == {"formula", "bound", "slope", "spent"}
    assert len(outcomes) >= 40


@pytest.mark.minutes
def test_every_check_holds():
    found = run_suite(Size.QUICK, Store(), jobs=2)
    assert [one.check.reason for one in failed(found)] == []
    holding = [one for one in found if one.check.verdict is Verdict.HOLDS]
    assert len(holding) >= 0.8 * len(found)
    assert len(found) == len(planned())


def test_every_check_belongs_to_a_statement_and_is_held_in_its_sense():
    """A mean says nothing of what holds with a probability, let alone of what always holds."""
    kinds = Counter(one.kind for one in planned())
    assert set(kinds) == {"spent", "bound", "slope", "formula"}
    assert kinds["bound"] > 140
    assert len({one.name for one in planned()}) == len(planned())
    for one in planned():
        record, quick, full = theorem(one.theorem), one.cells(Size.QUICK), one.cells(Size.FULL)
        assert quick
        assert quick != full
        assert not set("{}") & set(one.name)
        if one.kind != "bound":
            assert one.mode is None
            assert one.kind != "slope" or record.mode is Mode.EXPECTATION, one.name  # slopes are of means
            continue
        # a statement may have a part that holds with a probability beside one in expectation, and says so there
        parts = {Mode.PROBABILITY for part in record.parts if "with probability" in part.meaning}
        assert one.mode in {record.mode} | parts, one.name
        # it is named after the parameters of its quick cell: the full one has the same
        changed = set(quick[0].parameters) ^ set(full[0].parameters)
        assert [cell.task for cell in quick] == [cell.task for cell in full] == [quick[0].task]
        assert {name for name, _ in changed} <= {"repetitions", "draws"}, one.name


def test_every_check_is_judged_with_its_share_of_the_error(monkeypatch):
    (first, *_) = planned()
    seen = []

    def judge(results, confidence):
        seen.append(confidence)
        return first.judge(results, confidence)

    monkeypatch.setattr(suite, "planned", lambda: (replace(first, judge=judge),))
    run_suite(Size.QUICK, Store())
    assert seen == [1 - 0.01 / 500]
    assert len(planned()) <= 500
    audits = [cell for one in planned() if "audit" in one.name for cell in one.cells(Size.FULL)]
    assert {dict(cell.parameters)["confidence"] for cell in audits} == {1 - 0.01 / 500}


def test_the_shortest_check_of_every_statement():
    """The one with the fewest cells; of those one of the cheapest kind; of those the first."""
    every = planned()
    shortest = suite.shortest_of_each(every)
    assert [one.theorem for one in shortest] == list(dict.fromkeys(one.theorem for one in every))
    kinds = ["formula", "bound", "spent", "slope"]
    for one in shortest:
        same = [other for other in every if other.theorem == one.theorem]
        assert one is min(same, key=lambda other: (len(other.cells(Size.QUICK)), kinds.index(other.kind)))
    assert suite.left_out()
    assert {*suite.left_out()} == {*every} - {*shortest}
    cells = {cell.key for one in shortest for cell in one.cells(Size.QUICK)}
    # so few that they take two minutes at most: most statements have one cell each
    assert len(cells) < 150
    assert not [one.name for one in shortest if "audit" in one.name]


def test_one_statement_alone():
    store = Store()
    found = run_suite(Size.QUICK, store, theorems=["tholeti-kalyani-2020/equation-6"])
    assert {one.planned.theorem for one in found} == {"tholeti-kalyani-2020/equation-6"}
    assert len(store.results) == len(found)


HELD = ("bound_check", "quantile_check", "always_check", "estimate_check", "formula_check")


def held_against(change, one, results, confidence):
    """The verdict on stored results, by the plan's own judge, with a promise that is changed on its way there."""
    with pytest.MonkeyPatch.context() as patch:
        for name in HELD:
            right = getattr(planned_checks, name)

            def wrong(theorem, found, promised, *rest, right=right):
                return right(theorem, found, change(promised), *rest)

            patch.setattr(planned_checks, name, wrong)
        return one.planned.judge(results, confidence).verdict


def times(factor):
    return lambda promised: Enclosure(promised.exact_lower * factor, promised.exact_upper * factor)


@pytest.mark.seconds
def test_small_errors_are_seen(judged):
    """A promise that is wrong by a tenth is seen, by every check whose interval is as narrow as that."""
    confidence = confidence_of(SUITE_ERROR, MOST_CHECKS)
    seen = Counter()
    for one, known in judged:
        kind, found = one.planned.kind, one.check
        estimated = kind == "formula" and "draws" in known[0].numbers  # and not computed
        if estimated and found.measured.high - found.measured.low < 0.09 * found.predicted.lower:
            for factor in (Fraction(11, 10), Fraction(10, 11)):
                assert held_against(times(factor), one, known, confidence) is Verdict.FAILS, one.planned.name
            seen["formula"] += 1
        if kind == "bound" and found.measured.low > 0:  # a rate of 0 has nothing below it
            ends = Fraction(found.measured.low), Fraction(found.measured.high)
            below, within, above = ends[0] * Fraction(10, 11), sum(ends) / 2, ends[1] * Fraction(11, 10)
            verdicts = [
                held_against(lambda _, value=value: Enclosure.exactly(value), one, known, confidence)
                for value in (below, within, above)
            ]
            middle = Verdict.FAILS if one.planned.mode is Mode.ALWAYS else Verdict.UNDECIDED
            assert verdicts == [Verdict.FAILS, middle, Verdict.HOLDS], one.planned.name
            seen["bound"] += 1
        if kind == "spent" and math.inf > found.measured.high > 0.95 * float(found.predicted.exact_upper):
            more = [
                replace(each, numbers={name: spent_more(name, value) for name, value in each.numbers.items()})
                for each in known
            ]
            assert one.planned.judge(more, confidence).verdict is Verdict.FAILS, one.planned.name
            seen["spent"] += 1
    # all but one bound, a rate of 0, one formula, which is computed and not estimated, and audits, which find little
    audits = sum("audit" in one.planned.name for one, _ in judged)
    every = Counter(one.planned.kind for one, _ in judged if one.planned.kind != "slope")
    assert seen == every - Counter({"bound": 1, "formula": 1, "spent": audits})
    assert seen["spent"] >= 2


def spent_more(name, value):
    return 1.1 * value if name.endswith(("_lower", "_upper")) else value


def verify(capsys, path, *names, status):
    """What `dpbounds verify` says of some statements, with what is in that store: verdicts and reasons by name."""
    assert main(["verify", *names, "--store", str(path), "--json"]) == status
    checks = json.loads(capsys.readouterr().out)["checks"]
    return {one["name"]: one for one in checks}


SLOPE, BOUND = "DP-PGD, noisy mapping against n", "DP-PGD, noisy mapping, n = {}"


@pytest.fixture(scope="module")
def measured_descents(tmp_path_factory):
    """A store that holds what right runs of DP-PGD measured."""
    path = tmp_path_factory.mktemp("descents") / "store"
    found = run_suite(Size.QUICK, Store(path), theorems=["wang-xu-2019/theorem-2"])
    assert failed(found) == []
    return path


@pytest.mark.seconds
def test_a_planted_wrong_exponent_fails(capsys, monkeypatch, measured_descents):
    def steeper(theorem, predicted, *sweep, **options):
        return slope_check(theorem, predicted - 0.3, *sweep, **options)

    monkeypatch.setattr(planned_checks, "slope_check", steeper)
    found = verify(capsys, measured_descents, "wang-xu-2019/theorem-2", status=1)
    assert found[SLOPE]["verdict"] == "fails"
    assert found[SLOPE]["predicted"] == -1.3
    assert "above the promised -1.3" in found[SLOPE]["reason"]
    assert {one["verdict"] for one in found.values() if one["kind"] == "bound"} == {"holds"}


@pytest.mark.seconds
def test_a_planted_wrong_constant_fails(capsys, monkeypatch, measured_descents):
    right = theorem_2_explicit.mean_square
    monkeypatch.setattr(theorem_2_explicit, "mean_square", right / 4)
    found = verify(capsys, measured_descents, "wang-xu-2019/theorem-2", status=1)
    for records in (500, 1000, 4000):
        assert found[BOUND.format(records)]["verdict"] == "fails"
        assert "lies above the bound" in found[BOUND.format(records)]["reason"]
    assert found[SLOPE]["verdict"] == "compatible"


RIGHT, STDDEV = noise.standard_gaussian, GradientOracle.noise_stddev.fget


def forgotten(streams, dimension):
    return np.zeros((len(streams), dimension))


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("bug", "reason"),
    [
        ((noise, "standard_gaussian", lambda *drawn: RIGHT(*drawn) / 2), "less noise was added than recorded"),
        ((noise, "standard_gaussian", forgotten), "have 0 of the size"),
        # small noise that is written down
        (
            (GradientOracle, "noise_stddev", property(lambda oracle: STDDEV(oracle) / 2)),
            "less noise was drawn than planned",
        ),
    ],
    ids=["halved", "forgotten", "planned"],
)
def test_a_planted_noise_bug_fails(capsys, monkeypatch, tmp_path, bug, reason):
    (spends,) = (one for one in planned() if one.name == "DP-PGD, every ledger of the sweep")
    others = [one for one in planned() if one.name in (SLOPE, BOUND.format(500))]
    right = next(one for one in planned() if one.kind == "formula")
    monkeypatch.setattr(suite, "planned", lambda: (spends, *others, right))
    path = tmp_path / "store"
    with monkeypatch.context() as planted:
        planted.setattr(*bug)
        found = verify(capsys, path, status=1)
    assert found[right.name]["verdict"] == "holds"  # the sweep went on
    for one in (spends, *others):
        assert found[one.name]["verdict"] == "fails"
        runs = len(one.cells(Size.QUICK))
        assert found[one.name]["reason"].startswith(f"the ledger refuses {runs} of {runs} runs: ")
        assert reason in found[one.name]["reason"]
        assert "\n" not in found[one.name]["reason"]
        assert found[one.name]["measured"]["mean"] == runs
    # what was refused stays refused: the same store says the same without a run
    seen = []
    assert sweep(spends.cells(Size.QUICK), Store(path), progress=lambda *counts: seen.append(counts)) == 0
    assert seen == []
    again = verify(capsys, path, status=1)
    assert {name: one["reason"] for name, one in again.items()} == {name: one["reason"] for name, one in found.items()}
    # in words, in the report and in the export
    report, table = tmp_path / "report", tmp_path / "cells.csv"
    assert main(["verify", "--store", str(path), "--output", str(report), "--export", str(table)]) == 1
    runs = len(spends.cells(Size.QUICK))
    assert (
        f"  fails      spent: {spends.name}\n             the ledger refuses {runs} of {runs} runs"
        in capsys.readouterr().out
    )
    assert (report / "verification.md").read_text().count("| fails |") == 3
    with open(table, newline="") as file:
        assert sum(reason in line["refused"] for line in csv.DictReader(file)) == runs


def gives(found):
    """A function that gives this, or raises it."""

    def given(*arguments, **parameters):
        if isinstance(found, Exception):
            raise found
        return found

    return given


def test_one_bad_run_does_not_lose_the_others(capsys, monkeypatch, tmp_path):
    """No proof is undecided, no number fails; what holds beside them is told all the same."""
    tasks = {
        "good": {"gap": [1.0, 1.1, 0.9, 1.0]},
        "nan": {"gap": [1.0, math.nan]},
        "infinite": {"gap": [1.0, math.inf]},
        "open": NotCertified("the tail did not close\nwithin 10 digits"),
        "unknown": UnsupportedMechanism("no analysis of this sampling"),
        "zero": {"gap": [0.0, 0.0]},
        "refused": BudgetExceeded("less noise was added than recorded"),
    }
    module = types.ModuleType("bad_tasks")
    vars(module).update({name: gives(found) for name, found in tasks.items()})
    monkeypatch.setitem(sys.modules, "bad_tasks", module)
    statement = "wang-xu-2019/theorem-2"

    hundred = Enclosure.exactly(100)

    def held(name, task="good", bound=hundred):
        cells = gives([Cell.of(f"bad_tasks:{task}")])
        (check,) = planned_checks.bounded(statement, name, cells, "gap", gives(bound))
        return check

    sizes = [Cell.of("bad_tasks:good", records=n) for n in (1, 2)] + [Cell.of("bad_tasks:zero", records=4)]
    plans = (
        *(held(name, name) for name in tasks if name not in ("zero", "refused")),
        held("no bound", bound=NotCertified("the bound did not close")),
        replace(held("no plan"), cells=gives(NotCertified("the net has no certified radius"))),
        planned_checks.slope(statement, "logarithm of zero", gives(sizes), "gap", -1.0),
        planned_checks.slope(statement, "one refused", gives([*sizes[:2], Cell.of("bad_tasks:refused")]), "gap", -1.0),
    )
    monkeypatch.setattr(suite, "planned", lambda: plans)
    found = verify(capsys, tmp_path / "store", status=1)
    said = {
        "good": ("holds", "of the bound"),
        "nan": ("fails", "NaN"),
        "infinite": ("fails", "not finite"),
        "open": ("undecided", "nothing is proven of 1 of 1 runs: the tail did not close"),
        "unknown": ("undecided", "no analysis"),
        "no bound": ("undecided", "the bound did not close"),
        "no plan": ("undecided", "no certified radius"),
        "logarithm of zero": ("fails", "logarithms are taken"),
        "one refused": ("fails", "the ledger refuses 1 of 3 runs: less noise"),
    }
    assert {name: one["verdict"] for name, one in found.items()} == {
        name: verdict for name, (verdict, _) in said.items()
    }
    assert all(words in found[name]["reason"] for name, (_, words) in said.items())
    assert found["open"]["reason"] == said["open"][1]


def test_an_error_of_the_program_stops_it(monkeypatch):
    (first, *_) = (one for one in planned() if one.kind == "formula")

    def mistaken(results, confidence):
        raise InvalidValue("bound", -1, "positive")

    monkeypatch.setattr(suite, "planned", lambda: (replace(first, judge=mistaken),))
    with pytest.raises(InvalidValue, match="positive"):
        run_suite(Size.QUICK, Store())


def test_an_audit_is_held_against_the_certificate():
    (one,) = (one for one in planned() if one.name == "dp-pgd, an audit of its example")
    (cell,) = one.cells(Size.QUICK)
    ends = ((0.3, 1.25), (1.5, 1.25), (1.5, math.inf))
    results = [Result(cell, {"lower": lower, "certified": certified}, 0.0) for lower, certified in ends]
    found = [one.judge([result], 0.99) for result in results]
    assert [check.verdict for check in found] == [Verdict.COMPATIBLE, Verdict.FAILS, Verdict.UNDECIDED]
    assert "at least 1.5 (99 % confidence), more than the 1.25 certified" in found[1].reason


def test_an_audit_sees_forgotten_noise(monkeypatch):
    """Where the ledger does not look at the noise, a guard tells; without it, 400 runs of an attack."""
    (one,) = (one for one in planned() if one.name == "dp-pgd, an audit of its example")
    (cell,) = one.cells(Size.QUICK)
    monkeypatch.setattr(noise, "standard_gaussian", forgotten)
    monkeypatch.setattr(OpenLedger, "_demand_noise", lambda ledger: None)
    assert "variance of the noise is not as the ledger states" in run(cell).refused
    monkeypatch.setattr(experiments, "examined", lambda *args: None)
    found = one.judge([run(cell)], 0.99)
    assert (found.verdict, found.measured.mean > 5) == (Verdict.FAILS, True)


def test_the_same_seed_gives_the_same_numbers():
    first = formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=7)
    assert first == formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=7)
    assert first != formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=8)
