"""Poisson samples of users: ``by_user.md``, against integrals over the outputs on datasets of our own."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.algorithms.ledger import DescribedRelease, Ledger
from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms.core import Trait
from dpbounds.privacy.mechanisms.descriptions import described
from dpbounds.privacy.pairs.pairs import ShiftedGaussians
from dpbounds.privacy.publishing.certificates import why_no_certificate
from dpbounds.privacy.relations import Relation

AR, RE, ZO = Relation
X = np.linspace(-60, 260, 64_001)
Users = dict[str, float]  # what the records of each user add up to


def density(users: Users, rate: float, noise: float) -> np.ndarray:
    """Of the noisy sum over a sample of users."""
    found = np.zeros_like(X)
    for drawn in itertools.product((False, True), repeat=len(users)):
        chance = math.prod(rate if each else 1 - rate for each in drawn)
        mean = sum(total for total, each in zip(users.values(), drawn, strict=True) if each)
        found += chance * np.exp(-(((X - mean) / noise) ** 2) / 2)
    return found / (noise * math.sqrt(2 * math.pi))


def spent(one: Users, other: Users, rate: float, noise: float, epsilon: float) -> float:
    """δ(ε) of the two datasets, by a sum over a grid."""
    difference = density(one, rate, noise) - math.exp(epsilon) * density(other, rate, noise)
    return float(np.maximum(difference, 0).sum() * (X[1] - X[0]))


def normal_delta(shift: float, epsilon: float) -> float:
    """δ(ε) of N(shift, 1) against N(0, 1)."""

    def upper(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    return upper(epsilon / shift - shift / 2) - math.exp(epsilon) * upper(epsilon / shift + shift / 2)


def changed(users: Users, **terms: float) -> Users:
    """The dataset with these terms added to what users' records add up to."""
    return {name: total + terms.get(name, 0) for name, total in users.items()}


@pytest.mark.parametrize("seed", range(12))
def test_no_two_data_sets_spend_more_than_is_proven(seed: int) -> None:
    chosen = random.Random(seed)
    rate, noise = chosen.choice(("0.1", "0.3", "0.9")), chosen.choice((0.5, 1.0, 2.0))
    users = {name: chosen.choice((0.0, 1.0, chosen.uniform(-5, 5), 40.0)) for name in "uvw"}
    mechanism = dp.PoissonByUser(dp.Gaussian(noise), rate)
    term, into = chosen.choice((1.0, -1.0)), chosen.choice((1.0, -1.0))
    neighbours = {
        AR: [(changed(users, u=term), users), (users, changed(users, u=term))],
        ZO: [(changed(users, u=term), users)],
        RE: [(changed(users, u=1), changed(users, u=-1)), (changed(users, u=term), changed(users, v=into))],
    }
    for relation, several in neighbours.items():
        for epsilon in (0.0, 0.3, 2.0):
            proven = float(dp.delta(mechanism, epsilon, relation).upper)
            for one, other in several:
                assert spent(one, other, float(rate), noise, epsilon) <= proven * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_users_with_many_records_spend_what_is_proven(epsilon: float) -> None:
    mechanism, users = dp.PoissonByUser(dp.Gaussian(1), "0.3"), {"u": 70.0, "v": 130.0}
    removed = spent(changed(users, u=1), users, 0.3, 1, epsilon)
    assert float(dp.delta(mechanism, epsilon, AR).lower) == pytest.approx(removed, rel=1e-4)
    within = spent(changed(users, u=1), changed(users, u=-1), 0.3, 1, epsilon)
    between = spent(changed(users, u=1), changed(users, v=1), 0.3, 1, epsilon)
    # one user's records show in one direction alone: of two that show, the vectors are opposite in another dimension
    both, one = normal_delta(2, epsilon), normal_delta(1, epsilon)
    apart = 0.09 * both + 0.42 * one
    assert between <= apart
    assert float(dp.delta(mechanism, epsilon, RE).lower) == pytest.approx(max(within, apart), rel=1e-4)


def test_either_class_of_replaced_records_may_be_the_dearer() -> None:
    mechanism = dp.PoissonByUser(dp.Gaussian(1), "0.3")
    names = [each.name for each in neighbour_classes(mechanism, RE).every()]
    assert names == ["replace, within one user", "replace, from one user to another"]
    apart = {eps: 0.09 * normal_delta(2, eps) + 0.42 * normal_delta(1, eps) for eps in (0.0, 3.0)}
    assert apart[0.0] > 0.3 * normal_delta(2, 0.0)
    assert apart[3.0] < 0.3 * normal_delta(2, 3.0)


def test_a_record_that_is_replaced_goes_to_another_user_in_all_releases_or_in_none() -> None:
    """Unlike releases have the same two classes: none in which it stays with its user in some and leaves in others."""
    one, other, full = (dp.PoissonByUser(dp.Gaussian(z), q) for z, q in ((1, "0.3"), (2, "0.9"), (3, 1)))
    within, between = neighbour_classes(one**2 @ other @ full @ one, RE).every()
    for found, place in ((within, "within one user"), (between, "from one user to another")):
        expected = [
            (pair, times * count)
            for release, count in ((one, 3), (other, 1))
            for each in neighbour_classes(release, RE).every()
            if each.name == f"replace, {place}"
            for pair, times in each.product
        ]
        assert found.name == f"replace, {place}"
        assert dict(found.product) == dict(expected) | {ShiftedGaussians(Fraction(4, 9)): 1}
    assert len([*neighbour_classes(one @ other, AR).every()]) == 1


