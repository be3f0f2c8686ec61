"""`dpbounds run` on one's own records, batches drawn as a loader draws them: run, accounted, written, resumed."""

from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.algorithms import MatrixDescent, PrivateTraining, problems
from dpbounds.algorithms.descents.private_training import GradientSteps
from dpbounds.algorithms.ledger import Ledger
from dpbounds.algorithms.method import OpenRun
from dpbounds.algorithms.sampling import (
    Allocated,
    Batch,
    Bins,
    Correlated,
    Cyclic,
    Poisson,
    Shuffle,
    Truncated,
    Visited,
)
from dpbounds.cli import main
from dpbounds.cli.questions.drawing import read_drawing
from dpbounds.cli.verbs.run import command
from dpbounds.errors import DpboundsError
from dpbounds.privacy.mechanisms import Gaussian, LastIterate, MatrixMechanism, parts_of
from dpbounds.privacy.mechanisms.schemes.encoders import BinaryTree, Toeplitz
from dpbounds.privacy.relations import Relation

N = 60
BUDGET = ("--epsilon", "2", "--delta", "1e-5")
TRAINING = ("training", "step_size=1/2")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def given(text):
    """What Click makes of options."""
    context = command.make_context("run", ["training", *BUDGET, *text.split()])
    names = {each.name for each in command.params}
    assert {"sampling", "toeplitz", "release"} < names
    return context.params


def read(text, relation="replace-one", steps=None):
    return read_drawing(given(text), N, Relation(relation), steps)


SQUARE_ROOT = Toeplitz("square-root", 20, 5)
SCHEMES = {
    "--sampling shuffled --batches 7 --epochs 3": (Shuffle(7), 21),
    "--sampling shuffled --batch-size 7 --epochs 3": (Shuffle(8), 24),
    "--sampling cyclic --batches 7 --epochs 2": (Cyclic(7), 14),
    "--sampling cyclic --batch-size 7 --order secret": (Cyclic(9, "secret"), None),
    "--sampling random-allocation --batches 6 --epochs 3/2": (Bins(6), 9),
    "--sampling random-allocation --batches 6 --participations 2 --epochs 3/2": (Allocated(6, 2), 12),
    "--sampling balls-in-bins --batches 6 --epochs 2 --redraw": (Bins(6), 12),
    "--sampling balls-in-bins --batches 6 --epochs 2 --same-bins": (Bins(6, redraw=False), 12),
    "--sampling truncated-poisson --sample-rate 1/10 --max-batch-size 9 --epochs 2": (Truncated("1/10", 9, N), 20),
    "--sampling poisson --batch-size 6 --epochs 2": (Poisson("1/10"), 20),
    "--sampling poisson --sample-rate 1/10": (Poisson("1/10"), None),
    "--sampling without-replacement --batch-size 6 --epochs 2": (Batch(6, N, replacement=False), 20),
    "--sampling with-replacement --batch-size 6 --epochs 2": (Batch(6, N, replacement=True), 20),
    "--sampling full-batch --epochs 5": (None, 5),
    "--toeplitz square-root --bands 5 --participation fixed-order --separation 5 --epochs 4": (
        Correlated(SQUARE_ROOT, 5),
        20,
    ),
    "--tree --participation balls-in-bins --separation 5 --epochs 4": (
        Correlated(BinaryTree(20), 5, "balls-in-bins"),
        20,
    ),
    "--toeplitz square-root --bands 5 --participation cyclic-poisson --separation 5 --sample-rate 1/4 --epochs 4": (
        Correlated(SQUARE_ROOT, 5, "cyclic-poisson", "1/4"),
        20,
    ),
}


@pytest.mark.parametrize("text", SCHEMES)
def test_options_name_the_scheme_and_the_number_of_batches(text):
    found = read(text)
    assert (found.scheme, found.steps) == SCHEMES[text]


