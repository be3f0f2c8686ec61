"""Short statements: the same numbers and releases as in full, and a success of attackers that is proven."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, strategies as st

from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.budgets.calibration import calibrate
from dpbounds.privacy.mechanisms import Gaussian, LastIterate, PoissonSampled
from dpbounds.privacy.mechanisms.descriptions import digest
from dpbounds.privacy.publishing.short_statements import largest_success
from dpbounds.privacy.publishing.statements import statement
from dpbounds.privacy.relations import Relation

STEP = PoissonSampled(Gaussian("1.1"), "0.01") ** 100


def test_two_sentences_for_a_paper() -> None:
    found = account(STEP, delta="1e-5", relation="replace-one")
    text = statement(found, form="paper")
    assert text.startswith("The releases are (epsilon, delta)-differentially private with epsilon = ")
    assert f"epsilon = {found.enclosure.decimals(6)[1]} and delta = 1e-05 under the replace-one neighbouring" in text
    assert "100 releases on Poisson samples at rate 0.01, Gaussian noise multiplier 1.1 (" in text
    assert digest(STEP)[:16] in text
    assert text.count(". ") == 1


def test_the_same_in_latex() -> None:
    text = statement(account(STEP, delta="1e-5"), form="latex")
    assert r"($\varepsilon$, $\delta$)-differentially private with $\varepsilon$ = $0." in text
    assert r"and $\delta$ = $10^{-5}$ under" in text
    assert " epsilon" not in text
    text = statement(account(STEP, epsilon="0.25"), form="latex")
    assert r"$\varepsilon$ = $0.25$ and $\delta$ = $0.0" in text
    special = statement(account(STEP, delta="1e-5"), form="latex", outside=["a 50 % split of {data_set} #1 & 2"])
    assert r"a 50 \% split of \{data\_set\} \#1 \& 2" in special


@pytest.mark.parametrize("relation", Relation)
def test_an_assessment_says_what_an_attacker_knows(relation: Relation) -> None:
    text = statement(calibrate(Gaussian, 1, "1e-5", relation), form="assessment")
    assert "knows all other records" in text
    assert "right with probability at most 73.2 % (50 % without the release)" in text  # (e + 1e-5)/(1 + e), up
    assert f"(epsilon = 1, delta = 1e-05)-differential privacy under {relation}" in text


@pytest.mark.parametrize("form", ["paper", "latex", "assessment"])
def test_what_a_promise_rests_on_stays(form: str) -> None:
    last = LastIterate(Gaussian(4), batches=4, epochs=2, smoothness_step="0.1", order="fixed")
    text = statement(account(last, delta="1e-5", relation="replace-one"), form=form, noise_drawn="with a seed")  # type: ignore[arg-type]
    assert "It is assumed that " in text
    assert "The noise drawn was: with a seed." in text
    chosen = statement(account(STEP, delta="1e-5"), chosen="At most 100 steps were taken", form=form, outside=["n"])  # type: ignore[arg-type]
    assert "the most that were reserved: At most 100 steps were taken." in chosen
    assert "Not counted: n." in chosen
    assert "noise drawn" not in chosen


@pytest.mark.parametrize(("form", "noted"), [("paper", True), ("latex", True), ("assessment", False)])
def test_doubles_are_named_where_they_are_printed(form: str, noted: bool) -> None:
    text = statement(account(Gaussian(1.1), delta="1e-5"), form=form)  # type: ignore[arg-type]
    assert ("double-precision numbers nearest to them" in text) is noted


@given(st.fractions(0, 40), st.fractions(0, 1))
def test_the_success_of_attackers_is_rounded_up(epsilon: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(60):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        exact = (growth + mpmath.mpf(delta.numerator) / delta.denominator) / (growth + 1)
        found = largest_success(epsilon, delta)
        upper = mpmath.mpf(found.numerator) / found.denominator
        assert exact * (1 - mpmath.mpf(10) ** -50) <= upper <= exact + mpmath.mpf(10) ** -30


@pytest.mark.parametrize("options", [2, 3, 5])
def test_no_guess_about_randomised_response_succeeds_more_often(options: int) -> None:
    """The best guess, by enumeration of outcomes and values; of two options the bound is attained."""
    probability = Fraction(3, 4)
    other = (1 - probability) / (options - 1)
    rows = [[probability if j == i else other for j in range(options)] for i in range(options)]
    ratio = mpmath.log(mpmath.mpf(3) / 4 * (options - 1) * 4)
    bound = largest_success(Fraction(str(ratio + mpmath.mpf(10) ** -12)), Fraction(0))
    best = max(sum(map(max, zip(p, q, strict=True))) / 2 for p, q in itertools.permutations(rows, 2))
    assert best <= bound
    if options == 2:
        assert bound - best < Fraction(1, 10**11)


def test_the_promise_of_a_delta_counts() -> None:
    assert largest_success(Fraction(0), Fraction(1, 2)) == Fraction(3, 4)
    assert largest_success(Fraction(0), Fraction(0)) == Fraction(1, 2)
    assert largest_success(Fraction(10**6), Fraction(0)) <= 1
