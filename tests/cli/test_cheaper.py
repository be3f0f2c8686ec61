"""Poisson samples are named where they cost less; a relation that nothing is proven under is replaced, aloud."""

from __future__ import annotations

from fractions import Fraction
from threading import Event
from typing import Any

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.cli.answers.cheaper import poisson_in_place_of
from dpbounds.cli.printing import progress
from dpbounds.privacy.mechanisms import parts_of

FIXED_SIZE = ["--sampling", "without-replacement", "--batch-size", "50", "--dataset-size", "5000", "--steps", "300"]
SHUFFLED = ["--sampling", "shuffled", "--batches", "20", "--epochs", "2"]
BUDGET = ["--target-epsilon", "2", "--target-delta", "1e-5"]


@pytest.mark.parametrize(
    ("mechanism", "instead"),
    [
        (dp.Shuffled(dp.Gaussian(3), 20) ** 2, dp.PoissonSampled(dp.Gaussian(3), "1/20") ** 40),
        (dp.Shuffled(dp.Gaussian(3), 4, "1/10") ** 2, dp.PoissonSampled(dp.Gaussian(3), "9/40") ** 10),
        (dp.SampledWithoutReplacement(dp.Gaussian(1), 5, 50) ** 7, dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 7),
        (dp.SampledWithReplacement(dp.Laplace(1), 50, 50), dp.PoissonSampled(dp.Laplace(1), 1) ** 1),
        (dp.SampledWithReplacement(dp.Laplace(1), 60, 50), None),
        (dp.Shuffled(dp.Gaussian(3), 20) @ dp.Gaussian(9), None),
        (dp.Shuffled(dp.Gaussian(3), 20) @ dp.Shuffled(dp.Gaussian(3), 30), None),
        (dp.PoissonSampled(dp.Gaussian(3), "0.1") ** 4, None),
        (dp.Shuffled(dp.Laplace(1), 20) ** 2, None),  # these may be reports of one record each
        (dp.Shuffled(dp.PureDP(1, relation="replace-one"), 20), None),
    ],
)
def test_poisson_samples_have_the_expected_size_of_the_batches_that_they_replace(
    mechanism: dp.Mechanism, instead: dp.Mechanism | None
) -> None:
    found = poisson_in_place_of(mechanism)
    assert instead == (None if found is None else found[0])
    assert found is None or found[1] == parts_of(found[0])[0][0].sample_rate


@pytest.mark.seconds
def test_the_noise_that_is_named_suffices_and_is_about_the_least(answer: Any) -> None:
    found, _ = answer("calibrate", *BUDGET, *FIXED_SIZE)
    cheaper = found["cheaper"]
    assert (cheaper["sampling"], cheaper["sample_rate"]) == ("poisson", 0.01)
    least, _ = answer("calibrate", *BUDGET, "--sample-rate", "0.01", "--steps", "300")
    assert least["fails_at"] < cheaper["noise_multiplier"] < 1.001 * least["noise_multiplier"]
    assert cheaper["noise_multiplier"] < 0.95 * found["noise_multiplier"]
    assert "cheaper" not in least
    spent = dp.epsilon(dp.PoissonSampled(dp.Gaussian(cheaper["noise_multiplier"]), "0.01") ** 300, "1e-5")
    assert spent.exact_upper <= 2


@pytest.mark.seconds
def test_the_epsilon_that_is_named_is_that_of_poisson_samples(said: Any) -> None:
    text = " ".join(said("epsilon", "--noise-multiplier", "1", "--delta", "1e-5", *FIXED_SIZE).split())
    spent = dp.epsilon(dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 300, "1e-5")
    assert f"epsilon {spent.decimals(6)[1]} with Poisson samples of the same expected size" in text
    assert "--relation add-or-remove-one; with dpbounds.opacus.PrivacyEngine, sampling='poisson'; in your own" in text
    assert "--sample-rate 0.01 --relation" in text
    assert "; in your own PyTorch loop, opacus.data_loader.DPDataLoader(dataset, sample_rate=0.01)" in text


def test_what_hardly_costs_more_names_no_other_scheme(answer: Any) -> None:
    everything = ["--sampling", "without-replacement", "--batch-size", "50", "--dataset-size", "50", "--steps", "3"]
    found, _ = answer("epsilon", "--noise-multiplier", "9", "--delta", "1e-5", "--relation", "replace-one", *everything)
    assert "cheaper" not in found


@pytest.mark.seconds
@pytest.mark.parametrize("verb", ["epsilon", "delta"])
def test_a_relation_that_was_not_given_is_one_under_which_something_is_proven(verb: str, answer: Any) -> None:
    at = ["--delta", "1e-5"] if verb == "epsilon" else ["--epsilon", "1"]
    found, notes = answer(verb, "--noise-multiplier", "3", *at, *SHUFFLED)
    assert found["relation"] == "replace-one"
    assert "--relation replace-one was taken, as none was given and the default is refused: shuffled batches" in notes


def test_a_relation_that_was_given_is_kept_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["epsilon", "--noise-multiplier", "3", "--delta", "1e-5", *SHUFFLED, "--relation", "add-or-remove-one"]
    assert main(asked) == 2
    assert "removing one record shifts all later ones" in capsys.readouterr().err


def test_long_work_says_how_long_it_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    seen = Event()

    def echo(text: str, **_: object) -> None:
        shown.append(text)
        seen.set()

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress.click, "echo", echo)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    with progress.waiting_line(None):
        assert seen.wait(60)
    assert "computing, 0 s; --time-limit S prints the best proven value after S seconds" in shown[0]
    assert shown[-1] == "\r\033[K"
    shown.clear()
    seen.clear()
    with progress.waiting_line(Fraction(5)):
        assert seen.wait(60)
    assert "--time-limit" not in shown[0]


def test_nothing_is_written_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "Thread", lambda **_: pytest.fail("a thread that writes"))
    with progress.waiting_line(None):
        pass
