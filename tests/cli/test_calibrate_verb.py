from dataclasses import replace
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.questions.training import Training
from dpbounds.cli.verbs import calibrate as verb
from dpbounds.expressions.exact import exact
from dpbounds.expressions.time_limit import clocked

TARGET = ["--target-epsilon", "1", "--target-delta", "1e-6"]
SAMPLED = ["--sample-rate", "0.01", "--steps", "1000"]

VERB = ("calibrate",)


def spends_at_most_one(mechanism, relation="add-or-remove-one"):
    return dp.epsilon(mechanism, "1e-6", relation).at_most(1)


@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_the_noise_suffices_and_a_hair_less_does_not(relation, answer):
    found, errors = answer(*TARGET, *SAMPLED, "--relation", relation)
    assert errors == ""

    def training(noise):
        return dp.PoissonSampled(dp.Gaussian(noise), "0.01") ** 1000

    assert spends_at_most_one(training(found["noise_multiplier"]), relation) is True
    assert spends_at_most_one(training(found["fails_at"]), relation) is False
    assert found["noise_multiplier"] == pytest.approx(found["fails_at"], rel=1e-9)
    assert found["epsilon"]["upper"] <= 1
    expected = {"target_epsilon": 1.0, "target_delta": 1e-6, "relation": relation, "sampling": "poisson"}
    assert {name: found[name] for name in expected} == expected
    assert found["certified"] is True
    assert (found["sample_rate"], found["steps"]) == (0.01, 1000)


