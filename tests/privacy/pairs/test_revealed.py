"""Products with every draw published: they spend no less than what they stand for, and hardly more at rates near 1."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

import dpbounds as dp
from dpbounds.privacy.domination.many_choices import with_gaussian_choices
from dpbounds.privacy.pairs import pairs
from dpbounds.privacy.pairs.revealed import revealed
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.closed_forms import closed_form_delta
from tests.privacy.products import products_of

ADD, REPLACE, ZERO = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE, Relation.ZERO_OUT_ONE
EPSILONS = (Fraction(0), Fraction(1, 2), Fraction(2), Fraction(4))
NEAR_ONE = Fraction(999, 1000)


def gaussian_delta(squared_shift: Fraction, epsilon: Fraction) -> float:
    """δ(ε) of one Gaussian release, from Balle & Wang 2018, in doubles."""
    mu, e = math.sqrt(squared_shift), float(epsilon)
    return float(norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu))


def laplace_delta(shift: Fraction, epsilon: Fraction) -> float:
    """δ(ε) of one release with Laplace noise."""
    return max(0.0, 1 - math.exp((float(epsilon) - float(shift)) / 2))


def spent(pair: pairs.Pair, epsilon: Fraction) -> float:
    return float(closed_form_delta(pair, epsilon, 40)[0].mid())


REMOVE, ADDED, REPLACED = pairs.Direction.REMOVE, pairs.Direction.ADD, pairs.Direction.REPLACE
UNIT = pairs.ShiftedGaussians(Fraction(1))
SHIFTS = {  # a pair whose draws are nearly certain, and the squared shift that it comes to
    "sampled, remove": (pairs.SampledGaussians(REMOVE, NEAR_ONE, Fraction(1, 2)), 2),
    "sampled, add": (pairs.SampledGaussians(ADDED, NEAR_ONE, Fraction(1, 2)), 2),
    "sampled, replace": (pairs.SampledGaussians(REPLACED, NEAR_ONE, Fraction(2)), 2),
    "mixture": (pairs.MixedGaussians(REMOVE, ((Fraction(1), 1 - NEAR_ONE), (Fraction(2), NEAR_ONE))), 2),
    "mixture, replace": (pairs.MixedGaussians(REPLACED, ((Fraction(0), 1 - NEAR_ONE), (Fraction(1), NEAR_ONE))), 4),
    "three draws": (pairs.DrawnGaussians(REMOVE, pairs.Draws(NEAR_ONE, 3), Fraction(1, 4)), Fraction(9, 4)),
    "two replaced": (pairs.ReplacedGaussians(pairs.Draws(NEAR_ONE, 2), Fraction(1, 4)), 1),
    "a group of two": (pairs.ReplacedGroup(((1 - NEAR_ONE) / 2, (1 - NEAR_ONE) / 2, NEAR_ONE), Fraction(1, 4)), 1),
    "tags": (pairs.TaggedGaussians(((Fraction(1), 1 - NEAR_ONE), (Fraction(3), NEAR_ONE))), 3),
    "a sample": (pairs.Sampled(REMOVE, pairs.Draws(NEAR_ONE), UNIT), 1),
    "a sample, replace": (pairs.Sampled(REPLACED, pairs.Draws(NEAR_ONE), UNIT), 1),
    "two draws": (pairs.Sampled(REMOVE, pairs.Draws(NEAR_ONE, 2), UNIT), 4),
    "zeroed": (pairs.Zeroed(REMOVE, pairs.Draws(NEAR_ONE), UNIT), 1),
    "two guarantees": (pairs.TwoGuarantees(NEAR_ONE, UNIT, pairs.ShiftedGaussians(Fraction(4))), 4),
    "tagged": (pairs.Tagged(((1 - NEAR_ONE, pairs.ShiftedGaussians(Fraction(9))), (NEAR_ONE, UNIT))), 9),
    "diluted": (pairs.Diluted(NEAR_ONE, UNIT), 1),
}


@pytest.mark.parametrize("name", SHIFTS)
def test_a_draw_that_is_nearly_certain_costs_hardly_less_than_a_published_one(name: str) -> None:
    pair, squared = SHIFTS[name]
    assert revealed(((pair, 1),)) == ((pairs.ShiftedGaussians(Fraction(squared)), 1),)
    for epsilon in EPSILONS:
        exact = gaussian_delta(Fraction(squared), epsilon)
        assert spent(pair, epsilon) <= exact * (1 + 1e-9)
        assert name == "tagged" or spent(pair, epsilon) >= exact * 0.7


@pytest.mark.parametrize("rate", [NEAR_ONE, Fraction(1, 10)])
def test_laplace_noise_and_balls(rate: Fraction) -> None:
    pair = pairs.SampledLaplaces(rate, Fraction(3, 2))
    assert revealed(((pair, 4),)) == ((pairs.ShiftedLaplaces(Fraction(3)), 4),)
    assert all(spent(pair, epsilon) <= laplace_delta(Fraction(3), epsilon) + 1e-12 for epsilon in EPSILONS)
    ball = pairs.SampledBalls(rate, Fraction(1, 4), 1)  # on a line: two intervals of length 2 that lie 1 apart
    assert revealed(((ball, 1),)) == ((pairs.UniformBalls(Fraction(1), 1), 1),)
    assert all(spent(ball, epsilon) <= 0.5 + 1e-12 for epsilon in EPSILONS)


def test_of_uneven_steps_the_dearest_counts() -> None:
    shares = ((pairs.ShiftedGaussians(Fraction(2)), 3), (UNIT, 1))
    for direction, squared in ((REMOVE, 2), (ADDED, 2), (REPLACED, 8)):
        found = revealed(((pairs.Allocated(direction, 4, shares), 3),))
        assert found == ((pairs.ShiftedGaussians(Fraction(3 * squared)), 1),)


def test_gaussian_releases_are_one_and_other_kinds_stay() -> None:
    drawn = pairs.SampledGaussians(REMOVE, Fraction(1, 10), Fraction(2))
    found = revealed(((drawn, 3), (UNIT, 2), (pairs.ShiftedLaplaces(Fraction(1)), 5)))
    assert found == ((pairs.ShiftedGaussians(Fraction(7, 2)), 1), (pairs.ShiftedLaplaces(Fraction(1)), 5))


@pytest.mark.parametrize(
    "pair",
    [
        pairs.AllocatedTo(REMOVE, 4, 2, UNIT),
        pairs.TwoPoints(Fraction(1), Fraction(2)),
        pairs.Discrete(((Fraction(1), Fraction(1)),), Fraction(0)),
        pairs.OpposedGaussians(REMOVE, Fraction(1, 2), Fraction(1)),
        pairs.Diluted(Fraction(1, 2), pairs.TwoPoints(Fraction(1), Fraction(2))),
    ],
    ids=lambda pair: type(pair).__name__,
)
def test_attacks_and_lopsided_pairs_have_none(pair: pairs.Pair) -> None:
    assert revealed(((pair, 1),)) is None


NOISE = dp.Gaussian(2)
RUNS = [
    (dp.PoissonSampled(NOISE, "0.9") ** 3, (ADD, REPLACE, ZERO)),
    (dp.PoissonSampled(dp.Laplace(3), "0.9") ** 2, (ADD, REPLACE, ZERO)),
    (dp.PoissonSampled(dp.Laplace(3, dimension=2), "0.9"), (REPLACE,)),
    (dp.SampledWithoutReplacement(NOISE, 4, 6) ** 2, (ADD, REPLACE, ZERO)),
    (dp.SampledWithReplacement(NOISE, 3, 4) ** 2, (ADD, REPLACE, ZERO)),
    (dp.TruncatedPoisson(NOISE, "0.5", 5, 10) ** 2, (ADD, REPLACE, ZERO)),
    (dp.RandomlyAllocated(NOISE, 2) ** 2, (ADD, REPLACE, ZERO)),
    (dp.BallsInBins(NOISE, 3, 2, redraw=False), (ADD, REPLACE)),
    (dp.Shuffled(NOISE, 2) ** 2, (REPLACE, ZERO)),
    (dp.ExponentialMechanism(1, relation="replace-one") ** 30, (REPLACE,)),
    (dp.PoissonSampled(NOISE @ dp.Laplace(4), "0.9"), (ADD, REPLACE)),
]
CASES = [(mechanism, relation) for mechanism, relations in RUNS for relation in relations]


@pytest.mark.seconds
@pytest.mark.parametrize(("mechanism", "relation"), CASES, ids=lambda each: repr(each)[:40])
def test_no_run_attains_more_than_its_published_draws(mechanism: dp.Mechanism, relation: Relation) -> None:
    """What attacks are proven to attain, by the accountant's own route, against the product without draws."""
    published = [revealed(with_gaussian_choices(product)) for product in products_of(mechanism, relation)]
    assert all(each is not None for each in published)
    for epsilon in ("0.1", "1", "3"):
        attained = dp.delta(mechanism, epsilon, relation, tolerance=1e-2).exact_lower
        most = max(
            float(dp.delta(_as_mechanism(each), epsilon, REPLACE, tolerance=1e-2).exact_upper) for each in published
        )
        assert attained <= most * (1 + 1e-9)


def _as_mechanism(product: pairs.Product | None) -> dp.Mechanism:
    """Full-batch releases that spend as a product without draws does, when a record is replaced."""
    assert product is not None
    parts: list[dp.Mechanism] = []
    for pair, count in product:
        match pair:
            case pairs.ShiftedGaussians(squared_shift=squared):
                assert count == 1
                parts.append(dp.Gaussian(Fraction(2) / Fraction(math.sqrt(squared)).limit_denominator(10**6)))
            case pairs.ShiftedLaplaces(shift=shift):
                parts.append(dp.Laplace(2 / shift) ** count)
            case _:
                raise AssertionError(pair)
    whole, *others = parts
    for other in others:
        whole = whole @ other
    return whole
