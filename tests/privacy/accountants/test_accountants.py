"""Certified accounting as people call it: soundness, agreement of the routes, extremes, bad input."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, cast

import dp_accounting
import mpmath as mp
import pytest
from dp_accounting import pld
from hypothesis import given, settings, strategies as st

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import DpboundsError, InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike
from dpbounds.privacy.accountants.certified import (
    account,
    delta,
    epsilon,
    prove_epsilon,
)
from dpbounds.privacy.accountants.questions import Question
from dpbounds.privacy.accountants.routing import _between, _narrowed
from dpbounds.privacy.proofs import Proof
from dpbounds.privacy.relations import as_relation
from dpbounds.privacy.renyi.accountant import renyi_delta, renyi_epsilon
from dpbounds.privacy.values import Target
from tests.privacy.products import products_of
from tests.privacy.small_laws import m

RELATIONS = ("add-or-remove-one", "replace-one")


def training(q: ExactLike, z: ExactLike, steps: int) -> dp.Mechanism:
    return dp.PoissonSampled(dp.Gaussian(z), q) ** steps


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("z", "steps", "target"),
    [("5", 1, "1e-5"), ("50", 100_000, "1e-12"), ("0.3", 7, "1e-300"), ("10000", 3, "1e-2"), ("1", 10**7, "1e-50")],
)
@pytest.mark.parametrize("relation", RELATIONS)
def test_composed_gaussians_hold_the_closed_form(z: str, steps: int, target: str, relation: str) -> None:
    found = epsilon(dp.Gaussian(z) ** steps, target, relation)
    with mp.workdps(120):
        mu = mp.sqrt(steps) * (2 if relation == "replace-one" else 1) / m(z)

        def profile(e: mp.mpf) -> mp.mpf:
            return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)

        assert profile(m(found.exact_upper)) <= m(target)
        assert found.exact_lower == 0 or m(target) <= profile(m(found.exact_lower))
    assert found.upper == 0 or found.width / found.upper < 1e-14


@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("q", "z", "steps", "target"),
    [
        ("0.01", "1", 10_000, "1e-6"),
        ("0.001", "50", 10_000, "1e-8"),
        ("0.1", "1", 100, "1e-6"),
        ("0.3", "2", 5, "1e-10"),
        pytest.param("0.001", "0.5", 200, "1e-6", marks=pytest.mark.seconds),
        pytest.param("0.01", "1", 100_000, "1e-6", marks=pytest.mark.minutes),
        pytest.param("1e-5", "0.5", 100_000, "1e-8", marks=pytest.mark.minutes),
        pytest.param("0.01", "1", 10_000, "1e-300", marks=pytest.mark.minutes),
        pytest.param("1e-5", "0.3", 1000, "1e-8", marks=pytest.mark.minutes),
    ],
)
def test_the_two_routes_agree(q: str, z: str, steps: int, target: str, relation: str) -> None:
    contour, lattice = (
        account(training(q, z, steps), delta=target, relation=relation, route=route).enclosure
        for route in ("contour", "lattice")
    )
    assert contour.overlaps(lattice)
    if steps <= 10_000 and q != "1e-5" and target != "1e-300":  # of what is harder, that they agree is enough
        assert contour.width < 1e-6 * contour.upper
        assert lattice.width < 2e-3 * lattice.upper


@pytest.mark.seconds_cases("0.01-*")
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("relation", "neighbours"),
    [
        ("add-or-remove-one", dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE),
        ("replace-one", dp_accounting.NeighboringRelation.REPLACE_ONE),
    ],
)
@pytest.mark.parametrize(
    ("q", "z", "steps", "target"), [(0.01, 1.0, 1000, 1e-5), (0.1, 2.0, 100, 1e-5), (0.5, 4.0, 50, 1e-4)]
)
def test_another_accountant_lies_just_above(
    q: float, z: float, steps: int, target: float, relation: str, neighbours: object
) -> None:
    """dp_accounting's pessimistic losses, where δ is large enough for its round-off not to matter."""
    theirs = pld.PLDAccountant(neighbours, value_discretization_interval=1e-4)
    theirs.compose(dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(z)), steps)
    ours, promised = epsilon(training(q, z, steps), target, relation), theirs.get_epsilon(target)
    assert ours.upper <= promised * (1 + 1e-9)
    assert promised <= ours.lower * 1.001


