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
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import GradientOracle
from dpbounds.algorithms.verification import suite
from dpbounds.algorithms.verification.judging import planned_checks
from dpbounds.algorithms.verification.judging.checks import Numerical, Verdict
from dpbounds.algorithms.verification.judging.estimates import formula_check, measured
from dpbounds.algorithms.verification.judging.planned_checks import MOST_CHECKS, SUITE_ERROR, Size
from dpbounds.algorithms.verification.judging.slopes import confidence_of, slope_check
from dpbounds.algorithms.verification.studies import formulas
from dpbounds.algorithms.verification.suite import failed, planned, run_suite
from dpbounds.algorithms.verification.sweeping.cells import Cell, run
from dpbounds.algorithms.verification.sweeping.store import Store
from dpbounds.algorithms.verification.sweeping.sweeps import sweep
from dpbounds.cli import main
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
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
def store(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("suite") / "store.db") as store:
        yield store


@pytest.fixture(scope="module")
def outcomes(store):
    return run_suite(Size.QUICK, store, theorems=SOME)


@pytest.fixture(scope="module")
def results(store, outcomes):
    """What was stored for each check, by its name."""
    return {one.planned.name: [store.result(cell) for cell in one.planned.cells(Size.QUICK)] for one in outcomes}


@pytest.mark.thorough
def test_some_checks_hold(outcomes):
    assert [one.check.reason for one in failed(outcomes)] == []
    assert {one.planned.kind for one in outcomes} == {"formula", "bound", "slope", "spent"}
    assert len(outcomes) >= 40


@pytest.mark.slow
def test_every_check_holds(tmp_path):
    with Store(tmp_path / "store.db") as store:
        found = run_suite(Size.QUICK, store, jobs=2)
    assert [one.check.reason for one in failed(found)] == []
    holding = [one for one in found if one.check.verdict is Verdict.HOLDS]
    assert len(holding) >= 0.8 * len(found)
    assert len(found) == len(planned())


def test_every_check_belongs_to_a_statement():
    for one in planned():
        assert theorem(one.theorem).id == one.theorem
        assert one.kind in ("spent", "bound", "slope", "formula")
        assert one.cells(Size.QUICK)
        assert one.cells(Size.FULL) != one.cells(Size.QUICK)


def test_a_bound_is_held_at_either_size_on_the_same_runs_but_for_how_many():
    """A check is named after the parameters of its quick cell: the full one has the same."""
    held = [check for check in planned() if check.kind == "bound"]
    assert len(held) > 140
    for check in held:
        (quick,), (full,) = (check.cells(size) for size in Size)
        changed = set(quick.parameters) ^ set(full.parameters)
        assert quick.task == full.task
        assert {name for name, _ in changed} <= {"repetitions", "draws"}, check.name
        assert not set("{}") & set(check.name)


def test_every_bound_is_held_in_the_sense_of_its_statement():
    """A mean says nothing of what holds with a probability, let alone of what always holds."""
    for one in planned():
        record = theorem(one.theorem)
        # a statement may have a part that holds with a probability beside one in expectation, and says so there
        parts = {Mode.PROBABILITY for part in record.parts if "with probability" in part.meaning}
        if one.kind == "bound":
            assert one.mode in {record.mode} | parts, one.name
        else:
            assert one.mode is None
        if one.kind == "slope":  # of means
            assert record.mode is Mode.EXPECTATION, one.name


def test_one_paper_alone(tmp_path):
    with Store(tmp_path / "store.db") as store:
        found = run_suite(Size.QUICK, store, theorems=["tholeti-kalyani-2020/equation-6"])
        assert {one.planned.theorem for one in found} == {"tholeti-kalyani-2020/equation-6"}
        assert len(store.keys()) == len(found)
        with pytest.raises(InvalidValue, match="statement with a check"):
            run_suite(Size.QUICK, store, theorems=["nobody-1999"])


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


