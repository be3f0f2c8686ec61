"""Our accountant behind dp-accounting's interface: its own conformance tests, and its calibration."""

from __future__ import annotations

import math
import re
import unittest
from collections.abc import Callable, Collection

import attr
import dp_accounting as dpa
import pytest
from dp_accounting import dp_event, privacy_accountant_test

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.publishing.interoperability.privacy_accountant import CertifiedPrivacyAccountant

GAUSSIAN = dpa.GaussianDpEvent(2.0)
POISSON = dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.125, GAUSSIAN), 50)
BOTH = dpa.ComposedDpEvent([GAUSSIAN, dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(4.0), 2)])
RELATIONS = list(dpa.NeighboringRelation)


def fixed(noise: float) -> dpa.DpEvent:
    return dpa.SelfComposedDpEvent(dpa.SampledWithoutReplacementDpEvent(40, 5, dpa.GaussianDpEvent(noise)), 2)


def test_their_own_tests_of_an_accountant_pass() -> None:
    class Conformance(privacy_accountant_test.PrivacyAccountantTest):  # type: ignore[misc]
        def _make_test_accountants(self) -> Collection[dpa.PrivacyAccountant]:
            return [CertifiedPrivacyAccountant(relation) for relation in RELATIONS]

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Conformance).run(result)
    assert result.testsRun >= 12
    assert not result.skipped
    assert result.wasSuccessful(), result.failures + result.errors


@pytest.mark.seconds_cases(
    "poisson-NeighboringRelation.ADD_OR_REMOVE_ONE", "poisson-NeighboringRelation.REPLACE_SPECIAL"
)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("event", [GAUSSIAN, POISSON, BOTH], ids=["gaussian", "poisson", "both"])
def test_its_answers_are_the_proven_ones(event: dpa.DpEvent, relation: dpa.NeighboringRelation) -> None:
    accountant = CertifiedPrivacyAccountant(relation).compose(event, 2).compose(GAUSSIAN, 3)
    whole = dp.from_dp_event(event) ** 2 @ dp.Gaussian(2) ** 3
    assert accountant.neighboring_relation is relation
    assert accountant.get_epsilon(1e-5) == epsilon(whole, 1e-5, accountant.relation).upper
    assert accountant.get_delta(1.0) == dp.delta(whole, 1, accountant.relation).upper
    assert accountant.get_delta(math.inf) <= accountant.get_delta(1e300) <= accountant.get_delta(1.0)
    assert accountant.account(delta=1e-5).relation == accountant.relation
    assert epsilon(dp.from_dp_event(accountant.ledger), 1e-5, accountant.relation).upper == accountant.get_epsilon(1e-5)


@pytest.mark.seconds
@pytest.mark.parametrize("relation", RELATIONS)
def test_batches_of_a_fixed_size_have_an_answer_under_every_relation(relation: dpa.NeighboringRelation) -> None:
    """Their own accountants know one of the three, and too little of that (``docs/names.md``)."""
    accountant = CertifiedPrivacyAccountant(relation).compose(fixed(4.0))
    proven = epsilon(dp.SampledWithoutReplacement(dp.Gaussian(4), 5, 40) ** 2, 1e-5, accountant.relation)
    assert accountant.get_epsilon(1e-5) == proven.upper
    assert proven.lower > 0


@pytest.mark.seconds_cases("poisson")
@pytest.mark.parametrize(
    "make",
    [
        GAUSSIAN.__class__,
        pytest.param(
            lambda z: dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.125, dpa.GaussianDpEvent(z)), 50),
            id="poisson",
        ),
    ],
)
def test_their_calibration_takes_it(make: Callable[[float], dpa.DpEvent]) -> None:
    """What it finds keeps the budget, and a little less noise does not."""
    found = dpa.calibrate_dp_mechanism(CertifiedPrivacyAccountant, make, 1.0, 1e-5, tol=1e-4)
    assert epsilon(dp.from_dp_event(make(found)), 1e-5).at_most(1)
    assert epsilon(dp.from_dp_event(make(found - 2e-4)), 1e-5).lower > 1


