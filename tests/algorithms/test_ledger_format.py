"""Ledger files hold releases of every kind, exactly, and refuse what they cannot hold."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbounds as dp
from algorithms.ledger import Ledger, Release
from algorithms.ledger_format import read_releases, to_text, write_releases
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy import mechanisms as m

BOTH = ("add-or-remove-one", "replace-one")
SINGLE = [
    m.Gaussian("1/3"),
    m.Gaussian(noise_stddev="2e-3", sensitivity="1/7"),
    m.Laplace("1.5"),
    m.Laplace(noise_scale=3, sensitivity="0.1", dimension=1),
    m.UniformBall("2.5", 100),
    m.UniformBall(3, 1, sensitivity="1/3"),
    m.RandomizedResponse("0.1", 5),
    m.ExponentialMechanism("0.2", relation="add-or-remove-one", monotone=True),
    m.ExponentialMechanism("0.2", relation="replace-one"),
    m.AboveThreshold("0.3", relation="add-or-remove-one", monotone=True),
    m.AboveThreshold(threshold_noise=3, query_noise="4/7", relation="replace-one"),
    *(m.PureDP("1/9", relation=relation) for relation in BOTH),
    *(m.ApproximateDP(0, "1e-9", relation=relation) for relation in BOTH),
    *(m.ZCDP("1e-3", relation=relation) for relation in BOTH),
    *(m.RenyiDP({2: "0.1", "5/2": "0.2"}, relation=relation) for relation in BOTH),
]
SAMPLED = [
    lambda inner: inner,
    lambda inner: m.PoissonSampled(inner, "1/7"),
    lambda inner: m.SampledWithoutReplacement(inner, 10, 1000),
    lambda inner: m.SampledWithReplacement(inner, 10, 1000),
]


@pytest.mark.parametrize("sampled", SAMPLED)
@pytest.mark.parametrize("inner", SINGLE, ids=lambda mechanism: type(mechanism).__name__)
def test_every_mechanism_and_sampling_comes_back(inner, sampled):
    releases = sampled(inner) ** 7 @ m.Gaussian(5)
    text = write_releases(releases)
    assert read_releases(text) == releases
    assert json.loads(text)["version"] == 2


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SINGLE), st.sampled_from(SAMPLED), st.integers(1, 10**9)), min_size=1))
def test_lists_come_back_in_their_order(parts):
    releases = m.Composed(tuple((sampled(inner), count) for inner, sampled, count in parts))
    assert read_releases(write_releases(releases)) == releases


def test_what_algorithms_write_is_read_as_the_same_mechanism():
    ledger = Ledger(
        (Release(Fraction(3), Fraction(1, 4), count=9), Release(Fraction(1, 3), Fraction(1, 7), Fraction(1, 9)))
    )
    assert read_releases(ledger.to_json()) == ledger.mechanism()
    assert read_releases(ledger.to_json().replace('"version": 2', '"version": 1')) == ledger.mechanism()


def test_a_per_record_bound_goes_with_any_sampling():
    entry = {
        "mechanism": "gaussian",
        "noise_stddev": "3",
        "per_record_bound": "2",
        "sampling": "without-replacement",
        "batch_size": 5,
        "dataset_size": 50,
        "count": 2,
    }
    assert read_releases(to_text([entry], adaptive=False)) == m.SampledWithoutReplacement(m.Gaussian("1.5"), 5, 50) ** 2


@pytest.mark.parametrize(
    "mechanism",
    [m.InParallel((m.Gaussian(1),)), m.PoissonSampled(m.Gaussian(1) ** 2, "0.1")],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_what_is_no_single_release_is_refused(mechanism):
    with pytest.raises(UnsupportedMechanism, match="single releases"):
        write_releases(mechanism)


def test_a_ledger_of_the_algorithms_reads_every_file():
    text = write_releases(dp.Laplace(3) ** 2 @ m.SampledWithReplacement(m.UniformBall(3, 2), 1, 50))
    assert Ledger.from_json(text).mechanism() == read_releases(text)
    assert Ledger.from_json(Ledger.from_json(text).to_json()) == Ledger.from_json(text)


def test_an_adaptive_ledger_is_no_mechanism():
    with pytest.raises(UnsupportedMechanism, match="chosen as the run went"):
        read_releases(Ledger((Release(Fraction(3), Fraction(1)),), adaptive=True).to_json())


LAPLACE = {"mechanism": "laplace", "noise_multiplier": "2", "sampling": "full-batch", "count": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mechanism": "cauchy"}, "mechanism = cauchy is not allowed: one of gaussian, laplace"),
        ({"mechanism": ["laplace"]}, "mechanism = "),
        ({"sampling": "shuffled"}, "sampling = shuffled"),
        ({"sampling": "poisson"}, "missing or unknown: sample_rate"),
        ({"sampling": "without-replacement", "batch_size": 3}, "missing or unknown: dataset_size"),
        ({"sampling": "without-replacement", "batch_size": 3, "dataset_size": 2}, "batch_size = 3"),
        ({"noise_multiplier": "-2"}, "noise_multiplier = -2"),
        ({"noise_multiplier": True}, "noise_multiplier = True"),
        ({"noise_multiplier": [2]}, "noise_multiplier"),
        ({"noise_multiplier": "many"}, "noise_multiplier"),
        ({"dimension": "1.5"}, "dimension = 1.5"),
        ({"noise_scale": 1}, "Laplace noise"),
        ({"count": 0}, "count = 0"),
        ({"count": 1.5}, "count = 1.5"),
        ({"relation": "replace-one"}, "missing or unknown: relation"),
        ({"mechanism": "pure", "epsilon": 1, "relation": "neighbour"}, "noise_multiplier"),
    ],
)
def test_malformed_entries_are_refused(changes, message):
    with pytest.raises(InvalidValue, match=message):
        read_releases(to_text([{**LAPLACE, **changes}], adaptive=False))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"mechanism": "pure", "epsilon": 1, "relation": "neighbour"}, "relation"),
        ({"mechanism": "exponential", "epsilon": 1, "relation": BOTH[0], "monotone": "yes"}, "monotone = yes"),
        ({"mechanism": "renyi", "points": {"2": 1}, "relation": BOTH[0]}, "points"),
        ({"mechanism": "renyi", "points": [[1, 1]], "relation": BOTH[0]}, "orders"),
        ({"mechanism": "gaussian", "noise_stddev": 1, "per_record_bound": 0}, "per_record_bound = 0"),
        ({"mechanism": "gaussian", "noise_multiplier": 1, "per_record_bound": 1}, "per_record_bound = 1"),
        ({"mechanism": "gaussian"}, "Gaussian noise"),
    ],
)
def test_malformed_mechanisms_are_refused(entry, message):
    with pytest.raises(InvalidValue, match=message):
        read_releases(to_text([{**entry, "sampling": "full-batch", "count": 1}], adaptive=False))


def test_an_empty_ledger_is_no_mechanism():
    with pytest.raises(InvalidValue, match="empty"):
        read_releases(Ledger().to_json())
