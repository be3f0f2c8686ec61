"""Levels in groups: what is rounded up spends more, what is rounded down less, and more groups are never worse."""

import math
import typing
from collections import Counter
from fractions import Fraction

import pytest
from flint import arb

import dpbounds as dp
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants import routing
from dpbounds.privacy.accountants.certified import account, prove_delta, prove_epsilon
from dpbounds.privacy.pairs.bounded_support import ShiftedTruncatedNoise
from dpbounds.privacy.pairs.discrete_gaussian_sums import ShiftedSumsOfDiscreteGaussians
from dpbounds.privacy.pairs.losses import law_at
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    BoundedRangeProfile,
    Combined,
    CrowdedGaussians,
    Diluted,
    Direction,
    Discrete,
    DiscreteGaussianVectors,
    DrawnGaussians,
    Draws,
    FourPoints,
    MixedGaussians,
    OpposedGaussians,
    Other,
    Pair,
    Product,
    ProfilePoints,
    RenyiProfile,
    ReplacedGaussians,
    ReplacedGroup,
    Responses,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedDiscreteGaussians,
    ShiftedDiscreteLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    ShuffledBatches,
    Tagged,
    TaggedGaussians,
    TwoGuarantees,
    TwoPoints,
    TwoResponses,
    UniformBalls,
    Zeroed,
)
from dpbounds.privacy.pairs.shuffled_reports import CountedAnswers, CountedBits, ShuffledReports
from dpbounds.privacy.pairs.skellam import ShiftedSkellams
from dpbounds.privacy.routes import grouping
from dpbounds.privacy.routes.grouping import between
from tests.privacy.products import EVERY_PAIR

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
DELTA = Fraction(1, 10**5)
ALPHAS = [-3.0, -1.0, -0.3, -0.05, 0.0, 0.05, 0.3, 1.0, 2.5]  # their logarithms: thresholds below 1 count

GROUPED: list[Pair] = [
    ShiftedGaussians(HALF),
    ShiftedLaplaces(HALF),
    ShiftedDiscreteLaplaces(HALF, 3),
    ShiftedSkellams(Fraction(2), 2),
    UniformBalls(HALF, 3),
    Responses(HALF),
    Responses(HALF, 5),
    TwoResponses(HALF),
    FourPoints(HALF, TENTH),
    BoundedRangeProfile(HALF),
    RenyiProfile((), TENTH),
    DiscreteGaussianVectors(Fraction(20), Fraction(9), 4),
    *(SampledGaussians(direction, TENTH, Fraction(2)) for direction in Direction),
    *(
        Sampled(direction, Draws(TENTH, slots), base)
        for direction in Direction
        for slots in (1, 3)
        for base in (ShiftedGaussians(HALF), ShiftedLaplaces(HALF), FourPoints(HALF, TENTH))
    ),
    *(Zeroed(direction, Draws(TENTH, 1), ShiftedGaussians(HALF)) for direction in (Direction.REMOVE, Direction.ADD)),
    *(DrawnGaussians(direction, Draws(TENTH, 3), HALF) for direction in (Direction.REMOVE, Direction.ADD)),
    ReplacedGaussians(Draws(TENTH, 3), HALF),
    ReplacedGroup((HALF, HALF - TENTH, TENTH), HALF),
    *(Diluted(TENTH, base) for base in (ShiftedLaplaces(HALF), FourPoints(HALF, TENTH))),
    SampledLaplaces(TENTH, HALF),
    SampledBalls(TENTH, HALF, 3),
]
ALONE: list[Pair] = [
    TwoPoints(TENTH, HALF),
    ShiftedDiscreteGaussians(HALF, 2),
    ShiftedSumsOfDiscreteGaussians(Fraction(1), 3, 2),
    *(ShiftedTruncatedNoise(HALF, power, 4, 2) for power in (1, 2)),
    CrowdedGaussians(Direction.REMOVE, TENTH, 3, 9, Fraction(1), HALF, Other.NOTHING),
    Allocated(Direction.REMOVE, 3, ((ShiftedGaussians(HALF), 3),)),
    AllocatedTo(Direction.REMOVE, 3, 2, ShiftedGaussians(HALF)),
    ShuffledBatches(Direction.REPLACE, ShiftedGaussians(HALF), 10),
    ShuffledReports(Direction.REMOVE, HALF, 10, 3, HALF),
    CountedAnswers(Direction.REMOVE, HALF, 10, 3),
    CountedBits(Direction.REMOVE, 10, HALF + TENTH, HALF),
    MixedGaussians(Direction.REMOVE, ((Fraction(0), TENTH), (HALF, HALF), (Fraction(1), HALF - TENTH))),
    OpposedGaussians(Direction.REMOVE, TENTH, HALF),
    TaggedGaussians(((TENTH, HALF), (HALF, HALF))),
    RenyiProfile(((Fraction(2), HALF),)),
    ProfilePoints(((HALF, TENTH), (Fraction(1), TENTH / 10))),
    TwoGuarantees(TENTH, ShiftedLaplaces(HALF), ShiftedLaplaces(Fraction(1))),
    Tagged(((HALF, ShiftedGaussians(HALF)), (HALF, ShiftedLaplaces(HALF)))),
    Combined(((ShiftedLaplaces(HALF), 2),)),
    Discrete(((Fraction(0), HALF),), HALF),
]


