"""What is left of a budget: both sides proven by the accountant, exact for Gaussians, honest where it is not tight."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import delta, epsilon
from dpbounds.privacy.budgets.remaining import remaining

SAMPLED = dp.PoissonSampled(dp.Gaussian(2), "0.01") ** 500


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (dp.Gaussian(20) ** 10, "replace-one"),
        (SAMPLED, "add-or-remove-one"),
        (SAMPLED, "replace-one"),
        (SAMPLED @ dp.Gaussian(30), "add-or-remove-one"),
        pytest.param(dp.Laplace(60) ** 12, "add-or-remove-one", marks=pytest.mark.minutes),
    ],
)
def test_what_fits_fits_and_a_little_more_does_not(mechanism: dp.Mechanism, relation: str) -> None:
    left = remaining(mechanism, "1.5", "1e-6", relation)
    assert left.within is True
    for rest, fits in (
        (dp.Gaussian(left.noise.value), True),
        (dp.Gaussian(left.noise.fails_at), False),
        (left.last**left.more, True),
        (left.last**left.too_many, False),
    ):
        found = delta(mechanism @ rest, "1.5", relation, tolerance=1e-4)  # as fine as calibration's own proofs
        assert found.at_most("1e-6") is fits
    assert left.noise.value == pytest.approx(left.noise.fails_at, rel=1e-3)
    assert left.too_many == left.more + 1


def test_gaussians_add_up_exactly() -> None:
    left, whole = remaining(dp.Gaussian(20) ** 10, 1, "1e-6"), remaining(dp.Gaussian(10**6), 1, "1e-6")
    shift = 1 / whole.noise.value**2 + Fraction(1, 10**12)  # μ² that the budget allows
    assert float(left.noise.value) == pytest.approx(1 / math.sqrt(shift - Fraction(10, 400)), rel=1e-9)
    assert left.more == math.floor((shift - Fraction(10, 400)) * 400)


@pytest.mark.parametrize("mechanism", [dp.Gaussian(1), dp.UniformBall(1, 5)])
def test_nothing_fits_where_the_budget_is_exceeded(mechanism: dp.Mechanism) -> None:
    left = remaining(mechanism, 1, "1e-6")
    assert (left.within, left.noise, left.more, left.too_many) == (False, None, 0, 0)


@pytest.mark.seconds
def test_not_proven_to_be_within_is_neither() -> None:
    loose = dp.SampledWithoutReplacement(dp.Gaussian(2), 100, 10_000) ** 2000
    spent = epsilon(loose, "1e-6", "replace-one")
    between = (Fraction(spent.exact_lower) + Fraction(spent.exact_upper)) / 2
    left = remaining(loose, between, "1e-6", "replace-one")
    assert (left.within, left.noise, left.more, left.too_many) == (None, None, 0, None)


@pytest.mark.minutes
def test_where_the_analysis_is_loose_the_failing_count_lies_at_a_distance() -> None:
    step = dp.SampledWithoutReplacement(dp.Gaussian(2), 100, 10_000)
    left = remaining(step**100, 3, "1e-6", "replace-one")
    assert left.within is True
    assert left.too_many > left.more + 1 > 100
    assert epsilon(step ** (100 + left.more), "1e-6", "replace-one").at_most(3) is True
    assert epsilon(step ** (100 + left.too_many), "1e-6", "replace-one").exact_lower > 3


def test_one_more_that_does_not_fit() -> None:
    left = remaining(dp.Gaussian(3), "1.1", "1e-3", "add-or-remove-one")
    assert (left.more, left.too_many) == (0, 1)
    assert left.noise.value > 3


def test_bad_budgets_and_unknown_mechanisms_are_refused() -> None:
    with pytest.raises(InvalidValue, match="target_epsilon"):
        remaining(dp.Gaussian(1), -1, "1e-6")
    with pytest.raises(InvalidValue, match="delta"):
        remaining(dp.Gaussian(1), 1, 1)
    with pytest.raises(UnsupportedMechanism):
        remaining(dp.PureDP(1, relation="replace-one"), 1, "1e-6")
