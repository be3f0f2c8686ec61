"""Bounds that hold without composing, against sums over all outcomes, and formulas in floating point."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import dpbounds as dp
from dpbounds.errors import NotCertified
from dpbounds.privacy.accountants import simple_bounds
from dpbounds.privacy.accountants.certified import account, delta, prove_delta, prove_epsilon
from dpbounds.privacy.mechanisms import DiscreteGaussian, parts_of
from dpbounds.privacy.pairs.pairs import (
    BoundedRangeProfile,
    Direction,
    FourPoints,
    Product,
    Responses,
    SampledGaussians,
    ShiftedGaussians,
    TwoPoints,
)
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.values import Target

AR, RE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
FEW: Product = (
    (Responses(Fraction(1)), 2),
    (FourPoints(Fraction(1, 2), Fraction(1, 100)), 1),
    (Responses(Fraction(1, 3), 3), 1),
)


def outcomes(pair: object) -> list[tuple[float, float]]:
    """(P, Q) of each outcome, from the definition of randomised response."""
    assert isinstance(pair, Responses | FourPoints)
    k, e = getattr(pair, "options", 2), math.exp(float(pair.epsilon))
    rest, lost = 1 / (e + k - 1), float(getattr(pair, "delta", 0))
    plain = [(e * rest, rest), (rest, e * rest), *[(rest, rest)] * (k - 2)]
    return [(lost, 0.0), (0.0, lost), *((p * (1 - lost), q * (1 - lost)) for p, q in plain)]


def delta_of(product: Product, epsilon: float) -> float:
    """δ(ε) as a sum over all outcomes."""
    each = [outcomes(pair) for pair, count in product for _ in range(count)]
    joint = ((math.prod(p for p, _ in one), math.prod(q for _, q in one)) for one in itertools.product(*each))
    return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in joint)


def proved(product: Product, target: Target) -> Proof:
    return (prove_epsilon if target.for_epsilon else prove_delta)(product, target.value, 1e-3)


@pytest.mark.parametrize("delta", ["0.011", "0.02", "0.2"])
def test_parts_bound_the_epsilon_of_all_outcomes(delta: str) -> None:
    found = simple_bounds.of_parts(FEW, Target("delta", Fraction(delta)), proved).enclosure
    assert delta_of(FEW, float(found.exact_upper)) <= float(delta)
    assert delta_of(FEW, float(found.exact_lower)) >= float(delta) - 1e-12
    assert 0 < found.exact_lower < found.exact_upper < 3


@pytest.mark.parametrize("epsilon", ["0.5", "1.5", "2.8"])
def test_parts_bound_the_delta_of_all_outcomes(epsilon: str) -> None:
    found = simple_bounds.of_parts(FEW, Target("epsilon", Fraction(epsilon)), proved).enclosure
    assert float(found.exact_lower) - 1e-12 <= delta_of(FEW, float(epsilon)) <= float(found.exact_upper)


def test_no_more_than_delta_is_shared() -> None:
    """Each part gets what it loses at any ε, and as much more; together no more than δ."""
    asked: list[Target] = []

    def remembered(product: Product, target: Target) -> Proof:
        asked.append(target)
        return proved(product, target)

    simple_bounds.of_parts(FEW, Target("delta", Fraction("0.0101")), remembered)
    shares = [target.value for target in asked[:3]]
    assert sum(shares) <= Fraction("0.0101")
    assert shares[1] >= Fraction("0.01")
    with pytest.raises(NotCertified, match="not finite"):
        simple_bounds.of_parts(FEW, Target("delta", Fraction("0.01")), proved)


def test_gaussian_releases_are_one_part() -> None:
    product: Product = ((ShiftedGaussians(Fraction(1)), 2), (ShiftedGaussians(Fraction(2)), 1))
    with pytest.raises(Declined, match="1 parts"):
        simple_bounds.of_parts(product, Target("delta", Fraction(1, 10**6)), proved)


def converted_laplaces(scale: float, count: int, delta: float) -> float:
    """The least ε of the Rényi divergences of Laplace noise (Mironov 2017, Table II; Canonne et al. 2020, Prop. 12)."""
    b = mpmath.mpf(scale)

    def promised(order: float) -> float:
        a = mpmath.mpf(order)
        moment = mpmath.log(a / (2 * a - 1) * mpmath.exp((a - 1) / b) + (a - 1) / (2 * a - 1) * mpmath.exp(-a / b))
        return float((count * moment - mpmath.log(delta) - mpmath.log(a)) / (a - 1) + mpmath.log((a - 1) / a))

    return min(promised(1 + 10 ** (step / 50)) for step in range(-450, 100))


@pytest.mark.parametrize("count", [pytest.param(10**8, marks=pytest.mark.seconds), 10**9])
def test_very_many_releases_spend_what_their_divergences_say(count: int) -> None:
    """Basic composition of 1e9 releases would be 2.5e8."""
    found = account(dp.Laplace(4) ** count, delta="1e-6", relation=AR).enclosure
    assert float(found.exact_upper) == pytest.approx(converted_laplaces(4, count, 1e-6), rel=1e-4)
    if count == 10**8:
        at = account(dp.Laplace(4) ** count, epsilon=found.exact_upper, relation=AR).enclosure
        assert at.exact_lower <= Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("mechanism", "delta", "relation", "at_most"),
    [
        pytest.param(  # 757 033 before
            dp.Laplace(4) ** 10**6 @ dp.Gaussian("0.001"), Fraction(1, 10**6), AR, 534_859, marks=pytest.mark.seconds
        ),
        (
            dp.PureDP("0.01", relation=RE) ** 10**8 @ dp.PoissonSampled(dp.Gaussian(5), "0.01") ** 10**5,
            Fraction(1, 10**6),
            RE,
            5_495,  # 1 003 476 before
        ),
        pytest.param(
            dp.PoissonSampled(dp.Laplace("1e12"), "0.01") @ dp.PoissonSampled(dp.Gaussian("1e12"), "0.5") ** 3,
            Fraction(1, 10**20),
            AR,
            Fraction("4.7e-12"),  # 8.2e-12 before
            marks=pytest.mark.seconds,
        ),
    ],
    ids=["many beside loud", "many pure beside sampled", "hardly anything"],
)
def test_no_joint_answer_is_above_its_parts(
    mechanism: dp.Mechanism, delta: Fraction, relation: Relation, at_most: Fraction | int
) -> None:
    found = account(mechanism, delta=delta, relation=relation).enclosure
    parts = [
        account(dp.Composed((part,)), delta=delta / 2, relation=relation).enclosure for part in parts_of(mechanism)
    ]
    assert len(parts) == 2
    assert float(found.exact_upper) <= 1.001 * sum(float(part.exact_upper) for part in parts)
    assert found.exact_upper <= at_most
    assert found.exact_lower <= found.exact_upper


@pytest.mark.parametrize(
    "mechanism",
    [dp.DiscreteGaussian(10), dp.DiscreteGaussian(10) ** 2 @ dp.DiscreteGaussian("0.5") ** 40],
    ids=["one", "some"],
)
def test_divergences_answer_where_no_route_does(mechanism: dp.Mechanism) -> None:
    """The tail of the table of a discrete Gaussian counts as an infinite loss, which is likelier than 1e-200."""
    found = account(mechanism, delta="1e-200", relation=AR).enclosure
    assert math.isfinite(found.exact_upper)
    parts = [(part, count) for part, count in parts_of(mechanism) if isinstance(part, DiscreteGaussian)]
    rho = sum(Fraction(count) / (2 * part.noise_stddev**2) for part, count in parts)
    concentrated = float(rho) + 2 * math.sqrt(float(rho) * 200 * math.log(10))  # Bun & Steinke 2016, Proposition 1.3
    assert 0.9 * concentrated < float(found.exact_upper) <= concentrated
    with pytest.raises(NotCertified):
        account(mechanism, delta="1e-200", relation=AR, route="lattice")


def test_divergences_of_what_stands_behind_a_profile_say_nothing_of_it() -> None:
    with pytest.raises(Declined, match="not those of the pairs"):
        simple_bounds.of_moments(((BoundedRangeProfile(Fraction(1)), 5),), Target("delta", Fraction(1, 10**6)))


@pytest.mark.seconds
def test_an_epoch_in_secret_order_has_an_answer_below_all_doubles() -> None:
    found = account(dp.Shuffled(dp.Gaussian(1), 10), delta=Fraction(1, 10**900), relation=RE).enclosure
    known = account(dp.Gaussian(1), delta=Fraction(1, 10**900), relation=RE).enclosure
    assert 0 < found.exact_upper <= known.exact_upper


def test_a_delta_that_is_proven_to_be_negligible_is_not_improved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that comes spends 10^-157 827 at most: its divergences take ten seconds, and matter to nobody."""

    def of_moments(*_: object) -> Proof:
        pytest.fail("divergences were computed")

    monkeypatch.setattr("dpbounds.privacy.accountants.routing.of_moments", of_moments)
    arriving: Product = (
        (ShiftedGaussians(Fraction(1, 10**8)), 1),
        (SampledGaussians(Direction.ADD, Fraction(499_999, 10**11), Fraction(4, 25)), 9999),
    )
    found = prove_delta(arriving, Fraction(1), 1e-9).enclosure
    assert 0 <= found.exact_lower <= found.exact_upper < Fraction(1, 10**1204)


