"""Statements: every kind says its relation, how records are drawn, what is published, and what must not be."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpbounds.errors import CertificateError
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import Account, account
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    LastIterate,
    MatrixMechanism,
    Mechanism,
    MixtureOfGaussians,
    NoiseInShares,
    PoissonByUser,
    PoissonSampled,
    RandomizedResponse,
    RandomlyAllocated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    Skellam,
    TruncatedDiscreteGaussian,
    TruncatedDiscreteLaplace,
    TruncatedPoisson,
    UniformBall,
)
from dpbounds.privacy.mechanisms.descriptions import MECHANISMS, SAMPLINGS, digest
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.publishing.numerals import rounded
from dpbounds.privacy.publishing.statements import IDEAL_NOISE, statement, why_no_statement
from dpbounds.privacy.relations import Relation

THIRD = Fraction(1, 3)
NOISE = Gaussian(4)


def told(mechanism: Mechanism, relation: Relation = Relation.REPLACE_ONE) -> str:
    """The statement of an account that nobody computed: its words are looked at."""
    ends = Enclosure(Fraction(1, 2), Fraction(3, 4))
    return statement(Account(mechanism, relation, "delta", Fraction(1, 10**5), ends, ()))


def hidden(text: str) -> str:
    return text.split("Must not be published: ")[1].split(". The noise drawn")[0]


DRAWN: dict[str, tuple[Mechanism, tuple[str, ...], str]] = {  # what is said, and what must not be published
    "without-replacement": (
        SampledWithoutReplacement(NOISE, 10, 100) ** 7,
        ("7 releases on 10 records of 100 drawn without replacement", "without replacement, afresh in every step"),
        "which records were in which batch;",
    ),
    "with-replacement": (
        SampledWithReplacement(NOISE, 10, 100) ** 7,
        ("7 releases on 10 records of 100 drawn with replacement", "with replacement, afresh in every step"),
        "which records were in which batch;",
    ),
    "poisson-by-user": (
        PoissonByUser(NOISE, THIRD) ** 7,
        ("7 releases on Poisson samples of users at rate at most 0.333333333334", "with all of their records"),
        "which users were in which sample;",
    ),
    "truncated-poisson": (
        TruncatedPoisson(NOISE, THIRD, 50, 100),
        (
            "a single release on Poisson samples at rate at most 0.333333333334, cut to at most 50 of 100 records",
            "uniform choice",
        ),
        "which records were in which batch, and how many;",
    ),
    "shuffled": (
        Shuffled(NOISE, 9, rest="0.05") ** 10,
        ("10 epochs over 9 shuffled batches and a smaller one of 0.05 of the records", "drawn afresh"),
        "the orders of the records;",
    ),
    "random-allocation": (
        RandomlyAllocated(NOISE, 20, 2) ** 3,
        ("3 epochs of 20 random batches, 2 of which a record is in", "no record displaces another"),
        "which records were in which batch, and how many;",
    ),
    "balls-in-bins": (
        BallsInBins(NOISE, 20, "2.5", redraw=False) ** 2,
        ("2 times 2.5 epochs of 20 bins, the same in every epoch", "its bin by itself, uniformly, once"),
        "which records were in which batch, and how many;",
    ),
    "poisson": (
        PoissonSampled(Laplace(2), "0.01") ** 5,
        (
            "5 releases on Poisson samples at rate 0.01, Laplace noise multiplier 2 (scale per unit of the per-record",
            "samples stay secret",
        ),
        "which records were in which batch, and how many;",
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_statement_says_how_records_are_drawn_and_what_must_not_be_published(name: str) -> None:
    mechanism, phrases, secret = DRAWN[name]
    for relation in (Relation.REPLACE_ONE, Relation.ZERO_OUT_ONE):
        text = told(mechanism, relation)
        for phrase in (*phrases, f"private under {relation} (two datasets", "May be published: every answer"):
            assert phrase in text, phrase
        assert hidden(text).startswith(secret)
        assert "no sampling" not in text
        assert digest(mechanism) in text


def test_every_sampling_has_words() -> None:
    assert set(DRAWN) == set(SAMPLINGS)


NOISES: dict[str, tuple[Mechanism, str]] = {
    "gaussian": (
        Gaussian(noise_stddev=THIRD, sensitivity=THIRD),
        "Gaussian noise of stddev at least 0.333333333333 at sensitivity at most",
    ),
    "laplace": (Laplace(noise_scale=3, sensitivity=1), "Laplace noise of scale 3 at sensitivity 1"),
    "uniform-ball": (
        UniformBall(3, 2),
        "uniform on a ball in 2 dimensions, radius 3 per unit",
    ),
    "discrete-laplace": (
        DiscreteLaplace(THIRD, 2),
        "scale at least 0.333333333333, whole numbers, per-record l1 bound 2",
    ),
    "discrete-gaussian": (
        DiscreteGaussian(3, THIRD + 1),
        "parameter 3, whole numbers, per-record l2 bound at most 1.33333333334",
    ),
    "truncated-discrete-laplace": (
        TruncatedDiscreteLaplace(THIRD, 9, 2),
        "scale 1/3 on [-9, 9], whole numbers, per-record l1 bound 2",
    ),
    "truncated-discrete-gaussian": (
        TruncatedDiscreteGaussian(THIRD, 9),
        "parameter 1/3 on [-9, 9], whole numbers, per-record l1 bound 1",
    ),
    "skellam": (
        Skellam(THIRD, THIRD + 1, dimension=2),
        "variance at least 0.333333333333, whole numbers, per-record l2 bound at most 1.33333333334 in 2 dimensions",
    ),
    "noise-in-shares": (
        NoiseInShares("gaussian", THIRD, 10, THIRD, colluding=2),
        "variance at least 0.333333333333 from each of at least 10 clients, of whom at most 2 collude, per-client l2",
    ),
    "mixture-of-gaussians": (
        MixtureOfGaussians(2, [("0.5", THIRD), (1, 2 * THIRD)]),
        "drawn from 0.5 (probability at most 0.333333333334), 1 (",
    ),
    "randomized-response": (RandomizedResponse(2, 4), "randomised response of 4 options, epsilon 2"),
}


@pytest.mark.parametrize("name", NOISES)
def test_every_noise_has_words_that_spend_no_less(name: str) -> None:
    mechanism, phrase = NOISES[name]
    text = told(mechanism)
    assert phrase in text
    assert "no sampling" in text
    assert (IDEAL_NOISE in text) == (name == "gaussian")


def test_numbers_are_rounded_so_that_what_is_said_spends_no_less() -> None:
    ends = Enclosure(Fraction(1, 2), Fraction(2, 3))
    step = PoissonSampled(Gaussian(THIRD), THIRD)
    text = statement(Account(step, Relation.REPLACE_ONE, "delta", Fraction(1, 300_000), ends, ()))
    assert "epsilon = 0.666667, delta = 3.33333333334e-06." in text
    assert "at rate at most 0.333333333334, Gaussian" in text
    assert "noise multiplier at least 0.333333333333 (" in text
    assert "Poisson sampling (each record enters each step's sample independently, and the samples stay secret)" in text


@pytest.mark.parametrize(("noise", "rate"), [(1.1, 0.01), (0.7, 1e-3), (1.1, "0.01"), (1.5, 0.25)])
def test_doubles_are_stated_as_they_were_typed(noise: float, rate: float | str) -> None:
    """The decimal names the double that is accounted; the statement says so wherever the two differ."""
    step = PoissonSampled(Gaussian(noise), rate)
    text = statement(Account(step, Relation.REPLACE_ONE, "delta", Fraction(1, 10**5), Enclosure(THIRD, THIRD), ()))
    assert f"at rate {float(rate):.12g}, Gaussian noise multiplier {noise} (" in text
    assert ("double-precision numbers nearest to them" in text) is (noise != 1.5)
    exactly = statement(
        Account(Gaussian(str(noise)), Relation.REPLACE_ONE, "delta", THIRD, Enclosure(THIRD, THIRD), ())
    )
    assert "double-precision numbers nearest" not in exactly


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_a_decimal_stands_for_a_number_only_where_it_names_it(value: Fraction) -> None:
    for number in (value, Fraction(float(value)), Fraction(f"{float(value):.9g}")):
        text = rounded(number, "up")
        if text.startswith("at most "):
            assert Fraction(text.removeprefix("at most ")) > number
        else:
            assert number in (Fraction(text), Fraction(float(text)))


@pytest.mark.parametrize("typed", [1e-5, 3e-7, 0.1])
def test_a_delta_is_stated_as_it_was_typed(typed: float) -> None:
    found = account(Gaussian(5), delta=typed)
    assert f"delta = {typed}." in statement(found)
    assert found.target <= min(Fraction(typed), Fraction(str(typed)))
    calibrated = calibrate(Gaussian, 3.3, typed)
    assert f"The release is (3.3, {typed})-differentially private" in statement(calibrated)
    assert calibrated.target_epsilon <= Fraction("3.3")


def test_bounds_may_follow_from_earlier_answers_but_not_from_what_is_never_published() -> None:
    constants = "divisors that are public constants, and noise per unit of these bounds"
    follow = "per-record bounds that are public constants or follow from earlier answers, "
    hidden = LastIterate(NOISE, batches=5, epochs=4, smoothness_step="0.1", order="shuffled")
    assert follow + constants in told(NOISE @ NOISE)
    assert f"bounds and {constants}" in told(hidden)
    assert "earlier answers" not in told(hidden)


def test_what_has_no_words_is_refused_with_a_reason() -> None:
    named = set(MECHANISMS) - set(NOISES) - {"matrix", "last-iterate"}
    assert named == {
        "exponential",
        "permute-and-flip",
        "above-threshold",
        "pure",
        "approximate",
        "zcdp",
        "renyi",
        "gaussian-dp",
        "profile",
    }
    chosen = ExponentialMechanism(1, relation=Relation.REPLACE_ONE)
    for mechanism in (chosen, PoissonSampled(NOISE @ NOISE, "0.1"), Gaussian(1) @ chosen):
        with pytest.raises(CertificateError, match=r"no privacy statement for .* publish the command"):
            told(mechanism)
        assert why_no_statement(mechanism, Relation.REPLACE_ONE) is not None
    assert why_no_statement(Gaussian(1) @ DRAWN["shuffled"][0], Relation.REPLACE_ONE) is None


def test_last_iterates_hide_everything_else() -> None:
    run = LastIterate(NOISE, batches=5, epochs=4, smoothness_step="0.1", order="shuffled", checkpoints=[2])
    text = told(run)
    assert "May be published: the last iterate and the checkpoints named, and nothing else of that run." in text
    assert "any other iterate" in hidden(text)
    assert "the orders of the records" in hidden(text)
    both = told(run @ Gaussian(9))
    assert "nothing else of that run; and of the rest every answer" in both
    fixed = told(LastIterate(NOISE, batches=5, epochs=4, smoothness_step="0.1"))
    assert "orders" not in hidden(fixed)
    assert "May be published: the last iterate, and nothing else" in fixed


def test_matrices_hide_their_draws() -> None:
    cyclic = MatrixMechanism(4, Toeplitz([1, "1/2"], 20), "cyclic-poisson", separation=5, sample_rate="0.1")
    assert hidden(told(cyclic)).startswith("which records took part in which step, and how many;")
    fixed = MatrixMechanism(4, Toeplitz([1, "1/2"], 20), "fixed-order", separation=5)
    assert hidden(told(fixed)) == "seeds and generators of noise and draws"


def test_truncated_samples_name_the_side_of_their_size() -> None:
    mechanism = DRAWN["truncated-poisson"][0]
    assert "samples of no more records than stated" in told(mechanism, Relation.ADD_OR_REMOVE_ONE)
    assert "samples of as many records as stated" in told(mechanism)
