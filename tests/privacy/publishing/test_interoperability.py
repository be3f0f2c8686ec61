"""Event trees of dp-accounting in and out, and the page of names."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import attr
import dp_accounting as dpa
import hypothesis.strategies as st
import mpmath
import pytest
from dp_accounting import dp_event
from hypothesis import given, settings

import dpbounds as dp
import dpbounds.privacy.mechanisms as ours
from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import epsilon
from dpbounds.privacy.mechanisms import (
    ZCDP,
    AboveThreshold,
    ApproximateDP,
    Composed,
    ExponentialMechanism,
    Gaussian,
    InParallel,
    Laplace,
    Mechanism,
    PoissonSampled,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    SampledWithoutReplacement,
    SampledWithReplacement,
    TruncatedPoisson,
    UniformBall,
)
from dpbounds.privacy.mechanisms.refusals import REFUSALS
from dpbounds.privacy.publishing import interoperability
from dpbounds.privacy.publishing.interoperability import from_dp_event, to_dp_event
from dpbounds.privacy.publishing.interoperability.privacy_accountant import CertifiedPrivacyAccountant

ADD_OR_REMOVE, REPLACE = "add-or-remove-one", "replace-one"
GAUSSIAN = dpa.GaussianDpEvent(2.0)
NOTHING = ApproximateDP(0, 0, relation=ADD_OR_REMOVE)

# One instance per event class of dp-accounting 0.6, and what becomes of it.
READ = [
    (dpa.GaussianDpEvent(1.5), Gaussian("3/2")),
    (dpa.LaplaceDpEvent(0.5), Laplace("1/2")),
    (dpa.ZCDpEvent(0.125), ZCDP("1/8", relation=REPLACE)),
    (dpa.ComposedDpEvent([GAUSSIAN, dpa.LaplaceDpEvent(1.0)]), Gaussian(2) @ Laplace(1)),
    (dpa.SelfComposedDpEvent(GAUSSIAN, 7), Gaussian(2) ** 7),
    (dpa.PoissonSampledDpEvent(0.25, GAUSSIAN), PoissonSampled(Gaussian(2), "1/4")),
    (dpa.SampledWithoutReplacementDpEvent(100, 8, GAUSSIAN), SampledWithoutReplacement(Gaussian(2), 8, 100)),
    (dpa.SampledWithReplacementDpEvent(100, 8, GAUSSIAN), SampledWithReplacement(Gaussian(2), 8, 100)),
    (dpa.TruncatedSubsampledGaussianDpEvent(100, 0.25, 30, 2.0), TruncatedPoisson(Gaussian(2), "1/4", 30, 100)),
    (dpa.NoOpDpEvent(), ApproximateDP(0, 0, relation=REPLACE)),
    (dp_event.DiscreteLaplaceDpEvent(0.25, 3), dp.DiscreteLaplace(4, 3)),
    (
        dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 0.5], [0.5, 0.25, 0.25]),
        dp.MixtureOfGaussians(2, {0: "1/2", "1/2": "1/4", 1: "1/4"}),
    ),
]
REFUSED = [
    (dpa.NonPrivateDpEvent(), "no guarantee"),
    (dpa.UnsupportedDpEvent(), "not described"),
    (dp_event.DpEvent(), "describes nothing"),
    (dpa.SingleEpochTreeAggregationDpEvent(1.0, 8), "BinaryTree"),
    (dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 3.0, 1.0), r"mechanism \*\* k"),
]


def all_events() -> set[type[dp_event.DpEvent]]:
    return {each for each in vars(dp_event).values() if isinstance(each, type) and issubclass(each, dp_event.DpEvent)}


# --- Reading events ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(version("dp-accounting") != "0.6.0", reason="a later version may have more events")
def test_every_event_is_decided() -> None:
    decided = {type(event) for event, _ in [*READ, *REFUSED]} | {dpa.RandomizedResponseDpEvent}
    assert decided == all_events()


@pytest.mark.parametrize(("event", "mechanism"), READ, ids=lambda value: type(value).__name__)
def test_an_event_becomes_the_mechanism(event: dpa.DpEvent, mechanism: Mechanism) -> None:
    assert from_dp_event(event, REPLACE) == mechanism


@pytest.mark.parametrize(("event", "advice"), REFUSED, ids=lambda value: type(value).__name__)
def test_what_is_not_proven_is_refused_by_name(event: dpa.DpEvent, advice: str) -> None:
    with pytest.raises(UnsupportedMechanism, match=f"(?s){type(event).__name__}.*{advice}"):
        from_dp_event(event)
    with pytest.raises(UnsupportedMechanism, match=type(event).__name__):
        from_dp_event(dpa.SelfComposedDpEvent(dpa.ComposedDpEvent([GAUSSIAN, event]), 3))


@pytest.mark.parametrize(("event", "_"), READ, ids=lambda value: type(value).__name__)
def test_a_subclass_of_an_event_is_not_that_event(event: dpa.DpEvent, _: Mechanism) -> None:
    """It may mean anything, even where it has the same name."""
    name = type(event).__name__
    subclass = type(name, (type(event),), {"__slots__": ()})
    impostor = subclass(*(getattr(event, field.name) for field in type(event).__attrs_attrs__))
    with pytest.raises(UnsupportedMechanism, match="own events"):
        from_dp_event(impostor)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("RandomAllocationDpEvent", r"RandomlyAllocated\(mechanism, steps, participations\)"),
        ("SomethingNewDpEvent", "an unknown event"),
    ],
)
def test_events_of_later_versions_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, advice: str) -> None:
    later = type(name, (dp_event.DpEvent,), {})
    monkeypatch.setattr(dp_event, name, later, raising=False)
    with pytest.raises(UnsupportedMechanism, match=f"(?s){name}.*{advice}"):
        from_dp_event(later())


NEWER = {  # of dp-accounting's repository in August 2026, with the fields that their docstrings define
    "EpsilonDeltaDpEvent": (["epsilon", "delta"], [1.5, 0.125], lambda of: ApproximateDP("3/2", "1/8", relation=of)),
    "ExponentialMechanismDpEvent": (["epsilon"], [1.5], lambda of: ExponentialMechanism("3/2", relation=of)),
    "PermuteAndFlipDpEvent": (["epsilon"], [1.5], lambda of: dp.PermuteAndFlip("3/2", relation=of)),
    "DiscreteGaussianDpEvent": (
        ["sigma", "sensitivity", "dimension"],
        [1.5, 2.0, 1],
        lambda of: dp.DiscreteGaussian("3/2", 2, dimension=1),
    ),
}


def newer_event(name: str, monkeypatch: pytest.MonkeyPatch) -> type[dpa.DpEvent]:
    """The installed event, or one that is made for the test where this version does not have it."""
    if not hasattr(dp_event, name):
        made = attr.make_class(name, NEWER[name][0], bases=(dp_event.DpEvent,), frozen=True)
        monkeypatch.setattr(dp_event, name, made, raising=False)
    found: type[dpa.DpEvent] = getattr(dp_event, name)
    return found


@pytest.mark.parametrize("relation", dp.Relation)
@pytest.mark.parametrize("name", NEWER)
def test_events_of_newer_versions_go_in_and_out(monkeypatch: pytest.MonkeyPatch, name: str, relation: str) -> None:
    event = newer_event(name, monkeypatch)(*NEWER[name][1])
    mechanism = NEWER[name][2](relation)
    assert from_dp_event(event, relation) == mechanism
    assert to_dp_event(mechanism, relation) == event
    if not hasattr(mechanism, "relation"):
        assert from_dp_event(event) == mechanism
        return
    with pytest.raises(InvalidValue, match="relation"):
        from_dp_event(event)
    for other in {None, *dp.Relation} - {dp.Relation(relation)}:
        with pytest.raises((InvalidValue, UnsupportedMechanism), match=r"declared|private under"):
            to_dp_event(mechanism, other)


def test_a_discrete_gaussian_as_an_event_has_a_double_as_its_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    newer_event("DiscreteGaussianDpEvent", monkeypatch)
    given, squared = dp.DiscreteGaussian("0.375", 2), dp.DiscreteGaussian(noise_variance="9/64", bound=2)
    assert to_dp_event(given) == to_dp_event(squared)
    for irrational in (dp.DiscreteGaussian("1/3"), dp.DiscreteGaussian(noise_variance=2)):
        with pytest.raises(UnsupportedMechanism, match="not a double"):
            to_dp_event(irrational)


def test_a_mixture_gets_no_smaller_norms() -> None:
    """What the doubles lack to 1 goes to the largest norm, what they have too much of is taken from the smallest."""
    tenths = dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 3.0], [0.1, 0.9])
    assert dict(from_dp_event(tenths).norms)[3] == max(Fraction(0.9), 1 - Fraction(0.1))
    for chances in ([0.3, 0.3, 0.4], [0.1, 0.2, 0.7], [1 / 3] * 3):
        read = from_dp_event(dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0, 2.0, 3.0], chances))
        for least in (1, 2, 3):
            told = sum(map(Fraction, chances[least - 1 :])) + min(0, 1 - sum(map(Fraction, chances)))
            assert sum(chance for norm, chance in read.norms if norm >= least) >= told
        written = to_dp_event(read)
        assert sum(map(Fraction, written.sampling_probs)) >= 1
        again = from_dp_event(written)
        for least in (1, 2, 3):
            tails = [sum(chance for norm, chance in each.norms if norm >= least) for each in (read, again)]
            assert tails[0] <= tails[1] <= tails[0] + Fraction(1, 2**48)
    for wrong in ([0.5], [0.5, 0.6], [], [1.5, -0.5]):
        with pytest.raises(InvalidValue, match="sampling_prob"):
            from_dp_event(dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0, 2.0], wrong))
    assert from_dp_event(dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0], [1.0])) == NOTHING


def test_no_guarantee_gets_smaller_as_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    for newer in NEWER:
        newer_event(newer, monkeypatch)
    third, tenth = Fraction(1, 3), Fraction(1, 10)
    pure = to_dp_event(PureDP(third, relation=REPLACE), REPLACE)
    both = to_dp_event(ApproximateDP(third, tenth, relation=REPLACE), REPLACE)
    chosen = to_dp_event(ExponentialMechanism(2 * third, relation=ADD_OR_REMOVE, monotone=True), ADD_OR_REMOVE)
    assert pure.delta == 0
    assert both.delta >= tenth
    for spent in (pure.epsilon, both.epsilon, chosen.epsilon):
        assert third <= spent <= third * (1 + Fraction(1, 2**51))


@pytest.mark.parametrize(
    "event",
    [
        dpa.ComposedDpEvent([]),
        dpa.ComposedDpEvent([dpa.NoOpDpEvent()]),
        dpa.SelfComposedDpEvent(dpa.NoOpDpEvent(), 5),
        dpa.PoissonSampledDpEvent(0.0, GAUSSIAN),
        dpa.PoissonSampledDpEvent(0.5, dpa.NoOpDpEvent()),
        dpa.SampledWithoutReplacementDpEvent(10, 0, GAUSSIAN),
        dpa.SampledWithReplacementDpEvent(10, 3, dpa.NoOpDpEvent()),
        dpa.ZCDpEvent(0.0),
        dpa.RandomizedResponseDpEvent(1.0, 3),
        dpa.RandomizedResponseDpEvent(0.0, 1),
    ],
)
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE, REPLACE])
def test_nothing_is_spent_on_nothing(event: dpa.DpEvent, relation: str) -> None:
    assert from_dp_event(event) == NOTHING
    assert epsilon(NOTHING, "1e-9", relation).upper == 0
    assert from_dp_event(dpa.ComposedDpEvent([event, GAUSSIAN])) == Gaussian(2) ** 1


@pytest.mark.parametrize(
    "event",
    [
        dpa.GaussianDpEvent(-1.0),
        dpa.GaussianDpEvent(math.nan),
        dpa.LaplaceDpEvent(math.inf),
        dpa.PoissonSampledDpEvent(1.5, GAUSSIAN),
        dpa.PoissonSampledDpEvent(-0.5, GAUSSIAN),
        dpa.SelfComposedDpEvent(GAUSSIAN, 0),
        dpa.SampledWithoutReplacementDpEvent(10, 11, GAUSSIAN),
        dpa.RandomizedResponseDpEvent(1.5, 2),
        dpa.RandomizedResponseDpEvent(0.5, 0),
        dpa.ZCDpEvent(-1.0),
        "a Gaussian",
        None,
    ],
    ids=repr,
)
def test_values_out_of_their_domain_are_refused(event: dpa.DpEvent) -> None:
    with pytest.raises(InvalidValue):
        from_dp_event(event, ADD_OR_REMOVE)


def test_a_sample_of_no_records_hides_no_event_that_cannot_be_read() -> None:
    with pytest.raises(UnsupportedMechanism, match="not described"):
        from_dp_event(dpa.PoissonSampledDpEvent(0.0, dpa.UnsupportedDpEvent()))
    with pytest.raises(InvalidValue, match="noise_multiplier"):
        from_dp_event(dpa.PoissonSampledDpEvent(0.0, dpa.GaussianDpEvent(-1.0)))
    with pytest.raises(InvalidValue, match="sampling_probability"):
        from_dp_event(dpa.PoissonSampledDpEvent(1.5, dpa.GaussianDpEvent(0.0)))


# One event without noise per class that has any, and one that no record moves where the class allows that.
WITHOUT_NOISE = [
    ("NonPrivateDpEvent", ()),
    ("GaussianDpEvent", (0.0,)),
    ("LaplaceDpEvent", (0.0,)),
    ("RandomizedResponseDpEvent", (0.0, 2)),
    ("DiscreteLaplaceDpEvent", (0.0, 1)),
    ("DiscreteLaplaceDpEvent", (math.inf, 1)),
    ("MixtureOfGaussiansDpEvent", (0.0, [0.0, 1.0], [0.5, 0.5])),
    ("TruncatedSubsampledGaussianDpEvent", (100, 0.25, 30, 0.0)),
    ("SingleEpochTreeAggregationDpEvent", (0.0, 8)),
    ("ZCDpEvent", (math.inf,)),
    ("ZCDpEvent", (0.0, math.inf)),
    ("EpsilonDeltaDpEvent", (math.inf, 0.0)),
    ("EpsilonDeltaDpEvent", (0.0, 1.0)),
    ("ExponentialMechanismDpEvent", (math.inf,)),
    ("PermuteAndFlipDpEvent", (math.inf,)),
    ("DiscreteGaussianDpEvent", (0.0, 2.0, 1)),
]
MOVED_BY_NOBODY = [
    ("RandomizedResponseDpEvent", (0.0, 1)),
    ("DiscreteLaplaceDpEvent", (math.inf, 0)),
    ("MixtureOfGaussiansDpEvent", (0.0, [0.0, 1.0], [1.0, 0.0])),
    ("TruncatedSubsampledGaussianDpEvent", (100, 0.0, 30, 0.0)),
    ("TruncatedSubsampledGaussianDpEvent", (100, 0.25, 0, 0.0)),
    ("ZCDpEvent", (0.0,)),
    ("EpsilonDeltaDpEvent", (0.0, 0.0)),
    ("ExponentialMechanismDpEvent", (0.0,)),
    ("PermuteAndFlipDpEvent", (0.0,)),
    ("DiscreteGaussianDpEvent", (0.0, 0.0, 1)),
]
WRAPPED = {
    "itself": lambda event: event,
    "composed": lambda event: dpa.ComposedDpEvent([GAUSSIAN, dpa.SelfComposedDpEvent(event, 3)]),
    "poisson": lambda event: dpa.PoissonSampledDpEvent(2.0**-20, event),
    "without replacement": lambda event: dpa.SampledWithoutReplacementDpEvent(9, 3, event),
    "with replacement": lambda event: dpa.SampledWithReplacementDpEvent(9, 3, event),
}
ON_NO_RECORDS = {
    "poisson": lambda event: dpa.PoissonSampledDpEvent(0.0, event),
    "without replacement": lambda event: dpa.SampledWithoutReplacementDpEvent(9, 0, event),
    "with replacement": lambda event: dpa.SampledWithReplacementDpEvent(9, 0, event),
    "deep": lambda event: dpa.PoissonSampledDpEvent(0.0, dpa.PoissonSampledDpEvent(0.5, dpa.ComposedDpEvent([event]))),
}


def made_event(monkeypatch: pytest.MonkeyPatch, name: str, fields: tuple[object, ...]) -> dpa.DpEvent:
    """The event of that class, which is made for the test where the installed version does not have it."""
    return (newer_event(name, monkeypatch) if name in NEWER else getattr(dp_event, name))(*fields)


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize(("name", "fields"), WITHOUT_NOISE)
def test_without_noise_no_event_has_a_guarantee(
    monkeypatch: pytest.MonkeyPatch, name: str, fields: tuple[object, ...], wrapped: str
) -> None:
    event = WRAPPED[wrapped](made_event(monkeypatch, name, fields))
    with pytest.raises(UnsupportedMechanism, match=f"(?s){name}.*no guarantee"):
        from_dp_event(event)
    for relation in dp.Relation:
        accountant = CertifiedPrivacyAccountant(relation)
        assert accountant.supports(event)
        assert accountant.compose(GAUSSIAN).get_epsilon(0.9) < math.inf
        accountant.compose(event)
        assert accountant.get_epsilon(0.9) == math.inf
        assert accountant.get_delta(1.0) == accountant.get_delta(math.inf) == 1


@pytest.mark.parametrize("wrapped", ON_NO_RECORDS)
@pytest.mark.parametrize(("name", "fields"), [*WITHOUT_NOISE, ("GaussianDpEvent", (2.0,))])
def test_no_event_on_no_records_costs_anything(
    monkeypatch: pytest.MonkeyPatch, name: str, fields: tuple[object, ...], wrapped: str
) -> None:
    event = ON_NO_RECORDS[wrapped](made_event(monkeypatch, name, fields))
    assert from_dp_event(event) == NOTHING
    for relation in dp.Relation:
        accountant = CertifiedPrivacyAccountant(relation).compose(event, 5)
        assert accountant.get_epsilon(0.0) == accountant.get_delta(0.0) == accountant.get_delta(math.inf) == 0


@pytest.mark.parametrize("wrapped", [name for name in WRAPPED if name != "composed"])
@pytest.mark.parametrize(("name", "fields"), MOVED_BY_NOBODY)
def test_no_event_that_nobody_moves_costs_anything(
    monkeypatch: pytest.MonkeyPatch, name: str, fields: tuple[object, ...], wrapped: str
) -> None:
    event = WRAPPED[wrapped](made_event(monkeypatch, name, fields))
    assert from_dp_event(event) == NOTHING
    for relation in dp.Relation:
        assert CertifiedPrivacyAccountant(relation).compose(event).get_epsilon(0.0) == 0


def test_every_class_of_events_is_in_the_tables_of_noise() -> None:
    """But those that hold other events, do nothing or are not described."""
    others = {"DpEvent", "NoOpDpEvent", "UnsupportedDpEvent", "RepeatAndSelectDpEvent", "RandomAllocationDpEvent"}
    holding = {
        "ComposedDpEvent",
        "SelfComposedDpEvent",
        "PoissonSampledDpEvent",
        "SampledWithoutReplacementDpEvent",
        "SampledWithReplacementDpEvent",
    }
    assert {each.__name__ for each in all_events()} <= {name for name, _ in WITHOUT_NOISE} | others | holding


def test_a_black_box_needs_its_relation_and_nothing_else_does() -> None:
    with pytest.raises(InvalidValue, match="relation"):
        from_dp_event(dpa.ZCDpEvent(0.5))
    assert from_dp_event(dpa.ZCDpEvent(0.5), ADD_OR_REMOVE) == ZCDP("1/2", relation=ADD_OR_REMOVE)
    both = from_dp_event(dpa.ZCDpEvent(0.5, 0.125), ADD_OR_REMOVE)
    assert both == ZCDP("1/2", relation=ADD_OR_REMOVE, xi="1/8")
    assert to_dp_event(both, ADD_OR_REMOVE) == dpa.ZCDpEvent(0.5, 0.125)
    assert from_dp_event(dpa.ZCDpEvent(0.0, 0.125), ADD_OR_REMOVE) == PureDP("1/8", relation=ADD_OR_REMOVE)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.floats(2**-40, 1 - 2**-40), st.integers(2, 20))
def test_randomised_response_against_fifty_digits(p: float, k: int) -> None:
    """P(true) / P(other) = (1 - p + p/k) / (p/k); the double lies above it, by one unit in the last place at most."""
    found = from_dp_event(dpa.RandomizedResponseDpEvent(p, k))
    assert isinstance(found, RandomizedResponse)
    with mpmath.workdps(50):
        truth = mpmath.log((1 - mpmath.mpf(p) + mpmath.mpf(p) / k) / (mpmath.mpf(p) / k))
        got = mpmath.mpf(found.epsilon.numerator) / found.epsilon.denominator
        assert truth <= got <= truth * (1 + mpmath.mpf(2) ** -52)
    assert found.options == k


def test_randomised_response_without_noise_is_refused() -> None:
    with pytest.raises(UnsupportedMechanism, match="publishes the record itself: it has no guarantee"):
        from_dp_event(dpa.RandomizedResponseDpEvent(0.0, 2))


# --- Against dp-accounting's accountant, where that is sound ----------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("event", "relation", "delta"),
    [
        (dpa.SelfComposedDpEvent(GAUSSIAN, 9), "ADD_OR_REMOVE_ONE", 1e-5),
        (dpa.SelfComposedDpEvent(GAUSSIAN, 9), "REPLACE_ONE", 1e-5),
        (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.125, GAUSSIAN), 50), "ADD_OR_REMOVE_ONE", 1e-5),
        (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.125, GAUSSIAN), 50), "REPLACE_ONE", 1e-5),
        (dpa.LaplaceDpEvent(2.0), "ADD_OR_REMOVE_ONE", 0.01),
        (dpa.RandomizedResponseDpEvent(0.5, 4), "REPLACE_ONE", 0.1),
        (dpa.SelfComposedDpEvent(GAUSSIAN, 9), "REPLACE_SPECIAL", 1e-5),
        (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.125, GAUSSIAN), 50), "REPLACE_SPECIAL", 1e-5),
        (dpa.LaplaceDpEvent(2.0), "REPLACE_SPECIAL", 0.01),
    ],
)
def test_an_event_means_the_same_here_and_there(event: dpa.DpEvent, relation: str, delta: float) -> None:
    """Theirs is rounded up on a grid of 1e-4, and must lie just above ours."""
    neighbours = dpa.NeighboringRelation[relation]
    theirs = dpa.pld.PLDAccountant(neighbours).compose(event).get_epsilon(delta)
    ours = {"REPLACE_SPECIAL": "zero-out-one"}.get(relation, relation.lower().replace("_", "-"))
    proven = epsilon(from_dp_event(event, neighbours), delta, ours)
    assert proven.lower - 1e-6 <= theirs <= proven.upper + 2e-3


def test_every_relation_of_theirs_has_a_name_here() -> None:
    for neighbours in dpa.NeighboringRelation:
        read = from_dp_event(dpa.ZCDpEvent(0.5), neighbours)
        assert isinstance(read, ZCDP)
        assert to_dp_event(read, neighbours) == dpa.ZCDpEvent(0.5)
        assert epsilon(from_dp_event(dpa.NoOpDpEvent(), neighbours), "1e-9", read.relation).upper == 0
    assert read.relation == "zero-out-one"  # the last one, REPLACE_SPECIAL


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_batches_of_a_fixed_size_with_a_zeroed_record_are_known_here_alone() -> None:
    """Nobody else claims a number, and the Poisson formula's would be too small."""
    event = dpa.SelfComposedDpEvent(dpa.SampledWithoutReplacementDpEvent(1000, 100, dpa.GaussianDpEvent(4.0)), 10)
    special = dpa.NeighboringRelation.REPLACE_SPECIAL
    for theirs in (dpa.pld.PLDAccountant(special), dpa.rdp.RdpAccountant(neighboring_relation=special)):
        assert not theirs.supports(event)
    poisson = dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(4.0)), 10)
    other = dpa.pld.PLDAccountant(special).compose(poisson).get_epsilon(1e-5)
    assert epsilon(from_dp_event(event), "1e-5", "zero-out-one").lower > 1.02 * other


