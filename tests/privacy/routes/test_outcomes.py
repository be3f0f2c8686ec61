"""Products of few atoms: against every sequence of outcomes in mpmath, the lattice, and what must hold."""

import math
from fractions import Fraction
from itertools import product as sequences

import mpmath
import pytest

from dpbounds.privacy.accountants.certified import prove_delta, prove_epsilon
from dpbounds.privacy.pairs.pairs import (
    Direction,
    Discrete,
    Draws,
    FourPoints,
    Responses,
    Sampled,
    SampledBalls,
    SampledGaussians,
    ShiftedGaussians,
    ShiftedLaplaces,
    TwoPoints,
    TwoResponses,
    UniformBalls,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes import outcomes
from dpbounds.privacy.routes.lattice import delta_bounds, epsilon_bounds
from dpbounds.privacy.routes.outcomes import ROUTE, delta_by_outcomes, epsilon_by_outcomes
from tests.privacy.routes.twins import gaussian_profile, real

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)


def sampled(rate, response):
    return Sampled(Direction.REMOVE, Draws(rate), response)


def atoms(pair):
    """(loss, P-mass) of each finite outcome, from the definitions; the rest of P is infinite loss."""
    match pair:
        case Responses(epsilon=epsilon, options=k):
            e = mpmath.exp(real(epsilon))
            return [
                (real(epsilon), e / (e + k - 1)),
                (mpmath.mpf(0), (k - 2) / (e + k - 1)),
                (-real(epsilon), 1 / (e + k - 1)),
            ]
        case TwoResponses(epsilon=epsilon):
            e = real(epsilon)
            high = 1 / (1 + mpmath.exp(-e))
            low = high * mpmath.exp(-2 * e)
            return [(2 * e, high), (mpmath.mpf(0), 1 - high - low), (-2 * e, low)]
        case FourPoints(epsilon=epsilon, delta=delta):
            return [(loss, p * (1 - real(delta))) for loss, p in atoms(Responses(epsilon))]
        case TwoPoints(high=high, span=span):
            t, low = real(high), real(high - span)
            share = (1 - mpmath.exp(-low)) / (mpmath.exp(-t) - mpmath.exp(-low))
            return [(t, share), (low, 1 - share)]
        case Sampled(draws=draws, base=base):  # (1-q) Q + q P against Q
            q = real(draws.rate)
            mixed = [(mpmath.log(1 - q + q * mpmath.exp(loss)), p * mpmath.exp(-loss)) for loss, p in atoms(base)]
            return [(loss, r * mpmath.exp(loss)) for loss, r in mixed]
        case UniformBalls(squared_shift=squared, dimension=1):
            return [(mpmath.mpf(0), 1 - mpmath.sqrt(real(squared)) / 2)]
        case SampledBalls(sample_rate=rate, squared_shift=squared, dimension=1):
            q, one = real(rate), mpmath.sqrt(real(squared)) / 2
            return [(-mpmath.log(1 - q), one), (mpmath.mpf(0), 1 - 2 * one), (mpmath.log(1 - q), (1 - q) * one)]
        case Discrete(points=points):
            return [(real(loss), real(p)) for loss, p in points]
    raise AssertionError(pair)


def every_sequence(product):
    """(total loss, P-mass) of every sequence of outcomes, none merged."""
    releases = [atoms(pair) for pair, count in product if not isinstance(pair, ShiftedGaussians) for _ in range(count)]
    return [(sum(loss for loss, _ in one), mpmath.fprod(p for _, p in one)) for one in sequences(*releases)]


def twin(product, epsilon):
    everything = every_sequence(product)
    finite = mpmath.fsum(p for _, p in everything)
    squared = sum(count * pair.squared_shift for pair, count in product if isinstance(pair, ShiftedGaussians))
    if squared:
        mu = mpmath.sqrt(real(squared))
        return 1 - finite + mpmath.fsum(p * gaussian_profile(mu, epsilon - loss) for loss, p in everything)
    return 1 - finite + mpmath.fsum(p * -mpmath.expm1(epsilon - loss) for loss, p in everything if loss > epsilon)


