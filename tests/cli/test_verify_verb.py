"""`dpbounds verify`: what holds, what fails, a report, a store that is used again."""

import importlib
import re
import sys
import types
from dataclasses import replace

import pytest

from dpbounds.cli import main
from dpbounds.expressions.enclosure import Enclosure

PAPER = "tholeti-kalyani-2020"

VERB = ("verify",)


@pytest.fixture
def suite():
    """The module that plans checks: it imports every study."""
    return importlib.import_module("dpbounds.algorithms.verification.suite")


def wanting(results):
    """Read a run's numbers, as panels and findings do."""
    from dpbounds.algorithms.verification.sweeping.cells import vector

    return vector(results[0], "exact_path")


@pytest.mark.seconds
def test_for_people_and_programs(data, said, tmp_path):
    store = ["--store", str(tmp_path / "store")]
    out = said(PAPER, *store)
    assert "Tholeti & Kalyani 2021, Equation 6\n  holds      formula: ball overlap" in out
    assert out.endswith(" 0 are undecided, 0 fail\n")
    found = data(PAPER, *store)
    audits = {one["verdict"] for one in found["checks"] if "audit" in one["name"]}
    assert audits == {"compatible"}
    assert {one["verdict"] for one in found["checks"] if "audit" not in one["name"]} == {"holds"}
    first = found["checks"][0]
    assert set(first) >= {"theorem", "kind", "predicted", "measured", "verdict", "reason"}
    assert first["measured"]["low"] <= first["predicted"]["upper"] <= first["measured"]["high"]
    assert found["counts"]["fails"] == 0


def test_results_of_other_code_are_told_and_not_used(capsys, tmp_path, monkeypatch, suite):
    from dpbounds.algorithms.verification.sweeping import store as stores
    from dpbounds.algorithms.verification.sweeping.cells import Result

    (planned, *_) = suite.planned()
    path = tmp_path / "store"
    with monkeypatch.context() as before:
        before.setattr(stores, "fingerprint", lambda: "0" * 64)
        store = stores.Store(path)
        for cell in planned.cells(suite.Size.QUICK):
            store.keep(Result(cell, {"hits": 0.0, "draws": 100_000.0}, 0.0))
    arguments = ["verify", planned.theorem, "--store", str(path)]
    assert main(arguments) == 0  # though nothing was hit in what is there
    captured = capsys.readouterr()
    assert captured.err == f"note: {path} also holds results of other versions of the code, which are not used\n"
    assert " 0 are undecided, 0 fail\n" in captured.out


def test_damaged_results_are_told_and_computed_again(capsys, tmp_path, suite):
    (planned, *_) = suite.planned()
    path = tmp_path / "store"
    arguments = ["verify", planned.theorem, "--store", str(path)]
    assert main(arguments) == 0
    whole = capsys.readouterr()
    (file, *_) = path.rglob("output.pkl")
    file.write_bytes(b"")
    for told in (f"note: damaged results in {path} were computed again: 1\n", ""):
        assert main(arguments) == 0
        assert capsys.readouterr() == (whole.out, told)


def test_quick_runs_one_check_of_every_statement_and_says_what_it_leaves_out(said, data, tmp_path):
    statement, folder = f"{PAPER}/equation-6", tmp_path / "runs"
    out = said(statement, "--quick", "--output", str(folder))
    assert out.count("formula: ") == 1
    assert f"1 checks of 6, one of every statement; the rest: dpbounds verify {statement}\n" in out
    page = (folder / "verification.md").read_text()
    assert page.count("\n- Tholeti & Kalyani 2021, Equation 6, ball overlap") == 5
    assert f"Made by `dpbounds verify {statement} --quick`" in page
    found = data(statement, "--quick")
    run, left = ({one["name"] for one in found[where]} for where in ("checks", "left_out"))
    assert (len(run), len(left), run & left) == (1, 5, set())
    assert data(statement)["left_out"] == []


def test_a_report(said, tmp_path, rows):
    folder = tmp_path / "runs"
    assert "wrote " in said(f"{PAPER}/equation-6", "--output", str(folder))
    text = (folder / "verification.md").read_text()
    assert "of 6 checks 6 hold, 0 are compatible, 0 are undecided, 0 fail." in text
    assert len(rows(folder / "verification.csv")) == text.count("| holds |")