@pytest.mark.skipif(version("dp-accounting") != "0.6.0", reason="what docs/names.md says of that version")
class TestWhatThePageSaysOfDpAccounting:
    """Values that are too small; our lower ends are attained by explicit neighbours."""

    REPLACE = dpa.NeighboringRelation.REPLACE_ONE

    def rdp(self, event: dpa.DpEvent) -> float:
        return dpa.rdp.RdpAccountant(neighboring_relation=self.REPLACE).compose(event).get_epsilon(1e-5)

    def test_rdp_counts_half_the_distance_under_replace_one(self) -> None:
        assert self.rdp(GAUSSIAN) < 2.17
        assert epsilon(from_dp_event(GAUSSIAN), 1e-5, REPLACE).lower > 4.377
        assert self.rdp(dpa.LaplaceDpEvent(2.0)) < 0.503
        assert epsilon(Laplace(2), 1e-5, REPLACE).lower > 0.99997

    @pytest.mark.seconds
    def test_rdp_counts_half_the_distance_without_replacement(self) -> None:
        event = dpa.SampledWithoutReplacementDpEvent(1000, 100, dpa.GaussianDpEvent(1.0))
        assert self.rdp(event) < 2.28
        assert epsilon(from_dp_event(event), 1e-5, REPLACE).lower > 6.5755

    @pytest.mark.seconds
    @pytest.mark.one_in(4)
    def test_pld_loses_tiny_deltas(self) -> None:
        event = dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.01, dpa.GaussianDpEvent(1.0)), 10_000)
        assert dpa.pld.PLDAccountant().compose(event).get_epsilon(1e-12) < 10.34  # its third digit is the machine's
        assert epsilon(from_dp_event(event), "1e-12").lower > 10.3466

    def test_pld_forgets_how_often_randomised_response_was_repeated(self) -> None:
        once = dpa.RandomizedResponseDpEvent(0.5, 4)
        often = dpa.pld.PLDAccountant(self.REPLACE).compose(dpa.SelfComposedDpEvent(once, 10))
        spelled = dpa.pld.PLDAccountant(self.REPLACE).compose(dpa.ComposedDpEvent([once] * 10))
        assert often.get_epsilon(1e-5) < 1.61
        assert spelled.get_epsilon(1e-5) > 16