@pytest.mark.seconds
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("q", "z", "steps"),
    [("1e-5", "1e4", 10**7), ("1", "0.3", 10**7), ("0.01", "1", 10**7), ("0.5", "10", 1), ("1e-5", "10", 1)],
)
@pytest.mark.parametrize("target", ["1e-2", "1e-12", "1e-300"])
def test_extremes_are_answered(q: str, z: str, steps: int, target: str, relation: str) -> None:
    found = epsilon(training(q, z, steps), target, relation)
    assert 0 <= found.lower <= found.upper < math.inf
    assert found.width <= 1e-9 * found.upper


@pytest.mark.seconds
@given(
    q=st.sampled_from(["0.01", "0.1", "0.003", "1"]),
    z=st.sampled_from(["0.6", "1", "3", "20"]),
    steps=st.sampled_from([1000, 20_000, 10**6]),
    epsilons=st.lists(st.floats(0, 20), min_size=2, max_size=3, unique=True),
    relation=st.sampled_from(RELATIONS),
)
@settings(max_examples=8)
def test_delta_does_not_increase(q: str, z: str, steps: int, epsilons: list[float], relation: str) -> None:
    found = [delta(training(q, z, steps), e, relation) for e in sorted(epsilons)]
    for value in found:
        assert 0 <= value.exact_lower <= value.exact_upper <= 1
    for earlier, later in itertools.pairwise(found):
        assert later.exact_lower <= earlier.exact_upper


@pytest.mark.one_in(2)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "z", "steps", "target"), [("0.01", "1", 10_000, "1e-6"), ("1", "9", 4, "1e-5")])
def test_round_trip(q: str, z: str, steps: int, target: str, relation: str) -> None:
    spent = epsilon(training(q, z, steps), target, relation)
    assert delta(training(q, z, steps), spent.exact_upper, relation).exact_lower <= Fraction(target)
    assert delta(training(q, z, steps), spent.exact_lower, relation).exact_upper >= Fraction(target)


def test_relations_differ_as_they_should() -> None:
    steps = training("0.01", "1", 1000)
    assert epsilon(steps, "1e-6") < epsilon(steps, "1e-6", "replace-one")
    # full batch: replacing one record is as bad as half the noise
    assert epsilon(dp.Gaussian(4) ** 9, "1e-6", "replace-one") == epsilon(dp.Gaussian(2) ** 9, "1e-6")


def test_a_composition_can_be_said_in_many_ways() -> None:
    split = training("0.02", "1.2", 1000) @ training("0.02", "1.2", 3000)
    assert epsilon(training("0.02", "1.2", 4000), "1e-7") == epsilon(split, "1e-7")
    some = training("0.02", "1.2", 500)
    assert epsilon(some @ dp.Gaussian(30) ** 7, "1e-7") == epsilon(some @ dp.Gaussian(60) ** 28, "1e-7")


def test_more_steps_less_noise_higher_rate_spend_more() -> None:
    base = epsilon(training("0.01", "1", 5000), "1e-6")
    for more in (("0.01", "1", 5001), ("0.01", "0.999999", 5000), ("0.010001", "1", 5000)):
        assert base < epsilon(training(*more), "1e-6")


def test_dominated_order_is_reported() -> None:
    found = account(training("0.01", "1", 10_000), delta="1e-6")
    assert [(order, proof.route) for order, proof in found.proofs] == [("remove", "contour"), ("add", "dominated")]
    alone = account(training("0.01", "1", 10_000), delta="1e-6", relation="replace-one")
    assert [order for order, _ in alone.proofs] == ["replace"]


def test_total_variation_or_more_costs_nothing() -> None:
    assert epsilon(training("1e-5", "10", 100), "1e-2").exact_upper == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: epsilon(dp.Gaussian(1), 1),
        lambda: epsilon(dp.Gaussian(1), "1.5"),
        lambda: epsilon(dp.Gaussian(1), -1e-6),
        lambda: epsilon(dp.Gaussian(1), math.nan),
        lambda: epsilon(dp.Gaussian(1), "much"),
        lambda: epsilon(dp.Gaussian(1), "1e-6", "neighbours"),
        lambda: delta(dp.Gaussian(1), math.inf),
        lambda: epsilon(dp.Gaussian(1), "1e-6", tolerance=0),
        lambda: epsilon(dp.Gaussian(1), "1e-6", tolerance=cast(Any, "narrow")),
        lambda: account(dp.Gaussian(1), delta="1e-6", route=cast(Any, "numerical")),
        lambda: account(dp.Gaussian(1)),
        lambda: account(dp.Gaussian(1), delta="1e-6", epsilon=1),
    ],
)
def test_bad_input_is_one_kind_of_error(call: object) -> None:
    assert callable(call)
    with pytest.raises(InvalidValue) as caught:
        call()
    assert isinstance(caught.value, DpboundsError)
    assert "\n" not in str(caught.value)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "z", "steps", "target"), [("0.01", "1", 300, "1e-6"), ("0.2", "2", 40, "1e-30")])