@pytest.mark.parametrize(
    "event",
    [
        dpa.NonPrivateDpEvent(),
        dpa.GaussianDpEvent(0.0),
        dpa.LaplaceDpEvent(0.0),
        dpa.ZCDpEvent(math.inf),
        dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(0.0)),
        dpa.SampledWithoutReplacementDpEvent(9, 3, dpa.ComposedDpEvent([GAUSSIAN, dpa.NonPrivateDpEvent()])),
        dpa.SelfComposedDpEvent(dpa.RandomizedResponseDpEvent(0.0, 2), 2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("relation", RELATIONS)
def test_what_protects_nothing_is_written_down_as_that(event: dpa.DpEvent, relation: dpa.NeighboringRelation) -> None:
    accountant = CertifiedPrivacyAccountant(relation).compose(GAUSSIAN)
    assert accountant.get_epsilon(0.5) < math.inf
    assert accountant.supports(event)
    assert accountant.get_epsilon(0.5) < math.inf  # looking is not composing
    accountant.compose(event)
    assert accountant.get_epsilon(0.5) == accountant.get_epsilon(1.0) == math.inf
    assert accountant.get_delta(5.0) == 1
    with pytest.raises(UnsupportedMechanism, match="without privacy"):
        accountant.account(delta=0.5)


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (dpa.SingleEpochTreeAggregationDpEvent(1.0, 8), "REPLACE_ONE"),
        (dpa.RandomizedResponseDpEvent(0.5, 2), "ADD_OR_REMOVE_ONE"),
        (dpa.GaussianDpEvent(-1.0), "ADD_OR_REMOVE_ONE"),
        (dpa.SampledWithoutReplacementDpEvent(5, 5, GAUSSIAN), "ADD_OR_REMOVE_ONE"),
        (type("GaussianDpEvent", (dp_event.DpEvent,), {})(), "REPLACE_ONE"),
    ],
)
def test_what_has_no_proof_is_not_supported_and_nothing_of_it_is_kept(event: dpa.DpEvent, relation: str) -> None:
    accountant = CertifiedPrivacyAccountant(dpa.NeighboringRelation[relation])
    whole = dpa.ComposedDpEvent([GAUSSIAN, event])
    assert not accountant.supports(whole)
    with pytest.raises(dpa.UnsupportedEventError):
        accountant.compose(whole)
    assert accountant.composition is None
    assert accountant.get_epsilon(1e-5) == 0


BOX = dpa.ZCDpEvent(0.125)
BOXES = {
    "alone": BOX,
    "composed": dpa.ComposedDpEvent([BOX, dpa.SelfComposedDpEvent(BOX, 3)]),
    "poisson": dpa.PoissonSampledDpEvent(0.25, BOX),
    "without replacement": dpa.SampledWithoutReplacementDpEvent(9, 3, BOX),
}


def answer(event: dpa.DpEvent, relation: dpa.NeighboringRelation, declared: dpa.NeighboringRelation | None) -> float:
    """What is spent at δ = 1e-5 where black boxes hold as declared."""
    accountant = CertifiedPrivacyAccountant(relation, declared_relation=declared).compose(event)
    spent = accountant.get_epsilon(1e-5)
    assert spent == epsilon(dp.from_dp_event(event, declared or relation), 1e-5, accountant.relation).upper
    return spent


@pytest.mark.seconds
@pytest.mark.parametrize("name", BOXES)
def test_a_black_box_under_replace_one_has_no_cost_before_its_relation_is_declared(name: str) -> None:
    """The same number under add-or-remove-one costs more; the message has both."""
    plain, replace, _ = RELATIONS
    assert (plain.name, replace.name) == ("ADD_OR_REMOVE_ONE", "REPLACE_ONE")
    costs = [answer(BOXES[name], replace, declared) for declared in (replace, plain)]
    assert costs[0] < costs[1]
    accountant = CertifiedPrivacyAccountant(replace)
    assert accountant.supports(BOXES[name])
    accountant.compose(BOXES[name])
    with pytest.raises(InvalidValue, match=r"declared_relation is missing: .* of ZCDP.*ε at δ = 1e-05 is") as refused:
        accountant.get_epsilon(1e-5)
    told = re.findall(r"at most ([0-9.]+) if it is ([a-z-]+)", str(refused.value))
    assert [relation for _, relation in told] == ["replace-one", "add-or-remove-one"]
    for cost, (text, _) in zip(costs, told, strict=True):
        assert cost <= float(text) < cost * (1 + 1e-5)
    with pytest.raises(
        InvalidValue, match=r"(?s)declared_relation.*relation='replace-one'.*relation='add-or-remove-one'"
    ):
        _ = accountant.composition


@pytest.mark.seconds
def test_a_black_box_under_zero_out_one_is_asked_for_its_relation() -> None:
    """Under add-or-remove-one it may tell a record that contributes nothing from one that is absent."""
    zero = dpa.NeighboringRelation.REPLACE_SPECIAL
    assert answer(BOX, zero, zero) > 0
    with pytest.raises(
        InvalidValue, match=r"(?s)at most \d.* if it is zero-out-one, and not known \(ZCDP.*\) if it is add"
    ):
        CertifiedPrivacyAccountant(zero).compose(BOX).get_epsilon(1e-5)
    plain = CertifiedPrivacyAccountant(zero, declared_relation="add-or-remove-one")
    assert not plain.supports(BOX)
    assert plain.supports(GAUSSIAN)