def test_steps_are_those_of_the_word_where_no_epochs_are_given():
    assert read("--sampling shuffled --batches 7", steps=30).steps == 30
    assert read("--sampling poisson --sample-rate 1/10", steps=30).steps == 30


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("--batches 7", "--sampling is missing: give --sampling NAME, which says what --batches 7 means"),
        ("--sampling shuffled --epochs 3", "--batches M or --batch-size B"),
        ("--sampling shuffled --batches 7 --batch-size 3", "--batches M or --batch-size B"),
        ("--sampling shuffled --batches 61", "at most the number of records, 60"),
        ("--sampling cyclic --batch-size 61", "at most the number of records, 60"),
        ("--sampling shuffled --batches 7 --sample-rate 1/10", "--sample-rate 0.1 does not fit --sampling shuffled"),
        ("--sampling shuffled --batches 7 --order secret", "--order secret needs --sampling cyclic"),
        ("--sampling balls-in-bins --batches 7 --epochs 1", "--redraw"),
        ("--sampling random-allocation --batches 7 --epochs 1 --participations 8", "at most --batches, 7"),
        ("--sampling balls-in-bins --batches 7 --epochs 1 --participations 2 --redraw", "--participations 2"),
        ("--sampling truncated-poisson --sample-rate 1/10", "--max-batch-size"),
        ("--tree --participation minimum-separation --separation 5 --epochs 4", "one that an algorithm here draws"),
        ("--tree --participation fixed-order --separation 5 --epochs 4 --groups content", "position"),
        ("--sampling mini-batches", "--sampling"),
    ],
)
def test_what_does_not_fit_is_refused(text, told):
    import click

    with pytest.raises((DpboundsError, click.UsageError)) as refused:
        read(text)
    assert told in str(refused.value) + getattr(refused.value, "message", "")


@pytest.mark.parametrize("name", ["shuffled", "cyclic"])
def test_positions_need_a_relation_that_keeps_them(name):
    with pytest.raises(DpboundsError, match="replace-one or zero-out-one"):
        read(f"--sampling {name} --batches 7 --epochs 1", "add-or-remove-one")


RUNS = (
    "--sampling shuffled --batches 6 --epochs 2",
    "--sampling cyclic --batches 6 --epochs 2",
    "--sampling random-allocation --batches 3 --epochs 1 --relation add-or-remove-one",
    "--sampling random-allocation --batches 4 --participations 2 --epochs 1 --relation add-or-remove-one",
    "--sampling balls-in-bins --batches 3 --epochs 2 --same-bins --relation zero-out-one",
    "--sampling truncated-poisson --sample-rate 1/6 --max-batch-size 20 --epochs 1",
    "--sampling without-replacement --batch-size 10 --epochs 1",
    "--sampling poisson --sample-rate 1/6 --epochs 2",
)


@pytest.mark.seconds
@pytest.mark.parametrize("text", RUNS)
@pytest.mark.minutes_cases("--sampling random-allocation --batches 4*")
def test_own_records_are_trained_on_accounted_for_and_signed_off(text, own, data, tmp_path, capsys):
    options = given(text)
    found = data("run", *TRAINING, *own, *BUDGET, *text.split())
    drawing = read_drawing(options, N, Relation(options["relation"]), None)
    mechanism = Ledger.from_json((tmp_path / "dpbounds-run/ledger.json").read_text()).mechanism()
    noise = innermost(mechanism)
    expected = (
        drawing.scheme.visited(noise, drawing.steps)
        if isinstance(drawing.scheme, Visited)
        else drawing.scheme.sample(noise) ** drawing.steps
    )
    assert parts_of(mechanism) == parts_of(expected)
    assert found["epsilon"]["lower"] <= found["epsilon"]["upper"] <= 2
    assert found["epsilon"]["upper"] > 1.9  # the noise is no larger than the budget asks for
    if "poisson" not in text or "truncated" in text:  # of those the statement has always been shorter
        assert "Must not be published" in (tmp_path / "dpbounds-run/statement.txt").read_text()
    if (tmp_path / "dpbounds-run/certificate.json").exists():
        assert main(["check", "dpbounds-run/certificate.json"]) == 0
        assert "the certificate holds" in capsys.readouterr().out


def innermost(mechanism):
    """The Gaussian release of one batch."""
    ((part, _),) = parts_of(mechanism)
    return Gaussian(part.noise_multiplier) if isinstance(part, MatrixMechanism) else part.mechanism


@pytest.mark.seconds
def test_it_is_the_run_that_python_makes(own, data):
    """The same records, prepared as the demo prepares them, the same noise."""
    found = data("run", *TRAINING, *own, *BUDGET, "--sampling", "poisson", "--sample-rate", "1/6", "--seed", "4")
    dataset = problems.read_csv("d.csv", "y", "1", "r.csv", feature_bound=10**6)
    problem = problems.sigmoid_loss(dataset.features, dataset.labels, l1=0)
    plain = GradientSteps(0.5)
    method = PrivateTraining.calibrated(problem, 2, "1e-5", optimiser=plain, sampling=Poisson("1/6"))
    run = method.run(problem, seed=4, repetitions=1)
    assert found["point"] == run.output[0].tolist()
    assert found["epsilon"] == {"lower": run.spent.lower, "upper": run.spent.upper}