def test_divergences_that_hide_too_far_below_one_are_not_computed() -> None:
    """Of a rate of 1e-320 they take minutes, and show nothing."""
    product: Product = ((SampledGaussians(Direction.REMOVE, Fraction(1, 10**320), Fraction(1)), 3),)
    with pytest.raises(Declined, match="too small"):
        simple_bounds.of_moments(product, Target("epsilon", Fraction(1)))
    near: Product = ((SampledGaussians(Direction.REMOVE, Fraction(1, 10**20), Fraction(1)), 3),)
    found = simple_bounds.of_moments(near, Target("epsilon", Fraction(1))).enclosure
    assert 0 < found.exact_upper < Fraction(1, 10**40)
    assert delta(dp.PoissonSampled(dp.Gaussian(1), "1e-320") ** 3, 1).exact_upper < Fraction(1, 10**300)


def binomial_delta(epsilon: float, delta_each: float, count: int, at: float) -> mpmath.mpf:
    """δ(ε) of equal responses, each revealed with some probability: a binomial sum at thirty digits."""
    with mpmath.workdps(30):
        true = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
        total = mpmath.mpf(0)
        for k in range(count + 1):
            loss = (2 * k - count) * mpmath.mpf(epsilon)
            if loss > at:
                mass = mpmath.binomial(count, k) * true**k * (1 - true) ** (count - k)
                total += mass * (1 - mpmath.exp(at - loss))
        kept = (1 - mpmath.mpf(delta_each)) ** count
        return 1 - kept + kept * total


