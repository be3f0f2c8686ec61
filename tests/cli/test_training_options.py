"""No option of a training run is lost: whatever is given changes what is accounted, or is refused."""

import click
import pytest

import dpbounds as dp
from dpbounds.cli.questions.training import (
    SAMPLINGS,
    TRAINING_OPTIONS,
    options_without_use,
    read_training,
    samplings,
    scheme_options,
)
from dpbounds.errors import DpboundsError
from dpbounds.expressions.exact import to_decimal

RUNS = {
    "full-batch": "--steps 4",
    "poisson": "--sampling poisson --sample-rate 1/10 --steps 4",
    "without-replacement": "--sampling without-replacement --batch-size 5 --dataset-size 50 --steps 4",
    "with-replacement": "--sampling with-replacement --batch-size 5 --dataset-size 50 --steps 4",
    "truncated-poisson": "--sampling truncated-poisson --sample-rate .1 --max-batch-size 8 --dataset-size 50 --steps 4",
    "random-allocation": "--sampling random-allocation --batches 5 --epochs 2",
    "balls-in-bins": "--sampling balls-in-bins --batches 5 --epochs 2 --redraw",
    "shuffled": "--sampling shuffled --batches 5 --epochs 2",
    "last-iterate": "--release last-iterate --smoothness-step 1/50 --batches 5 --epochs 2",
    "correlated": "--toeplitz 1,1/2 --steps 6 --participation fixed-order --separation 3",
}
OTHERS = {
    "noise_multiplier": "--noise-multiplier 7",
    "noise_stddev": "--noise-stddev 2",
    "noise_variance": "--noise discrete-gaussian --noise-variance 2",
    "clipping_norm": "--clipping-norm 2",
    "noise": "--noise laplace",
    "bound": "--noise discrete-laplace --bound 3",
    "sample_rate": "--sample-rate 1/7",
    "steps": "--steps 9",
    "epochs": "--epochs 3",
    "sampling": "--sampling poisson",
    "dataset_size": "--dataset-size 70",
    "batch_size": "--batch-size 6",
    "max_batch_size": "--max-batch-size 9",
    "batches": "--batches 6",
    "participations": "--participations 2",
    "redraw": "--same-bins",
    "matrix": "--matrix optimal",
    "toeplitz": "--toeplitz 1,1/3",
    "tree": "--tree",
    "bands": "--bands 1",
    "participation": "--participation single",
    "separation": "--separation 2",
    "at_most": "--at-most 1",
    "groups": "--groups independent",
    "release": "--release last-iterate",
    "smoothness_step": "--smoothness-step 1/40",
    "weight_decay_step": "--weight-decay-step 1/30",
    "order": "--order shuffled",
}
# What need not change anything: a size where n is not part of the mechanism; who is in which group, without samples.
NEUTRAL = {("full-batch", "dataset_size"), ("poisson", "dataset_size"), ("random-allocation", "dataset_size")}
NEUTRAL |= {(run, "dataset_size") for run in ("balls-in-bins", "correlated", "shuffled", "last-iterate")}


@TRAINING_OPTIONS
@click.option("--relation", default="replace-one")
def _nothing(**given):
    """Takes the options of a training run."""


COMMAND = click.command(_nothing)


def mechanism(words):
    context = COMMAND.make_context("training", f"--noise-multiplier 3 {words}".split())
    return read_training(context.params).mechanism()


def test_every_option_and_every_sampling_is_tried():
    assert set(OTHERS) | {"error", "relation"} >= {one.name for one in COMMAND.params}
    assert set(RUNS) == {*SAMPLINGS, "correlated", "last-iterate"}


def changed_or_refused(run, option):
    """The mechanism of a run with one more option; None where it is refused, in one line."""
    return mechanism_or_none(f"{RUNS[run]} {OTHERS[option]}")


def mechanism_or_none(words):
    try:
        return mechanism(words)
    except (DpboundsError, click.ClickException) as error:
        assert "\n" not in str(error)  # noqa: PT017 (it may as well not raise)
        return None


