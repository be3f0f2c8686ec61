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
from dpbounds.privacy.accountants import groups as group_accounts
from dpbounds.privacy.budgets import calibration

BATCHES = ["--batch-size", "100", "--dataset-size", "10000"]
WITHOUT = ["--sampling", "without-replacement", *BATCHES]
REPLACE = ["--relation", "replace-one"]
NOISE = ["--noise-multiplier", "1"]
BOTH = ("add-or-remove-one", "replace-one")
EVERY = (*BOTH, "zero-out-one")


@pytest.mark.parametrize("relation", EVERY)
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
    assert asked() == [(mechanism(dp.Gaussian(1), 7, 60) ** 9, relation)]
    assert (found["batch_size"], found["dataset_size"], found["sample_rate"], found["steps"]) == (7, 60, None, 9)


@pytest.mark.parametrize("relation", EVERY)
@pytest.mark.parametrize("rate", [["--sample-rate", "0.1"], ["--batch-size", "6"]])
def test_truncated_samples_are_described_exactly(rate, relation, asked, answer):
    options = [
        *["--sampling", "truncated-poisson", "--max-batch-size", "9", "--dataset-size", "60", "--steps", "4"],
        *rate,
    ]
    found, _ = answer("epsilon", *NOISE, "--delta", "0.01", "--relation", relation, *options)
    assert asked() == [(dp.TruncatedPoisson(dp.Gaussian(1), "0.1", 9, 60) ** 4, relation)]
    assert (found["max_batch_size"], found["dataset_size"], found["sample_rate"]) == (9, 60, 0.1)


@pytest.mark.minutes
def test_truncated_samples_are_calibrated_and_explained(said):
    cut = ["--sampling", "truncated-poisson", "--sample-rate", "0.1", "--max-batch-size", "20", "--dataset-size", "100"]
    found = said("calibrate", "--target-epsilon", "2", "--target-delta", "1e-3", *cut, "--steps", "3")
    assert "Poisson samples at rate 0.1, cut to at most 20 of 100 records" in found
    explained = said("epsilon", "--noise-multiplier", "4", *cut, "--steps", "3", "--delta", "1e-3", "--explain")
    assert "--max-batch-size 23 is the smallest" in " ".join(explained.split())
    assert "from as many records as said, or fewer" in " ".join(explained.split())


@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        ("random-allocation --batches 7 --epochs 3", dp.RandomlyAllocated(dp.Gaussian(1), 7) ** 3),
        (
            "random-allocation --batches 7 --participations 2 --epochs 3",
            dp.RandomlyAllocated(dp.Gaussian(1), 7, 2) ** 3,
        ),
        ("random-allocation --batches 7 --epochs 2.5", dp.BallsInBins(dp.Gaussian(1), 7, "2.5", redraw=True)),
        ("balls-in-bins --batches 7 --epochs 3 --redraw", dp.RandomlyAllocated(dp.Gaussian(1), 7) ** 3),
        ("balls-in-bins --batches 7 --epochs 3 --same-bins", dp.BallsInBins(dp.Gaussian(1), 7, 3, redraw=False)),
        ("balls-in-bins --batches 7 --epochs 1/2 --same-bins", dp.BallsInBins(dp.Gaussian(1), 7, "1/2", redraw=False)),
    ],
)
def test_options_describe_the_allocation_exactly(options, mechanism, asked, answer):
    found, errors = answer("epsilon", *NOISE, "--delta", "0.01", "--sampling", *options.split())
    assert asked() == [(mechanism, "add-or-remove-one")]
    assert errors == ""
    assert found["batches"] == 7
    assert found["redraw"] is ("same" not in options)


def test_a_part_of_an_epoch_with_several_participations_is_a_whole_one(asked, answer):
    run = ["--sampling", "random-allocation", "--batches", "7", "--participations", "2", "--epochs", "2.5"]
    _, errors = answer("epsilon", *NOISE, "--delta", "0.01", *run)
    assert asked() == [(dp.RandomlyAllocated(dp.Gaussian(1), 7, 2) ** 3, "add-or-remove-one")]
    assert "counts as a whole one" in errors