# Options, epsilon and delta of the budget, the field that is solved for, the mechanism that its number stands for,
# other fields, and how the training is described.
FIXED = "--sampling without-replacement --batch-size"
BINS = "--sampling balls-in-bins --batches"
FOUND = {
    "steps": (
        *("--solve steps --noise-multiplier 2 --sample-rate 0.01", 1, "1e-6", "steps"),
        *(lambda steps: dp.PoissonSampled(dp.Gaussian(2), "0.01") ** steps, {"noise_multiplier": 2.0}, "at rate 0.01"),
    ),
    "sample rate": (
        *("--solve sample-rate --noise-multiplier 2 --steps 1000", 1, "1e-6", "sample_rate"),
        *(lambda rate: dp.PoissonSampled(dp.Gaussian(2), rate) ** 1000, {"sampling": "poisson"}, "1000 releases"),
    ),
    "noise, fixed size": (
        *(f"{FIXED} 10 --dataset-size 100 --epochs 30", 3, "1e-5", "noise_multiplier"),
        lambda noise: dp.SampledWithoutReplacement(dp.Gaussian(noise), 10, 100) ** 300,
        {"batch_size": 10, "dataset_size": 100, "steps": 300, "tight": True},
        "300 releases, 10 records of 100 drawn without replacement",
    ),
    "noise, fixed size, replace": (
        *(f"{FIXED} 10 --dataset-size 100 --epochs 30 --relation replace-one", 3, "1e-5", "noise_multiplier"),
        lambda noise: dp.SampledWithoutReplacement(dp.Gaussian(noise), 10, 100) ** 300,
        {"batch_size": 10, "dataset_size": 100, "steps": 300, "tight": False},
        "300 releases, 10 records of 100 drawn without replacement",
    ),
    "steps, fixed size": (
        *(f"--solve steps --noise-multiplier 4 {FIXED} 100 --dataset-size 10000", 2, "1e-5", "steps"),
        *(lambda steps: dp.SampledWithoutReplacement(dp.Gaussian(4), 100, 10_000) ** steps, {"tight": True}, ""),
    ),
    "noise, bins": (
        *(f"{BINS} 4 --epochs 2 --same-bins", 3, "1e-3", "noise_multiplier"),
        lambda noise: dp.BallsInBins(dp.Gaussian(noise), 4, 2, redraw=False),
        {"batches": 4, "epochs": 2, "redraw": False, "tight": True},
        "each record in one of 4 batches, 2 epochs, the same in every epoch",
    ),
    "epochs, bins": (
        *(f"--solve steps --noise-multiplier 4 {BINS} 10 --same-bins", 1, "1e-3", "epochs"),
        lambda epochs: dp.BallsInBins(dp.Gaussian(4), 10, epochs, redraw=False),
        *({"epochs": 13, "fails_at": 14}, "each record in one of 10 batches, the same in every epoch"),
    ),
    "batches, bins": (
        *("--solve batches --noise-multiplier 2 --sampling balls-in-bins --epochs 2 --same-bins", 1, "1e-3", "batches"),
        lambda bins: dp.BallsInBins(dp.Gaussian(2), bins, 2, redraw=False),
        *({"tight": True}, "training  each record in one of the batches, 2 epochs"),
    ),
    "batches, allocation": (
        *("--solve batches --noise-multiplier 2 --sampling random-allocation --epochs 2", 1, "1e-3", "batches"),
        lambda bins: dp.BallsInBins(dp.Gaussian(2), bins, 2, redraw=True),
        *({"tight": True}, "training  each record in one of the batches, 2 epochs"),
    ),
    "noise, discrete Laplace": (
        *("--noise discrete-laplace --bound 2", 1, "1e-5", "noise_multiplier"),
        lambda noise: dp.DiscreteLaplace(2 * exact(noise), 2),
        *({"noise": "discrete-laplace", "bound": 2, "tight": True}, ""),
    ),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.seconds_cases("batches, bins")
@pytest.mark.minutes_cases("noise, bins", "epochs, bins", "batches, allocation", "noise, fixed size, replace")
def test_what_is_found_suffices_and_what_fails_does_not(name, answer, said):
    options, epsilon, delta, field, mechanism, fields, training = FOUND[name]
    words = [*options.split(), "--target-epsilon", str(epsilon), "--target-delta", delta]
    found, _ = answer(*words)
    value, failing = found[field], found["fails_at"]
    precise = {"tolerance": 1e-5} if isinstance(value, float) else {}
    for number, keeps in ((value, True), (failing, False)):
        spent = dp.epsilon(mechanism(number), delta, found["relation"], **precise)
        assert spent.at_most(epsilon) is keeps
    assert {each: found[each] for each in fields} == fields
    assert isinstance(value, float) or abs(failing - value) == 1
    out = said(*words)
    assert training in out
    assert ("by an explicit attack; what lies in between is not decided" in out) is not found["tight"]


def test_a_budget_that_allows_every_record_has_no_failing_rate(answer, said):
    arguments = ["--target-epsilon", "100", "--target-delta", "1e-6", "--solve", "sample-rate"]
    found, _ = answer(*arguments, "--noise-multiplier", "2", "--steps", "3")
    assert found["sample_rate"] == 1.0
    assert found["fails_at"] is None
    assert "even rate 1 suffices" in said(*arguments, "--noise-multiplier", "2", "--steps", "3")


class Stopped:
    """A clock on which no time is left when it is looked at for the second time."""

    def __init__(self):
        self.now = -1e9

    def __call__(self):
        self.now += 1e9
        return self.now


def test_where_the_time_ends_what_is_held_is_marked(answer, said):
    words = [*TARGET, *SAMPLED, "--time-limit", "1"]
    with clocked(Stopped()):
        found, errors = answer(*words)
    with clocked(Stopped()):
        lines = said(*words)
    assert "time limit ended the search" in errors
    assert (found["within_tolerance"], found["complete"], found["tight"]) == (False, False, False)
    assert found["gap"] == pytest.approx(1 - found["fails_at"] / found["noise_multiplier"])
    assert spends_at_most_one(dp.PoissonSampled(dp.Gaussian(found["noise_multiplier"]), "0.01") ** 1000) is True
    assert spends_at_most_one(dp.PoissonSampled(dp.Gaussian(found["fails_at"]), "0.01") ** 1000) is False
    assert "not within 0.1 %: up to" in lines
    best, _ = answer(*TARGET, *SAMPLED)
    assert (best["within_tolerance"], "complete" in best) == (True, False)
    assert found["fails_at"] < best["noise_multiplier"] < found["noise_multiplier"]


def test_the_printed_decimals_keep_their_promise(said):
    lines = said(*TARGET, "--steps", "10").splitlines()
    suffices, fails = (line.split()[2] for line in lines[:2])
    assert lines[0].startswith("noise multiplier")
    assert lines[1].startswith("fails at")
    assert spends_at_most_one(dp.Gaussian(suffices) ** 10) is True
    assert spends_at_most_one(dp.Gaussian(fails) ** 10) is False


@pytest.mark.parametrize(("solve", "field"), [("noise", "noise_multiplier"), ("sample-rate", "sample_rate")])
def test_ends_in_json_round_so_that_they_keep_their_promise(solve, field):
    third, sixth = Fraction(1, 3), Fraction(1, 6)  # no double is either
    found = replace(dp.calibrate(dp.Gaussian, 1, "1e-6"), value=third, fails_at=sixth, solve=solve)
    written = verb._as_json(found, Training(exact(1), "poisson", exact(1), 3, None, None, found.relation))
    value, failing = Fraction(written[field]), Fraction(written["fails_at"])
    if solve == "noise":
        assert value > third
        assert failing < sixth
    else:
        assert value < third
        assert failing > sixth
    assert float(value) == pytest.approx(1 / 3, rel=1e-15)


def test_steps_do_not_depend_on_how_epochs_are_rounded(answer):
    by_epochs, _ = answer(*TARGET, "--sample-rate", "0.1", "--epochs", "3")
    by_steps, _ = answer(*TARGET, "--sample-rate", "0.1", "--steps", "30")
    assert by_epochs == by_steps
    batches, _ = answer(
        *TARGET, "--sampling", "poisson", "--batch-size", "10", "--dataset-size", "100", "--epochs", "3"
    )
    assert batches == by_steps


def test_a_large_delta_draws_a_warning(answer):
    _, errors = answer("--target-epsilon", "1", "--target-delta", "1e-2", "--steps", "1", "--dataset-size", "100")
    assert "warning: --target-delta = 0.01" in errors


@pytest.mark.seconds
def test_statement_and_certificate_of_a_calibration(tmp_path, capsys, answer):
    path = tmp_path / "certificate.json"
    found, _ = answer(*TARGET, *SAMPLED, "--statement", "--certificate", str(path))
    assert found["statement"]
    assert main(["check", str(path)]) == 0
    assert "holds" in capsys.readouterr().out
    assert main(["calibrate", *TARGET, "--steps", "1", "--statement"]) == 0
    assert len(capsys.readouterr().out.split("\n\n")) >= 2