@pytest.mark.parametrize(
    ("pair", "count", "at"),
    [
        (Responses(Fraction(1, 2)), 300, (20, 30, 33)),
        (FourPoints(Fraction(1, 2), Fraction(1, 2000)), 300, (20, 30, 33)),
        (Responses(Fraction(2)), 40, (20, 50, 57)),
    ],
    ids=str,
)
def test_many_releases_spend_more_than_the_lower_tail_of_their_loss(
    pair: Responses | FourPoints, count: int, at: tuple[int, ...]
) -> None:
    """δ at several ε, and ε at that δ: below the exact values, and above a half of them while little is left over."""
    for epsilon in at:
        lost = float(getattr(pair, "delta", 0))
        exact = binomial_delta(float(pair.epsilon), lost, count, epsilon)
        try:
            low = float(simple_bounds.of_many(((pair, count),), Target("epsilon", Fraction(epsilon))).enclosure.lower)
        except Declined:
            low = 0.0
        assert low <= exact
        assert low > exact / 2 or epsilon > at[0]
        if exact < 0.2:
            target = Target("delta", Fraction(str(mpmath.nstr(exact, 20))))
            found = simple_bounds.of_many(((pair, count),), target).enclosure.lower
            assert epsilon / 2 < found <= epsilon


@pytest.mark.parametrize("count", [1000, 4000])
def test_the_lower_tail_is_that_of_the_formula(count: int) -> None:
    """Two losses, 0.3 and -0.1, of an unsymmetric pair: the best u and t of the formula, on a fine grid."""
    pair, t = TwoPoints(Fraction(3, 10), Fraction(4, 10)), np.geomspace(1e-3, 100, 400)[:, None]
    first = (math.exp(0.1) - 1) / (math.exp(0.1) - math.exp(-0.3))
    masses = [(first, first * math.exp(-0.3)), (1 - first, (1 - first) * math.exp(0.1))]
    assert sum(q for _, q in masses) == pytest.approx(1)
    u = np.geomspace(1e-5, 0.9, 400)
    exponent = count * np.log(sum(p ** (1 - u) * q**u for p, q in masses))
    mean = count * sum(p * math.log(p / q) for p, q in masses)
    epsilon = round(0.9 * mean)
    best = float(np.max(-np.expm1(-t) * -np.expm1(np.minimum(0, u * (epsilon + t) + exponent))))
    found = simple_bounds.of_many(((pair, count),), Target("epsilon", Fraction(epsilon))).enclosure.lower
    assert 0.8 * best < found <= best * (1 + 1e-4)
    spent = float(np.max((-math.log(2) - exponent) / u)) + math.log1p(-2 * 0.2)  # δ = 0.2, t = -log(1 - 2δ)
    at_delta = simple_bounds.of_many(((pair, count),), Target("delta", Fraction(1, 5))).enclosure.lower
    assert spent - 0.02 * (mean - spent) < at_delta <= spent + 1e-4


def test_many_releases_of_continuous_loss_spend_more_than_its_lower_tail() -> None:
    """Gaussian noise, whose sum is known: cells of an unbounded loss."""
    for count, epsilon in ((5_000, 20), (50_000, 240), (200, 0)):
        pair, whole = ShiftedGaussians(Fraction(1, 100)), ShiftedGaussians(Fraction(count, 100))
        exact = delta(dp.Gaussian(10) ** count, epsilon).exact_upper
        low = simple_bounds.of_many(((pair, count),), Target("epsilon", Fraction(epsilon))).enclosure.exact_lower
        at_once = simple_bounds.of_many(((whole, 1),), Target("epsilon", Fraction(epsilon))).enclosure.exact_lower
        assert 0 < low <= exact
        assert 0 < at_once <= exact
    with pytest.raises(Declined):
        simple_bounds.of_many(((pair, 200),), Target("epsilon", Fraction(30)))
    with pytest.raises(Declined):
        simple_bounds.of_many(((pair, 200),), Target("delta", Fraction(1, 2)))


@pytest.mark.seconds
def test_millions_of_releases_have_a_number_that_does_not_fit() -> None:
    """It was 17 287 471, after minutes: no lattice holds the sum, and no other method had a bound from below."""
    left = dp.remaining(dp.Laplace(2), 1_000_000, "1e-5")
    assert left.too_many is not None
    assert 9_320_000 < left.more < left.too_many < 9_400_000