# --- Writing events ---------------------------------------------------------------------------------------------------

doubles = st.floats(2**-20, 2**20)
additive = st.one_of(doubles.map(Gaussian), doubles.map(Laplace), doubles.map(lambda x: ZCDP(x, relation=REPLACE)))


def around(inner: st.SearchStrategy[Mechanism]) -> st.SearchStrategy[Mechanism]:
    sizes = st.tuples(st.integers(1, 50), st.integers(50, 10**6))
    return st.one_of(
        st.tuples(inner, st.floats(2**-20, 1)).map(lambda drawn: PoissonSampled(*drawn)),
        st.tuples(inner, sizes).map(lambda drawn: SampledWithoutReplacement(drawn[0], *drawn[1])),
        st.tuples(inner, sizes).map(lambda drawn: SampledWithReplacement(drawn[0], *drawn[1])),
        st.lists(st.tuples(inner, st.integers(1, 10**6)), min_size=1, max_size=3).map(lambda p: Composed(tuple(p))),
    )


@pytest.mark.seconds
@pytest.mark.one_in(4)
@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.recursive(additive, around, max_leaves=5))
def test_there_and_back(mechanism: Mechanism) -> None:
    writer = to_dp_event_unproven(mechanism)
    assert from_dp_event(writer, REPLACE) == mechanism
    assert from_dp_event(dp_event.DpEvent.from_named_tuple(writer.to_named_tuple()), REPLACE) == mechanism