@pytest.mark.thorough
def test_small_errors_are_seen(outcomes, results):
    """A promise that is wrong by a tenth is seen, by every check whose interval is as narrow as that."""
    confidence = confidence_of(SUITE_ERROR, MOST_CHECKS)
    seen = Counter()
    for one in outcomes:
        kind, found, known = one.planned.kind, one.check, results[one.planned.name]
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
    audits = sum("audit" in one.planned.name for one in outcomes)
    every = Counter(one.planned.kind for one in outcomes if one.planned.kind != "slope")
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
    path = tmp_path_factory.mktemp("descents") / "cells.db"
    with Store(path) as store:
        found = run_suite(Size.QUICK, store, theorems=["wang-xu-2019/theorem-2"])
    assert failed(found) == []
    return path


@pytest.mark.thorough
def test_a_planted_wrong_exponent_fails(capsys, monkeypatch, measured_descents):
    def steeper(theorem, predicted, *sweep, **options):
        return slope_check(theorem, predicted - 0.3, *sweep, **options)

    monkeypatch.setattr(planned_checks, "slope_check", steeper)
    found = verify(capsys, measured_descents, "wang-xu-2019/theorem-2", status=1)
    assert found[SLOPE]["verdict"] == "fails"
    assert found[SLOPE]["predicted"] == -1.3
    assert "above the promised -1.3" in found[SLOPE]["reason"]
    assert {one["verdict"] for one in found.values() if one["kind"] == "bound"} == {"holds"}


@pytest.mark.thorough
def test_a_planted_wrong_constant_fails(capsys, monkeypatch, measured_descents):
    right = theorem_2_explicit.mean_square
    monkeypatch.setattr(theorem_2_explicit, "mean_square", right / 4)
    found = verify(capsys, measured_descents, "wang-xu-2019/theorem-2", status=1)
    for records in (500, 1000, 4000):
        assert found[BOUND.format(records)]["verdict"] == "fails"
        assert "lies above the bound" in found[BOUND.format(records)]["reason"]
    assert found[SLOPE]["verdict"] == "holds"


def halved_noise(monkeypatch):
    right = noise.standard_gaussian
    monkeypatch.setattr(noise, "standard_gaussian", lambda streams, dimension: right(streams, dimension) / 2)
    return "less noise was added than written down"


def forgotten_noise(monkeypatch):
    monkeypatch.setattr(noise, "standard_gaussian", lambda streams, dimension: np.zeros((len(streams), dimension)))
    return "have 0 of the size"


def small_noise_that_is_written_down(monkeypatch):
    right = GradientOracle.noise_stddev.fget
    monkeypatch.setattr(GradientOracle, "noise_stddev", property(lambda oracle: right(oracle) / 2))
    return "less noise was drawn than planned"


@pytest.mark.rotating(4)
@pytest.mark.parametrize("bug", [halved_noise, forgotten_noise, small_noise_that_is_written_down])
def test_a_planted_noise_bug_fails(capsys, monkeypatch, tmp_path, bug):
    (spends,) = (one for one in planned() if one.name == "DP-PGD, every ledger of the sweep")
    others = [one for one in planned() if one.name in (SLOPE, BOUND.format(500))]
    right = next(one for one in planned() if one.kind == "formula")
    monkeypatch.setattr(suite, "planned", lambda: (spends, *others, right))
    path = tmp_path / "cells.db"
    with monkeypatch.context() as planted:
        reason = bug(planted)
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
    with Store(path) as store:
        assert sweep(spends.cells(Size.QUICK), store, progress=lambda *counts: seen.append(counts)) == 0
    assert seen == []
    again = verify(capsys, path, status=1)
    assert {name: one["reason"] for name, one in again.items()} == {name: one["reason"] for name, one in found.items()}
    # in words, in the report and in the export
    report, table = tmp_path / "report", tmp_path / "cells.csv"
    assert main(["verify", "--store", str(path), "--output", str(report), "--export", str(table)]) == 1
    assert f"  fails     spent: {spends.name}\n            the ledger refuses 4 of 4 runs" in capsys.readouterr().out
    assert (report / "verification.md").read_text().count("| fails |") == 3
    with open(table, newline="") as file:
        assert sum(reason in line["refused"] for line in csv.DictReader(file)) == 4