@pytest.mark.seconds
def test_correlated_noise_on_own_records(own, data, tmp_path):
    words = (
        "--toeplitz square-root --bands 5 --participation cyclic-poisson --separation 5 --sample-rate 1/4 --epochs 4"
    )
    found = data("run", "dp-ftrl", *own, *BUDGET, *words.split(), "--seed", "4")
    dataset = problems.read_csv("d.csv", "y", "1", "r.csv", feature_bound=10**6)
    problem = problems.sigmoid_loss(dataset.features, dataset.labels, l1=0)
    scheme = {"matrix": SQUARE_ROOT, "batches": 5, "draws": "cyclic-poisson", "sample_rate": "1/4"}
    run = MatrixDescent.calibrated(problem, 2, "1e-5", steps=20, **scheme).run(problem, seed=4, repetitions=1)
    assert found["point"] == run.output[0].tolist()
    assert found["epsilon"]["upper"] <= 2
    assert "of one of 5 groups with probability 0.25 each" in (tmp_path / "dpbounds-run/statement.txt").read_text()


def test_training_takes_correlated_noise_too(own, data):
    words = "--toeplitz 1,1/2 --participation fixed-order --separation 5 --epochs 4"
    found = data("run", *TRAINING, *own, *BUDGET, *words.split(), "--seed", "4")
    (entry,) = found["ledger"]["releases"]
    assert (entry["mechanism"], entry["participation"], entry["matrix"]["steps"]) == ("matrix", "fixed-order", 20)
    assert 1.99 < found["epsilon"]["upper"] <= 2


def test_a_ledger_certifies_every_iterate_and_the_last_one(own, data, said, tmp_path):
    text = "--sampling cyclic --batches 6 --epochs 4"
    found = data("run", "dp-sgd", *own, *BUDGET, *text.split())
    ledger = tmp_path / "dpbounds-run/ledger.json"
    every, last = (
        data("epsilon", "--ledger", str(ledger), "--delta", "1e-5", "--relation", "replace-one", "--release", release)
        for release in ("every-iterate", "last-iterate")
    )
    assert every["epsilon"] == found["epsilon"]
    assert last["epsilon"] == found["last_iterate_alone"]
    assert last["epsilon"]["upper"] < 0.7 * every["epsilon"]["upper"]
    assert (last["release"], "nothing else is published" in last["condition"]) == ("last-iterate", True)
    alone = Ledger.from_json(ledger.read_text()).last_iterate()
    assert isinstance(alone, LastIterate)
    assert last["epsilon"]["upper"] == dp.epsilon(alone, "1e-5", "replace-one").upper
    statement = (tmp_path / "dpbounds-run/statement-last-iterate.txt").read_text()
    assert "May be published: the last iterate, and nothing else of that run" in statement
    assert "Must not be published: any other iterate, losses" in statement
    for which in ("certificate", "certificate-last-iterate"):
        assert main(["check", f"dpbounds-run/{which}.json"]) == 0


@pytest.mark.seconds
def test_a_budget_for_the_last_iterate_alone_needs_less_noise(own, data):
    text = ("--sampling", "cyclic", "--batches", "6", "--epochs", "4")
    every = data("run", "dp-sgd", *own, *BUDGET, *text)
    last = data("run", "dp-sgd", *own, *BUDGET, *text, "--release", "last-iterate")
    assert (last["release"], last["last_iterate_alone"]) == ("last-iterate", None)
    assert 1.99 < last["epsilon"]["upper"] <= 2
    noises = [Fraction(each["ledger"]["releases"][0]["noise_multiplier"]) for each in (last, every)]
    assert noises[0] < 0.7 * noises[1]
    assert "nothing else of that run" in last["statement"]


