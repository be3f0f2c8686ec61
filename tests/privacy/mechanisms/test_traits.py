"""What the records of mechanisms declare: traits, parameters, the sides to which numbers are rounded."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy import mechanisms as m
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms.core import Mechanism, Trait
from dpbounds.privacy.mechanisms.descriptions import MECHANISMS, SAMPLINGS
from dpbounds.privacy.mechanisms.parameters import parameters_of
from dpbounds.privacy.mechanisms.schemes.encoders import Toeplitz
from dpbounds.privacy.relations import Relation

AR, RE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
NOISE = m.Gaussian(2)
# listed once more: a trait that is new belongs to nobody until this table says so
SUMS = frozenset(
    (
        *(Trait.PUBLIC_RATE, Trait.ANY_RECORDS, Trait.UNDIVIDED, Trait.UNALLOCATED),
        *(Trait.BLIND, Trait.PER_RECORD, Trait.PRESENCE, Trait.CERTAIN),
    )
)
REAL_SUMS = SUMS | {Trait.NOISY_SUM}
DRAWN = SUMS - {Trait.BLIND, Trait.CERTAIN}
ANSWERS = SUMS - {Trait.BLIND, Trait.PRESENCE}
TRAITS: dict[Mechanism, frozenset[Trait]] = {
    NOISE: REAL_SUMS | {Trait.ADDS_UP},
    m.Gaussian(noise_stddev=2, sensitivity=1): REAL_SUMS - {Trait.PER_RECORD, Trait.PRESENCE} | {Trait.ADDS_UP},
    m.Laplace(2): REAL_SUMS,
    m.Laplace(noise_scale=2, sensitivity=1): REAL_SUMS - {Trait.PER_RECORD, Trait.PRESENCE},
    m.UniformBall(2, 3): REAL_SUMS,
    m.UniformBall(2, 3, sensitivity=1): REAL_SUMS - {Trait.PER_RECORD, Trait.PRESENCE},
    m.DiscreteLaplace(2): SUMS,
    m.DiscreteGaussian(2): SUMS,
    m.Skellam(2): SUMS,
    m.NoiseInShares("gaussian", 2, 5): frozenset(),
    m.TruncatedDiscreteLaplace(2, 9): SUMS,
    m.TruncatedDiscreteGaussian(2, 9): SUMS,
    m.MixtureOfGaussians(2, {0: "0.5", 1: "0.5"}): SUMS - {Trait.CERTAIN},
    m.RandomizedResponse(1): ANSWERS,
    **{
        each: ANSWERS | ({Trait.PRESENCE} if each.relation is AR else frozenset())
        for relation in (AR, RE)
        for each in (
            m.ExponentialMechanism(1, relation=relation),
            m.PermuteAndFlip(1, relation=relation),
            m.AboveThreshold(1, relation=relation),
            m.PureDP(1, relation=relation),
            m.ApproximateDP(1, "0.1", relation=relation),
            m.ZCDP(1, relation=relation),
            m.RenyiDP({2: 1}, relation=relation),
        )
    },
    m.GaussianDP(1, relation=AR): frozenset(),
    m.ProfileDP({1: "0.1"}, relation=AR): frozenset(),
    m.MatrixMechanism(2, Toeplitz([1], 3), "single"): DRAWN - {Trait.UNDIVIDED},
    m.LastIterate(NOISE, batches=2, smoothness_step="0.1"): DRAWN - {Trait.ANY_RECORDS},
    m.PoissonSampled(NOISE, "0.1"): SUMS - {Trait.CERTAIN},
    m.PoissonByUser(NOISE, "0.1"): SUMS - {Trait.ANY_RECORDS, Trait.CERTAIN},
    m.SampledWithoutReplacement(NOISE, 2, 9): DRAWN - {Trait.PUBLIC_RATE},
    m.SampledWithReplacement(NOISE, 2, 9): DRAWN - {Trait.PUBLIC_RATE},
    m.TruncatedPoisson(NOISE, "0.1", 2, 9): DRAWN - {Trait.PUBLIC_RATE},
    m.Shuffled(NOISE, 3): DRAWN - {Trait.PUBLIC_RATE},
    m.RandomlyAllocated(NOISE, 3): DRAWN - {Trait.UNALLOCATED},
    m.BallsInBins(NOISE, 3, 2, redraw=True): DRAWN - {Trait.UNALLOCATED},
    NOISE**2: frozenset(Trait),
    m.InParallel((NOISE,)): SUMS - {Trait.UNDIVIDED},
}
# what is printed may say more noise never, and a larger rate, bound, ε or δ always
DOWN = {
    "variance",
    "share_variance",
    "noise_multiplier",
    "noise_stddev",
    "noise_variance",
    "noise_scale",
    "radius",
    "threshold_noise",
    "query_noise",
    "rest",
}


@pytest.mark.parametrize("mechanism", TRAITS, ids=repr)
def test_traits(mechanism: Mechanism) -> None:
    assert mechanism.traits == TRAITS[mechanism]


def test_every_mechanism_has_traits() -> None:
    every = {*MECHANISMS.values(), *SAMPLINGS.values(), m.Composed, m.InParallel}
    assert {type(each) for each in TRAITS} == every, "a mechanism needs a row in TRAITS, in this file"
    names = [kind.name for kind in (*MECHANISMS.values(), *SAMPLINGS.values())]
    assert len(names) == len(set(names)) == len(MECHANISMS) + len(SAMPLINGS)


def test_what_says_nothing_about_itself_runs_inside_nothing_and_spends_nothing_known() -> None:
    class New(Mechanism):
        __slots__ = ()

        def __repr__(self) -> str:
            return "New()"

    for outer in (
        m.PoissonSampled(New(), "0.1"),
        m.TruncatedPoisson(New(), "0.1", 2, 9),
        m.SampledWithoutReplacement(New(), 2, 9),
        m.SampledWithReplacement(New(), 2, 9),
        m.RandomlyAllocated(New(), 3),
        m.BallsInBins(New(), 3, 2, redraw=True),
        m.InParallel((New(),)),
    ):
        for relation in (AR, RE):
            with pytest.raises(UnsupportedMechanism):
                neighbour_classes(outer, relation)
    with pytest.raises(UnsupportedMechanism, match="no dominating pair is proven here for New"):
        neighbour_classes(New(), AR)


@pytest.mark.parametrize("part", [m.GaussianDP(1, relation=RE), m.ProfileDP({1: 0}, relation=RE)], ids=repr)
def test_a_guarantee_without_traits_is_refused_in_samples_for_that_reason(part: Mechanism) -> None:
    for outer in (m.PoissonSampled(part, "0.1"), m.SampledWithoutReplacement(part, 2, 9), m.Shuffled(part, 3)):
        with pytest.raises(UnsupportedMechanism, match="nothing is proven here of a sample"):
            neighbour_classes(outer, RE)


def test_printed_numbers_are_rounded_to_the_safe_side() -> None:
    for kind in (*MECHANISMS.values(), *SAMPLINGS.values()):
        for name, each in parameters_of(kind).items():
            assert each.rounds == ("down" if name in DOWN else "up"), (kind, name)


def test_nested_walks_all_the_way() -> None:
    deep = m.PoissonSampled(m.InParallel((NOISE**2, m.PoissonSampled(m.Laplace(1), "0.1"))), "0.5")
    assert [type(each).__name__ for each in deep.nested()] == (
        ["PoissonSampled", "InParallel", "Composed", "Gaussian", "PoissonSampled", "Laplace"]
    )


def test_the_same_more_simply() -> None:
    assert m.PoissonSampled(m.PoissonSampled(NOISE, "1/3"), "1/5").resolved() == m.PoissonSampled(NOISE, "1/15")
    assert m.PoissonSampled(m.PoissonSampled(NOISE, 1), 1).resolved() == NOISE
    mixture = m.MixtureOfGaussians(2, {1: "0.5", 3: "0.5"})
    assert m.PoissonSampled(mixture, "1/5").resolved() == m.MixtureOfGaussians(2, {0: "0.8", 1: "0.1", 3: "0.1"})
    batch = m.SampledWithoutReplacement(m.SampledWithoutReplacement(NOISE, 2, 5), 5, 9)
    assert batch.resolved() == m.SampledWithoutReplacement(NOISE, 2, 9)
    assert m.SampledWithoutReplacement(m.SampledWithoutReplacement(NOISE, 2, 4), 5, 9).resolved() != batch.resolved()
    assert m.RandomlyAllocated(NOISE, 3, 3).resolved() == NOISE**3
    assert m.RandomlyAllocated(NOISE, 3, 2).resolved() == m.RandomlyAllocated(NOISE, 3, 2)
    assert m.BallsInBins(NOISE, 1, "2.5", redraw=False).resolved() == NOISE**3


def test_divisors_are_the_sizes_that_are_expected() -> None:
    expected = {
        NOISE: 90,
        m.PoissonSampled(NOISE, "0.1"): 9,
        m.TruncatedPoisson(NOISE, "0.1", 2, 90): 9,
        m.SampledWithoutReplacement(NOISE, 7, 90): 7,
        m.SampledWithReplacement(NOISE, 7, 90): 7,
        m.PoissonByUser(NOISE, "0.1"): 9,
        m.Shuffled(NOISE, 7): 12,
        m.RandomlyAllocated(NOISE, 20, 4): 18,
        m.BallsInBins(NOISE, 7, 2, redraw=True): Fraction(90, 7),
        m.MatrixMechanism(2, Toeplitz([1], 20), "fixed-order", separation=7): 13,
        m.MatrixMechanism(2, Toeplitz([1], 20), "balls-in-bins", separation=7): Fraction(90, 7),
        m.MatrixMechanism(2, Toeplitz([1], 20), "cyclic-poisson", separation=7, sample_rate="0.5"): Fraction(13, 2),
    }
    assert {each: each.divisor(90) for each in expected} == expected


def test_how_many_records_a_release_reads_is_known_of_sums_and_of_their_samples() -> None:
    choice = m.ExponentialMechanism(1, relation=Relation.REPLACE_ONE)
    expected = {
        **dict.fromkeys((NOISE, m.Laplace(1), m.UniformBall(1, 2), choice, m.InParallel((NOISE, NOISE))), 90),
        m.PoissonSampled(NOISE, "0.1"): 9,
        m.PoissonByUser(NOISE, "0.1"): 9,
        m.TruncatedPoisson(NOISE, "0.1", 12, 90): 9,
        m.TruncatedPoisson(NOISE, "0.1", 2, 90): 2,
        m.SampledWithoutReplacement(NOISE, 7, 100): 7,
        m.SampledWithReplacement(NOISE, 7, 100): 7,
        m.ZCDP(1, relation=Relation.REPLACE_ONE): None,
        m.Shuffled(NOISE, 7): None,
    }
    assert {each: each.records_read(90) for each in expected} == expected


@pytest.mark.seconds
def test_describing_mechanisms_loads_no_numerical_library() -> None:
    code = (
        "import sys, dpbounds.privacy.mechanisms as m; "
        "[getattr(m, name) for name in m.__all__]; m.PoissonSampled(m.Gaussian(1), '0.1'); "
        "print(sorted({'numpy', 'flint', 'scipy', 'sympy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