def _profile(pair):
    with working(160):
        law = law_at(pair, 160)
        return [law.delta(arb(log_alpha)) for log_alpha in ALPHAS]


def test_every_pair_is_grouped_or_left_alone():
    assert {type(pair) for pair in GROUPED + ALONE} == set(EVERY_PAIR)
    assert all(pair.costs() is None for pair in ALONE)
    for pair in GROUPED:
        costs = pair.costs()
        assert costs
        assert pair.with_costs(costs) == pair
        higher = pair.with_costs(tuple(2 * cost for cost in costs))
        assert higher.costs() == tuple(2 * cost for cost in costs)


@pytest.mark.parametrize("pair", GROUPED, ids=str)
def test_whoever_has_more_of_a_cost_spends_more_at_every_threshold(pair):
    costs = pair.costs()
    assert costs is not None
    least = _profile(pair)
    for index in range(len(costs)):
        raised = pair.with_costs((*costs[:index], costs[index] * Fraction(6, 5), *costs[index + 1 :]))
        dearer = _profile(raised)
        assert not any(one > other for one, other in zip(least, dearer, strict=True))
        assert any(one < other for one, other in zip(least, dearer, strict=True))  # and not by rounding alone


def _gaussians(direction, levels):
    rates, low = (Fraction(1, 20), Fraction(1, 10)), Fraction(3, 2)
    return tuple((SampledGaussians(direction, rates[k % 2], low + Fraction(k, 20)), 20 + k) for k in range(levels))


PRODUCTS: dict[str, Product] = {
    **{str(direction): _gaussians(direction, 6) for direction in Direction},
    "sampled Laplace noise": tuple(
        (Sampled(Direction.REMOVE, Draws(Fraction(1, 20)), ShiftedLaplaces(Fraction(10 + k, 20))), 5) for k in range(5)
    ),
    "Laplace noise and a range": (
        *((ShiftedLaplaces(Fraction(10 + 2 * k, 100)), 2) for k in range(4)),
        (BoundedRangeProfile(TENTH), 3),
        (TwoPoints(TENTH / 2, TENTH), 2),
    ),
    "responses": tuple((Responses(Fraction(20 + k, 100)), 2) for k in range(6)),
}


@pytest.mark.seconds
@pytest.mark.parametrize("name", PRODUCTS)
def test_the_rounded_products_enclose_what_all_levels_spend(name):
    """The exact value by the lattice, the groups' by whatever route serves; rounding the wrong way fails by 1e-3."""
    product = PRODUCTS[name]
    ends = between(product, 3)
    assert all(len(end) < len(product) for end in (ends.cheaper, ends.dearer))
    exact = prove_delta(product, HALF, 1e-3, "lattice").enclosure
    below, above = (prove_delta(end, HALF, 1e-3).enclosure for end in (ends.cheaper, ends.dearer))
    assert below.exact_upper < (1 - Fraction(1, 1000)) * exact.exact_lower
    assert above.exact_lower > (1 + Fraction(1, 1000)) * exact.exact_upper


