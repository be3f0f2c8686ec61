"""One order of neighbours, against outcomes that are listed, closed forms, and the PLDs of dp-accounting."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

import dpbounds as dp
from dpbounds.errors import CertificateError, DpboundsError, InvalidValue
from dpbounds.privacy.accountants.certified import prove_delta
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.publishing.certificates import certificate
from dpbounds.privacy.publishing.kernel.writing import kernel_certificate
from dpbounds.privacy.publishing.statements import statement
from dpbounds.privacy.relations import Order, Relation
from tests.privacy.mechanisms.examples import NOISES, SCHEMES, WHOLE

ADD, REPLACE, ZERO = Relation
REVEALED = dp.PoissonSampled(dp.ApproximateDP(0, 1, relation=ADD), "1/4")  # the record in clear, if it is drawn
SAMPLED = dp.PoissonSampled(dp.DiscreteLaplace(1), "1/4") ** 2


def listed_delta(order: str, epsilon: float) -> float:
    """δ of SAMPLED from all outcomes of both steps: counts of 0 or 1 records with two-sided geometric noise."""
    p, reach = math.exp(-1), range(-45, 46)
    noise = {x: (1 - p) / (1 + p) * p ** abs(x) for x in range(-46, 47)}
    without = [noise[x] for x in reach]
    sampled = [0.75 * noise[x] + 0.25 * noise[x - 1] for x in reach]
    first, second = (sampled, without) if order == "remove" else (without, sampled)
    pairs = list(zip(first, second, strict=True))
    return math.fsum(
        max(0, p1 * p2 - math.exp(epsilon) * q1 * q2) for (p1, q1), (p2, q2) in itertools.product(pairs, pairs)
    )


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("epsilon", [0, 0.25, 0.5])
def test_all_outcomes_of_two_steps(order: str, epsilon: float) -> None:
    assert dp.delta(SAMPLED, epsilon, order=order).upper == pytest.approx(listed_delta(order, epsilon), abs=1e-12)


@pytest.mark.parametrize("order", ["remove", "add"])
def test_all_outcomes_at_a_negative_epsilon(order: str) -> None:
    assert dp.delta(SAMPLED, -0.25, order=order).upper == pytest.approx(listed_delta(order, -0.25), abs=1e-12)
    assert abs(listed_delta("remove", -0.25) - listed_delta("add", -0.25)) > 1e-3


def test_a_record_in_clear_is_private_in_one_order() -> None:
    """Without the record nothing is shown; with it, it is shown with probability 1/4."""
    least = math.log(4 / 3)
    assert dp.epsilon(REVEALED, "1e-9", order="add").upper == pytest.approx(least)
    assert dp.epsilon(REVEALED, "1e-9", order="remove").exact_upper == math.inf
    assert dp.delta(REVEALED, 50, order="add").exact_upper == 0
    for order in ("remove", None):
        assert dp.delta(REVEALED, 50, order=order).contains("1/4")


def test_the_trade_off_of_each_order() -> None:
    """Who sees the record knows that it is there: β = (1-q)(1-a), or with the datasets exchanged 1 - a/(1-q)."""
    assert dp.trade_off(REVEALED, "0.2", order="add").contains("0.6")
    assert dp.true_positive_rate(REVEALED, "0.2", order="add").contains("0.4")
    assert dp.trade_off(REVEALED, "0.3", order="remove").contains("0.6")
    both = [dp.trade_off(REVEALED, "0.3", order=order).exact_lower for order in ("add", "remove")]
    assert dp.trade_off(REVEALED, "0.3").exact_lower == min(both)


@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (SAMPLED, ADD),
        (dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 10, ADD),
        (dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 10, ZERO),
        (dp.Laplace(2) @ dp.Gaussian(3), ADD),
        (dp.Gaussian(3), REPLACE),
    ],
    ids=str,
)
@pytest.mark.seconds
def test_privacy_is_the_worse_order(mechanism: dp.Mechanism, relation: Relation) -> None:
    each = [dp.epsilon(mechanism, "1e-3", relation, order=order) for order in relation.orders]
    both = dp.epsilon(mechanism, "1e-3", relation)
    assert max(one.upper for one in each) == pytest.approx(both.upper, rel=1e-6)
    *curves, whole = (dp.delta_curve(mechanism, [0, "1/2"], relation, order=way) for way in (*relation.orders, None))
    for index, ends in enumerate(whole):
        assert max(curve[index].upper for curve in curves) == pytest.approx(ends.upper, rel=1e-6)


@pytest.mark.parametrize("relation", [ADD, ZERO])
@pytest.mark.parametrize("mechanism", [*NOISES, *SCHEMES, *WHOLE], ids=str)
def test_the_pairs_of_one_order_are_those_of_the_other_exchanged(mechanism: dp.Mechanism, relation: Relation) -> None:
    first, second = relation.orders
    try:
        forwards, backwards = (neighbour_classes(mechanism, relation, order) for order in (first, second))
    except DpboundsError:
        with pytest.raises(DpboundsError):
            neighbour_classes(mechanism, relation)
        return
    there = {frozenset(each.product) for each in backwards.every()}
    for each in forwards.every():
        assert frozenset((pair.mirrored(), count) for pair, count in each.product) in there
    assert all(key.order is first for each in forwards.every() for key in each.keys)


@pytest.mark.parametrize("order", [*ADD.orders, *ZERO.orders])
@pytest.mark.parametrize(
    "mechanism",
    [
        dp.PoissonSampled(dp.Gaussian(2), "0.1"),
        dp.SampledWithoutReplacement(dp.Gaussian(2), 10, 100),
        dp.SampledWithReplacement(dp.Gaussian(2), 10, 100),
        dp.TruncatedPoisson(dp.Gaussian(2), "0.1", 15, 100),
        dp.Shuffled(dp.Gaussian(2), 4),
        dp.RandomlyAllocated(dp.Gaussian(2), 4),
    ],
    ids=str,
)
def test_no_attack_of_an_order_exceeds_its_bound(mechanism: dp.Mechanism, order: Order) -> None:
    """An attack that only the other order has would, as the orders of a sample differ."""
    relation = ADD if order in ADD.orders else ZERO
    try:
        classes = neighbour_classes(mechanism, relation, order)
    except DpboundsError:
        return
    for each in classes.every():
        for epsilon in (Fraction(1, 20), Fraction(1, 2)):
            bound = prove_delta(each.product, epsilon, 1e-3).enclosure.exact_upper
            assert all(prove_delta(one, epsilon, 1e-3).enclosure.exact_lower <= bound for one in each.attacks)


def test_the_two_plds_of_dp_accounting() -> None:
    theirs = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    mechanism = dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 5
    for order in ("remove", "add"):
        ends = []
        for pessimistic in (False, True):
            pld = theirs.from_gaussian_mechanism(
                1, sampling_prob=0.1, pessimistic_estimate=pessimistic, value_discretization_interval=1e-3
            ).self_compose(5)
            side = pld._pmf_remove if order == "remove" else pld._pmf_add
            ends.append(side.get_delta_for_epsilon(0.5))
        found = dp.delta(mechanism, "0.5", order=order)
        assert ends[0] - 1e-12 <= found.lower <= found.upper <= ends[1] + 1e-12


def test_an_account_says_which_order_it_is_about() -> None:
    found = dp.account(SAMPLED, delta="1e-3", order="add")
    assert (found.order, found.tight) == (Order.ADD, True)
    assert [name for name, _ in found.proofs] == ["add"]
    assert "add-or-remove-one, order add only" in str(found)
    assert dp.account(SAMPLED, delta="1e-3").order is None


def test_one_order_is_not_published_as_privacy() -> None:
    found = dp.account(dp.Gaussian(2), delta="1e-3", order=Order.REMOVE)
    for publish in (certificate, statement, kernel_certificate):
        with pytest.raises(CertificateError, match="for the order remove alone: differential privacy bounds both"):
            publish(found)


@pytest.mark.parametrize(("relation", "order"), [(ADD, "replace"), (REPLACE, "add"), (ZERO, "remove"), (ADD, 1)])
def test_an_order_that_the_relation_does_not_have(relation: Relation, order: Any) -> None:
    for ask in (dp.epsilon, dp.delta, dp.trade_off):
        with pytest.raises(InvalidValue, match=f"order must be one of {', '.join(relation.orders)} under {relation}"):
            ask(dp.Gaussian(2), Fraction(1, 10), relation, order=order)
    with pytest.raises(InvalidValue, match="order must be"):
        dp.delta(dp.Gaussian(2), -1, relation, order=order)
