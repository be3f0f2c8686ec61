"""All accountants side by side, and calibration to other targets."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from scipy import stats

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.accountants.side_by_side import METHODS, MethodValue, all_methods, by_method
from dpbounds.privacy.budgets.targets import (
    calibrate_by_renyi,
    calibrate_to_curve,
    calibrate_to_total_variation,
    calibrate_to_zcdp,
)
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.accountant import renyi_epsilon
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho

AR, RE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE

SUBJECTS: list[Any] = [
    pytest.param(dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 1000, AR, marks=pytest.mark.seconds),
    (dp.Gaussian(5) ** 10, RE),
    pytest.param(dp.Laplace(20) ** 40, AR, marks=pytest.mark.seconds),
    (dp.Laplace(20) ** 4, AR),
    pytest.param(dp.PoissonSampled(dp.Laplace(2), "0.1") ** 20, RE, marks=pytest.mark.seconds),
    pytest.param(dp.SampledWithoutReplacement(dp.Gaussian(2), 10, 1000) ** 50, RE, marks=pytest.mark.seconds),
    (dp.PureDP("0.05", relation=AR) ** 100, AR),
    pytest.param(dp.ApproximateDP("0.1", "1e-9", relation=AR) ** 30 @ dp.Laplace(10), RE, marks=pytest.mark.seconds),
    pytest.param(dp.ZCDP("0.01", relation=AR) ** 10 @ dp.Gaussian(10), AR, marks=pytest.mark.seconds),
    pytest.param(dp.PoissonSampled(dp.ZCDP("0.1", relation=AR), "0.1") ** 10, AR, marks=pytest.mark.seconds),
    (dp.ExponentialMechanism("0.1", relation=RE) ** 50, RE),
    (dp.AboveThreshold("0.2", relation=AR) ** 5, AR),
    (dp.UniformBall(10**7, 3) ** 5 @ dp.Gaussian(4), AR),
    (dp.InParallel((dp.Gaussian(2), dp.Laplace(3))) ** 4, AR),
]


def by_name(mechanism: Mechanism, **asked: Any) -> dict[str, MethodValue]:
    return {each.method: each for each in all_methods(mechanism, **asked)}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("mechanism", "relation"), SUBJECTS)
def test_the_certified_value_is_at_most_that_of_every_other_proven_method(
    mechanism: Mechanism, relation: Relation
) -> None:
    found = by_name(mechanism, delta="1e-6", relation=relation)
    assert tuple(found) == METHODS
    certified = found["certified"].enclosure
    assert certified is not None
    for each in found.values():
        assert each.why
        assert (each.method == "gdp") <= (not each.certified)
        if each.certified:
            assert each.enclosure is not None
            assert certified.exact_lower <= each.enclosure.exact_upper, "a proven bound below what is attained"
            assert certified.exact_upper <= each.enclosure.exact_upper * (1 + Fraction(2, 10**5)), each.method


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_the_order_of_the_methods_at_the_usual_training_run() -> None:
    found = by_name(dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 10_000, delta="1e-6")
    ratios = {name: each.ratio for name, each in found.items()}
    assert ratios["certified"] == 1
    assert ratios["rdp"] == pytest.approx(1.0733, abs=1e-4)
    assert ratios["gdp"] == pytest.approx(0.9656, abs=1e-3), "the approximation lies below the truth"
    assert found["gdp"].enclosure is None
    assert found["gdp"].value == pytest.approx(6.6694, abs=1e-3)
    others = [ratios[name] for name in ("zcdp", "zcdp-classical", "optimal", "advanced", "basic")]
    assert [100, *others] == sorted([100, *others])


def test_pure_releases_compose_optimally() -> None:
    found = by_name(dp.PureDP("0.05", relation=AR) ** 100, delta="1e-6")
    assert found["optimal"].ratio == pytest.approx(1, abs=1e-5)


@pytest.mark.seconds
def test_delta_by_every_method() -> None:
    found = by_name(dp.Gaussian(4) ** 4, epsilon=2)
    exact = stats.norm.cdf(0.25 - 4) - math.exp(2) * stats.norm.cdf(-0.25 - 4)
    assert found["certified"].enclosure.lower == pytest.approx(exact)
    proven = [each.enclosure.upper for each in found.values() if each.enclosure is not None]
    assert min(proven) >= exact * (1 - 1e-12)  # which is rounded itself
    assert [name for name, each in found.items() if each.enclosure is None] == ["gdp"]
    assert found["gdp"].value == pytest.approx(exact, rel=1e-2), "full-batch Gaussians: the limit is exact"


def test_a_method_that_does_not_apply_says_why() -> None:
    found = by_name(dp.Laplace(2) ** 3, delta="1e-6")
    assert found["gdp"].value is None
    assert found["gdp"].why.startswith("does not apply: ")
    with pytest.raises(UnsupportedMechanism):
        by_method("gdp", dp.Laplace(2), delta="1e-6")
    with pytest.raises(InvalidValue, match=r"^method must be .*, not 'moments'"):
        by_method("moments", dp.Laplace(2), delta="1e-6")
    with pytest.raises(InvalidValue, match="one of the two"):
        by_method("rdp", dp.Laplace(2))


# --- Targets ---------------------------------------------------------------------------------------------------------


def test_a_curve_is_kept_at_every_point() -> None:
    points = [(0, "0.05"), ("0.5", "1e-3"), (1, "1e-6")]
    found = calibrate_to_curve(lambda z: dp.Gaussian(z) ** 10, points)
    for epsilon, delta in points:
        assert account(found.mechanism, epsilon=epsilon).enclosure.upper <= float(Fraction(delta)) * (1 + 1e-12)
    assert any(account(found.failing, epsilon=e).enclosure.exact_lower > Fraction(d) for e, d in points)
    with pytest.raises(InvalidValue, match="at least one"):
        calibrate_to_curve(dp.Gaussian, [])


@pytest.mark.seconds
def test_total_variation_of_other_noise() -> None:
    for factory in (dp.Laplace, lambda r: dp.UniformBall(r, 5), lambda z: dp.PoissonSampled(dp.Laplace(z), "0.5")):
        found = calibrate_to_total_variation(factory, "0.2")
        assert account(found.mechanism, epsilon=0).enclosure.exact_upper <= Fraction(1, 5)
        assert account(found.failing, epsilon=0).enclosure.exact_lower > Fraction(1, 5)
        assert float(found.value / found.fails_at) == pytest.approx(1, abs=1e-3)


def test_zcdp_is_kept_and_nearly_spent() -> None:
    noise = calibrate_to_zcdp(lambda z: dp.Laplace(z) ** 5, "0.1", RE)
    assert zcdp_rho(dp.Laplace(noise) ** 5, RE) <= Fraction(1, 10)
    assert zcdp_rho(dp.Laplace(noise * Fraction(999_999, 10**6)) ** 5, RE) > Fraction(1, 10)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_noise_by_the_renyi_accountant_is_more_than_enough() -> None:
    def training(z: Fraction) -> Mechanism:
        return dp.PoissonSampled(dp.Gaussian(z), "0.01") ** 1000

    noise = calibrate_by_renyi(training, 1, "1e-6")
    assert renyi_epsilon(training(noise), "1e-6").enclosure.exact_upper <= 1
    assert renyi_epsilon(training(noise * Fraction(999, 1000)), "1e-6").enclosure.exact_upper > 1
    assert account(training(noise), delta="1e-6").enclosure.upper < 1


@pytest.mark.parametrize("digits", [100, 400])
def test_a_rate_whose_divergences_take_minutes_is_refused(digits: int) -> None:
    with pytest.raises(NotCertified, match="too small to be computed quickly: use calibrate"):
        calibrate_by_renyi(lambda z: dp.PoissonSampled(dp.Gaussian(z), Fraction(1, 10**digits)) ** 3, 2, "1e-5")
