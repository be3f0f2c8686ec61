"""`dpbounds run`: what is written, what is told of public and of private records, kind refusals."""

import errno
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import dpbounds as dp
from dpbounds import algorithms
from dpbounds.algorithms import problems
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.ledger_format import CONDITION
from dpbounds.algorithms.oracles import GradientOracle
from dpbounds.algorithms.verification.catalogue import all_examples, example, example_names
from dpbounds.cli import main
from dpbounds.cli.answers import running
from dpbounds.cli.answers.running import VARIANTS

VERB = ("run",)
BUDGET = ("--epsilon", "1", "--delta", "1e-5")
SOUND = [name for name in example_names() if not name.endswith(("-as-printed", "-as-quoted"))]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_run_on_synthetic_records_is_the_algorithm_s_own(data, tmp_path):
    found = data("dp-storm", "n=50", "d=2", "lipschitz=2", "steps=4", *BUDGET, "--seed", "3")
    problem = problems.with_constants(50, 2, lipschitz=2)
    algorithm = algorithms.Storm.calibrated(problem, 1, "1e-5", steps=4)
    run = algorithm.run(problem, seed=3, repetitions=1)
    (bound,) = found["bounds"]
    assert found["public"] is True
    assert found["point"] == run.output[0].tolist()
    assert (bound["metric"], bound["upper"]) == (run.metric, algorithm.bound(problem).upper)
    assert bound["measured"] == run.samples.mean()
    files = {"point.csv", "ledger.json", "statement.txt", "run.json", "certificate.json"}
    assert {path.name for path in (tmp_path / "dpbounds-run").iterdir()} == files
    assert json.loads((tmp_path / "dpbounds-run/run.json").read_text()).items() <= found.items()


def test_the_ledger_spends_what_is_told_and_the_seed_is_a_condition(data, rows, tmp_path):
    found = data("dp-gd", "n=50", "d=2", "steps=4", *BUDGET, "--seed", "3")
    ledger = Ledger.from_json((tmp_path / "dpbounds-run/ledger.json").read_text())
    spent = dp.epsilon(ledger.mechanism(), "1e-5", "replace-one")
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert spent.at_most(1) is True
    assert CONDITION in found["statement"]
    assert CONDITION in (tmp_path / "dpbounds-run/statement.txt").read_text()
    assert [float(row["value"]) for row in rows(tmp_path / "dpbounds-run/point.csv")] == found["point"]


def test_of_private_records_nothing_is_told_that_was_not_released(said, own, tmp_path):
    words = ("dp-gd", "steps=5", *own, *BUDGET, "--seed", "1")
    out = said(*words)
    written = json.loads((tmp_path / "dpbounds-run/run.json").read_text())
    assert written["public"] is False
    assert [bound["measured"] for bound in written["bounds"]] == [None]
    dataset = problems.read_csv("d.csv", "y", "1", "r.csv", feature_bound=10**6)
    problem = problems.sigmoid_loss(dataset.features, dataset.labels, l1=0)
    run = algorithms.GradientDescent.calibrated(problem, 1, "1e-5", steps=5).run(problem, seed=1, repetitions=1)
    assert run.output[0].tolist() == written["point"]  # it is the same run: these are its exact numbers
    told = out + "".join(path.read_text() for path in (tmp_path / "dpbounds-run").iterdir())
    exact = [f"{value:.4g}" for series in run.trace.values() for value in (*series.per_step, series.mean)]
    assert len(exact) > 20
    assert not [text for text in exact if len(text) > 4 and text in told]  # F(0) is 0.5 whatever the records
    assert "measured" not in out
    assert (tmp_path / "dpbounds-run/point.csv").read_text().splitlines()[1].startswith("a,")


@pytest.mark.seconds
def test_a_point_is_written_after_all_that_accounts_for_it(said, tmp_path, monkeypatch):
    """On a disk that is full at any file, or full for the report, no point stands there."""
    words = ("dp-gd", "n=50", "d=2", "steps=4", *BUDGET, "--report", "page.html")
    place, real, order = tmp_path / "dpbounds-run", os.replace, []
    monkeypatch.setattr(os, "replace", lambda draft, target: order.append(Path(target).name) or real(draft, target))
    said(*words)
    assert order == ["ledger.json", "statement.txt", "certificate.json", "page.html", "point.csv", "run.json"]
    for file in range(len(order)):
        shutil.rmtree(place)
        order.clear()

        def full(draft, target, last=file):
            if len(order) == last:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            order.append(Path(target).name)
            real(draft, target)

        monkeypatch.setattr(os, "replace", full)
        assert main(["run", *words]) == 2
        assert {path.name for path in place.iterdir()} == set(order) - {"page.html"}


@pytest.mark.seconds
def test_a_guarded_run_is_the_same_and_says_what_it_could_have_seen(data, said):
    words = ("dp-gd", "n=200", "d=4", "steps=10", *BUDGET, "--seed", "2")
    alone, watched = data(*words), data(*words, "--guarded")
    assert alone["point"] == watched["point"]
    assert alone["guarded"] is None
    (here,), (more,) = watched["guarded"]["run"], watched["guarded"]["more"]
    assert (here["kind"], here["numbers"]) == ("gradient 4", 40)
    assert watched["guarded"]["repetitions"] == 512  # there are no more, though 40 000 numbers take 1 000
    assert (more["kind"], more["numbers"]) == ("gradient 4", 512 * 40)
    assert here["seen_below"] < 0.5 < 0.9 < more["seen_below"] < 1
    told = said(*words, "--guarded")
    assert f"a factor below {here['seen_below']:g}" in told
    assert f"in 512 repetitions on public or made-up records: gradient 4: {more['numbers']} numbers" in told


