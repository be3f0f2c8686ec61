"""Many ε from one evaluation: the curve overlaps single answers, holds closed forms, and costs little more than one."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.privacy.accountants import routing
from dpbounds.privacy.accountants.certified import delta, delta_curve
from dpbounds.privacy.accountants.trade_off import TradeOff
from dpbounds.privacy.pairs.pairs import Direction, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.routes.closed_forms import closed_form_delta
from dpbounds.privacy.routes.contour import contour_deltas
from dpbounds.privacy.routes.contour.power_sums import power_sums
from dpbounds.privacy.routes.lattice.bounds import delta_bounds_at

ADDED = "add-or-remove-one"
DP_SGD = dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 1000
SMALL = [Fraction(k, 4) for k in range(9)]


@pytest.mark.seconds_cases("mechanism7-*", "mechanism9-*", "mechanism11-*")
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (dp.Gaussian(2) ** 4, ADDED),
        (DP_SGD, ADDED),
        (DP_SGD, "replace-one"),
        (dp.PoissonSampled(dp.Gaussian(5), "0.01") ** 10000, ADDED),
        (dp.Composed(((dp.PoissonSampled(dp.Gaussian(1), "0.01"), 100), (dp.Gaussian(3), 2))), ADDED),
        pytest.param(dp.PoissonSampled(dp.Laplace(1), "0.1") ** 30, ADDED, marks=pytest.mark.seconds),
        pytest.param(
            dp.SampledWithoutReplacement(dp.Gaussian(2), 100, 10000) ** 3, "replace-one", marks=pytest.mark.seconds
        ),
        (dp.Laplace(3) ** 5, ADDED),
        (dp.Composed(((dp.Gaussian(2), 3), (dp.Laplace(1), 1))), ADDED),
        (dp.PureDP("0.1", relation=ADDED) ** 20, ADDED),
        (dp.RenyiDP([(2, "0.1"), (8, "0.5")], relation=ADDED), ADDED),
        (
            dp.InParallel(
                (dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 100, dp.PoissonSampled(dp.Gaussian(2), "0.1") ** 10)
            ),
            ADDED,
        ),
    ],
)
def test_a_curve_overlaps_what_is_proven_one_by_one(mechanism, relation) -> None:
    found = delta_curve(mechanism, SMALL, relation)
    assert len(found) == len(SMALL)
    for index in (0, 3, 8):
        alone = delta(mechanism, SMALL[index], relation)
        assert max(alone.exact_lower, found[index].exact_lower) <= min(alone.exact_upper, found[index].exact_upper)
        assert found[index].width <= max(10 * alone.width, 1e-3 * alone.upper, 1e-300)


@pytest.mark.seconds_cases("0.01-1-remove")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", Direction)
@pytest.mark.parametrize(("rate", "variance"), [("0.01", 1), ("0.3", 4), ("0.001", "0.36"), ("0.9", 100)])
def test_one_contour_holds_the_closed_form_of_one_release(order, rate, variance) -> None:
    pair = SampledGaussians(order, Fraction(rate), Fraction(variance))
    epsilons = [Fraction(k, 100) for k in range(0, 200, 23)]
    found = contour_deltas(((pair, 1),), epsilons)
    assert order is Direction.ADD or found
    for epsilon, proof in found.items():
        exactly = closed_form_delta(pair, epsilon)[0]
        assert proof.enclosure.exact_lower <= ball_end(exactly, "up")
        assert proof.enclosure.exact_upper >= ball_end(exactly, "down")
        assert proof.enclosure.width <= 1e-9 * proof.enclosure.upper


@pytest.mark.seconds
def test_one_lattice_holds_composed_gaussians() -> None:
    epsilons = [Fraction(k) for k in range(5)]
    found = delta_bounds_at(((ShiftedGaussians(Fraction(1, 4)), 4),), epsilons)
    assert set(found) == set(epsilons)
    for epsilon, proof in found.items():
        exactly = delta(dp.Gaussian(2) ** 4, epsilon)
        assert proof.enclosure.exact_lower <= exactly.exact_upper
        assert proof.enclosure.exact_upper >= exactly.exact_lower
        assert proof.enclosure.width <= 0.05 * exactly.upper


def test_a_curve_sums_over_nodes_a_few_times_not_once_per_point(monkeypatch) -> None:
    sums = []
    monkeypatch.setattr(
        "dpbounds.privacy.routes.contour.moments.power_sums", lambda *given: sums.append(1) or power_sums(*given)
    )
    TradeOff.of(DP_SGD, [Fraction(k, 8) for k in range(21)])
    assert 1 <= len(sums) <= 3


def test_what_a_shared_proof_leaves_out_is_proven_alone(monkeypatch) -> None:
    whole = delta_curve(DP_SGD, SMALL[::2])
    shared = routing.contour_deltas
    monkeypatch.setattr(routing, "contour_deltas", lambda *given: dict([*shared(*given).items()][::2]))
    for one, other in zip(whole, delta_curve(DP_SGD, SMALL[::2]), strict=True):
        assert one.exact_lower <= other.exact_upper
        assert other.exact_lower <= one.exact_upper


def test_order_and_repetition_do_not_matter() -> None:
    assert delta_curve(DP_SGD, [1, 0, "1"])[0] == delta_curve(DP_SGD, [1, 0, "1"])[2]
    assert delta_curve(DP_SGD, []) == ()


def test_demands_are_kept_and_errors_kind() -> None:
    assert all(ends.width <= 1e-11 * ends.upper for ends in delta_curve(DP_SGD, SMALL[::4], tolerance=1e-11))
    with pytest.raises(NotCertified, match="ask for a looser tolerance"):
        delta_curve(DP_SGD, [1], tolerance=1e-40)
    for bad in (1, "12", None):
        with pytest.raises(InvalidValue, match="epsilons"):
            delta_curve(DP_SGD, bad)
    with pytest.raises(InvalidValue, match="epsilon"):
        delta_curve(DP_SGD, [1, -1])
    with pytest.raises(InvalidValue, match="tolerance"):
        delta_curve(DP_SGD, [1], tolerance=2)
