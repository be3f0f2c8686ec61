"""Loaders that shuffle, on the command line: one command says what they spent, and what has no proof is one line."""

import json
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.cli import main

RUN = ["--noise-multiplier", "4", "--sampling", "shuffled", "--batches", "1000", "--epochs", "10"]
REPLACE = ["--relation", "replace-one"]
AT = ["--delta", "1e-5"]


@pytest.mark.parametrize(
    ("name", "relation", "how", "batches", "rest"),
    [
        ("shuffled", "replace-one", "--batches 7", 7, 0),
        ("shuffle", "zero-out-one", "--batch-size 10 --dataset-size 70", 7, 0),
        ("shuffling", "replace-one", "--batch-size 10 --dataset-size 73", 7, Fraction(3, 73)),
        ("shuffled-batches", "zero-out-one", "--batch-size 70 --dataset-size 70", 1, 0),
    ],
)
def test_options_describe_the_mechanism_exactly(name, relation, how, batches, rest, asked, answer):
    run = ["--noise-multiplier", "3", "--sampling", name, *how.split(), "--epochs", "2"]
    found, _ = answer("epsilon", *run, *AT, "--relation", relation)
    assert asked() == [(dp.Shuffled(dp.Gaussian(3), batches, rest) ** 2, relation)]
    assert (found["sampling"], found["batches"], found["epochs"]) == ("shuffled", batches, 2)


ERRORS = [  # options, what the one line must say
    (
        ["--relation", "add-or-remove-one"],
        ["replace-one or zero-out-one", "--relation replace-one or --relation zero-out-one"],
    ),
    ([*REPLACE, "--epochs", "2.5"], ["--epochs must be a whole number", "not 2.5", "round up"]),
    ([*REPLACE, "--steps", "10"], ["--steps 10", "--sampling shuffled", "--epochs E"]),
    ([*REPLACE, "--sample-rate", "0.1"], ["--sample-rate 0.1", "--sampling shuffled", "--batches M"]),
    ([*REPLACE, "--batch-size", "5", "--dataset-size", "9"], ["--batch-size", "either --batches or --batch-size"]),
    ([*REPLACE, "--sampling", "poisson"], ["--batches 1000", "--sampling shuffled"]),
    ([*REPLACE, "--sampling", "cyclic"], ["shuffled_epochs", "--sampling full-batch", "--sampling shuffled"]),
]


@pytest.mark.parametrize(("options", "told"), ERRORS)
def test_what_cannot_be_answered_is_one_line(options, told, refused):
    refused("epsilon", *RUN, *AT, *options, told=told)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--epochs", "3"], ["--batches is missing", "--batch-size B with --dataset-size N"]),
        (["--batches", "3"], ["--epochs is missing", "--sampling shuffled"]),
        (["--epochs", "3", "--batch-size", "9", "--dataset-size", "4"], ["--batch-size must be at most", "4"]),
        (["--epochs", "3", "--batch-size", "9"], ["--batches is missing"]),
    ],
)
def test_what_is_missing_is_named(options, told, refused):
    refused("epsilon", *RUN[:4], *AT, *REPLACE, *options, told=told)


@pytest.mark.parametrize(
    ("solve", "options", "told"),
    [
        ("sample-rate", [], ["--solve", "--sampling shuffled"]),
        ("batches", ["--batches", "9"], ["--batches 9", "--solve batches"]),
        ("steps", ["--batches", "5", "--epochs", "9"], ["--epochs 9", "--solve steps"]),
    ],
)
def test_what_is_solved_for_is_not_given(solve, options, told, refused):
    budget = ["--target-epsilon", "3", "--target-delta", "1e-5", *REPLACE]
    run = ["--sampling", "shuffled", "--noise-multiplier", "4", *options]
    refused("calibrate", *budget, "--solve", solve, *run, told=told)


def test_batches_are_solved_for_where_they_are_shuffled_only(refused):
    run = ["--target-epsilon", "3", "--target-delta", "1e-5", "--solve", "batches", "--noise-multiplier", "4"]
    assert "--sampling shuffled" in refused("calibrate", *run, "--sampling", "full-batch", "--steps", "2")


def test_the_help_says_what_to_do_about_a_loader_that_shuffles(capsys):
    assert main(["epsilon", "--help"]) == 0
    assert "Your loader shuffles: dpbounds epsilon" in " ".join(capsys.readouterr().out.split())


@pytest.mark.minutes
def test_what_a_shuffled_run_spent_and_why(said):
    out = said("epsilon", *RUN, *AT, "--relation", "zero-out-one", "--explain")
    assert out.startswith("epsilon    1.388")
    for part in ("10 epochs over 1000 shuffled batches", "shuffled.md", "stays secret", "Poisson samples"):
        assert part in out


