"""Batches of a fixed size and groups of records on the command line; what is not tight is said to be so."""

from dataclasses import replace
from fractions import Fraction

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.questions.training import Training
from dpbounds.cli.verbs import calibrate as verb
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import exact
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.accountants import groups as group_accounts
from dpbounds.privacy.budgets import calibration

BATCHES = ["--batch-size", "100", "--dataset-size", "10000"]
WITHOUT = ["--sampling", "without-replacement", *BATCHES]
REPLACE = ["--relation", "replace-one"]
NOISE = ["--noise-multiplier", "1"]
BOTH = ("add-or-remove-one", "replace-one")


@pytest.fixture
def asked(monkeypatch):
    questions = []

    def account(mechanism, **question):
        questions.append((mechanism, question["relation"]))
        return real(dp.Gaussian(5), delta=exact("1e-5"))

    real = accountants.account
    monkeypatch.setattr(accountants, "account", account)
    return questions


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        ("without-replacement --batch-size 7 --dataset-size 60 --steps 9", dp.SampledWithoutReplacement),
        ("with-replacement --batch-size 7 --dataset-size 60 --steps 9", dp.SampledWithReplacement),
        ("without-replacement --batch-size 7 --dataset-size 60 --epochs 1", dp.SampledWithoutReplacement),
        ("with-replacement --batch-size 7 --dataset-size 60 --epochs 1.05", dp.SampledWithReplacement),
    ],
)
def test_options_describe_the_mechanism_exactly(options, mechanism, relation, asked, answer):
    found, _ = answer("epsilon", *NOISE, "--delta", "0.01", "--relation", relation, "--sampling", *options.split())
    assert asked == [(mechanism(dp.Gaussian(1), 7, 60) ** 9, relation)]
    assert (found["batch_size"], found["dataset_size"], found["sample_rate"], found["steps"]) == (7, 60, None, 9)


def test_a_batch_may_be_everything_where_nothing_is_removed(asked, answer):
    everything = ["--sampling", "without-replacement", "--batch-size", "5", "--dataset-size", "5", "--steps", "2"]
    answer("epsilon", *NOISE, "--delta", "0.01", *everything, *REPLACE)
    more = ["--sampling", "with-replacement", "--batch-size", "9", "--dataset-size", "5", "--steps", "2"]
    answer("epsilon", *NOISE, "--delta", "0.01", *more)
    assert [len(mechanism.parts) for mechanism, _ in asked] == [1, 1]


def test_what_is_tight_looks_as_before(answer):
    found, _ = answer("epsilon", *NOISE, *WITHOUT, "--steps", "1000", "--delta", "1e-6")
    expected = dp.epsilon(dp.SampledWithoutReplacement(dp.Gaussian(1), 100, 10_000) ** 1000, "1e-6")
    assert found["epsilon"] == {"lower": expected.lower, "upper": expected.upper}
    assert found["tight"] is True
    assert "attained" not in found


@pytest.mark.thorough
def test_what_is_not_tight_says_so(capsys, answer):
    run = ["epsilon", *NOISE, *WITHOUT, "--steps", "1000", "--delta", "1e-6", *REPLACE]
    found, errors = answer(*run)
    assert errors == ""
    assert found["tight"] is False
    assert found["digits"] >= 4  # of what suffices, however far below it the attack stays
    attacked = dp.epsilon(dp.PoissonSampled(dp.Gaussian("0.5"), "0.01") ** 1000, "1e-6")  # swapped records, seen at b/n
    assert found["attained"]["lower"] == pytest.approx(attacked.lower, rel=1e-9)
    assert found["epsilon"]["lower"] == found["attained"]["lower"] < 0.95 * found["epsilon"]["upper"]
    assert main(run) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "(proven to suffice, rounded up; an explicit attack attains 15.48" in first
    assert exact(first.split()[1]) >= exact(found["epsilon"]["upper"]) * Fraction(999999, 1000000)


def test_no_known_attack_is_said_too(answer, ledger, said):
    path = ledger(dp.AboveThreshold("0.1", relation="add-or-remove-one"))
    found, _ = answer("epsilon", "--ledger", path, "--delta", "1e-9")
    assert found["tight"] is False
    assert found["attained"] is None
    assert "no attack is known)" in said("epsilon", "--ledger", path, "--delta", "1e-9")


def test_an_attack_that_attains_the_bound_makes_it_tight(answer, ledger):
    one_record = dp.SampledWithoutReplacement(dp.UniformBall(3, 10, sensitivity=1), 1, 10)
    path = ledger(one_record)
    found, _ = answer("delta", "--ledger", path, "--epsilon", "1", *REPLACE)
    assert found["tight"] is True


def test_the_size_of_the_data_in_a_ledger_is_held_against_delta(answer, ledger):
    path = ledger(dp.SampledWithoutReplacement(dp.Gaussian(3), 1, 1000))
    _, errors = answer("epsilon", "--ledger", path, "--delta", "0.001")
    assert "warning: delta = 0.001 is at or above 1/1000" in errors
    _, errors = answer("epsilon", "--ledger", path, "--delta", "0.0009")
    assert errors == ""