def test_a_record_of_a_user_spends_more_than_one_that_is_drawn_alone() -> None:
    by_user, alone = dp.PoissonByUser(dp.Gaussian(2), "0.01") ** 100, dp.PoissonSampled(dp.Gaussian(2), "0.01") ** 100
    assert dp.epsilon(by_user, "1e-5").lower > 10 * dp.epsilon(alone, "1e-5").upper
    assert dp.epsilon(by_user, "1e-5").upper < dp.epsilon(dp.Gaussian(2) ** 100, "1e-5").lower
    assert dp.PoissonByUser(dp.Gaussian(2), 1).resolved() == dp.Gaussian(2)


def test_groups_may_be_of_several_users() -> None:
    """Two records of two users: either is drawn, or both are."""
    mechanism = dp.PoissonByUser(dp.Gaussian(1), "0.3")
    for epsilon in (0.1, 1.0):
        attack = 0.42 * normal_delta(1, epsilon) + 0.09 * normal_delta(2, epsilon)
        assert attack <= float(group_account(mechanism, 2, epsilon=str(epsilon)).upper)


def test_no_attack_is_claimed_where_other_records_may_be_hidden() -> None:
    box = dp.PoissonByUser(dp.PureDP(1, relation=AR), "0.3")
    assert dp.delta(box, "0.1").lower == 0
    assert not neighbour_classes(box, AR).tight
    assert not neighbour_classes(dp.PoissonByUser(dp.Laplace(1), "0.3"), RE).tight
    assert neighbour_classes(dp.PoissonByUser(dp.Gaussian(1), "0.3"), RE).tight


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("sized", "relation"),
    [
        (dp.SampledWithoutReplacement(dp.Gaussian(10**6), 1, 3), RE),
        (dp.SampledWithReplacement(dp.Gaussian(10**6), 1, 3), ZO),
        (dp.TruncatedPoisson(dp.Gaussian(10**6), "0.5", 2, 3), AR),
    ],
)
def test_no_attack_is_claimed_where_a_user_cannot_have_many_records(sized: dp.Mechanism, relation: Relation) -> None:
    """Of three records no user has enough to show, beside noise 5, that their records were drawn."""
    mechanism = dp.PoissonByUser(dp.Gaussian(5), "0.3")
    alone, both = (dp.delta(each, "0.1", relation) for each in (mechanism, mechanism @ sized))
    removed = [({"u": others + 1.0}, {"u": float(others)}) for others in (-2, -1, 0, 1, 2)]
    replaced = [({"u": others + 1.0}, {"u": others - 1.0}) for others in (-2, -1, 0, 1, 2)]
    attained = max(spent(*each, 0.3, 5, 0.1) for each in (replaced if relation is RE else removed))
    assert attained < 0.8 * float(alone.lower)
    assert float(both.lower) < attained
    assert float(both.upper) == pytest.approx(float(alone.upper), rel=1e-2)


@pytest.mark.seconds
def test_users_drawn_in_blocks_and_outside_of_them() -> None:
    """A partition of one block is none: what both ways to say it claim to be attained does not contradict."""
    one, other = dp.PoissonByUser(dp.Gaussian(2), "0.1"), dp.PoissonByUser(dp.Gaussian("0.5"), "0.1")
    block = dp.InParallel((one,), "index")
    in_block, flat = dp.delta(block @ other, "0.3", RE), dp.delta(one @ other, "0.3", RE)
    assert in_block.lower <= flat.upper <= in_block.upper
    assert not neighbour_classes(block @ other, RE).tight
    assert neighbour_classes(block @ other, ZO).tight
    assert neighbour_classes(block @ dp.Gaussian(1), RE).tight


def test_what_is_refused() -> None:
    final = dp.PoissonByUser(dp.Gaussian(noise_stddev=1, sensitivity=1), "0.3")
    assert dp.delta(final, 1, AR).upper == dp.delta(dp.PoissonByUser(dp.Gaussian(1), "0.3"), 1, AR).upper
    for mechanism, relation, why in (
        (final, RE, "leaves one user and enters another"),
        (dp.PoissonByUser(dp.SampledWithoutReplacement(dp.Gaussian(1), 2, 9), "0.3"), AR, "its rate is not public"),
        (dp.PoissonByUser(dp.InParallel((dp.Gaussian(1),)), "0.3"), AR, "blocks in parallel"),
        (dp.PoissonByUser(dp.RandomlyAllocated(dp.Gaussian(1), 3), "0.3"), AR, "steps allocated in secret"),
        (dp.PoissonSampled(dp.PoissonByUser(dp.Gaussian(1), "0.3"), "0.5"), AR, "which a sample does not keep"),
        (dp.SampledWithoutReplacement(dp.PoissonByUser(dp.Gaussian(1), "0.3"), 2, 9), RE, "does not keep"),
    ):
        with pytest.raises(UnsupportedMechanism, match=why):
            dp.epsilon(mechanism, "1e-5", relation)


def test_ledgers_hold_it_and_certificates_say_why_not() -> None:
    mechanism = dp.PoissonByUser(dp.Gaussian(2), "0.01")
    assert Trait.CERTAIN not in mechanism.traits
    entry = described(mechanism, 100)
    assert (entry["sampling"], entry["sample_rate"]) == ("poisson-by-user", "1/100")
    ledger = Ledger((DescribedRelease(mechanism, 100),))
    assert Ledger.from_json(ledger.to_json()) == ledger
    assert "PoissonByUser" in (why_no_certificate(mechanism, AR) or "")