KINDS = {  # how batches are drawn, or what is published: each is explained, certified and checked
    "allocation": "--sampling random-allocation --batches 10 --epochs 2",
    "bins drawn anew": "--sampling balls-in-bins --batches 10 --redraw --epochs 1.5",
    "bins kept": "--sampling balls-in-bins --batches 10 --same-bins --epochs 2",
    "fixed size": "--sampling without-replacement --batch-size 5 --dataset-size 50 --steps 4",
    "truncated": "--sampling truncated-poisson --sample-rate 0.1 --max-batch-size 10 --dataset-size 60 --steps 4",
    "shuffled": "--sampling shuffled --batches 20 --epochs 2 --relation zero-out-one",
    "last iterate": "--release last-iterate --batches 10 --epochs 2 --smoothness-step 0.1 --relation replace-one",
    "last iterate, shuffled": "--release last-iterate --batches 10 --epochs 2 --smoothness-step 0.1 --order shuffled "
    "--relation replace-one",
    "last iterate, secret": "--release last-iterate --batches 10 --epochs 2 --smoothness-step 0.1 --order secret "
    "--relation zero-out-one",
    "matrix": "--toeplitz 1,1/2 --participation fixed-order --separation 5 --steps 10 --relation replace-one",
    "Laplace": "--noise laplace --steps 4",
    "discrete Laplace": "--noise discrete-laplace --steps 4",
}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.minutes_cases("bins k*", "t*")
def test_every_kind_is_explained_certified_and_checked(kind, tmp_path, said):
    file = str(tmp_path / "it.json")
    run = ["--noise-multiplier", "2", *KINDS[kind].split()]
    out = said("epsilon", *run, "--delta", "1e-3", "--explain", "--certificate", file)
    assert ".md" in out
    assert "assum" in out
    assert said("check", file).startswith("the certificate holds")


def test_a_batch_may_be_everything_where_nothing_is_removed(asked, answer):
    everything = ["--sampling", "without-replacement", "--batch-size", "5", "--dataset-size", "5", "--steps", "2"]
    answer("epsilon", *NOISE, "--delta", "0.01", *everything, *REPLACE)
    answer("epsilon", *NOISE, "--delta", "0.01", *everything, "--relation", "zero-out-one")
    more = ["--sampling", "with-replacement", "--batch-size", "9", "--dataset-size", "5", "--steps", "2"]
    answer("epsilon", *NOISE, "--delta", "0.01", *more)
    assert [len(mechanism.parts) for mechanism, _ in asked()] == [1, 1, 1]


def test_what_is_tight_looks_as_before(answer):
    found, _ = answer("epsilon", *NOISE, *WITHOUT, "--steps", "1000", "--delta", "1e-6")
    expected = dp.epsilon(dp.SampledWithoutReplacement(dp.Gaussian(1), 100, 10_000) ** 1000, "1e-6")
    assert found["epsilon"] == {"lower": expected.lower, "upper": expected.upper}
    assert found["tight"] is True
    assert "attained" not in found


@pytest.mark.seconds
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


@pytest.mark.parametrize(
    "sampled",
    [
        dp.SampledWithoutReplacement(dp.Gaussian(3), 1, 1000),
        dp.TruncatedPoisson(dp.Gaussian(3), "1/1000", 1, 1000),
    ],
    ids=["one record", "a sample that is cut"],
)
def test_the_size_of_the_data_in_a_ledger_is_held_against_delta(answer, ledger, sampled):
    path = ledger(sampled)
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


@pytest.mark.parametrize(("solve", "word"), [("noise", "less may suffice"), ("steps", "more may suffice")])
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
    assert verb._failing(found, 6) == f"unknown: no attack is known, so that {word}"
    assert verb._is_tight(found) is False
    training = Training(exact(1), "with-replacement", None, 2, 2, 10, found.relation)
    rows = verb._as_rows(found, training, 12)
    assert rows["epsilon"].endswith("no attack is known)")
    assert "2 records of 10 drawn with replacement" in rows["training"]
    at_a_distance = replace(found, fails_at=Fraction(2) if solve == "noise" else Fraction(5))
    assert verb._failing(at_a_distance, 6).endswith(
        "  (proven, by an explicit attack; what lies in between is not decided)"
    )
    assert verb._is_tight(at_a_distance) is False
    near = replace(found, fails_at=Fraction(3) - Fraction(1, 10**9) if solve == "noise" else Fraction(4))
    assert verb._failing(near, 12).endswith("  (proven)")
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