@pytest.mark.parametrize("run", RUNS)
def test_no_option_is_ignored(run):
    """Each option changes what is accounted or is refused, but for what the run says already."""
    plain = mechanism(RUNS[run])
    same = {option for option in OTHERS if changed_or_refused(run, option) == plain}
    said_already = {option for option, words in OTHERS.items() if " ".join(words.split()[:2]) in RUNS[run]}
    assert same - said_already == {option for name, option in NEUTRAL if name == run}


BY_SIZE = "--batch-size 5 --dataset-size 50 --epochs 2"
OTHER_WAYS = {  # runs that use the options of a scheme that RUNS does not
    "full-batch": ["--epochs 2 --dataset-size 50"],
    "poisson": [f"--sampling poisson {BY_SIZE}"],
    "poisson-by-user": [
        "--sampling poisson-by-user --sample-rate .1 --steps 4",
        f"--sampling poisson-by-user {BY_SIZE}",
    ],
    "without-replacement": [f"--sampling without-replacement {BY_SIZE}"],
    "with-replacement": [f"--sampling with-replacement {BY_SIZE}"],
    "truncated-poisson": [f"--sampling truncated-poisson --max-batch-size 8 {BY_SIZE}"],
    "random-allocation": [f"--sampling random-allocation --participations 2 {BY_SIZE}"],
    "balls-in-bins": [f"--sampling balls-in-bins --same-bins {BY_SIZE}"],
    "shuffled": [f"--sampling shuffled {BY_SIZE}"],
    "last-iterate": [
        f"--release last-iterate --smoothness-step 1/50 --weight-decay-step 1/60 {BY_SIZE}",
        "--release last-iterate --smoothness-step 1/50 --batches 5 --epochs 2 --order shuffled",
    ],
    "correlated": [
        "--toeplitz 1,1/2 --bands 2 --epochs 2 --participation cyclic-poisson --separation 3 --sample-rate 1/9 "
        "--groups content --dataset-size 50",
        "--matrix optimal --error largest --steps 6 --participation minimum-separation --separation 2 --at-most 3",
    ],
}
CHOOSING = {"sampling", "release", "matrix", "toeplitz", "tree"}


def names_in(words):
    return {word.removeprefix("--") for word in words.split() if word.startswith("--")} - CHOOSING


@pytest.mark.parametrize("scheme", OTHER_WAYS)
def test_the_options_of_a_scheme_are_those_that_it_takes(scheme):
    """The first ones are enough; all are taken by some run; every other one is refused, or says what holds anyway."""
    options = scheme_options(scheme)
    plain = RUNS.get(scheme, OTHER_WAYS[scheme][0]) + " --sampling full-batch" * (scheme == "full-batch")
    assert names_in(plain) <= {*options.first}
    for words in (plain, *OTHER_WAYS[scheme]):
        mechanism(words)
    taken = set().union(*map(names_in, (plain, *OTHER_WAYS[scheme])))
    assert taken == {*options.first, *options.other}
    for name in options_without_use(scheme):
        words = {"redraw": "--redraw", "bound": "--bound 3"}.get(name) or OTHERS.get(
            name.replace("-", "_"), f"--{name}"
        )
        assert mechanism_or_none(f"{plain} {words}") in (None, mechanism(plain)), name


def test_every_scheme_has_options():
    assert set(OTHER_WAYS) == {*samplings(), "correlated", "last-iterate"}
    assert scheme_options("poisson-by-user").batch.startswith(
        "Run the mechanism on all records of randomly drawn users"
    )
    assert all(scheme_options(name).batch for name in samplings())


@pytest.mark.parametrize(
    ("unknown", "without"),
    [
        ("noise", "--noise-multiplier 2"),
        ("steps", "--steps 4"),
        ("sample-rate", "--sample-rate 1/10"),
    ],
)
def test_what_is_found_has_no_option(unknown, without):
    words = "--noise-multiplier 2 --sampling poisson --sample-rate 1/10 --steps 4"
    context = COMMAND.make_context("training", words.replace(without, "").split())
    read_training(context.params, unknown)
    assert without.split()[0].removeprefix("--") in options_without_use("poisson", unknown=unknown)
    context = COMMAND.make_context("training", words.split())
    with pytest.raises((DpboundsError, click.ClickException)):
        read_training(context.params, unknown)