def test_a_ledger_that_knows_no_last_iterate_says_so(own, data, capsys, tmp_path):
    data("run", *TRAINING, *own, *BUDGET, "--sampling", "cyclic", "--batches", "6", "--epochs", "1")
    words = ["epsilon", "--ledger", "dpbounds-run/ledger.json", "--delta", "1e-5", "--relation", "replace-one"]
    assert main([*words, "--release", "last-iterate"]) == 2
    assert "count all iterates" in capsys.readouterr().err
    assert main([*words, "--release", "every-iterate"]) == 0


def test_a_seeded_run_says_both_conditions(own, data, capsys):
    data("run", "dp-sgd", *own, *BUDGET, "--sampling", "cyclic", "--batches", "6", "--epochs", "2", "--seed", "1")
    words = ["epsilon", "--ledger", "dpbounds-run/ledger.json", "--delta", "1e-5", "--relation", "replace-one"]
    assert main([*words, "--release", "last-iterate", "--statement"]) == 0
    told = capsys.readouterr().out
    assert "provided   conditional on the seed being secret and never used again; nothing else is published" in told
    assert "ideal Gaussian noise, conditional on the seed" in told
    assert "ideal Gaussian noise, conditional on the seed being secret and never used again; nothing" not in told


class Stopped(KeyboardInterrupt):
    """Somebody pressed Ctrl-C."""


def test_a_run_that_was_stopped_goes_on_from_its_checkpoint(own, data, monkeypatch, tmp_path):
    words = ("run", *TRAINING, *own, *BUDGET, "--sampling", "cyclic", "--batches", "6", "--epochs", "3")
    words = (*words, "--checkpoint", "run.checkpoint")
    steps = OpenRun.steps

    def until_it_stops(self, count, first=1):
        for number in steps(self, count, first):
            if number == 15:
                raise Stopped
            yield number

    with monkeypatch.context() as patched:
        patched.setattr(OpenRun, "steps", until_it_stops)
        assert main([*words]) != 0
    assert (tmp_path / "run.checkpoint").exists()
    assert not (tmp_path / "dpbounds-run").exists()
    begun = []

    def watched(self, count, first=1):
        begun.append(first)
        return steps(self, count, first)

    monkeypatch.setattr(OpenRun, "steps", watched)
    found = data(*words)
    assert begun[0] == 13  # behind two whole epochs
    assert found["steps"] == 18
    (entry,) = found["ledger"]["releases"]
    assert entry["matrix"] == {"kind": "toeplitz", "coefficients": ["1"], "steps": 18}
    assert data(*words)["point"] == found["point"]  # it is complete, and returned again


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("training", "--sampling", "full-batch"), "step_size is missing"),
        (("dp-storm", "--sampling", "shuffled", "--batches", "6"), "take training or dp-sgd"),
        (("dp-ftrl-tree", "--sampling", "full-batch"), "take dp-ftrl --tree"),
        (("dp-gd", "--release", "last-iterate"), "--release last-iterate is not an option of dp-gd"),
        (("dp-sgd", "--tree", "--participation", "fixed-order", "--separation", "5", "--epochs", "2"), "take dp-ftrl"),
        (("dp-sgd", "--checkpoint", "c"), "--checkpoint c is not an option of dp-sgd"),
    ],
)
def test_refusals(words, told, own, refused, tmp_path):
    assert told in refused("run", *words, *own, *BUDGET)
    assert not (tmp_path / "dpbounds-run").exists()


@pytest.mark.seconds
def test_a_complete_run_leaves_no_secret_behind(own, data, tmp_path):
    bins = ("--sampling", "balls-in-bins", "--same-bins", "--batches", "3", "--epochs", "2")
    words = ("run", *TRAINING, *own, *BUDGET, *bins, "--relation", "zero-out-one", "--checkpoint", "c")
    point = data(*words)["point"]
    assert (tmp_path / "c").exists()
    assert not (tmp_path / "c.secret").exists()
    assert data(*words)["point"] == point  # it is complete, and returned again


def test_one_release_of_a_matrix_is_told_as_it_is(own, said):
    tree = ("--tree", "--participation", "fixed-order", "--separation", "5", "--epochs", "2")
    out = said("run", "dp-ftrl", *own, *BUDGET, *tree)
    assert "10 steps with correlated noise by a binary tree" in out
    assert "on the full batch" not in out


@pytest.mark.parametrize("sampling", ["shuffled", "cyclic"])
def test_a_part_of_an_epoch_is_run_to_its_last_batch(sampling):
    assert read(f"--sampling {sampling} --batches 7 --epochs 5/2").steps == 18