def test_a_group_has_a_certificate_and_no_statement(tmp_path, said, capsys):
    file = str(tmp_path / "it.json")
    run = ["epsilon", "--noise-multiplier", "15", "--steps", "1", "--delta", "1e-5", "--group-size", "3"]
    said(*run, "--certificate", file)
    assert "groups of 3 records" in said("check", file)
    for more, why in (
        (["--statement"], "--statement is not possible with --group-size above 1"),
        (["--noise", "laplace", "--certificate", file], "groups of records with Laplace"),
    ):
        assert main([*run, *more]) == 2
        assert why in capsys.readouterr().err


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
    assert len(asked()) == 1


# --- Other noise ---


@pytest.mark.parametrize(
    ("options", "release"),
    [
        ("--noise laplace", dp.Laplace(4)),
        ("--noise discrete-laplace", dp.DiscreteLaplace(4)),
        ("--noise discrete-laplace --bound 3", dp.DiscreteLaplace(12, 3)),
        ("--noise discrete-gaussian", dp.DiscreteGaussian(4)),
        ("--noise discrete-gaussian --bound 2", dp.DiscreteGaussian(8, 2)),
    ],
)
def test_other_noise_is_what_the_options_say(options, release, asked, answer):
    words = ["epsilon", "--noise-multiplier", "4", *options.split(), "--steps", "3", "--delta", "0.01"]
    found, _ = answer(*words)
    answer(*words, "--sample-rate", "1/7")
    assert [mechanism for mechanism, _ in asked()] == [release**3, dp.PoissonSampled(release, "1/7") ** 3]
    assert found["noise"] == options.split()[1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--bound", "2", *NOISE], "--bound 2 does not fit --noise gaussian"),
        (["--noise", "discrete-gaussian", "--bound", "0.5", *NOISE], "--bound must be"),
        (["--noise", "discrete-gaussian", "--ledger", "docs/ledger.json"], "does not fit --ledger"),
        (["--noise", "cauchy", *NOISE], "discrete-laplace"),
    ],
)
def test_noise_that_does_not_fit_is_one_line(options, told, refused):
    assert told in refused("epsilon", "--delta", "0.01", *options)


def test_a_statement_knows_other_noise(capsys):
    assert main(["epsilon", "--delta", "0.01", "--noise", "discrete-laplace", "--statement", *NOISE]) == 0
    assert "discrete Laplace noise of scale 1, whole numbers, per-record l1 bound 1." in capsys.readouterr().out


# --- Only the last iterate --------------------------------------------------------------------------------------------

HIDDEN = ["--release", "last-iterate", "--smoothness-step", "0.1", "--batches", "5", "--epochs", "3"]


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
@pytest.mark.parametrize("order", ["fixed", "shuffled", "secret", None])
def test_the_last_iterate_alone_is_what_the_options_describe(order, relation, asked, answer):
    chosen = [] if order is None else ["--order", order]
    found, _ = answer("epsilon", *NOISE, *HIDDEN, *chosen, "--delta", "0.01", "--relation", relation)
    run = dp.LastIterate(dp.Gaussian(1), batches=5, epochs=3, smoothness_step="0.1", order=order or "fixed")
    assert asked() == [(run, relation)]
    assert (found["release"], found["batches"], found["epochs"]) == ("last-iterate", 5, 3)
    assert (found["order"], found["smoothness_step"]) == (order or "fixed", 0.1)
    assert "nothing else is published" in found["condition"]


def test_step_sizes_may_change_from_epoch_to_epoch(asked, answer):
    words = ["--release", "last-iterate", "--smoothness-step", "0.1,0.2,1/20", "--batches", "5", "--epochs", "3"]
    found, _ = answer("epsilon", *NOISE, *words, "--delta", "0.01", *REPLACE)
    run = dp.LastIterate(dp.Gaussian(1), batches=5, epochs=3, smoothness_step=("0.1", "0.2", "1/20"))
    assert asked() == [(run, "replace-one")]
    assert found["smoothness_step"] == [0.1, 0.2, 0.05]


