"""Chains of neighbours: exact for Gaussians, above every chain of small laws; and groups of a mechanism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.privacy import mechanisms
from dpbounds.privacy.accountants import groups as group_accounts
from dpbounds.privacy.accountants.certified import account, prove_delta
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.notions.group_privacy import Chain, Link, Profile
from dpbounds.privacy.pairs.pairs import Direction, Pair, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta
from tests.privacy.small_laws import Pair as Laws, hockey_stick, swapped


def closed_form(pair: Pair) -> Profile:
    return lambda epsilon: ball_end(closed_form_delta(pair, epsilon)[0], "up")


def equal_links(profile: Profile, size: int) -> Chain:
    return Chain((Link(profile, profile),) * size)


def bound(chain: Chain, epsilon: Fraction) -> Fraction:
    """δ at the best split of ε that the search finds."""
    return chain.upper(chain.best(epsilon))


def least(chain: Chain, delta: Fraction) -> Fraction:
    """The least ε that the search finds for δ, with what is proven of it."""
    parts = chain.parts_for(delta, 1e-6)
    assert chain.upper(parts) <= delta
    return sum(parts, Fraction(0))


@pytest.mark.seconds_cases("3-squared_shift1", "6-squared_shift1")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("squared_shift", [Fraction(1, 100), Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_groups_of_gaussians_are_gaussians_with_a_larger_shift(squared_shift: Fraction, size: int) -> None:
    chain = equal_links(closed_form(ShiftedGaussians(squared_shift)), size)
    exact = closed_form(ShiftedGaussians(squared_shift * size**2))
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(3), Fraction(12)):
        found = bound(chain, epsilon)
        assert found >= exact(epsilon) * (1 - Fraction(1, 1 << 50))
        if epsilon >= size * squared_shift * (size - 1) / 2:  # no part below zero: nothing is capped
            assert found <= exact(epsilon) * (1 + Fraction(1, 10**6))
    within = least(chain, Fraction("1e-6"))
    assert exact(within) <= Fraction("1e-6") * (1 + Fraction(1, 1 << 50))
    assert exact(within * (1 - Fraction(1, 10**5))) > Fraction("1e-6")


def test_negative_parts_are_needed_and_sound() -> None:
    """Large shift, small ε: the best first part is negative, which an equal split with its cap cannot match."""
    profile = closed_form(ShiftedGaussians(Fraction(1)))
    exact = closed_form(ShiftedGaussians(Fraction(4)))(Fraction(1, 4))
    equal = profile(Fraction(1, 8)) * (1 + Fraction(math.exp(0.125)))
    assert exact <= bound(equal_links(profile, 2), Fraction(1, 4)) < min(equal, exact * Fraction(1000001, 1000000))


@pytest.mark.parametrize("size", ["0.1", "1", "3"])
def test_pairs_of_randomised_responses(size: str) -> None:
    """For two links the bound is convex and piecewise linear in e^ε_1: its minimum is at a kink."""
    single = Fraction(size)

    def profile(epsilon: Fraction) -> Fraction:
        with ctx.workprec(128):
            growth = ball(single).exp()
            return ball_end((growth - ball(epsilon).exp()) / (1 + growth), "up") if epsilon < single else Fraction(0)

    def h(part: float) -> float:
        a, e = math.exp(part), math.exp(float(single))
        return max(0.0, 1 - a, (e - a) / (1 + e))

    for share in (0.0, 0.3, 1.0, 1.7, 2.0, 3.0):
        epsilon = share * float(single)
        kinks = [part for end in (-float(single), float(single)) for part in (end, epsilon - end)]
        best = min(h(part) + math.exp(part) * h(epsilon - part) for part in kinks)
        found = float(bound(equal_links(profile, 2), Fraction(epsilon)))
        assert best - 1e-12 <= found <= best * (1 + 1e-4) + 1e-12


def largest(links: Iterable[Laws]) -> Profile:
    pairs = list(links)
    return lambda epsilon: Fraction(max(hockey_stick(pair, math.exp(epsilon)) for pair in pairs)) + Fraction(1, 10**13)


def chains(count: int, length: int) -> Iterable[list[Laws]]:
    """Chains of laws on three points, by their links."""
    raw = np.random.default_rng(17).random((count, length + 1, 3)) ** 2 + 0.01
    for laws in raw / raw.sum(axis=2, keepdims=True):
        yield [list(zip(*link, strict=True)) for link in (*itertools.pairwise(laws.tolist()), (laws[0], laws[-1]))]


@pytest.mark.parametrize("length", [2, *(pytest.param(length, marks=pytest.mark.seconds) for length in (3, 4))])
def test_no_chain_of_three_point_laws_beats_the_bound(length: int) -> None:
    for *links, ends in chains(6, length):
        back = [swapped(link) for link in links]
        own = Chain([Link(largest([link]), largest([swapped(link)])) for link in links])
        forward, backward = largest(links), largest(back)
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
            assert hockey_stick(ends, math.exp(epsilon)) <= bound(own, epsilon) <= 1
            for pair, one, other in ((ends, forward, backward), (swapped(ends), backward, forward)):
                assert hockey_stick(pair, math.exp(epsilon)) <= bound(Chain((Link(one, other),) * length), epsilon)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(1)])
def test_replacing_is_removing_and_adding(rate: Fraction) -> None:
    remove, add, replace = (closed_form(SampledGaussians(direction, rate, Fraction(1))) for direction in Direction)
    chain = Chain((Link(remove, add), Link(add, remove)))
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(4)):
        found = bound(chain, epsilon)
        assert found >= replace(epsilon) * (1 - Fraction(1, 1 << 50))
        if rate == 1 and epsilon >= 1:
            assert found <= replace(epsilon) * (1 + Fraction(1, 10**6))
    assert replace(least(chain, Fraction("1e-5"))) <= Fraction("1e-5")


def test_a_profile_known_at_one_point_gives_the_classical_bound() -> None:
    """(ε, δ) at every link: the chain at kε can do no worse than δ (e^(kε) - 1)/(e^ε - 1)."""
    epsilon, delta = Fraction(1, 2), Fraction(1, 1000)
    chain = equal_links(lambda at: delta if at >= epsilon else Fraction(1), 3)
    assert float(bound(chain, 3 * epsilon)) <= float(delta) * math.expm1(1.5) / math.expm1(0.5) * (1 + 1e-9)


def test_what_no_chain_can_have_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least one link"):
        Chain(())
    with pytest.raises(InvalidValue, match="must not be negative"):
        bound(equal_links(lambda epsilon: Fraction(-1), 2), Fraction(1))
    with pytest.raises(NotCertified, match="no ε was found"):
        least(equal_links(lambda epsilon: Fraction(1, 10), 2), Fraction("0.05"))


# --- Groups of a mechanism -------------------------------------------------------------------------------------------

AR, RE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
WEAK = (mechanisms.Gaussian(1), mechanisms.Gaussian(1000))


@pytest.mark.parametrize(
    ("mechanism", "relation", "alike"),
    [
        (mechanisms.InParallel(WEAK), AR, mechanisms.Gaussian("0.5")),
        (mechanisms.InParallel(WEAK[::-1]), AR, mechanisms.Gaussian("0.5")),
        (mechanisms.InParallel(WEAK), RE, mechanisms.Gaussian("0.25")),
        (mechanisms.InParallel(WEAK, "index"), RE, mechanisms.Gaussian("0.25")),
        (mechanisms.InParallel((mechanisms.Laplace(8), mechanisms.Laplace(2))), AR, mechanisms.Laplace(1)),
        (mechanisms.InParallel((mechanisms.Laplace(8), mechanisms.Laplace(2))), RE, mechanisms.Laplace("0.5")),
    ],
)
@pytest.mark.parametrize("epsilon", ["0", "1"])
def test_a_group_in_the_worst_block(
    mechanism: mechanisms.Mechanism, relation: Relation, alike: mechanisms.Mechanism, epsilon: str
) -> None:
    """Two records in one block move its answer twice as far: as one record with half the noise does."""
    found = group_account(mechanism, 2, epsilon=epsilon, relation=relation)
    truth = account(alike, epsilon=epsilon).enclosure
    assert found.exact_upper >= truth.exact_lower
    assert found.overlaps(truth)


def test_a_group_shared_out_over_two_blocks_can_be_the_dearest() -> None:
    """With δ = .3 at once in one block and pure ε in the other, one record in each is worse than two in either."""
    failing = mechanisms.ApproximateDP(0, "0.3", relation=AR)
    pure = mechanisms.PureDP(1, relation=AR)
    found = group_account(mechanisms.InParallel((failing, pure)), 2, epsilon="0.5").exact_upper
    one_each = account(failing @ pure, epsilon="0.5").enclosure.exact_lower
    assert found >= one_each > account(mechanisms.PureDP(1, relation=AR), epsilon="0.5").enclosure.exact_upper


def test_equal_blocks_that_select_are_not_one() -> None:
    """Each of two records in a block of its own, the second selection made in view of the first."""
    select = mechanisms.ExponentialMechanism(1, relation=AR)
    found = group_account(mechanisms.InParallel((select, select)), 2, epsilon="0.25").exact_upper
    one_each, both = account(select @ select, epsilon="0.25"), group_account(select, 2, epsilon="0.25")
    assert found >= max(one_each.enclosure.exact_upper, both.exact_upper) * Fraction(999, 1000)


@pytest.mark.seconds
def test_a_chain_through_blocks_takes_the_worst_of_each_direction() -> None:
    one, other = (mechanisms.PoissonSampled(mechanisms.RandomizedResponse(e), 1) for e in (1, "0.1"))
    sampled = (mechanisms.SampledWithoutReplacement(mechanisms.Gaussian(z), 1, 4) for z in (1, 50))
    for blocks, k in (((one, other), 2), (tuple(sampled), 2)):
        mechanism = mechanisms.InParallel(blocks, "index")
        worst = group_account(blocks[0], k, epsilon="0.5", relation=RE)
        found = group_account(mechanism, k, epsilon="0.5", relation=RE)
        assert found.exact_upper >= worst.exact_lower
        assert float(found.exact_upper) >= 0.99 * float(worst.exact_upper)


@pytest.mark.seconds
def test_a_chain_of_sampled_releases_needs_few_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What took half a minute: a certified profile at 28 points in each direction, where two points are needed."""
    proofs = []

    def counted(*arguments: object) -> object:
        proofs.append(arguments)
        return prove_delta(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(group_accounts, "prove_delta", counted)
    gaussian = mechanisms.PoissonSampled(mechanisms.Gaussian("0.5"), "0.5")
    mechanism = gaussian @ mechanisms.SampledWithReplacement(mechanisms.Laplace(1), 1, 3)
    found = group_account(mechanism, 2, epsilon=0)
    assert 0.4 < found.lower < 0.75 < found.upper < 0.76  # the second link draws one of two
    assert len(proofs) <= 2


@pytest.mark.seconds
@pytest.mark.parametrize("decay", ["1.2", "1.6", "4"])
@pytest.mark.parametrize("size", [3, 5])
def test_parts_grow_along_a_chain_of_heavy_tails(decay: str, size: int) -> None:
    rate, delta = Fraction(decay), Fraction(1, 10**5)
    share, total = math.log(size / delta), 0.0
    for _ in range(size):  # δ(ε) = e^(-cε), and every link has the same share of δ
        total += (share + total) / float(rate)

    def profile(epsilon: Fraction) -> Fraction:
        return ball_end((-ball(rate * epsilon)).exp(), "up")

    assert least(equal_links(profile, size), delta) <= 1.001 * total
    assert float(bound(equal_links(profile, size), Fraction(total))) <= 1.01 * float(delta)
    with pytest.raises(NotCertified, match="fewer records"):
        least(equal_links(profile, 400), delta)


@pytest.mark.minutes
def test_a_group_on_batches_of_a_fixed_size() -> None:
    steps = mechanisms.SampledWithoutReplacement(mechanisms.Gaussian(1), 100, 10_000) ** 100
    found = group_account(steps, 5, delta="1e-5", relation="replace-one")
    assert found.upper < 125
    back = group_account(steps, 5, epsilon=found.exact_upper, relation="replace-one")
    assert back.upper <= 1.1e-5