@pytest.mark.parametrize("name", PRODUCTS)
def test_more_groups_refine_fewer(name):
    product = PRODUCTS[name]
    steps = sum(count for _, count in product)
    coarser: list[list[Pair]] | None = None
    for most in range(1, len(product) + 1):
        ends = between(product, most)
        for end in (ends.cheaper, ends.dearer):
            assert sum(count for _, count in end) == steps
        sides = [sorted(Counter(dict(end)).elements(), key=_order_of) for end in (ends.cheaper, ends.dearer)]
        if coarser is not None:
            for here, before, sign in zip(sides, coarser, (1, -1), strict=True):
                gain = [sign * (_size(a) - _size(b)) for a, b in zip(here, before, strict=True)]
                assert sum(gain) >= 0
        coarser = sides
    assert Counter(dict(between(product, len(product)).dearer)) == Counter(dict(product))


def _size(pair):
    return sum(pair.costs() or (), Fraction(0))


def _order_of(pair):
    return type(pair).__name__, _size(pair)


@pytest.mark.seconds
def test_narrower_with_more_groups():
    product = PRODUCTS["remove"]
    widths = []
    for most in (2, 4):
        ends = between(product, most)
        low, high = (prove_epsilon(end, DELTA, 1e-9).enclosure for end in (ends.cheaper, ends.dearer))
        widths.append(high.upper - low.lower)
    assert widths == sorted(widths, reverse=True)


def _schedule(levels, weaker=1.0):
    """Noise that falls at every step."""
    return dp.Composed(
        tuple((dp.PoissonSampled(dp.Gaussian(weaker * (2 - k / levels)), "0.05"), 20) for k in range(levels))
    )


@pytest.fixture
def little_time(monkeypatch):
    monkeypatch.setattr(routing, "_MANY", 3)
    monkeypatch.setattr(routing, "_FEWEST_GROUPS", 4)
    monkeypatch.setattr(routing, "_EXACT_WORK", 1)
    monkeypatch.setattr(routing, "_GROUPED_WORK", 1)


@pytest.mark.seconds
@pytest.mark.one_in(2)
@pytest.mark.parametrize("given", ["delta", "epsilon"])
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.usefixtures("little_time")
def test_accounts_in_groups_hold_what_all_levels_give(given, relation):
    mechanism = _schedule(6)
    target: dict[str, typing.Any] = {given: DELTA if given == "delta" else 1}
    found = account(mechanism, relation=relation, **target)
    assert {proof.route for _, proof in found.proofs} <= {"groups", "dominated"}
    exact = account(mechanism, relation=relation, route="contour", **target).enclosure
    assert found.enclosure.exact_lower < exact.exact_lower
    assert (
        exact.exact_upper < found.enclosure.exact_upper < Fraction(3, 2 if given == "delta" else 1) * exact.exact_upper
    )
    less = account(_schedule(6, 1.5), relation=relation, **target).enclosure
    assert less.exact_upper < found.enclosure.exact_lower


@pytest.mark.usefixtures("little_time")
def test_a_demanded_tolerance_takes_its_time():
    found = account(_schedule(6), delta=DELTA, tolerance=9e-10)
    assert found.proofs[0][1].route == "contour"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("levels", "exact"),
    [
        pytest.param(1000, Fraction("1.53041660242"), id="1000"),
        pytest.param(300, Fraction("1.03338403263"), id="300", marks=pytest.mark.minutes),
    ],
)  # by one contour for all levels
def test_long_schedules_of_noise(levels, exact):
    steps = tuple(
        (dp.PoissonSampled(dp.Gaussian(Fraction(round(10**6 * (2 - 1.2 * k / (levels - 1))), 10**6)), "0.01"), 1)
        for k in range(levels)
    )
    found = dp.epsilon(dp.Composed(steps), "1e-5")
    assert found.exact_lower < exact < found.exact_upper
    assert found.width < 0.05 * found.upper


def test_thousands_of_levels_need_few_pairs():
    levels: Product = tuple(
        (SampledGaussians(Direction.REMOVE, Fraction(1, 100 + k % 7), Fraction(1000 + k, 1000)), 1) for k in range(700)
    )
    ends = between(levels, 100)
    assert max(len(ends.cheaper), len(ends.dearer)) <= 100
    costs = [pair.costs() for pair, _ in levels]
    for end, sign in ((ends.cheaper, 1), (ends.dearer, -1)):
        total = math.fsum(count * float(_size(pair)) for pair, count in end)
        assert sign * (math.fsum(float(sum(each)) for each in costs if each) - total) > 0
    assert grouping.between(levels[:1], 1).dearer == levels[:1]