def test_weight_decay_above_the_smoothness_makes_long_runs_forget(asked, answer):
    words = [*HIDDEN[:4], "--weight-decay-step", "0.3", "--batches", "1", "--epochs", "1000"]
    found, _ = answer("epsilon", *NOISE, *words, "--delta", "0.01", *REPLACE)
    run = dp.LastIterate(dp.Gaussian(1), batches=1, epochs=1000, smoothness_step="0.1", weight_decay_step="0.3")
    assert asked() == [(run, "replace-one")]
    assert found["weight_decay_step"] == 0.3


def test_batches_follow_from_sizes_and_a_rest_is_left_out(asked, answer):
    sizes = ["--batch-size", "7", "--dataset-size", "41", "--epochs", "2"]
    answer("epsilon", *NOISE, *HIDDEN[:4], *sizes, "--delta", "0.01", *REPLACE)
    assert asked() == [(dp.LastIterate(dp.Gaussian(1), batches=5, epochs=2, smoothness_step="0.1"), "replace-one")]


def test_the_statement_of_a_last_iterate_says_once_what_it_assumes(said):
    text = said("epsilon", *NOISE, *HIDDEN, *REPLACE, "--delta", "0.01", "--statement").split("\n\n")[1]
    assert text.count("nothing else is published") == 1
    assert "May be published: the last iterate, and nothing else of that run." in text


def test_what_the_last_iterate_assumes_is_said(said, answer):
    for words in (["--delta", "0.01"], ["--delta", "0.01", "--explain"]):
        text = said("epsilon", *NOISE, *HIDDEN, *words, *REPLACE)
        assert "the last iterate of 3 epochs of 5 batches in a fixed order" in text
        assert "provided   nothing else is published" in text
    assert "last_iterate.md" in text
    assert "each record is in one batch of every epoch" in text
    _, notes = answer("epsilon", *NOISE, *HIDDEN, "--delta", "0.01", *REPLACE, "--method", "zcdp")
    assert "provided that nothing else is published" in notes


@pytest.mark.seconds
def test_noise_for_the_last_iterate_alone(said, answer):
    words = ["calibrate", *HIDDEN, "--target-epsilon", "1", "--target-delta", "0.01", *REPLACE]
    found, _ = answer(*words)
    assert (found["batches"], found["order"], found["release"]) == (5, "fixed", "last-iterate")
    assert found["tight"] is False
    assert found["fails_at"] < found["noise_multiplier"]
    less = dp.LastIterate(
        dp.Gaussian(exact(found["noise_multiplier"]) * Fraction(99, 100)), batches=5, epochs=3, smoothness_step="0.1"
    )
    assert dp.epsilon(less, "0.01", "replace-one").upper > 1
    text = said(*words)
    assert "the last iterate of 3 epochs of 5 batches" in text
    assert "provided" in text


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        ([*HIDDEN, "--relation", "add-or-remove-one"], ["--relation replace-one", "--relation zero-out-one"]),
        ([*HIDDEN, *REPLACE, "--sampling", "poisson"], ["--sampling poisson", "--order"]),
        ([*HIDDEN, *REPLACE, "--sample-rate", "0.1"], ["--sample-rate", "--batches M"]),
        ([*HIDDEN[:6], *REPLACE, "--steps", "15"], ["--steps 15", "--epochs N"]),
        ([*HIDDEN[:6], *REPLACE, "--epochs", "2.5"], ["--epochs", "whole number", "2.5"]),
        ([*HIDDEN[:2], *HIDDEN[4:], *REPLACE], ["--smoothness-step H", "step size"]),
        ([*HIDDEN[:3], "0.1,0.2", *HIDDEN[4:], *REPLACE], ["--smoothness-step", "one per epoch (3)", "2 numbers"]),
        ([*HIDDEN[:3], "0.1,0,1", *HIDDEN[4:], *REPLACE], ["--smoothness-step", "greater than 0"]),
        ([*HIDDEN, *REPLACE, "--weight-decay-step", "1.5"], ["--weight-decay-step", "between 0 and 1", "1.5"]),
        (
            [*HIDDEN[:3], "1,2,3", *HIDDEN[4:], *REPLACE, "--weight-decay-step", "0.5"],
            ["--weight-decay-step", "0.5", "list"],
        ),
        ([*HIDDEN[:4], *REPLACE], ["--batches M", "--dataset-size N"]),
        ([*HIDDEN, *REPLACE, "--batch-size", "3"], ["--batch-size", "either", "3"]),
        ([*HIDDEN[:4], *REPLACE, "--batch-size", "9", "--dataset-size", "5"], ["--batch-size", "at most", "9"]),
        ([*HIDDEN, *REPLACE, "--max-batch-size", "3"], ["--max-batch-size 3", "fixed"]),
        (["--smoothness-step", "1,2", *REPLACE], ["--smoothness-step", "1,2", "--release last-iterate"]),
        (
            [*HIDDEN[:2], "--toeplitz", "1,1/2", "--steps", "4", "--participation", "single", *REPLACE],
            ["--release last-iterate", "correlated"],
        ),
        ([*HIDDEN[2:4], *REPLACE], ["--smoothness-step", "--release last-iterate"]),
        (["--batches", "3", *REPLACE], ["--batches 3"]),
        (["--order", "shuffled", *REPLACE], ["--order shuffled", "--release last-iterate"]),
    ],
)
def test_options_that_do_not_fit_the_last_iterate_are_one_line(words, fragments, refused):
    refused("epsilon", *NOISE, "--delta", "0.01", *words, told=fragments)


