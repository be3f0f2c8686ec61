"""Chains of neighbours: exact for Gaussians, above every chain of small laws, and what else follows from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import ctx

from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import ball_end
from dpbounds.privacy import mechanisms
from dpbounds.privacy.accountants import groups as group_accounts
from dpbounds.privacy.accountants.certified import account, prove_delta
from dpbounds.privacy.accountants.groups import group_account
from dpbounds.privacy.notions.composition_theorems import EpsilonDelta
from dpbounds.privacy.notions.group_privacy import (
    Link,
    Profile,
    chain_delta,
    group_epsilon,
    group_guarantee,
    group_profile,
    group_zcdp,
    replace_epsilon,
    replace_profile,
)
from dpbounds.privacy.pairs.pairs import Direction, Pair, SampledGaussians, ShiftedGaussians
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta

Law = list[float]


def closed_form(pair: Pair) -> Profile:
    return lambda epsilon: ball_end(closed_form_delta(pair, epsilon)[0], "up")


def randomised_response(size: Fraction) -> Profile:
    def profile(epsilon: Fraction) -> Fraction:
        if epsilon >= size:
            return Fraction(0)
        with ctx.workprec(128):
            return ball_end((ball(size).exp() - ball(epsilon).exp()) / (1 + ball(size).exp()), "up")

    return profile


@pytest.mark.rotating(4)
@pytest.mark.parametrize("squared_shift", [Fraction(1, 100), Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_groups_of_gaussians_are_gaussians_with_a_larger_shift(squared_shift: Fraction, size: int) -> None:
    link = Link.symmetric(closed_form(ShiftedGaussians(squared_shift)))
    exact = closed_form(ShiftedGaussians(squared_shift * size**2))
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(3), Fraction(12)):
        found = group_profile(link, size, epsilon)
        assert found.exact_lower == 0
        assert found.exact_upper >= exact(epsilon) * (1 - Fraction(1, 1 << 50))
        if epsilon >= size * squared_shift * (size - 1) / 2:  # no part below zero: nothing is capped
            assert found.exact_upper <= exact(epsilon) * (1 + Fraction(1, 10**6))
    within = group_epsilon(link, size, "1e-6").exact_upper
    assert exact(within) <= Fraction("1e-6") * (1 + Fraction(1, 1 << 50))
    assert exact(within * (1 - Fraction(1, 10**5))) > Fraction("1e-6")


def test_negative_parts_are_needed_and_sound() -> None:
    """Large shift, small ε: the best first part is negative, which an equal split with its cap cannot match."""
    profile = closed_form(ShiftedGaussians(Fraction(1)))
    exact = closed_form(ShiftedGaussians(Fraction(4)))(Fraction(1, 4))
    found = group_profile(Link.symmetric(profile), 2, Fraction(1, 4)).exact_upper
    equal = profile(Fraction(1, 8)) * (1 + Fraction(math.exp(0.125)))
    assert exact <= found < equal
    assert found < exact * Fraction(1000001, 1000000)


@pytest.mark.parametrize("size", ["0.1", "1", "3"])
def test_pairs_of_randomised_responses(size: str) -> None:
    """For two links the bound is convex and piecewise linear in e^ε_1: its minimum is at a kink."""
    single = Fraction(size)

    def h(part: float) -> float:
        a, e = math.exp(part), math.exp(float(single))
        return max(0.0, 1 - a, (e - a) / (1 + e))

    for share in (0.0, 0.3, 1.0, 1.7, 2.0, 3.0):
        epsilon = share * float(single)
        kinks = [part for end in (-float(single), float(single)) for part in (end, epsilon - end)]
        best = min(h(part) + math.exp(part) * h(epsilon - part) for part in kinks)
        found = group_profile(Link.symmetric(randomised_response(single)), 2, epsilon).upper
        assert best - 1e-12 <= found <= best * (1 + 1e-4) + 1e-12


def hockey_stick(first: Law, second: Law, epsilon: float) -> float:
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(first, second, strict=True))


def rounded_up(value: float) -> Fraction:
    return Fraction(value) + Fraction(1, 10**13)


def largest(links: list[tuple[Law, Law]]) -> Profile:
    return lambda epsilon: rounded_up(max(hockey_stick(p, q, float(epsilon)) for p, q in links))


def chains(count: int, length: int) -> list[list[Law]]:
    draw = np.random.default_rng(17)
    found = []
    for _ in range(count):
        laws = []
        for _ in range(length + 1):
            raw = draw.random(3) ** 2 + 0.01
            laws.append([float(x) for x in raw / raw.sum()])
        found.append(laws)
    return found


@pytest.mark.parametrize("length", [2, *(pytest.param(length, marks=pytest.mark.thorough) for length in (3, 4))])
def test_no_chain_of_three_point_laws_beats_the_bound(length: int) -> None:
    for laws in chains(12, length):
        steps = list(itertools.pairwise(laws))
        forward, backward = largest(steps), largest([(q, p) for p, q in steps])
        own = [Link(largest([(p, q)]), largest([(q, p)])) for p, q in steps]
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
            there = hockey_stick(laws[0], laws[-1], float(epsilon))
            back = hockey_stick(laws[-1], laws[0], float(epsilon))
            assert there <= chain_delta(own, epsilon).upper <= 1
            assert max(there, back) <= group_profile(Link(forward, backward), length, epsilon).upper


def test_chains_need_the_factors() -> None:
    """Planted error: without e^(ε_1 + ...) in front of later links, some chain of laws would beat the sum."""
    beaten = 0
    for laws in chains(200, 2):
        first, middle, last = laws
        naive = hockey_stick(first, middle, 1.0) + hockey_stick(middle, last, 1.0)
        beaten += hockey_stick(first, last, 2.0) > naive + 1e-9
    assert beaten > 0


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(1)])
def test_replacing_is_removing_and_adding(rate: Fraction) -> None:
    remove, add, replace = (
        closed_form(SampledGaussians(direction, rate, Fraction(1)))
        for direction in (Direction.REMOVE, Direction.ADD, Direction.REPLACE)
    )
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(4)):
        found = replace_profile(remove, add, epsilon).exact_upper
        assert found >= replace(epsilon) * (1 - Fraction(1, 1 << 50))
        if rate == 1 and epsilon >= 1:
            assert found <= replace(epsilon) * (1 + Fraction(1, 10**6))
    within = replace_epsilon(remove, add, "1e-5").exact_upper
    assert replace(within) <= Fraction("1e-5")
    assert replace_profile(remove, add, within).exact_upper <= Fraction("1e-5") * (1 + Fraction(1, 1000))


def test_group_guarantee() -> None:
    assert group_guarantee(EpsilonDelta(0, "0.01"), 5) == EpsilonDelta(0, "0.05")
    assert group_guarantee(EpsilonDelta("0.5"), 4) == EpsilonDelta(2)
    assert group_guarantee(EpsilonDelta("0.5", "1e-6"), 1).epsilon == Fraction(1, 2)
    assert group_guarantee(EpsilonDelta(5, "0.5"), 100) == EpsilonDelta(500, 1)
    with mp.workdps(40):
        found = group_guarantee(EpsilonDelta("0.5", "1e-6"), 3).delta
        expected = mp.mpf("1e-6") * mp.fsum(mp.exp(j * mp.mpf("0.5")) for j in range(3))
        excess = mp.mpf(found.numerator) / found.denominator - expected
        assert 0 <= excess < expected * mp.mpf("1e-30")


def test_group_guarantee_is_the_equal_split() -> None:
    """A profile known at one point only: the chain at kε can do no worse than the classical bound."""
    epsilon, delta = Fraction(1, 2), Fraction(1, 1000)

    def known(at: Fraction) -> Fraction:
        return delta if at >= epsilon else Fraction(1)

    classical = group_guarantee(EpsilonDelta(epsilon, delta), 3)
    found = group_profile(Link.symmetric(known), 3, classical.epsilon)
    assert found.exact_upper <= classical.delta * (1 + Fraction(1, 10**9))


def renyi(first: Law, second: Law, order: float) -> float:
    exponents = [order * math.log(p) + (1 - order) * math.log(q) for p, q in zip(first, second, strict=True)]
    return float(np.logaddexp.reduce(exponents)) / (order - 1)


def test_group_zcdp() -> None:
    assert group_zcdp("0.5", 3) == Fraction(9, 2)
    orders = [1 + 10 ** (i / 4) for i in range(-12, 17)]
    for length in (2, 3):
        for laws in chains(20, length):
            rho = max(renyi(p, q, order) / order for p, q in itertools.pairwise(laws) for order in orders)
            total = float(group_zcdp(rho, length)) * 1.001  # the supremum over a grid of orders, nearly
            assert all(renyi(laws[0], laws[-1], order) <= total * order for order in orders)


@pytest.mark.parametrize(
    "call",
    [
        lambda link: group_profile(link, 0, 1),
        lambda link: group_profile(link, 2, -1),
        lambda link: group_epsilon(link, 2, 0),
        lambda link: group_epsilon(link, 2, "0.1", 2),
        lambda link: group_zcdp(-1, 2),
        lambda link: group_guarantee(EpsilonDelta(1), 0),
        lambda link: chain_delta((), Fraction(1)),
        lambda link: group_profile(Link.symmetric(lambda epsilon: Fraction(-1)), 2, 1),
    ],
)
def test_refusals(call: Callable[[Link], object]) -> None:
    with pytest.raises(InvalidValue):
        call(Link.symmetric(randomised_response(Fraction(1))))


def test_a_profile_that_never_falls_is_refused() -> None:
    with pytest.raises(NotCertified, match="no ε was found"):
        group_epsilon(Link.symmetric(lambda epsilon: Fraction(1, 10)), 2, "0.05")


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


def test_a_chain_through_blocks_takes_the_worst_of_each_direction() -> None:
    one, other = (mechanisms.PoissonSampled(mechanisms.RandomizedResponse(e), 1) for e in (1, "0.1"))
    sampled = (mechanisms.SampledWithoutReplacement(mechanisms.Gaussian(z), 1, 4) for z in (1, 50))
    for blocks, k in (((one, other), 2), (tuple(sampled), 2)):
        mechanism = mechanisms.InParallel(blocks, "index")
        worst = group_account(blocks[0], k, epsilon="0.5", relation=RE)
        found = group_account(mechanism, k, epsilon="0.5", relation=RE)
        assert found.exact_upper >= worst.exact_lower
        assert float(found.exact_upper) >= 0.99 * float(worst.exact_upper)


@pytest.mark.thorough
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
    assert 0.4 < found.lower < 0.69 < found.upper < 0.70
    assert len(proofs) <= 2


@pytest.mark.thorough
@pytest.mark.parametrize("decay", ["1.2", "1.6", "4"])
@pytest.mark.parametrize("size", [3, 5])
def test_parts_grow_along_a_chain_of_heavy_tails(decay: str, size: int) -> None:
    rate, delta = Fraction(decay), Fraction(1, 10**5)
    share, total = math.log(size / delta), 0.0
    for _ in range(size):  # δ(ε) = e^(-cε), and every link has the same share of δ
        total += (share + total) / float(rate)
    link = Link.symmetric(lambda epsilon: ball_end((-ball(rate * epsilon)).exp(), "up"))
    found = group_epsilon(link, size, delta).upper
    assert found <= 1.001 * total
    assert float(group_profile(link, size, Fraction(total)).upper) <= 1.01 * float(delta)
    with pytest.raises(NotCertified, match="fewer records"):
        group_epsilon(link, 400, delta)


@pytest.mark.thorough
def test_a_group_on_batches_of_a_fixed_size() -> None:
    steps = mechanisms.SampledWithoutReplacement(mechanisms.Gaussian(1), 100, 10_000) ** 100
    found = group_account(steps, 5, delta="1e-5", relation="replace-one")
    assert found.upper < 125
    back = group_account(steps, 5, epsilon=found.exact_upper, relation="replace-one")
    assert back.upper <= 1.1e-5