def test_what_is_left_where_every_route_declines_is_sound(
    q: str, z: str, steps: int, target: str, relation: str
) -> None:
    mechanism = training(q, z, steps)
    for product in products_of(mechanism, as_relation(relation)):
        between = _between(product, Question(Target("delta", Fraction(target)), 1e-9)).enclosure
        truth = prove_epsilon(product, Fraction(target), 1e-9).enclosure
        assert between.contains(truth)
        assert between.upper < 2 * truth.upper  # a Chernoff bound, not any bound
        above = _between(product, Question(Target("epsilon", Fraction(truth.exact_lower)), 1e-9)).enclosure
        assert above.exact_lower <= Fraction(target)
        assert Fraction(target) <= above.exact_upper < 50 * Fraction(target)


@pytest.mark.seconds
def test_delta_too_small_for_every_route_is_bounded() -> None:
    found = account(training("0.003", "20", 20_000), epsilon="19.9")
    assert found.enclosure.exact_lower < found.enclosure.exact_upper < Fraction(1, 10**1000)


@pytest.mark.one_in(4)
def test_a_route_can_be_asked_for_alone() -> None:
    (product,) = products_of(training("0.1", "1", 10), as_relation("replace-one"))
    assert prove_epsilon(product, Fraction(1, 10**6), 1e-9, "contour").route == "contour"
    assert prove_epsilon(product, Fraction(1, 10**6), 1e-9, "lattice").route == "lattice"
    with pytest.raises(NotCertified, match="no closed form"):
        prove_epsilon(product, Fraction(1, 10**6), 1e-9, "closed form")


@pytest.mark.seconds
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_requested_tolerance_is_met(relation: str) -> None:
    for q, z, steps in (("1e-3", "1", 5), ("0.3", "0.3", 2)):
        found = epsilon(training(q, z, steps), "1e-4", relation, tolerance=1e-5)
        assert found.width <= 1e-5 * found.upper


# --- Rényi divergences where pairs are not attained ------------------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("sampled", [dp.SampledWithReplacement, dp.SampledWithoutReplacement])
def test_divergences_that_are_not_asked_would_not_have_helped(sampled: Any, relation: str) -> None:
    mechanism = sampled(dp.Gaussian(2), batch_size=4, dataset_size=40) ** 5
    found = account(mechanism, delta="1e-5", relation=relation)
    assert found.moments is None
    assert renyi_epsilon(mechanism, "1e-5", relation).enclosure.exact_upper >= found.enclosure.exact_upper
    there = account(mechanism, epsilon=2, relation=relation)
    assert renyi_delta(mechanism, 2, relation).enclosure.exact_upper >= there.enclosure.exact_upper


def test_divergences_that_can_help_are_asked() -> None:
    """A bounded range: one pair has to serve all ε at once, its two-point mechanisms have smaller divergences."""
    found = account(dp.ExponentialMechanism("0.2", relation="replace-one") ** 50, delta="1e-6", relation="replace-one")
    assert found.moments is not None
    assert found.enclosure.method == "Rényi divergences"


@pytest.mark.parametrize("delta", ["1e-5", "0.1", "1/3"])
def test_a_guarantee_asked_about_at_its_own_delta_is_a_tie_that_is_decided(delta: str) -> None:
    guarantee = dp.ApproximateDP("3/2", delta, relation="replace-one")
    found = epsilon(guarantee, delta, relation="replace-one")
    assert (found.exact_lower, found.exact_upper) == (Fraction(3, 2), Fraction(3, 2))
    assert epsilon(guarantee, Fraction(delta) * 999 / 1000, relation="replace-one").exact_lower == math.inf


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [((1, 4), (2, 3), (2, 3)), ((2, 3), (1, 4), (2, 3)), ((1, 3), (2, 4), (2, 3)), ((2, 4), (1, 3), (2, 3))],
)
def test_two_proofs_of_one_number_are_one_narrower_proof(
    one: tuple[int, int], other: tuple[int, int], both: tuple[int, int]
) -> None:
    first, second = (
        Proof(Enclosure(Fraction(low), Fraction(high), name), name)
        for (low, high), name in ((one, "one"), (other, "other"))
    )
    found = _narrowed((first, second)).enclosure
    assert (found.exact_lower, found.exact_upper) == both