def half_of_the_first_coordinate(answers):
    def added(values, **given):
        found = perturbation(values, **given)
        found[:, 0] = (found[:, 0] + values[:, 0]) / 2
        return found

    return added


def less_at_the_second_answer(answers):
    def added(values, **given):
        answers.append(len(answers))
        found = perturbation(values, **given)
        return values + (0.3 if len(answers) % 10 == 2 else 1) * (found - values)

    return added


def every_fifth_the_last_again(answers):
    def added(values, **given):
        answers.append(perturbation(values, **given) - values)
        if len(answers) % 5 == 0 and answers[-2].shape == values.shape:
            answers[-1] = answers[-2]
        return values + answers[-1]

    return added


perturbation = sys.modules[GradientOracle.__mro__[1].__module__].perturbed


@pytest.mark.seconds
@pytest.mark.parametrize("bug", [half_of_the_first_coordinate, less_at_the_second_answer, every_fifth_the_last_again])
@pytest.mark.parametrize("private", [True, False])
def test_a_guarded_run_sees_what_one_run_is_too_short_for(bug, private, own, said, tmp_path, monkeypatch, capsys):
    """Faults of the noise that come after it was counted; on one's own records the tests are made on made-up ones."""
    words = ("dp-gd", "steps=10", *(own if private else ("n=200", "d=4")), *BUDGET)
    looked = []
    real = running.made_up
    monkeypatch.setattr(running, "made_up", lambda *given: looked.append(real(*given)) or looked[-1])
    said(*words, "--guarded")
    assert len(looked) == private
    monkeypatch.setattr(sys.modules[perturbation.__module__], "perturbed", bug([]))
    said(*words)  # the run alone does not see it
    shutil.rmtree("dpbounds-run")
    assert main(["run", *words, "--guarded"]) == 1
    assert "not as the ledger states" in capsys.readouterr().err
    assert not (tmp_path / "dpbounds-run").exists()


def test_made_up_records_are_nobody_s_and_have_the_public_constants_of_the_others(own):
    dataset = problems.read_csv("d.csv", "y", "1", "r.csv", feature_bound=10**6)
    problem = problems.sigmoid_loss(dataset.features, dataset.labels, l1=0)
    like = running.made_up(problem, "0")
    for name in ("records", "dimension", "lipschitz", "smoothness", "initial_gap", "loss_range", "hessian_lipschitz"):
        assert getattr(like, name) == getattr(problem, name)
    again = running.made_up(problems.sigmoid_loss(-dataset.features[::-1], dataset.labels, l1=0), "0")
    assert np.array_equal(like.signed_features, again.signed_features)
    theirs = {tuple(row) for row in np.abs(problem.signed_features).round(9).tolist()}
    assert not theirs & {tuple(row) for row in np.abs(like.signed_features).round(9).tolist()}


@pytest.mark.seconds
@pytest.mark.parametrize("name", SOUND)
def test_every_algorithm_runs_on_its_example(name, data):
    found = data(name, *BUDGET)
    assert 0 <= found["epsilon"]["lower"] <= 1
    assert found["bounds"] or found["no_bound"]
    assert found["public"] is True


@pytest.mark.seconds
def test_variants_are_those_that_share_a_class_with_a_name_before_them():
    budget = PrivacyBudget.of(1, "1e-5")
    assert [name for name in SOUND if example(name).printed] == []
    seen, later = set(), []
    for name in SOUND:
        kind = type(example(name).calibrated(budget)[0])
        later += [name] if kind in seen else []
        seen.add(kind)
    assert sorted(later) == sorted(VARIANTS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("dp-sgd-as-printed",), "ALGORITHM must be a repaired one"),
        (("nosuch",), "ALGORITHM must be"),
        (("dp-gd", "momentum=1/2"), "momentum must be a parameter of dp-gd (steps, step_size)"),
        (("dp-gd", "noise_multiplier=1"), "noise_multiplier must be a parameter of dp-gd"),
        (("dp-gd", "n=50"), "d is missing: a value, d=VALUE"),
        (("dp-gd", "n=1e6", "d=1e6"), "at most 1e8 numbers"),
        (("dp-gd", "steps=1/2", "n=50", "d=2"), "steps must be a positive whole number"),
        (("dp-fw-l2", "n=50", "d=2"), "needs its constraint"),
        (("dp-sgd-poisson", "steps=3"), "runs on its own example"),
        (("dp-gd", "--centre", "1/2"), "--centre 1/2 needs --data"),
        (("path-noise", "--noise", "secure"), "--noise secure is not an option of path-noise"),
        (("dp-nc", "n=50", "d=2", "stationarity=-1"), "stationarity must be greater than 0"),
    ],
)
def test_refusals(words, told, refused, tmp_path):
    assert told in refused(*words, *BUDGET)
    assert not (tmp_path / "dpbounds-run").exists()


def test_repetitions_on_private_records_and_a_missing_budget_are_refused(own, refused):
    assert "--repetitions 2 needs public records" in refused("dp-gd", *own, *BUDGET, "--repetitions", "2")
    assert "n, d are those of --data" in refused("dp-gd", "n=3", *own, *BUDGET)
    assert "--epsilon is missing" in refused("dp-gd", "--delta", "1e-5")


@pytest.mark.seconds
def test_the_list_has_all_algorithms_that_run(capsys):
    assert main(["run", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == sorted(each.name for each in all_examples() if not each.printed)
    assert next(line for line in lines if line.startswith("dp-spider ")).split(maxsplit=1)[1]