@pytest.mark.parametrize(
    ("solve", "words", "fragment"),
    [
        ("sample-rate", HIDDEN[:6], "noise, epochs or batches with --release last-iterate"),
        ("epochs", HIDDEN, "--epochs 3 does not fit --solve epochs"),
        ("epochs", [*HIDDEN[:3], "0.1,0.2", *HIDDEN[4:6]], "one number with --solve epochs"),
        ("batches", HIDDEN, "--batches 5 does not fit --solve batches"),
        ("batches", [*HIDDEN[:4], "--epochs", "9"], "a budget that some batches keeps"),
    ],
)
def test_what_is_not_solved_for_where_the_last_iterate_is_published(solve, words, fragment, refused):
    budget = ["--target-epsilon", "0.1", "--target-delta", "0.01"]
    assert fragment in refused("calibrate", *budget, *NOISE, *words, *REPLACE, "--solve", solve)


@pytest.mark.seconds
@pytest.mark.parametrize(("solve", "given"), [("epochs", "batches"), ("batches", "epochs")])
def test_epochs_and_batches_of_a_last_iterate(solve, given, answer, said):
    run = ["--release", "last-iterate", "--smoothness-step", "0.1", "--noise-multiplier", "4", *REPLACE]
    words = [*run, "--target-epsilon", "1.5", "--target-delta", "0.01", "--solve", solve, f"--{given}", "4"]
    found, _ = answer("calibrate", *words)
    assert (found[given], found["noise_multiplier"], found["order"]) == (4, 4, "fixed")

    def upper(number):
        fields = {given: 4, solve: number}
        run = dp.LastIterate(dp.Gaussian(4), smoothness_step="0.1", **fields)
        return dp.epsilon(run, "0.01", "replace-one").exact_upper

    worse = 1 if solve == "epochs" else -1
    assert upper(found[solve]) <= 1.5 < upper(found[solve] + worse)
    assert f"of {found['batches']} batches in a fixed order" in said("calibrate", *words)


def test_a_number_of_batches_is_for_whole_epochs_and_one_participation(refused):
    words = ["calibrate", "--target-epsilon", "1", "--target-delta", "1e-3", *NOISE]
    for options, fragment in (
        ("batches --sampling random-allocation --epochs 1.5", "--epochs 1.5"),
        ("batches --sampling random-allocation --epochs 1 --participations 2", "--participations 2"),
        ("batches --sampling balls-in-bins --epochs 1 --redraw --batches 3", "--batches 3"),
        (
            "steps --sampling balls-in-bins --epochs 3 --redraw --batches 10",
            "--epochs 3 is the unknown of --solve steps",
        ),
    ):
        assert fragment in refused(*words, "--solve", *options.split())


def test_a_calibration_is_explained(said):
    text = said("calibrate", "--target-epsilon", "1", "--target-delta", "1e-5", "--sampling", "full-batch", "--explain")
    assert "what suffices was proven to, as follows" in text
    assert "how it was proven" in text
    assert "no attack distinguishes with and without one record" in text