PRODUCTS = [
    ((Responses(Fraction(1)), 1), (Responses(HALF), 2)),
    ((Responses(TENTH, 5), 3), (TwoResponses(HALF), 2)),
    ((FourPoints(HALF, Fraction(1, 1000)), 4), (FourPoints(TENTH, Fraction(1, 50)), 2)),
    ((FourPoints(Fraction(0), TENTH), 2), (Responses(Fraction(2)), 3)),
    ((TwoPoints(HALF, Fraction(7, 10)), 5),),
    ((sampled(TENTH, Responses(Fraction(1))), 4), (Responses(TENTH), 1)),
    ((UniformBalls(TENTH**2, 1), 3), (SampledBalls(HALF, TENTH**2, 1), 3)),
    ((Discrete(((HALF, HALF), (-TENTH, Fraction(1, 4)), (Fraction(-2), Fraction(1, 5))), Fraction(1, 20)), 4),),
    ((TwoPoints(HALF, Fraction(7, 10)), 1), (ShiftedGaussians(Fraction(1, 4)), 1)),
    ((ShiftedGaussians(Fraction(1, 9)), 1), (Responses(HALF), 3), (ShiftedGaussians(TENTH), 2)),
    ((FourPoints(HALF, Fraction(1, 1000)), 4), (ShiftedGaussians(Fraction(2)), 1), (Responses(TENTH, 5), 2)),
]


@pytest.mark.parametrize("product", PRODUCTS, ids=range(len(PRODUCTS)))
def test_every_outcome_is_counted(product):
    with mpmath.workdps(60):
        for epsilon in (Fraction(0), Fraction(1, 7), HALF, Fraction(9, 7)):
            exact = twin(product, real(epsilon))
            found = delta_by_outcomes(product, epsilon, 1e-9).enclosure
            low, high = real(found.exact_lower), real(found.exact_upper)
            assert low - mpmath.mpf(10) ** -50 <= exact <= high + mpmath.mpf(10) ** -50, epsilon
            assert high - low <= exact * mpmath.mpf(2) ** -64


@pytest.mark.parametrize("product", PRODUCTS, ids=range(len(PRODUCTS)))
def test_epsilon_is_where_the_sum_crosses(product):
    with mpmath.workdps(60):
        certain, everything = twin(product, mpmath.mpf(10**6)), twin(product, mpmath.mpf(0))
        for share in ("0.5", "0.05", "1e-6"):
            delta = Fraction(mpmath.nstr(certain + (everything - certain) * mpmath.mpf(share), 40))
            proof = epsilon_by_outcomes(product, delta, 1e-9)
            low, high = real(proof.enclosure.exact_lower), real(proof.enclosure.exact_upper)
            assert twin(product, high) <= real(delta) < twin(product, low)
            assert high - low <= high * mpmath.mpf(10) ** -14


@pytest.mark.parametrize(
    "product",
    [each if i == 3 else pytest.param(each, marks=pytest.mark.seconds) for i, each in enumerate(PRODUCTS)],
    ids=range(len(PRODUCTS)),
)
def test_the_lattice_agrees(product):
    for epsilon in (Fraction(0), Fraction(3, 10)):
        found = prove_delta(product, epsilon, 1e-9)
        assert found.route == ROUTE
        assert found.enclosure.overlaps(delta_bounds(product, epsilon).enclosure)


@pytest.mark.seconds
def test_many_equal_responses_against_the_lattice():
    product = ((Responses(TENTH), 400), (FourPoints(Fraction(1, 3), Fraction(1, 10**9)), 30))
    found = prove_epsilon(product, Fraction(1, 10**6), 1e-9)
    assert found.route == ROUTE
    assert found.parameters["outcomes"] == 401 * 31
    assert found.enclosure.overlaps(epsilon_bounds(product, Fraction(1, 10**6)).enclosure)
    assert found.enclosure.width <= 1e-14 * found.enclosure.upper


