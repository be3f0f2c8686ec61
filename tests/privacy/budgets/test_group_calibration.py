"""Noise, steps and rates for people with several records: what suffices does, by others' sums, and hardly more."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import dp_accounting as dpa
import pytest
from scipy.stats import binom

import dpbounds as dp
from dpbounds.errors import CertificateError, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.budgets.calibration import Calibration, calibrate
from dpbounds.privacy.budgets.parameter import Solve
from dpbounds.privacy.publishing.certificates import certificate
from dpbounds.privacy.publishing.statements import statement

REPLACE, ADD = "replace-one", "add-or-remove-one"


@cache
def calibrated(base: dp.Mechanism | str, k: int, solve: Solve = "noise", relation: str = ADD) -> Calibration:
    factories = {
        "full batch": lambda z: dp.Gaussian(z) ** 10,
        "sampled": lambda z: dp.PoissonSampled(dp.Gaussian(z), "0.01") ** 1000,
        "rate": lambda q: dp.PoissonSampled(dp.Gaussian(2), q) ** 1000,
        "steps": lambda steps: dp.PoissonSampled(dp.Gaussian(2), "0.01") ** int(steps),
        "fixed size": lambda z: dp.SampledWithoutReplacement(dp.Gaussian(z), 100, 10_000) ** 100,
        "shuffled": lambda z: dp.Shuffled(dp.Gaussian(z), 100) ** 10,
    }
    return calibrate(factories[str(base)], 2, "1e-5", relation, solve=solve, group_size=k)


def delta_of(found: Calibration, mechanism: dp.Mechanism) -> dp.Enclosure:
    return dp.group_account(mechanism, found.group_size, epsilon=2, relation=found.relation)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_full_batch_needs_k_times_the_noise() -> None:
    one, three = calibrated("full batch", 1), calibrated("full batch", 3)
    assert float(three.value) == pytest.approx(3 * float(one.value), rel=1e-9)
    assert float(three.fails_at or 0) == pytest.approx(3 * float(one.value), rel=1e-9)
    assert (one.group_size, three.group_size) == (1, 3)
    assert "3 at once" in str(three)


@pytest.mark.minutes
@pytest.mark.parametrize(("what", "solve"), [("sampled", "noise"), ("rate", "sample-rate"), ("steps", "steps")])
def test_samples_of_people_with_several_records(what: str, solve: Solve) -> None:
    """What suffices and what fails lie on the two sides of an accountant that adds the draws up by itself."""
    k, found = 4, calibrated(what, 4, solve)
    assert found.fails_at is not None
    assert found.failing is not None
    assert (
        delta_of(found, found.mechanism).exact_lower <= Fraction(1, 10**5) < delta_of(found, found.failing).exact_upper
    )
    ((part, steps),) = found.mechanism.parts
    rate, noise = float(part.sample_rate), float(part.mechanism.noise_multiplier)
    event = dpa.dp_event.MixtureOfGaussiansDpEvent(
        noise, list(range(k + 1)), [float(binom.pmf(j, k, rate)) for j in range(k + 1)]
    )
    theirs = dpa.pld.PLDAccountant().compose(event, steps).get_epsilon(1e-5)
    assert theirs == pytest.approx(2, rel=1e-3)
    apart = abs(found.value - found.fails_at)
    assert apart == 1 if solve == "steps" else apart < found.value / 1000


@pytest.mark.minutes
def test_where_only_chains_of_neighbours_are_known() -> None:
    found = calibrated("fixed size", 3, relation=REPLACE)
    assert delta_of(found, found.mechanism).at_most("1e-5") is True
    assert found.failing is not None
    assert dp.epsilon(found.failing, "1e-5", REPLACE).exact_lower > 2  # one record of the group alone
    less = dp.SampledWithoutReplacement(dp.Gaussian(found.value * Fraction(98, 100)), 100, 10_000) ** 100
    assert delta_of(found, less).exact_upper > Fraction(1, 10**5)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("factory", "solve", "relation"),
    [
        pytest.param(  # exact at the rate 1 alone
            lambda q: dp.PoissonSampled(dp.Laplace(5), q) ** 10, "sample-rate", ADD, marks=pytest.mark.minutes
        ),
        pytest.param(  # a pair at the rate 1 alone
            lambda q: dp.PoissonSampled(dp.PureDP("0.5", relation=REPLACE), q) ** 5,
            "sample-rate",
            REPLACE,
            marks=pytest.mark.minutes,
        ),
        (lambda b: dp.PoissonSampled(dp.Laplace(b), "0.2") ** 10, "noise", ADD),
        (lambda steps: dp.PoissonSampled(dp.Laplace(20), "0.2") ** int(steps), "steps", ADD),
    ],
)
def test_what_is_said_to_fail_fails(factory: Callable[[Fraction], dp.Mechanism], solve: Solve, relation: str) -> None:
    """For one record, where nothing is attained for all: a bound that is not attained proves no failure."""
    found = calibrate(factory, 1, "1e-5", relation, solve=solve, group_size=3)
    assert dp.group_account(found.mechanism, 3, epsilon=1, relation=relation).at_most("1.001e-5") is True
    assert found.failing is not None
    assert dp.epsilon(found.failing, "1e-5", relation).exact_lower > Fraction(999, 1000)


@pytest.mark.seconds
def test_what_fails_where_records_are_replaced_on_samples_fails_for_the_group() -> None:
    found = calibrate(
        lambda q: dp.PoissonSampled(dp.Gaussian(4), q) ** 10, 1, "1e-5", REPLACE, solve="sample-rate", group_size=3
    )
    assert found.failing is not None
    assert delta_of_one(found.mechanism) <= Fraction(1, 10**5) < delta_of_one(found.failing)


def delta_of_one(mechanism: dp.Mechanism) -> Fraction:
    return Fraction(dp.group_account(mechanism, 3, epsilon=1, relation=REPLACE).exact_upper)


def test_a_group_that_a_single_step_is_too_much_for() -> None:
    with pytest.raises(InvalidValue, match="one step already spends more"):
        calibrate(lambda steps: dp.Gaussian(1) ** int(steps), 2, "1e-5", solve="steps", group_size=300)


@pytest.mark.seconds
def test_a_certificate_speaks_of_the_group_and_a_statement_of_one_record() -> None:
    found = calibrated("full batch", 3)
    with pytest.raises(CertificateError, match="for groups of 3 records"):
        statement(found)
    (entry,) = certificate(found)["accounts"]  # type: ignore[misc, attr-defined]
    assert entry["claim"]["group_size"] == 3


@pytest.mark.parametrize("wrong", [0, -1, "x", 1.5])
def test_a_group_that_is_none(wrong: int) -> None:
    with pytest.raises(InvalidValue, match="group_size"):
        calibrated("full batch", wrong)


def test_what_would_take_hours_is_refused() -> None:
    with pytest.raises(UnsupportedMechanism, match="shuffled batches"):
        calibrated("shuffled", 2, relation=REPLACE)