@pytest.mark.minutes
@pytest.mark.parametrize(
    ("solve", "given", "field"),
    [
        pytest.param("noise", ["--batches", "1000", "--epochs", "10"], "noise_multiplier", marks=pytest.mark.minutes),
        pytest.param("batches", ["--noise-multiplier", "4", "--epochs", "10"], "batches", marks=pytest.mark.minutes),
        ("steps", ["--noise-multiplier", "4", "--batches", "1000"], "epochs"),
    ],
)
def test_calibration_of_noise_batches_and_epochs(solve, given, field, answer):
    budget = ["--target-epsilon", "1.5", "--target-delta", "1e-5", "--relation", "zero-out-one"]
    found, _ = answer("calibrate", *budget, "--solve", solve, "--sampling", "shuffled", *given)
    whole = {"noise_multiplier": 4.0, "batches": 1000, "epochs": 10, field: found[field]}
    training = dp.Shuffled(dp.Gaussian(whole["noise_multiplier"]), whole["batches"]) ** whole["epochs"]
    spent = dp.epsilon(training, "1e-5", "zero-out-one")
    assert spent.at_most("1.5") is True
    assert spent.upper > (1.3 if solve == "steps" else 1.495)
    assert {name: found[name] for name in whole} == whole


# --- The shuffle model ------------------------------------------------------------------------------------------------

LOCAL = ["--local-epsilon", "1", "--batches", "1000", *AT]


@pytest.mark.parametrize(
    ("options", "mechanism", "relation"),
    [
        (["--relation", "replace-one"], dp.Shuffled(dp.PureDP(1, relation="replace-one"), 1000) ** 1, "replace-one"),
        (["--relation", "zero-out-one"], dp.Shuffled(dp.PureDP(1, relation="zero-out-one"), 1000) ** 1, "zero-out-one"),
        (
            ["--answers", "5", "--epochs", "3", "--sampling", "shuffled", "--relation", "replace-one"],
            dp.Shuffled(dp.RandomizedResponse(1, 5), 1000) ** 3,
            "replace-one",
        ),
    ],
)
def test_reports_are_described_exactly(options, mechanism, relation, asked, answer):
    found, _ = answer("epsilon", *LOCAL, *options)
    assert asked() == [(mechanism, relation)]
    assert (found["local_epsilon"], found["batches"], found["sampling"]) == (1, 1000, "shuffled")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([*LOCAL, "--noise-multiplier", "1"], ["--noise-multiplier does not fit --local-epsilon"]),
        ([*LOCAL, "--noise", "laplace"], ["--noise laplace does not fit --local-epsilon"]),
        ([*LOCAL, "--weight-decay-step", "0"], ["--weight-decay-step does not fit --local-epsilon"]),
        ([*LOCAL, "--sampling", "poisson"], ["--sampling does not fit --local-epsilon"]),
        ([*LOCAL, "--same-bins"], ["--same-bins does not fit --local-epsilon"]),
        ([*LOCAL, "--epochs", "1.5"], ["--epochs must be a whole number", "not 1.5"]),
        ([*LOCAL, "--answers", "1"], ["--answers must be at least 2, not 1"]),
        ([*LOCAL, "--relation", "add-or-remove-one"], ["ask under replace-one or zero-out-one"]),
        ([*LOCAL[:2], *AT], ["--batches is missing", "the number of reports"]),
        ([*LOCAL[2:], "--answers", "2"], ["--local-epsilon is missing"]),
    ],
)
def test_reports_that_do_not_fit_are_one_line(options, told, refused):
    refused("epsilon", *options, told=told)


def test_reports_of_null_records(answer):
    found, _ = answer("epsilon", *LOCAL, "--answers", "2", "--relation", "zero-out-one")
    spent = dp.epsilon(dp.Shuffled(dp.RandomizedResponse(1, 2), 1000), AT[1], "zero-out-one")
    assert found["epsilon"] == {"lower": spent.lower, "upper": spent.upper}
    assert found["relation"] == "zero-out-one"


@pytest.mark.seconds
def test_a_note_where_the_secret_order_gains_nothing(capsys):
    run = ["--noise-multiplier", "4", "--sampling", "shuffled", "--batches", "100", "--epochs", "1", *AT, *REPLACE]
    for noise, gains in (("discrete-gaussian", False), ("laplace", True), ("gaussian", True)):
        assert main(["epsilon", *run, "--noise", noise]) == 0
        assert ("note       the secret order gains nothing" in capsys.readouterr().out) != gains
        assert main(["epsilon", *run, "--noise", noise, "--json"]) == 0
        assert ("the secret order gains nothing" in json.loads(capsys.readouterr().out).get("note", "")) != gains
