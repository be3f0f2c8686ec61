import csv
import errno
import json
import os
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms import ProjectedGradientDescent, problems
from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.ledger_format import CONDITION
from dpbounds.algorithms.verification import Verdict
from dpbounds.cli import main
from dpbounds.cli.answers import demo_report, demo_training
from dpbounds.cli.verbs import demo
from dpbounds.errors import NotCertified
from dpbounds.expressions.exact import exact
from tests.cli.conftest import read_answer

DELTA = "1e-5"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small demo on the built-in data: its directory."""
    directory = tmp_path_factory.mktemp("demo")
    budgets = ["--epsilon", "4", "--epsilon", "1"]
    assert main(["demo", "--output", str(directory), *budgets, "--repetitions", "16", "--seed", "3"]) == 0
    return directory


@pytest.fixture(scope="module")
def document(finished):
    return json.loads((finished / "demo.json").read_text())


@pytest.mark.seconds
def test_what_it_writes_is_as_its_schema_says(document):
    printed_only = {"schema_version": 1, "dpbounds_version": "0.2.0", "verb": "demo", "files": []}
    assert read_answer(json.dumps({**printed_only, **document}))["rows"]


@pytest.fixture
def short_baseline(monkeypatch):
    monkeypatch.setattr(demo_training, "_MOST_STEPS", 50)


@pytest.mark.seconds
def test_everything_is_written(finished):
    names = {path.name for path in finished.iterdir()}
    ledgers = {"ledger-epsilon-1.json", "ledger-epsilon-4.json"}
    assert names == {"demo.md", "demo.csv", "demo.json", "demo.png", "certificate.json", *ledgers}
    assert (finished / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.seconds
def test_the_spent_epsilon_is_that_of_the_ledger(finished, document):
    assert [row["target_epsilon"] for row in document["rows"]] == [1.0, 4.0]
    for row in document["rows"]:
        ledger = Ledger.from_json((finished / f"ledger-epsilon-{row['target_epsilon']:g}.json").read_text())
        assert json.loads(ledger.to_json()) == row["ledger"]
        spent = dp.epsilon(ledger.mechanism(), DELTA, "replace-one")
        assert row["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
        assert spent.at_most(row["target_epsilon"]) is True
        assert spent.lower > row["target_epsilon"] * (1 - 1e-6)  # hardly any budget is left over
        assert row["relation"] == "replace-one"
        assert sum(release.count for release in ledger.releases) == row["steps"]


@pytest.mark.seconds
def test_the_statement_quotes_the_ledger_and_what_is_outside(document):
    for row in document["rows"]:
        assert "replace" in row["statement"]
        assert "Gaussian in double precision" in row["statement"]
        assert CONDITION in row["statement"]  # a seed was given
        assert row["ledger"]["condition"] == CONDITION
        assert document["outside_the_guarantee"][0][:20] in row["statement"]


@pytest.mark.seconds
def test_every_check_holds_and_the_bound_is_not_vacuous(document):
    for row in document["rows"]:
        checks = {check["name"]: check for check in row["checks"]}
        assert set(checks) == {"privacy", "gradient", "noisy gradient", "noise", "sensitivity"}
        assert {check["verdict"] for check in checks.values()} == {"holds"}
        gradient = checks["gradient"]
        assert 0 < gradient["measured"]["low"] < gradient["measured"]["mean"] < gradient["measured"]["high"]
        assert gradient["measured"]["high"] < gradient["predicted"]["lower"] < 0.1


@pytest.mark.seconds
def test_more_budget_is_more_accurate_and_all_beat_nothing(document):
    means = [row["accuracy"]["mean"] for row in document["rows"]]
    assert document["largest_class_accuracy"] == pytest.approx(357 / 569)
    assert document["largest_class_accuracy"] + 0.1 < means[0] < means[1] < document["without_noise"]["accuracy"]
    assert document["without_noise"]["converged"] is True
    assert document["without_noise"]["projected_gradient_norm"] <= 1e-5


@pytest.mark.seconds
def test_table_and_csv_say_the_same(finished, rows):
    lines = rows(finished / "demo.csv")
    text = (finished / "demo.md").read_text()
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 3  # two budgets and no privacy
    for row, line in zip(lines, table[2:], strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[3] == row["steps"]
        assert float(cells[4].split()[0]) == pytest.approx(float(row["accuracy_mean"]), abs=6e-4)
    for row in lines[:2]:
        assert exact(row["epsilon_spent_upper"]) <= exact(row["target_epsilon"])
        assert row["verdict"] == "holds"
    for part in ("Privacy statement", "Outside the guarantee", "Checks", "a release is the output of one repetition"):
        assert part.lower() in text.lower()


@pytest.mark.seconds
def test_the_certificate_checks_and_is_about_the_ledger_of_the_run(finished, capsys, said):
    paper = ["check", str(finished / "certificate.json"), "--ledger"]
    assert main([*paper, str(finished / "ledger-epsilon-1.json")]) == 0
    assert capsys.readouterr().out.startswith("the certificate holds\n")
    assert "other releases" in said(*paper, str(finished / "ledger-epsilon-4.json"), status=1)


@pytest.mark.seconds
def test_the_ledger_can_be_asked_again(finished, capsys):
    path = finished / "ledger-epsilon-4.json"
    assert main(["epsilon", "--ledger", str(path), "--delta", DELTA, "--relation", "replace-one", "--json"]) == 0
    out, err = capsys.readouterr()
    assert CONDITION in err
    assert json.loads(out)["condition"] == CONDITION
    again = json.loads(out)["epsilon"]
    assert again == json.loads((finished / "demo.json").read_text())["rows"][1]["epsilon"]


def _demo(directory, *arguments):
    return main(["demo", "--output", str(directory), "--epsilon", "4", "--repetitions", "4", *arguments])


@pytest.mark.seconds
def test_the_seed_decides_everything(tmp_path, short_baseline):
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert _demo(tmp_path / name, "--seed", seed) == 0
    texts = [(tmp_path / name / "demo.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]
    for name in "de":
        assert _demo(tmp_path / name) == 0
        texts.append((tmp_path / name / "demo.csv").read_text())
        assert CONDITION not in (tmp_path / name / "demo.json").read_text()
        assert json.loads((tmp_path / name / "demo.json").read_text())["seed"] is None
    assert len({*texts}) == 4


@pytest.mark.seconds
def test_json_alone_is_on_standard_output(tmp_path, short_baseline, capsys):
    assert _demo(tmp_path / "new" / "place", "--json") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["without_noise"]["converged"] is False
    assert [(tmp_path / "new" / "place" / name).exists() for name in ("demo.md", "demo.png")] == [True, True]
    assert len(document["files"]) == 6


@pytest.mark.seconds
def test_one_s_own_records(records, short_baseline, capsys):
    arguments = ["--data", str(records / "records.csv"), "--ranges", str(records / "ranges.csv"), "--positive", "no"]
    assert _demo(records / "out", *arguments, "--delta", "0.1", "--json") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["data"]["records"] == 80
    assert document["data"]["features"] == 3
    assert document["data"]["positive"] == "ill = no"
    assert "zero is put 0.5 of the way up each range" in document["data"]["preparation"]
    assert "warning: --delta = 0.1" in captured.err


@pytest.mark.seconds
def test_without_ranges_nothing_is_scaled_and_it_is_said(records, short_baseline, capsys):
    assert _demo(records / "out", "--data", str(records / "records.csv"), "--json") == 0
    captured = capsys.readouterr()
    assert "note: without --ranges" in captured.err
    assert "used as they are" in json.loads(captured.out)["data"]["preparation"][0]


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--data", "nowhere.csv"], ["not nowhere.csv"]),
        (["--data", "records.csv", "--label", "age"], ["--label", "'age'", "height, weight, ill"]),
        (["--data", "records.csv", "--positive", "maybe"], ["--positive", "'maybe'"]),
        (["--data", "records.csv", "--label", "height"], ["--data", "'ill'", "numbers"]),
        (["--data", "records.csv", "--ranges", "nowhere.csv"], ["not nowhere.csv"]),
        (["--data", "records.csv", "--ranges", "records.csv"], ["--data", "feature, lower, upper"]),
        (["--data", "records.csv", "--centre", "0.5"], ["--centre", "--ranges"]),
        (["--data", "records.csv", "--output", "records.csv"], ["--output", "records.csv"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bad_records_are_one_line(arguments, fragments, records, monkeypatch, capsys):
    monkeypatch.chdir(records)
    assert main(["demo", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line for line in captured.err.splitlines() if not line.startswith("note: ")] == [
        captured.err.splitlines()[-1]
    ]
    for fragment in fragments:
        assert fragment in captured.err
    assert {path.name for path in records.iterdir()} == {"records.csv", "ranges.csv"}  # nothing is left behind


@pytest.mark.seconds
def test_every_way_to_write_a_budget_names_a_file(tmp_path, short_baseline, capsys):
    """Slashes, powers, many digits: what was trained is written, each ledger into a file of its own."""
    budgets = ["4/3", "2**-1", "1.00000000000000001", "1.00000000000000002"]
    arguments = [word for budget in budgets for word in ("--epsilon", budget)]
    assert main(["demo", "--output", str(tmp_path / "of"), *arguments, "--repetitions", "2", "--json"]) in (0, 1)
    files = [name for name in json.loads(capsys.readouterr().out)["files"] if "ledger" in name]
    assert len(set(files)) == len(budgets)
    for name in files:
        assert Ledger.from_json((tmp_path / "of" / name.rsplit("/", 1)[-1]).read_text()).releases


def test_what_is_refused_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    def refused(*arguments):
        raise NotCertified("the noise of this budget could not be proven")

    with monkeypatch.context() as patched:
        patched.setattr(demo, "trained", refused)
        assert main(["demo", "--output", str(tmp_path / "new" / "place"), "--epsilon", "4"]) == 1
    assert list(tmp_path.iterdir()) == []
    capsys.readouterr()
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "below", tmp_path / ("x" * 6000)):
        assert main(["demo", "--output", str(place), "--epsilon", "4"]) == 2
        assert "--output" in capsys.readouterr().err


@pytest.mark.seconds
def test_a_full_disk_keeps_what_an_earlier_demo_wrote(tmp_path, short_baseline, monkeypatch, capsys):
    assert _demo(tmp_path, "--seed", "1") == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    assert _demo(tmp_path, "--seed", "2") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.seconds
def test_guards_change_nothing_and_find_what_a_run_does_not(records, short_baseline, monkeypatch, capsys):
    """A step size that is read off the records keeps every ledger right: the shadow alone, which does not know them."""
    own = "--data", str(records / "records.csv"), "--ranges", str(records / "ranges.csv"), "--seed", "5"
    assert _demo(records / "alone", *own) == _demo(records / "watched", *own, "--guarded") == 0
    assert (records / "alone" / "demo.csv").read_text() == (records / "watched" / "demo.csv").read_text()

    def from_the_records(method, problem):
        return 1 / (1 + float(np.abs(problem.signed_features).max()))

    monkeypatch.setattr(ProjectedGradientDescent, "step_size_for", from_the_records)
    assert _demo(records / "unwatched", *own) == 0
    capsys.readouterr()
    assert _demo(records / "refused", *own, "--guarded") == 1
    error = capsys.readouterr().err
    assert "data leaked past the ledger" in error.splitlines()[-1]
    assert not (records / "refused").exists()


@pytest.mark.parametrize(
    ("module", "name"), [("matplotlib", "matplotlib"), ("rich", "rich"), ("sklearn", "scikit-learn")]
)
def test_a_missing_extra_is_one_line(module, name, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "find_spec", lambda wanted: None if wanted == module else object())
    assert main(["demo", "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error == f"dpbounds: the demo needs {name}, which is not installed: pip install 'dpbounds[demo]'\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.seconds
def test_a_failed_check_is_an_exit_status(tmp_path, short_baseline, monkeypatch, capsys):
    from dpbounds.algorithms import verification

    real = verification.bound_check

    def strict(theorem, samples, bound):
        return real(theorem, samples, type(bound).exactly("1e-9"))

    monkeypatch.setattr(verification, "bound_check", strict)
    assert _demo(tmp_path, "--json") == 1
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert {check["name"] for check in row["checks"] if check["verdict"] == "fails"} == {"gradient", "noisy gradient"}
    assert "| fails" in (tmp_path / "demo.md").read_text()


@pytest.mark.seconds
def test_one_repetition_is_undecided_and_said_to_be(tmp_path, short_baseline, capsys):
    assert _demo(tmp_path, "--repetitions", "1") == 0
    captured = capsys.readouterr()
    assert "note: one repetition" in captured.err
    assert "| undecided |" in captured.out


def test_accuracy_counts_right_answers():
    features, labels = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    problem = problems.sigmoid_loss(features, labels)
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    scores = features @ points.T
    expected = [np.mean([(1 if score > 0 else -1) == label for score, label in zip(column, labels, strict=True)])
                for column in scores.T]  # fmt: skip
    assert demo_training.accuracy(problem, labels, points).tolist() == expected


def test_zero_is_put_where_it_is_said_to_be(records):
    data, ranges = records / "records.csv", records / "ranges.csv"
    rows = list(csv.DictReader(data.read_text().splitlines()))
    for centre in (Fraction(0), Fraction(1, 4), Fraction(1)):
        dataset, problem, notes = demo_training.prepared(data, None, None, ranges, centre)
        assert any("of the way up" in note for note in notes)
        for row, label, signed in zip(rows, dataset.labels, problem.signed_features, strict=True):
            height = (float(row["height"]) - 10 * float(centre)) / 5
            weight = (float(row["weight"]) - 100 - 200 * float(centre)) / 100
            record = np.array([height, weight, 1.0])
            record /= max(1.0, np.linalg.norm(record))
            np.testing.assert_allclose(signed * label, record, rtol=1e-12, atol=1e-12)


@pytest.mark.seconds
def test_the_baseline_is_the_same_algorithm_without_noise():
    dataset, problem, _ = demo_training.prepared(None, None, None, None, None)
    baseline = demo_training.without_noise(problem, dataset.labels)
    assert baseline.converged
    # 1000 steps by hand have not got further than the baseline
    gamma = float(3**1.5)  # 1/(2L) with L = 1/(6 sqrt 3)
    x = np.zeros((1, problem.dimension))
    for _ in range(1000):
        x = problem.proximal_step(x, problem.gradient(x), gamma)
    norm = np.linalg.norm(problem.projected_gradient(x, problem.gradient(x), gamma))
    assert baseline.gradient_norm <= 1e-5 < norm
    assert baseline.accuracy > demo_training.accuracy(problem, dataset.labels, x)[0] - 0.02


def test_the_worst_verdict_is_shown():
    class Checked:
        def __init__(self, verdict):
            self.verdict = verdict

    holds, fails, undecided = (Checked(verdict) for verdict in (Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED))
    assert demo_report._worst([holds, holds]) == "holds"
    assert demo_report._worst([holds, undecided]) == "undecided"
    assert demo_report._worst([undecided, fails, holds]) == "fails"