def test_a_loss_that_may_be_infinite(capsys, tmp_path, answer, ledger):
    path = ledger(dp.UniformBall(10, 3))
    run = ["epsilon", "--ledger", path, "--delta", "1e-9"]
    found, _ = answer(*run)
    assert found["epsilon"] == {"lower": "inf", "upper": "inf"}
    curve, trade_off = tmp_path / "curve.csv", tmp_path / "trade-off.csv"
    assert main([*run, "--explain", "--curve", str(curve), "--trade-off", str(trade_off)]) == 0
    assert capsys.readouterr().out.startswith("epsilon    infinite  (proven: no finite value is enough)\n")
    assert curve.read_text().count("\n") == 22
    assert trade_off.read_text().count("\n") == 114


# --- calibration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [BOTH[0], pytest.param(BOTH[1], marks=pytest.mark.slow)])
def test_noise_for_batches_of_a_fixed_size(relation, answer, said):
    budget = ["--target-epsilon", "3", "--target-delta", "1e-5", "--relation", relation]
    batches = ["--sampling", "without-replacement", "--batch-size", "10", "--dataset-size", "100", "--epochs", "30"]
    found, _ = answer("calibrate", *budget, *batches)

    def spent(noise):
        return dp.epsilon(dp.SampledWithoutReplacement(dp.Gaussian(noise), 10, 100) ** 300, "1e-5", relation)

    assert spent(found["noise_multiplier"]).at_most(3) is True
    assert spent(found["fails_at"]).exact_lower > 3
    assert found["tight"] is (relation == "add-or-remove-one")
    assert (found["batch_size"], found["dataset_size"], found["steps"]) == (10, 100, 300)
    out = said("calibrate", *budget, *batches)
    assert "300 releases, 10 records of 100 drawn without replacement" in out
    assert ("by an explicit attack; what lies in between is not decided" in out) is not found["tight"]


@pytest.mark.rotating(4)
def test_steps_for_batches_of_a_fixed_size(answer):
    budget = ["--target-epsilon", "2", "--target-delta", "1e-5", "--solve", "steps"]
    found, _ = answer("calibrate", *budget, "--noise-multiplier", "4", *WITHOUT)
    step = dp.SampledWithoutReplacement(dp.Gaussian(4), 100, 10_000)
    assert found["fails_at"] == found["steps"] + 1
    assert dp.epsilon(step ** found["steps"], "1e-5").at_most(2) is True
    assert dp.epsilon(step ** found["fails_at"], "1e-5").at_most(2) is False


@pytest.mark.parametrize(("solve", "word"), [("noise", "less may do"), ("steps", "more may do")])
def test_no_failing_value_is_said_in_words(solve, word):
    found = calibration.Calibration(
        Fraction(3),
        None,
        Enclosure(Fraction(0), Fraction(1), "lattice"),
        Fraction(1),
        Fraction(1, 100),
        dp.Relation.REPLACE_ONE,
        solve,
        dp.SampledWithReplacement(dp.Laplace(1), 2, 10) ** 2,
        None,
    )
    assert verb._failing(found) == f"not known: no attack is known, so that {word}"
    assert verb._is_tight(found) is False
    training = Training(exact(1), "with-replacement", None, 2, 2, 10, found.relation)
    rows = verb._as_rows(found, training)
    assert rows["epsilon"].endswith("no attack is known)")
    assert "2 records of 10 drawn with replacement" in rows["training"]
    at_a_distance = replace(found, fails_at=Fraction(2) if solve == "noise" else Fraction(5))
    assert verb._failing(at_a_distance).endswith(
        "  (proven, by an explicit attack; what lies in between is not decided)"
    )
    assert verb._is_tight(at_a_distance) is False
    near = replace(found, fails_at=Fraction(3) - Fraction(1, 10**9) if solve == "noise" else Fraction(4))
    assert verb._failing(near).endswith("  (proven)")
    assert verb._is_tight(near) is True


# --- groups --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("explain", [[], ["--explain"]])
def test_a_group_of_full_batch_gaussians_is_a_larger_shift(explain, answer):
    found, _ = answer(
        "epsilon", "--noise-multiplier", "15", "--steps", "1", "--delta", "1e-5", "--group-size", "3", *explain
    )
    one, _ = answer("epsilon", "--noise-multiplier", "5", "--steps", "1", "--delta", "1e-5")
    assert found["epsilon"] == one["epsilon"]
    assert found["group_size"] == 3
    assert "group_size" not in one
    assert "tight" not in found
    if explain:
        assert found["explain"] == []
        advantage = dp.delta(dp.Gaussian(5), 0)
        assert found["total_variation"] == {"lower": advantage.lower, "upper": advantage.upper}


def test_delta_of_a_group(answer):
    found, _ = answer("delta", "--noise-multiplier", "15", "--steps", "1", "--epsilon", "1", "--group-size", "3")
    assert found["delta"]["upper"] == pytest.approx(dp.delta(dp.Gaussian(5), 1).upper, rel=1e-9)


def test_a_chain_of_neighbours_is_explained(monkeypatch, said):
    def chain(mechanism, group_size, **question):
        return Enclosure(Fraction(3, 10), Fraction(2, 3), "group privacy")

    monkeypatch.setattr(group_accounts, "group_account", chain)
    run = ["epsilon", *NOISE, "--sample-rate", "0.01", "--steps", "10", "--delta", "1e-5", *REPLACE]
    out = said(*run, "--group-size", "2", "--explain")
    assert "group size  2\n" in out
    assert "a chain of 2 neighbours" in out
    assert "2 records spend at least what one does" in " ".join(out.split())


def test_a_group_of_one_is_one(asked, answer):
    answer("epsilon", *NOISE, "--steps", "1", "--delta", "1e-5", "--group-size", "1")
    assert len(asked) == 1