def test_digits_are_as_many_as_asked_for():
    for tolerance in (1e-9, 1e-40, 1e-200):
        for proof in (
            delta_by_outcomes(PRODUCTS[0], HALF, tolerance),
            epsilon_by_outcomes(PRODUCTS[0], TENTH, tolerance),
        ):
            found = proof.enclosure
            assert found.exact_upper - found.exact_lower <= Fraction(tolerance) * found.exact_upper


def test_beyond_the_largest_loss_there_is_nothing():
    assert delta_by_outcomes(PRODUCTS[0], Fraction(2), 1e-9).enclosure.exact_upper == 0
    assert delta_by_outcomes(((Responses(TENTH), 7),), Fraction(4, 5), 1e-9).enclosure.exact_upper == 0
    certain = delta_by_outcomes(((FourPoints(HALF, TENTH), 2),), Fraction(5), 1e-9).enclosure
    assert certain.contains("0.19")
    with pytest.raises(Declined, match="infinite"):
        epsilon_by_outcomes(((FourPoints(HALF, TENTH), 2),), Fraction(19, 100), 1e-9)


@pytest.mark.parametrize(
    ("product", "count"),
    [
        (((Responses(TENTH), 10**6),), None),
        (((Responses(TENTH, 3), 10**6),), None),
        (((Responses(TENTH), 1000), (Responses(HALF), 1000)), None),
        (((Responses(TENTH), 9_999),), 10_000),
        (((UniformBalls(TENTH, 5), 10**12),), 1),
        (((Responses(TENTH, 3), 10), (TwoResponses(HALF), 4), (Responses(HALF), 3)), 66 * 15 * 4),
    ],
)
def test_many_outcomes_are_left_to_the_lattice_before_any_is_listed(product, count, monkeypatch):
    listed = []
    monkeypatch.setattr(outcomes, "_repeated", lambda points, times: listed.append((len(points), times)) or [])
    if count is None:
        with pytest.raises(Declined, match="more than 40000"):
            delta_by_outcomes(product, Fraction(1), 1e-9)
        assert not listed
        return
    monkeypatch.undo()
    assert delta_by_outcomes(product, TENTH, 1e-9).parameters["outcomes"] == count


@pytest.mark.parametrize(("count", "few"), [(3_999, True), (4_000, False)])
def test_gaussian_releases_stand_beside_few_outcomes_only(count, few):
    product = ((ShiftedGaussians(TENTH), 1), (Responses(TENTH), count))
    assert outcomes.has_few_outcomes(product) == few
    if not few:
        with pytest.raises(Declined, match="more than 4000"):
            delta_by_outcomes(product, Fraction(1), 1e-9)


def test_gaussian_releases_alone_and_sampled_ones_are_none_of_its_business():
    assert not outcomes.has_few_outcomes(((ShiftedGaussians(TENTH), 3),))
    sampled_gaussians = SampledGaussians(Direction.ADD, TENTH, Fraction(1))
    assert not outcomes.has_few_outcomes(((ShiftedGaussians(TENTH), 3), (Responses(HALF), 1), (sampled_gaussians, 1)))


def test_the_search_in_doubles_is_near():
    product = ((ShiftedGaussians(HALF), 1), (FourPoints(HALF, Fraction(1, 1000)), 40), (Responses(TENTH), 30))
    for epsilon in (Fraction(0), Fraction(1), Fraction(20)):
        proven = delta_by_outcomes(product, epsilon, 1e-9).enclosure
        assert outcomes.log_delta_by_outcomes(product, epsilon) == pytest.approx(math.log(proven.upper), rel=1e-9)


def test_continuous_losses_are_none_of_its_business():
    assert not outcomes.has_few_outcomes(((Responses(TENTH), 1), (ShiftedLaplaces(HALF), 1)))
    assert not outcomes.has_few_outcomes(((sampled(TENTH, ShiftedLaplaces(HALF)), 2),))