def bad_run(*samples, unproven=None):
    def measured_by(seed, **parameters):
        if unproven is not None:
            raise unproven
        return {"gap": list(samples)}

    return measured_by


def without_a_plan(size):
    raise NotCertified("the net has no certified radius")


def refusing(result):
    raise NotCertified("the bound did not close")


def test_one_bad_run_does_not_lose_the_others(capsys, monkeypatch, tmp_path):
    """No proof is undecided, no number fails; what holds beside them is told all the same."""
    tasks = {
        "good": bad_run(1.0, 1.1, 0.9, 1.0),
        "nan": bad_run(1.0, float("nan")),
        "infinite": bad_run(1.0, float("inf")),
        "open": bad_run(unproven=NotCertified("the tail did not close\nwithin 10 digits")),
        "unknown": bad_run(unproven=UnsupportedMechanism("no analysis of this sampling")),
    }
    module = types.ModuleType("bad_tasks")
    for name, task in tasks.items():
        setattr(module, name, task)
    monkeypatch.setitem(sys.modules, "bad_tasks", module)
    statement = "wang-xu-2019/theorem-2"

    def held(name, task="good", bound=lambda result: Enclosure.exactly(100)):
        (check,) = planned_checks.bounded(statement, name, lambda size: [Cell.of(f"bad_tasks:{task}")], "gap", bound)
        return check

    sizes = [Cell.of("bad_tasks:good", records=n) for n in (1, 2)] + [Cell.of("bad_tasks:zero", records=4)]
    module.zero = bad_run(0.0, 0.0)
    plans = (
        *(held(name, name) for name in tasks),
        held("no bound", bound=refusing),
        replace(held("no plan"), cells=without_a_plan),
        planned_checks.slope(statement, "logarithm of zero", lambda size: sizes, "gap", -1.0),
    )
    monkeypatch.setattr(suite, "planned", lambda: plans)
    found = verify(capsys, tmp_path / "cells.db", status=1)
    assert {name: one["verdict"] for name, one in found.items()} == {
        "good": "holds",
        "nan": "fails",
        "infinite": "fails",
        "open": "undecided",
        "unknown": "undecided",
        "no bound": "undecided",
        "no plan": "undecided",
        "logarithm of zero": "fails",
    }
    assert "NaN" in found["nan"]["reason"]
    assert "not finite" in found["infinite"]["reason"]
    assert found["open"]["reason"] == "nothing is proven of 1 of 1 runs: the tail did not close"
    assert "no analysis" in found["unknown"]["reason"]
    assert "the bound did not close" in found["no bound"]["reason"]
    assert "no certified radius" in found["no plan"]["reason"]
    assert "logarithms are taken" in found["logarithm of zero"]["reason"]


def test_an_error_of_the_program_stops_it(monkeypatch, tmp_path):
    (first, *_) = (one for one in planned() if one.kind == "formula")

    def mistaken(results, confidence):
        raise InvalidValue("bound", -1, "positive")

    monkeypatch.setattr(suite, "planned", lambda: (replace(first, judge=mistaken),))
    with Store(tmp_path / "cells.db") as store, pytest.raises(InvalidValue, match="positive"):
        run_suite(Size.QUICK, store)


