from dataclasses import replace
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.questions.training import Training
from dpbounds.cli.verbs import calibrate as verb
from dpbounds.expressions.exact import exact

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


def test_the_steps_suffice_and_more_do_not(answer):
    found, _ = answer(*TARGET, "--solve", "steps", "--noise-multiplier", "2", "--sample-rate", "0.01")
    release = dp.PoissonSampled(dp.Gaussian(2), "0.01")
    assert isinstance(found["steps"], int)
    assert found["steps"] < found["fails_at"]
    assert spends_at_most_one(release ** found["steps"]) is True
    assert spends_at_most_one(release ** found["fails_at"]) is False
    assert found["noise_multiplier"] == 2.0


def test_the_rate_suffices_and_a_hair_more_does_not(answer):
    found, _ = answer(*TARGET, "--solve", "sample-rate", "--noise-multiplier", "2", "--steps", "1000")
    assert found["sampling"] == "poisson"
    assert spends_at_most_one(dp.PoissonSampled(dp.Gaussian(2), found["sample_rate"]) ** 1000) is True
    assert spends_at_most_one(dp.PoissonSampled(dp.Gaussian(2), found["fails_at"]) ** 1000) is False


def test_a_budget_that_allows_every_record_has_no_failing_rate(answer, said):
    arguments = ["--target-epsilon", "100", "--target-delta", "1e-6", "--solve", "sample-rate"]
    found, _ = answer(*arguments, "--noise-multiplier", "2", "--steps", "3")
    assert found["sample_rate"] == 1.0
    assert found["fails_at"] is None
    assert "even rate 1 suffices" in said(*arguments, "--noise-multiplier", "2", "--steps", "3")


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