def test_a_planted_wrong_constant_fails(said, monkeypatch, suite):
    from dpbounds.algorithms.verification.judging.estimates import formula_check

    (first, *_) = suite.planned()

    def wrong(results, confidence):
        return formula_check(first.theorem, results[0].numbers, Enclosure.exactly("0.9"), confidence)

    monkeypatch.setattr(suite, "planned", lambda: (replace(first, judge=wrong),))
    out = said(status=1)
    assert "  fails      formula: " in out
    assert "misses" in out


@pytest.mark.seconds
def test_experiments_are_run_drawn_and_told(said, tmp_path, monkeypatch):
    from dpbounds.algorithms.verification import experiments
    from dpbounds.algorithms.verification.experiments import wang_xu_2019
    from dpbounds.algorithms.verification.sweeping.cells import Cell

    (first, *_) = wang_xu_2019.EXPERIMENTS
    small = replace(
        first,
        cells=lambda size: [
            Cell.of(
                wang_xu_2019.projected_gradient,
                data=data,
                records=200,
                epsilon=epsilon,
                delta="1e-3",
                steps=20,
                repetitions=2,
            )
            for data in ("synthetic", "covertype")
            for epsilon in (0.5, 0.0)
        ],
    )
    monkeypatch.setattr(experiments, "experiments", lambda: (small,))
    folder = tmp_path / "runs"
    out = said("wang-xu-2019/figure-1", "--experiments", "--output", str(folder), status=0)
    assert first.title in out
    assert "covertype: over the last 20" in out
    assert f"![{first.title}](figures/{first.name}.png)" in (folder / "verification.md").read_text()
    assert (folder / "figures" / f"{first.name}.png").stat().st_size > 10_000


def test_a_refused_experiment_is_told_and_the_others_are_kept(said, tmp_path, monkeypatch, suite):
    from dpbounds.algorithms.verification import experiments
    from dpbounds.algorithms.verification.sweeping.cells import Cell
    from dpbounds.errors import BudgetExceeded, NotCertified

    first, second, third = experiments.experiments()[:3]
    module = types.ModuleType("refused_tasks")

    def refused(seed):
        raise BudgetExceeded("more is spent than planned\n5 x Gaussian")

    def unproven(seed):
        raise NotCertified("the tail did not close")

    def gone(seed):
        return {name: float("nan") for name in ("exact_path", "noisy_path")}

    module.refused, module.unproven, module.gone = refused, unproven, gone
    monkeypatch.setitem(sys.modules, "refused_tasks", module)
    few = [
        replace(one, cells=lambda size, name=name: [Cell.of(f"refused_tasks:{name}")],
                panels=wanting, findings=wanting)
        for one, name in ((first, "refused"), (second, "unproven"), (third, "gone"))
    ]  # fmt: skip
    monkeypatch.setattr(experiments, "experiments", lambda: tuple(few))
    planned = suite.planned()[:1]
    monkeypatch.setattr(suite, "planned", lambda: planned)
    folder = tmp_path / "runs"
    out = said("--experiments", "--output", str(folder))
    assert "Not drawn: the ledger refuses a run: more is spent than planned." in out
    assert "Not drawn: nothing is proven of a run: the tail did not close." in out
    assert re.search("Not drawn: exact_path must be .*, not NaN", out)
    assert out.count("  holds   ") == 1
    page = (folder / "verification.md").read_text()
    assert f"### {first.title}\n\n- Not drawn: the ledger refuses a run" in page.replace("\n\n\n", "\n\n")
    assert ".png" not in page


def test_cells_are_exported(said, tmp_path, rows):
    path = tmp_path / "cells.csv"
    said(f"{PAPER}/equation-6", "--export", str(path))
    assert {line["task"].split(":")[1] for line in rows(path)} == {"ball_overlap"}


def test_an_unknown_statement_makes_no_store(tmp_path, capsys):
    store = tmp_path / "store"
    assert main(["verify", "wang-xu-2019/theorem-99", "--store", str(store)]) == 2
    assert "a paper or a statement with a check" in capsys.readouterr().err
    assert not store.exists()
