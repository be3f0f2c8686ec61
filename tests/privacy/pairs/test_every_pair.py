"""What each pair says of itself, against the distribution of its loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from flint import arb

from dpbounds.errors import UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import prove_delta
from dpbounds.privacy.pairs.core import LargestLoss, Writer
from dpbounds.privacy.pairs.losses import LossAtom, LossDistribution, ball, law_at, of_atoms
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    Combined,
    CrowdedGaussians,
    Direction,
    Discrete,
    DiscreteGaussianVectors,
    Draws,
    Moments,
    Pair,
    Product,
    Responses,
    Sampled,
    SampledGaussians,
    SecretSteps,
    ShiftedGaussians,
    ShiftedLaplaces,
    ShuffledBatches,
    Tagged,
    TwoGuarantees,
    TwoPoints,
    Zeroed,
    is_attack,
)
from dpbounds.privacy.renyi.moments import log_moment
from tests.privacy.products import EVERY_PAIR
from tests.privacy.routes.test_grouping import ALONE, GROUPED

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
UNLIKE = Tagged(((HALF, TwoPoints(THIRD, HALF)), (HALF, ShiftedLaplaces(HALF))), (THIRD, 1 - THIRD))
PAIRS: list[Pair] = [
    *GROUPED,
    *ALONE,
    UNLIKE,
    *(SampledGaussians(direction, Fraction(1), HALF) for direction in Direction),
    *(Sampled(direction, Draws(THIRD), TwoPoints(THIRD, HALF)) for direction in (Direction.REMOVE, Direction.ADD)),
]
KNOWN = [pair for pair in PAIRS if pair.has_distribution]
ENVELOPE = Zeroed(Direction.REMOVE, Draws(THIRD, 2), Responses(HALF))
SLOW = (Zeroed, CrowdedGaussians)
MIRRORED = [
    pytest.param(pair, marks=pytest.mark.seconds if isinstance(pair, SLOW) else ())
    for pair in (*KNOWN, ENVELOPE)
    if not isinstance(pair, Discrete)  # which has no mirror image of that kind
]
LOSSES = ["-1.1", "-0.3", "0.04", "0.7"]


def _distribution(pair: Pair) -> LossDistribution:
    return law_at(pair, 160)


def test_there_is_one_of_each() -> None:
    assert {type(pair) for pair in PAIRS} == set(EVERY_PAIR)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_a_pair_is_made_of_what_is_inside_it(pair: Pair) -> None:
    assert pair.with_inside(pair.inside) == pair
    assert next(iter(pair.nested())) == pair
    if not isinstance(pair, SecretSteps | ShuffledBatches | Combined):
        assert pair.has_distribution == all(each.has_distribution for each in pair.inside)
    assert hash(pair) == hash(pair.with_inside(pair.inside))
    assert pair.in_words(str)
    assert ".md" in pair.proof


@pytest.mark.parametrize("pair", MIRRORED, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_mirror_image_has_the_laws_exchanged(pair: Pair, loss: str) -> None:
    """H_α(Q ‖ P) = 1 - α + α H_{1/α}(P ‖ Q)."""
    with working(160):
        alpha = arb(loss).exp()
        other = 1 - alpha + alpha * _distribution(pair).delta(-arb(loss))
        assert abs(_distribution(pair.mirrored()).delta(arb(loss)) - other) < 1e-25


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not pair.has_distribution], ids=str)
def test_the_mirror_image_of_what_has_no_distribution(pair: Pair) -> None:
    assert pair.mirrored().mirrored() == pair
    assert getattr(pair.mirrored(), "direction", None) != Direction.REMOVE
    with pytest.raises(UnsupportedMechanism):
        Discrete(((Fraction(0), HALF),), HALF).mirrored()


@pytest.mark.parametrize("pair", KNOWN, ids=str)
def test_a_closed_form_is_read_off_the_distribution_as_well(pair: Pair) -> None:
    with working(160):
        for epsilon in (Fraction(0), Fraction(1, 20), HALF, Fraction(2)):
            closed = pair.closed_delta(epsilon)
            if closed is not None:
                apart = abs(closed - _distribution(pair).delta(ball(epsilon)))
                assert apart < (1e-2 * closed if isinstance(pair, DiscreteGaussianVectors) else 1e-35)  # two bounds
    if not isinstance(pair, DiscreteGaussianVectors):
        assert (pair.closed_delta(HALF) is None) == (pair.dominating_shift is None)


@pytest.mark.parametrize("pair", KNOWN, ids=str)
@pytest.mark.seconds
def test_atoms_are_as_many_as_are_said(pair: Pair) -> None:
    if pair.atom_count is not None and not isinstance(pair, Sampled):
        points = {str(point.loss.mid()) for point in _distribution(pair).points}
        assert len(points) <= pair.atom_count + 1  # one for what is not drawn
        assert _distribution(pair).discrete
    elif _distribution(pair).discrete and pair.inside == ():
        assert pair.atom_count is None  # an envelope, or cells


@pytest.mark.parametrize("pair", KNOWN, ids=str)
def test_moments_that_are_the_pairs_own_are_integrals_over_its_profile(pair: Pair) -> None:
    """E_Q r^λ = λ(λ-1) ∫ e^((λ-1)l) H(e^l) dl."""
    order = Fraction(3, 2)
    if Moments.EXACT_AND_OWN not in pair.moments:
        return
    try:
        claimed = float(log_moment(pair, order).exp())
    except UnsupportedMechanism:
        return
    law = _distribution(pair)
    if law.infinite > 0:
        assert claimed == float("inf")
        return
    step, first, last = 1 / 32, -16, 28
    with working(96):
        profile = [float(law.delta(arb(first + k * step)).mid()) for k in range(round((last - first) / step) + 1)]
    k = float(order) - 1
    weighed = [math.exp(k * (first + index * step)) * height for index, height in enumerate(profile)]
    left = math.exp(k * first) / k  # H is 1 there, but for e^first
    found = float(order) * k * (step * (math.fsum(weighed) - weighed[0] / 2) + left)
    assert claimed == pytest.approx(found, rel=3e-4)


def test_what_an_attack_says_is_no_bound() -> None:
    attack = AllocatedTo(Direction.REMOVE, 3, 2, ShiftedGaussians(HALF))
    assert is_attack(((ShiftedGaussians(HALF), 1), (attack, 2)))
    assert not is_attack(((ShiftedGaussians(HALF), 1), (Allocated(Direction.REMOVE, 3, ((attack.base, 3),)), 1)))
    assert attack.bin_published() is None
    assert TwoGuarantees(THIRD, ShiftedLaplaces(HALF), ShiftedLaplaces(HALF)).moments == Moments.BOUND


@dataclass(frozen=True, slots=True)
class _Coins(Pair):
    """A new pair that says as little as a class may: losses log 3 and -log 3 or, with P-mass 1/10, ∞."""

    def in_words(self, write: Writer) -> str:
        return f"coins of {write(HALF)}"

    @property
    def proof(self) -> str:
        return "coins.md"

    def distribution(self) -> LossDistribution:
        loss, rest = arb(3).log(), arb(1) / 10
        return of_atoms(
            [LossAtom(loss, 27 * rest / 4, 9 * rest / 4), LossAtom(-loss, 9 * rest / 4, 27 * rest / 4)], rest
        )

    def largest_loss(self) -> LargestLoss:
        return arb("inf")

    def mirrored(self) -> Pair:
        return self

    def revealed(self) -> Product | None:
        return None


@pytest.mark.seconds
@pytest.mark.parametrize("count", [1, 20])
def test_a_new_pair_is_composed_by_its_distribution(count: int) -> None:
    expected = 1 - 0.9**count
    for k in range(count + 1):
        loss = (2 * k - count) * math.log(3)
        mass = math.comb(count, k) * 0.675**k * 0.225 ** (count - k)
        expected += mass * max(0.0, -math.expm1(1 - loss))
    found = prove_delta(((_Coins(), count),), Fraction(1), 1e-6).enclosure
    assert float(found.exact_lower) == pytest.approx(expected, rel=1e-6)
    assert float(found.exact_upper) == pytest.approx(expected, rel=1e-6)


def test_a_new_pair_claims_nothing_else() -> None:
    new = _Coins()
    assert new.moments == Moments.BOUND
    assert new.costs() is new.atom_count is new.attack(Direction.ADD) is new.closed_delta(HALF) is None
    assert [new.gathers, new.enlarges_exactly, new.is_known] == [False] * 3
    with pytest.raises(UnsupportedMechanism, match="what 2 records cost"):
        new.enlarged(2)
    with pytest.raises(UnsupportedMechanism, match="no ρ is proven"):
        new.zcdp_rho()
    with pytest.raises(UnsupportedMechanism, match="divergence of _Coins"):
        log_moment(new, 2)