def test_an_audit_is_held_against_the_certificate():
    (one,) = (one for one in planned() if one.name == "dp-pgd, an audit of its example")
    (cell,) = one.cells(Size.QUICK)
    right = run(cell)
    assert one.judge([right], 0.99).verdict is Verdict.HOLDS
    spent_less = replace(right, numbers={"lower": 1.5, "certified": 1.25})
    found = one.judge([spent_less], 0.99)
    assert found.verdict is Verdict.FAILS
    assert "at least 1.5 (99 % confidence), more than the 1.25 certified" in found.reason
    unproven = replace(right, numbers={"lower": 1.5, "certified": float("inf")})
    assert one.judge([unproven], 0.99).verdict is Verdict.UNDECIDED


def test_an_audit_sees_forgotten_noise(monkeypatch):
    """Where the ledger does not look at the noise, an attack of 400 runs tells."""
    (one,) = (one for one in planned() if one.name == "dp-pgd, an audit of its example")
    (cell,) = one.cells(Size.QUICK)
    monkeypatch.setattr(noise, "standard_gaussian", lambda streams, dimension: np.zeros((len(streams), dimension)))
    monkeypatch.setattr(OpenLedger, "_demand_noise", lambda ledger: None)
    found = one.judge([run(cell)], 0.99)
    assert (found.verdict, found.measured.mean > 5) == (Verdict.FAILS, True)


def test_intervals():
    assert measured({"hits": 0, "draws": 1000}, 0.95).low == 0
    half = measured({"hits": 500, "draws": 1000}, 0.95)
    assert half.low == pytest.approx(0.4685, abs=1e-3)
    assert half.high == pytest.approx(0.5315, abs=1e-3)
    draw = np.random.default_rng(0).normal(size=10_000)
    mean = measured({"sum": draw.sum(), "squares": (draw**2).sum(), "draws": 10_000}, 0.95)
    assert mean.high - mean.low == pytest.approx(2 * 1.96 / 100, rel=0.05)
    few = measured({"sum": draw[:8].sum(), "squares": (draw[:8] ** 2).sum(), "draws": 8}, 0.99)
    assert (few.low, few.high) == pytest.approx(stats.ttest_1samp(draw[:8], 0).confidence_interval(0.99))
    for numbers in ({"hits": 1}, {"draws": 10}, {"sum": 1.0, "draws": 10}):
        with pytest.raises(InvalidValue):
            measured(numbers, 0.95)
    with pytest.raises(InvalidValue):
        measured({"hits": 1, "draws": 10}, 1)


def test_what_is_numerical_is_not_called_proven():
    numbers = {"hits": 500_000.0, "draws": 1_000_000.0}
    near, far = Numerical(0.5005, 0.001), Numerical(0.51, 0.001)
    assert formula_check("x/y", numbers, near).verdict is Verdict.HOLDS
    found = formula_check("x/y", numbers, far)
    assert found.verdict is Verdict.FAILS
    assert found.reason.endswith("misses 0.511 (numerical, not proven)")
    for value, allowance in ((float("nan"), 0.0), (1.0, -1.0)):
        with pytest.raises(InvalidValue, match="numerical"):
            Numerical(value, allowance)


def test_an_interval_that_would_contain_a_tenth_more_decides_nothing():
    half = Enclosure.exactly(Fraction(1, 2))
    found = {draws: formula_check("x/y", {"hits": draws / 2, "draws": draws}, half) for draws in (1000, 4000)}
    assert found[1000].measured.high - found[1000].measured.low > 0.15 / 2
    assert [one.verdict for one in found.values()] == [Verdict.UNDECIDED, Verdict.HOLDS]
    assert "wider than 15%" in found[1000].reason


def test_too_few_draws_are_undecided():
    rare = Enclosure.exactly(Fraction(1, 10**6))
    assert formula_check("x/y", {"hits": 0, "draws": 100}, rare).verdict is Verdict.UNDECIDED


def test_the_same_seed_gives_the_same_numbers():
    first = formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=7)
    assert first == formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=7)
    assert first != formulas.ball_overlap(3, 1.0, 0.5, 5000, seed=8)