def to_dp_event_unproven(mechanism: Mechanism) -> dpa.DpEvent:
    """Write any tree, proven or not: under a relation that covers its black boxes, without asking for the pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpbounds.privacy.publishing.interoperability.events.neighbour_classes", lambda *_: ())
        return to_dp_event(mechanism, REPLACE)


@pytest.mark.parametrize(
    "mechanism",
    [
        Gaussian(2) ** 1,
        (Gaussian(2) @ Laplace(1)) ** 3,
        PoissonSampled(Gaussian(2) ** 3 @ Laplace(1), "1/4") ** 9 @ Gaussian(1),
        SampledWithReplacement(Gaussian(2), 8, 100) ** 5,
        TruncatedPoisson(Gaussian(2), "1/4", 30, 100) ** 5,
    ],
)
@pytest.mark.parametrize("relation", [None, REPLACE])
def test_there_and_back_whatever_the_relation(mechanism: Mechanism, relation: str | None) -> None:
    event = to_dp_event(mechanism, None if "Replacement" in repr(mechanism) else relation)
    assert from_dp_event(event) == mechanism


def test_what_no_double_holds_is_rounded_to_the_safe_side() -> None:
    event = to_dp_event(PoissonSampled(Gaussian("0.1"), "0.1") ** 3)
    assert isinstance(event, dpa.SelfComposedDpEvent)
    assert Fraction(event.event.event.noise_multiplier) < Fraction(1, 10) < Fraction(event.event.sampling_probability)
    assert Fraction(to_dp_event(Laplace("1/3")).noise_multiplier) < Fraction(1, 3)
    assert Fraction(to_dp_event(ZCDP("1/3", relation=REPLACE), REPLACE).rho) > Fraction(1, 3)
    assert to_dp_event(PoissonSampled(Gaussian(1), 1 - Fraction(1, 10**30))).sampling_probability == 1


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.floats(2**-10, 30), st.integers(2, 20))
def test_randomised_response_comes_back_no_smaller(exponent: float, k: int) -> None:
    mechanism = RandomizedResponse(exponent, k)
    event = to_dp_event(mechanism)
    with mpmath.workdps(50):
        truth = k / (mpmath.exp(mpmath.mpf(exponent)) + k - 1)
        assert truth * (1 - mpmath.mpf(2) ** -52) <= event.noise_parameter <= truth
    back = from_dp_event(event)
    assert isinstance(back, RandomizedResponse)
    assert mechanism.epsilon <= back.epsilon <= mechanism.epsilon * (1 + Fraction(1, 10**10))
    assert back.options == k


@pytest.mark.parametrize(("relation", "z"), [(ADD_OR_REMOVE, 3.0), (REPLACE, 6.0)])
@pytest.mark.parametrize(
    "mechanism", [Gaussian(noise_stddev=6, sensitivity=2), Laplace(noise_scale=6, sensitivity=2)], ids=["l2", "l1"]
)
def test_a_final_distance_becomes_noise_per_record(mechanism: Mechanism, relation: str, z: float) -> None:
    event = to_dp_event(mechanism, relation)
    assert event.noise_multiplier == z
    assert epsilon(from_dp_event(event), "1e-3", relation).overlaps(epsilon(mechanism, "1e-3", relation))
    with pytest.raises(InvalidValue, match="per-record bound"):
        to_dp_event(mechanism)


def test_a_black_box_is_written_under_its_own_relation_only() -> None:
    box = ZCDP("1/2", relation=ADD_OR_REMOVE)
    assert to_dp_event(Gaussian(2) @ box, ADD_OR_REMOVE).events[1] == dpa.ZCDpEvent(0.5)
    for relation in (None, REPLACE):
        with pytest.raises(InvalidValue, match="declared"):
            to_dp_event(Gaussian(2) @ box, relation)


def test_what_is_not_proven_under_the_relation_is_not_written() -> None:
    mechanism = PoissonSampled(Gaussian(noise_stddev=6, sensitivity=2), "1/4")
    assert to_dp_event(mechanism, ADD_OR_REMOVE).event.noise_multiplier == 3
    with pytest.raises(UnsupportedMechanism, match="noise_multiplier"):
        to_dp_event(mechanism, REPLACE)


UNWRITTEN = [
    UniformBall(1, 3),
    ExponentialMechanism(1, relation=REPLACE),
    AboveThreshold(1, relation=REPLACE),
    PureDP(1, relation=REPLACE),
    ApproximateDP(1, "1e-5", relation=REPLACE),
    RenyiDP({2: 1}, relation=REPLACE),
    InParallel((Gaussian(1), Laplace(1))),
]


@pytest.mark.parametrize("mechanism", UNWRITTEN, ids=lambda value: type(value).__name__)
def test_what_has_no_event_is_refused_by_name(mechanism: Mechanism) -> None:
    for each in (mechanism, PoissonSampled(mechanism, "1/2") ** 3 @ Gaussian(1)):
        with pytest.raises(UnsupportedMechanism, match=f"{type(mechanism).__name__} as an event"):
            to_dp_event(each)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    for convert in (lambda: from_dp_event(GAUSSIAN), lambda: to_dp_event(Gaussian(1))):
        with pytest.raises(DpboundsError, match=r"pip install 'dpbounds\[interoperability\]'"):
            convert()


# --- The page of names ------------------------------------------------------------------------------------------------


def test_the_page_of_names_is_complete() -> None:
    page = (Path(__file__).parents[3] / "docs" / "names.md").read_text(encoding="utf-8")
    names = [each.__name__ for each in all_events() - {dp_event.DpEvent}]
    names += [name for name in ours.__all__ if name not in ("Mechanism", "parts_of")]
    names += [each.name for each in REFUSALS]
    names += [*interoperability.__all__, "shuffled_epochs"]
    assert [name for name in names if f"`{name}" not in page] == [], "a name needs a line in docs/names.md"