@pytest.mark.seconds
@pytest.mark.parametrize("name", BOXES)
def test_a_black_box_under_add_or_remove_one_needs_no_declaration(name: str) -> None:
    plain = dpa.NeighboringRelation.ADD_OR_REMOVE_ONE
    assert answer(BOXES[name], plain, None) == answer(BOXES[name], plain, plain)
    assert CertifiedPrivacyAccountant(plain).compose(BOXES[name]).composition is not None


@pytest.mark.seconds
def test_where_both_readings_of_a_black_box_agree_there_is_an_answer() -> None:
    accountant = CertifiedPrivacyAccountant("replace-one").compose(dpa.ZCDpEvent(2.0**-60))
    found = accountant.account(delta=0.5)
    assert (found.enclosure.lower, found.enclosure.upper) == (0, 0)
    assert accountant.get_epsilon(0.5) == accountant.get_delta(math.inf) == accountant.get_epsilon(1.0) == 0
    with pytest.raises(InvalidValue, match="declared_relation"):
        accountant.get_epsilon(1e-12)
    with pytest.raises(InvalidValue, match=r"declared_relation.*δ at ε = 0 is at most"):
        accountant.compose(dpa.ZCDpEvent(0.5)).get_delta(0.0)


@pytest.mark.seconds
def test_zcdp_of_jax_privacy_is_not_certified_below_an_attack() -> None:
    """The event of its ``fixed_dpsgd_event(use_zcdp=True)``, and the same call without that flag."""
    z = 2.0

    def event(release: dpa.DpEvent) -> dpa.DpEvent:
        return dpa.SampledWithoutReplacementDpEvent(100, 20, release)

    replace, plain = dpa.NeighboringRelation.REPLACE_ONE, dpa.NeighboringRelation.ADD_OR_REMOVE_ONE
    noise = CertifiedPrivacyAccountant(replace).compose(event(dpa.GaussianDpEvent(z))).account(delta=1e-5)
    box = event(dpa.ZCDpEvent(0.5 / z**2))
    assert answer(box, replace, replace) < noise.enclosure.lower <= answer(box, replace, plain)
    with pytest.raises(InvalidValue, match="declared_relation"):
        CertifiedPrivacyAccountant(replace).compose(box).get_epsilon(1e-5)


def test_no_noise_of_an_event_makes_an_output_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    """δ at infinity is 0, however small the noise; an (ε, δ) guarantee keeps its δ."""
    for event in (dpa.GaussianDpEvent(1e-4), dpa.LaplaceDpEvent(1e-9), POISSON, fixed(1.0)):
        assert CertifiedPrivacyAccountant().compose(event).get_delta(math.inf) == 0
    made = attr.make_class("EpsilonDeltaDpEvent", ["epsilon", "delta"], bases=(dp_event.DpEvent,), frozen=True)
    monkeypatch.setattr(dp_event, "EpsilonDeltaDpEvent", made, raising=False)
    box = CertifiedPrivacyAccountant().compose(made(0.5, 0.125), 2)
    assert 1 - 0.875**2 <= box.get_delta(math.inf) <= (1 - 0.875**2) * (1 + 1e-12)


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan, "x"])
def test_values_out_of_their_domain_are_refused(value: float) -> None:
    accountant = CertifiedPrivacyAccountant()
    with pytest.raises(InvalidValue, match="target_delta"):
        accountant.get_epsilon(value)
    with pytest.raises(InvalidValue, match="target_epsilon"):
        accountant.get_delta(-abs(value) if value == value and not isinstance(value, str) else value)
    with pytest.raises(InvalidValue, match="number of releases"):
        accountant.account(delta=0.5)
    with pytest.raises(InvalidValue, match="relation"):
        CertifiedPrivacyAccountant("replace")


def test_true_positive_rates_are_upper_bounds() -> None:
    accountant = CertifiedPrivacyAccountant().compose(BOTH)
    mechanism = dp.Gaussian(2) @ dp.Gaussian(4) ** 2
    found = accountant.get_true_positive_rates([0.001, 0.1])
    assert found.tolist() == [dp.true_positive_rate(mechanism, rate).upper for rate in ("0.001", "0.1")]
    assert accountant.get_true_positive_rates(0.1) == found[1]
    assert CertifiedPrivacyAccountant().get_true_positive_rates(0.25) == 0.25
    assert CertifiedPrivacyAccountant().compose(dpa.NonPrivateDpEvent()).get_true_positive_rates(0.25) == 1
    with pytest.raises(InvalidValue, match="from 0 to 1"):
        accountant.get_true_positive_rates(1.5)


def test_pure_events_have_an_epsilon_at_no_delta() -> None:
    event = dpa.SelfComposedDpEvent(dpa.LaplaceDpEvent(4.0), 3)
    assert CertifiedPrivacyAccountant().compose(event).get_epsilon(0) == 0.75
    assert CertifiedPrivacyAccountant().compose(GAUSSIAN).get_epsilon(0) == math.inf