def test_absolute_noise_is_divided_by_the_clipping_norm(asked, answer):
    absolute = ["--noise-stddev", "0.3", "--clipping-norm", "0.1", "--sample-rate", "0.1", "--steps", "4"]
    found, _ = answer("epsilon", *absolute, "--delta", "1e-5")
    assert asked() == [(dp.PoissonSampled(dp.Gaussian(3), "0.1") ** 4, "add-or-remove-one")]
    assert found["noise_multiplier"] == 3


def test_discrete_gaussian_noise_may_be_given_by_its_variance(asked, answer):
    squared = ["--noise", "discrete-gaussian", "--noise-variance", "10000/73", "--bound", "2", "--steps", "4"]
    found, _ = answer("epsilon", *squared, "--delta", "1e-5")
    assert asked() == [(dp.DiscreteGaussian(noise_variance="10000/73", bound=2) ** 4, "add-or-remove-one")]
    assert found["noise_multiplier"] is None
    assert found["noise_variance"] == pytest.approx(10000 / 73)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--noise-variance", "2"], ["--noise-variance 2 does not fit --noise gaussian", "discrete-gaussian"]),
        (["--noise-variance", "2", "--noise", "discrete-gaussian", "--noise-multiplier", "3"], ["give the noise once"]),
        (["--noise-variance", "2", "--noise", "discrete-gaussian", "--noise-stddev", "3"], ["give the noise once"]),
        (["--noise-stddev", "1"], ["--clipping-norm is missing"]),
        (["--noise-multiplier", "1", "--noise-stddev", "1"], ["--noise-stddev 1 does not fit --noise-multiplier"]),
        (["--noise-multiplier", "1", "--clipping-norm", "1"], ["--clipping-norm 1 does not fit --noise-multiplier"]),
        (["--clipping-norm", "1"], ["--noise-multiplier is missing", "--noise-stddev S"]),
        (["--noise-stddev", "1", "--clipping-norm", "1", "--noise", "laplace"], ["--noise laplace", "deviation"]),
        (["--noise-stddev", "1", "--clipping-norm", "1", "--noise", "discrete-gaussian"], ["--bound"]),
    ],
)
def test_noise_is_given_once(options, told, refused):
    refused("epsilon", *options, "--delta", "1e-5", told=told)


def test_a_budget_may_be_called_epsilon_and_delta(said):
    rest = ["--steps", "3", "--digits", "4"]
    text = said("calibrate", "--epsilon", "2", "--delta", "1e-5", *rest)
    assert text == said("calibrate", "--target-epsilon", "2", "--target-delta", "1e-5", *rest)
    least = dp.calibrate(lambda noise: dp.Gaussian(noise) ** 3, 2, "1e-5").value
    assert text.splitlines()[0].split()[:3] == ["noise", "multiplier", to_decimal(least, 4, "up")]


def test_random_allocation_takes_the_size_of_a_batch(asked, answer, refused):
    run = ["--noise-multiplier", "2", "--sampling", "random-allocation", "--epochs", "3", "--delta", "1e-5"]
    answer("epsilon", *run, "--batch-size", "30", "--dataset-size", "100")
    assert asked() == [(dp.RandomlyAllocated(dp.Gaussian(2), 3) ** 3, "add-or-remove-one")]
    answer("epsilon", *run, "--batch-size", "60", "--dataset-size", "100", "--participations", "2")
    assert asked()[1:] == [(dp.RandomlyAllocated(dp.Gaussian(2), 3, 2) ** 3, "add-or-remove-one")]
    refused("epsilon", *run, "--batch-size", "30", "--batches", "3", told=["either --batches or --batch-size"])
    refused("epsilon", *run, "--batch-size", "30", told=["--dataset-size is missing"])
    refused("epsilon", *run, "--batch-size", "30", "--dataset-size", "9", told=["--batch-size", "at most", "9"])
