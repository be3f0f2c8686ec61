"""Conversions: 50-digit twins of every formula, brute force on small pairs, every chain by exhaustion, traps."""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import ndtr

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.notions.concentrated import (
    best_zcdp_order,
    renyi_budget,
    renyi_delta,
    renyi_epsilon,
    zcdp_budget,
    zcdp_delta,
    zcdp_epsilon,
)
from dpbounds.privacy.notions.conversions import convert
from dpbounds.privacy.notions.gaussian import gaussian_budget, gaussian_delta, gaussian_epsilon
from dpbounds.privacy.notions.implications import EDGES, Goal
from dpbounds.privacy.notions.notions import (
    ApproximateDP,
    BoundedRange,
    GaussianDP,
    Notion,
    PureDP,
    RenyiDP,
    TotalVariation,
    ZeroConcentratedDP,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.relations import Relation
from tests.privacy.small_laws import Pair, divergence, hockey_stick, m, responses, swapped

ADD, REPLACE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
DIGITS = 50


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(DIGITS):
        yield


def safely_above(proven: Fraction, truth: mp.mpf, digits: int = 25) -> bool:
    """At least the truth, and equal to it in that many digits."""
    slack = mp.mpf(10) ** -40 * max(abs(truth), mp.mpf(10) ** -300)
    return truth - slack <= m(proven) <= truth + abs(truth) * mp.mpf(10) ** -digits + slack


def root(slope, low: int = -90, high: int = 90) -> mp.mpf:
    """e^t where an increasing function of e^t turns positive, by bisection of t."""
    left, right = mp.mpf(low), mp.mpf(high)
    for _ in range(170):
        middle = (left + right) / 2
        left, right = (left, middle) if slope(mp.exp(middle)) > 0 else (middle, right)
    return mp.exp(right)


# --- one order, zCDP -----------------------------------------------------------------------------------------------

ORDERS = [("11/10", "1/100"), ("2", "1"), ("37/3", "5/2"), ("1000", "1/50")]


@pytest.mark.parametrize(("order", "value"), ORDERS)
def test_one_order_against_the_twin(order, value):
    lam, tau = m(order), m(value)
    for delta in ("1/2", "1e-6", "1e-300"):
        truth = tau + mp.log((lam - 1) / lam) - (mp.log(m(delta)) + mp.log(lam)) / (lam - 1)
        assert safely_above(renyi_epsilon([(order, value)], delta), max(truth, mp.mpf(0)))
    for epsilon in ("0", "3", "40"):
        truth = mp.exp((lam - 1) * (tau - m(epsilon))) / (lam - 1) * (1 - 1 / lam) ** lam
        assert safely_above(renyi_delta([(order, value)], epsilon), min(truth, mp.mpf(1)))


def test_one_order_is_attained():
    # P sits where the loss is z, and Q has the rest of its mass elsewhere: D_λ = z at every order
    order, epsilon = Fraction(7, 2), Fraction(3)
    loss = epsilon + Fraction(mp.nstr(mp.log(m(order) / (m(order) - 1)), 40))
    truth = 1 - mp.exp(m(epsilon - loss))
    assert safely_above(renyi_delta([(order, loss)], epsilon), truth)
    assert m(renyi_delta([(order, loss)], epsilon)) * mp.mpf("0.999999") < truth  # a smaller constant would be wrong


@pytest.mark.parametrize("rho", ["1e-12", "1/50", "3", "1e4"])
@pytest.mark.parametrize("delta", ["9/10", "1e-3", "1e-6", "1e-300"])
def test_zcdp_epsilon_against_the_minimum_over_all_real_orders(rho, delta):
    r, d = m(rho), m(delta)

    def bound(u: mp.mpf) -> mp.mpf:
        return (1 + u) * r + mp.log(u / (1 + u)) - (mp.log(d) + mp.log(1 + u)) / u

    best = bound(root(lambda u: r * u * u + mp.log(d) + mp.log(1 + u)))
    proven = zcdp_epsilon(rho, delta)
    assert safely_above(proven, max(best, mp.mpf(0)))
    classical = zcdp_epsilon(rho, delta, "classical")
    assert proven < classical
    assert safely_above(classical, r + 2 * mp.sqrt(-r * mp.log(d)))


@pytest.mark.parametrize(
    ("rho", "epsilon"), [("1e-12", "1e-5"), ("1/50", "1"), ("1/50", "0"), ("3", "25"), ("1", "900")]
)
def test_zcdp_delta_against_the_minimum_over_all_real_orders(rho, epsilon):
    r, e = m(rho), m(epsilon)

    def log_bound(u: mp.mpf) -> mp.mpf:
        return u * ((1 + u) * r - e) + u * mp.log(u) - (1 + u) * mp.log(1 + u)

    best = mp.exp(log_bound(root(lambda u: (1 + 2 * u) * r - e + mp.log(u / (1 + u)))))
    proven = zcdp_delta(rho, epsilon)
    assert safely_above(proven, best, 15)
    assert proven <= zcdp_delta(rho, epsilon, "classical")


@pytest.mark.parametrize("epsilon", ["0", "1/100", "1", "30"])
@pytest.mark.parametrize("delta", ["1/2", "1e-6", "1e-100"])
def test_budgets_are_inverses_rounded_down(epsilon, delta):
    e, d = Fraction(epsilon), Fraction(delta)
    rho = zcdp_budget(e, d)
    assert zcdp_epsilon(rho, d) <= e + Fraction(1, 10**30)
    assert zcdp_delta(rho * (1 + Fraction(1, 10**9)), e) > d
    order = best_zcdp_order(rho, d)
    assert renyi_epsilon([(order, renyi_budget(order, e, d))], d) <= e + Fraction(1, 10**30)
    mu = gaussian_budget(e, d)
    assert gaussian_delta(mu**2, e) <= d < gaussian_delta((mu * (1 + Fraction(1, 10**15))) ** 2, e)
    assert rho < mu**2 / 2  # the Gaussian curve loses nothing on the way


def test_the_edges_of_the_domain():
    assert zcdp_epsilon(0, "1e-6") == zcdp_epsilon(1, 1) == zcdp_epsilon(1, 2) == zcdp_delta(0, 0) == 0
    assert renyi_epsilon([(2, 0), (3, 5)], "1e-9") == renyi_delta([(2, 0)], 0) == renyi_epsilon([(2, 5)], 1) == 0
    assert renyi_delta([(2, 100)], 0) == 1
    assert Fraction(999, 1000) < zcdp_delta(100, 0) <= 1
    assert renyi_epsilon([(2, "1/1000")], "999/1000") == 0  # the formula is negative there
    assert gaussian_epsilon(0, "1e-6") == gaussian_epsilon(1, 1) == gaussian_delta(0, 0) == 0
    for call in (
        lambda: zcdp_epsilon(-1, "1e-6"),
        lambda: zcdp_epsilon(1, 0),
        lambda: zcdp_epsilon(1, "1e-6", "sharp"),
        lambda: zcdp_delta(1, -1),
        lambda: zcdp_delta(1, 1, "sharp"),
        lambda: renyi_epsilon([(1, 1)], "1e-6"),
        lambda: renyi_epsilon([], "1e-6"),
        lambda: renyi_delta([(2, 1), (2, 3)], 1),
        lambda: renyi_budget(1, 1, "1e-6"),
        lambda: zcdp_budget(1, 1),
        lambda: gaussian_budget(1, 0),
        lambda: PureDP(-1, ADD),
        lambda: PureDP(1, "neighbour"),
        lambda: PureDP(1, ADD, 0),
        lambda: ApproximateDP(1, 2, ADD),
        lambda: TotalVariation("-0.1", ADD),
        lambda: convert(PureDP(1, ADD), ApproximateDP),
        lambda: convert(PureDP(1, ADD), ApproximateDP, delta="1e-6", epsilon=1),
        lambda: convert(PureDP(1, ADD), TotalVariation, delta="1e-6"),
        lambda: convert(PureDP(1, ADD), RenyiDP),
        lambda: convert(PureDP(1, ADD), PureDP, orders=(2,)),
    ):
        with pytest.raises(InvalidValue):
            call()


# --- closed forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "20"])
@pytest.mark.parametrize("order", ["1001/1000", "2", "75/2"])
def test_pure_has_the_curve_of_randomised_response(epsilon, order):
    found = convert(PureDP(epsilon, ADD), RenyiDP, orders=[order]).notion
    assert isinstance(found, RenyiDP)
    with mp.workdps(3 * DIGITS):
        truth = divergence(responses(mp.exp(m(epsilon))), m(order))
    assert safely_above(found.points[0][1], truth)


@pytest.mark.parametrize("epsilon", ["1e-20", "1/1000", "1", "20", "1000"])
def test_pure_is_zcdp_with_the_least_rho(epsilon):
    rho = convert(PureDP(epsilon, ADD), ZeroConcentratedDP).notion.rho
    assert safely_above(rho, m(epsilon) * mp.tanh(m(epsilon) / 2))
    assert rho <= Fraction(epsilon) ** 2 / 2
    with mp.workdps(600):
        pair = responses(mp.exp(m(epsilon)))
        ratios = [divergence(pair, 1 + mp.mpf(u)) / (1 + mp.mpf(u)) for u in ("1e-12", "0.01", "0.5", "3", "50")]
        assert max(ratios) <= m(rho)
        assert max(ratios) > m(rho) * (1 - mp.mpf("1e-5"))  # a rho that is smaller by 1e-5 would be wrong


@pytest.mark.parametrize(("epsilon", "delta"), [("1/10", "1e-6"), ("1", "0"), ("3", "1/5"), ("0", "1/3")])
def test_approximate_at_other_targets_is_the_extremal_pair(epsilon, delta):
    known, pair = ApproximateDP(epsilon, delta, REPLACE), responses(mp.exp(m(epsilon)), m(delta))
    for part in ("0", "1/3", "99/100"):
        smaller = Fraction(part) * known.epsilon
        found = convert(known, ApproximateDP, epsilon=smaller).notion
        assert safely_above(found.delta, hockey_stick(pair, mp.exp(m(smaller))))
        back = convert(known, ApproximateDP, delta=found.delta).notion
        assert abs(back.epsilon - smaller) < Fraction(1, 10**25)
    assert safely_above(convert(known, TotalVariation).notion.delta, hockey_stick(pair, 1))
    assert convert(known, ApproximateDP, epsilon=known.epsilon + 1).notion.delta == known.delta
    assert convert(known, ApproximateDP, delta=1).notion.epsilon == 0


@pytest.mark.parametrize("eta", ["1/100", "1", "12"])
def test_the_profile_of_bounded_range_is_the_largest_over_two_point_laws(eta):
    length = m(eta)

    def two_points(t: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
        w = (mp.exp(-t) - mp.exp(-length)) / (1 - mp.exp(-length))
        pair = [(w * mp.exp(t), w), (1 - w * mp.exp(t), 1 - w)]
        return hockey_stick(pair, mp.exp(epsilon))

    for part in ("0", "1/4", "9/10"):
        epsilon = Fraction(part) * Fraction(eta)
        found = convert(BoundedRange(eta, ADD), ApproximateDP, epsilon=epsilon).notion
        best = two_points((m(epsilon) + length) / 2, m(epsilon))
        assert safely_above(found.delta, best)
        assert all(two_points(length * k / 50, m(epsilon)) <= best + mp.mpf("1e-45") for k in range(51))
        back = convert(BoundedRange(eta, ADD), ApproximateDP, delta=found.delta).notion
        assert abs(back.epsilon - epsilon) < Fraction(1, 10**25)


def test_the_gaussian_profile_against_the_twin():
    for mu, epsilon in (("1/5", "1"), ("3", "7"), ("1/1000", "0")):
        s, e = m(mu), m(epsilon)
        truth = mp.ncdf(s / 2 - e / s) - mp.exp(e) * mp.ncdf(-s / 2 - e / s)
        found = convert(GaussianDP(mu, ADD), ApproximateDP, epsilon=epsilon).notion
        assert safely_above(found.delta, truth, 15)
        if epsilon != "0":
            back = convert(GaussianDP(mu, ADD), ApproximateDP, delta=found.delta).notion
            assert abs(back.epsilon - Fraction(epsilon)) < Fraction(1, 10**12)
    assert convert(GaussianDP("1/5", ADD), ZeroConcentratedDP).notion.rho == Fraction(1, 50)
    assert convert(GaussianDP("1/5", ADD), RenyiDP, orders=[3]).notion.points == ((Fraction(3), Fraction(3, 50)),)


# --- every edge, on pairs for which the guarantee can be computed ----------------------------------------------------


def pair_of(first: list[int], second: list[int]) -> Pair:
    return [(p / sum(first), q / sum(second)) for p, q in zip(first, second, strict=True)]


def losses(pair: Pair) -> list[float]:
    return [math.log(p / q) for p, q in pair]


def renyi(pair: Pair, order: float) -> float:
    logs = np.log(np.array(pair))
    exponents = np.array([[order, 1 - order], [1 - order, order]])  # of P and Q, in both orders
    return float(np.logaddexp.reduce(logs @ exponents).max()) / (order - 1)


def profile(pair: Pair, epsilon: float) -> float:
    return max(hockey_stick(one, math.exp(epsilon)) for one in (pair, swapped(pair)))


def gaussian(mu: float, epsilon: float) -> float:
    if mu == 0:
        return max(0.0, 1 - math.exp(epsilon))
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def holds(notion: Notion, pair: Pair, slack: float = 1e-9) -> bool:
    """Whether the pair has the guarantee, in both orders, up to round-off."""
    match notion:
        case PureDP(epsilon=epsilon):
            return max(map(abs, losses(pair))) <= epsilon + slack
        case BoundedRange(eta=eta):
            return max(losses(pair)) - min(losses(pair)) <= eta + slack
        case ApproximateDP(epsilon=epsilon, delta=delta):
            return profile(pair, float(epsilon)) <= delta + slack
        case TotalVariation(delta=delta):
            return profile(pair, 0.0) <= delta + slack
        case ZeroConcentratedDP(rho=rho):
            return all(renyi(pair, order) <= order * rho + slack for order in (1.0001, 1.01, 1.3, 2, 3, 7, 20, 60))
        case RenyiDP(points=points):
            return all(renyi(pair, float(order)) <= value + slack for order, value in points)
        case GaussianDP(mu=mu):
            return all(profile(pair, k / 4) <= gaussian(float(mu), k / 4) + slack for k in range(-16, 17))
    raise AssertionError(notion)


def guarantees(pair: Pair) -> list[Notion]:
    """Every kind of guarantee that the pair has, with numbers as small as they can easily be had."""
    pure, length = max(map(abs, losses(pair))), max(losses(pair)) - min(losses(pair))
    return [
        PureDP(pure, ADD),
        ApproximateDP(pure, 0, ADD),
        BoundedRange(length, ADD),
        ApproximateDP(pure / 2, profile(pair, pure / 2), ADD),
        TotalVariation(min(1.0, profile(pair, 0.0)), ADD),
        ZeroConcentratedDP(min(length**2 / 8, pure * math.tanh(pure / 2)), ADD),
        RenyiDP([(order, max(renyi(pair, order), 0.0)) for order in (1.25, 2.0, 3.5, 9.0, 33.0)], ADD),
    ]


def proven_of(notion: Notion, edges=EDGES):
    """What single edges prove of a notion, on the way to some goals."""
    for edge, goal in itertools.product(edges, GOALS):
        if edge.is_of_use(notion, goal):
            with contextlib.suppress(Declined):
                yield edge, goal, edge.apply(notion, goal)


WEIGHTS = st.lists(st.integers(1, 60), min_size=4, max_size=4)
GOALS = [
    Goal(ApproximateDP, ADD, 1, epsilon=Fraction(1, 5)),
    Goal(ApproximateDP, ADD, 1, delta=Fraction(1, 7)),
    Goal(RenyiDP, ADD, 1, order=Fraction(5, 2)),
]


@given(first=WEIGHTS, second=WEIGHTS)
@settings(max_examples=20)
def test_every_edge_holds_on_small_pairs(first, second):
    pair = pair_of(first, second)
    for notion in guarantees(pair):
        for edge, _, after in proven_of(notion):
            assert holds(after, pair), f"{edge.name}: {notion} -> {after}"


PAIRS = [
    pair_of(*weights)
    for weights in (
        ([3, 1], [1, 3]),
        ([30, 1], [1, 30]),
        ([11, 10], [10, 11]),
        ([1, 40, 1], [1, 38, 3]),
        ([5, 1, 1], [1, 2, 9]),
    )
]


@pytest.mark.parametrize(
    "edge", [edge for edge in EDGES if edge.takes not in (GaussianDP, Notion)], ids=lambda e: e.name
)
def test_half_of_what_an_edge_proves_is_caught(edge):
    assert any(
        not holds(halved(after, goal), pair)
        for pair in PAIRS
        for notion in guarantees(pair)
        for _, goal, after in proven_of(notion, [edge])
    ), f"nothing refutes half of {edge.name}"


def halved(notion: Notion, goal: Goal) -> Notion:
    match notion:
        case ApproximateDP(epsilon=epsilon, delta=delta):
            return (
                replace(notion, delta=delta / 2) if goal.epsilon is not None else replace(notion, epsilon=epsilon / 2)
            )
        case RenyiDP(points=points):
            return replace(notion, points=[(order, value / 2) for order, value in points])
    (name,) = notion.__slots__
    return replace(notion, **{name: getattr(notion, name) / 2})


@given(
    cuts=st.lists(st.integers(-30, 40), min_size=3, max_size=3, unique=True),
    mu=st.fractions("1/10", 3, max_denominator=10),
)
@settings(max_examples=15)
def test_gaussian_edges_hold_for_a_binned_gaussian(cuts, mu):
    ends = [-math.inf, *(cut / 10 for cut in sorted(cuts)), math.inf]
    masses = [np.diff(ndtr(np.array(ends) - mean)).tolist() for mean in (float(mu), 0.0)]
    pair, notion = list(zip(*masses, strict=True)), GaussianDP(mu, ADD)
    for after in (notion, *(after for _, _, after in proven_of(notion))):
        assert holds(after, pair, 1e-7), after


@given(chain=st.lists(WEIGHTS, min_size=4, max_size=4), k=st.sampled_from([2, 3]))
@settings(max_examples=25)
def test_groups_hold_along_chains_of_small_laws(chain, k):
    links = [pair_of(*weights) for weights in itertools.pairwise(chain[: k + 1])]
    for notions in zip(*map(guarantees, links), strict=True):
        known = weakest(notions)
        edge = next(edge for edge in EDGES if edge.name.startswith("a group"))
        after = edge.apply(known, Goal(type(known), ADD, k))
        assert after.group == k
        assert holds(after, pair_of(chain[0], chain[k])), f"{known} -> {after}"


def weakest(notions) -> Notion:
    """One guarantee that all the links have."""
    kind = type(notions[0])
    if kind is ApproximateDP:  # at the largest ε, the largest δ
        return ApproximateDP(max(n.epsilon for n in notions), max(n.delta for n in notions), ADD)
    if kind is RenyiDP:
        points = zip(*(n.points for n in notions), strict=True)
        return RenyiDP([max(at_order) for at_order in points], ADD)
    return max(notions, key=lambda notion: notion.parameters)


def test_groups_of_two_by_the_textbook():
    cases = [
        (PureDP(1, ADD), PureDP(2, REPLACE)),
        (BoundedRange(1, ADD), BoundedRange(2, REPLACE)),
        (GaussianDP(1, ADD), GaussianDP(2, REPLACE)),
        (ZeroConcentratedDP("1/3", ADD), ZeroConcentratedDP("4/3", REPLACE)),
        (TotalVariation("1/3", ADD), TotalVariation("2/3", REPLACE)),
        (TotalVariation("2/3", ADD), TotalVariation(1, REPLACE)),
    ]
    for known, wanted in cases:
        assert convert(known, type(wanted), relation=REPLACE).notion == wanted
    two = convert(ApproximateDP(1, "1e-6", ADD), ApproximateDP, epsilon=2, relation=REPLACE).notion
    assert safely_above(two.delta, (1 + mp.e) * m("1e-6"))
    assert convert(ApproximateDP(0, "1e-6", ADD), ApproximateDP, epsilon=0, group=5).notion.delta == Fraction(5, 10**6)
    assert convert(GaussianDP(1, REPLACE), GaussianDP, group=3).notion.mu == 3
    assert convert(GaussianDP(1, ADD), GaussianDP, relation=REPLACE, group=3).notion.mu == 6
    assert convert(GaussianDP(1, ADD, group=2), GaussianDP, relation=REPLACE).notion.mu == 1
    assert convert(GaussianDP(1, ADD, group=2), GaussianDP, group=3).notion.mu == 2  # a chain of two holds for three


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_renyi_curve_that_is_linear_loses_nothing_in_groups():
    rho, k = Fraction(1, 7), 3
    curve = RenyiDP([(Fraction(order, 4), rho * order / 4) for order in range(5, 160)], ADD)
    for order, value in convert(curve, RenyiDP, orders=["3/2", 5, 13], group=k).notion.points:
        assert k * k * rho * order <= value <= k * k * rho * order * Fraction(101, 100)
    with pytest.raises(UnsupportedMechanism, match="above 40"):
        convert(curve, RenyiDP, orders=[2], group=40)


def test_between_orders_is_a_chord_and_beyond_them_nothing():
    curve = RenyiDP([(2, 1), (4, 2), (6, 1)], ADD)  # the second is no better than the third

    def at(order) -> Fraction:
        return convert(curve, RenyiDP, orders=[order]).notion.points[0][1]

    assert at("3/2") == 1  # the chord from order 1, where (λ-1) D_λ is 0
    assert at(3) == 1  # the bound at order 6, because D_λ grows with λ
    assert at(2) == 1
    assert convert(RenyiDP([(2, 1), (4, 2)], ADD), RenyiDP, orders=[3]).notion.points[0][1] == Fraction(7, 4)
    with pytest.raises(UnsupportedMechanism, match="largest order given is 6"):
        at(7)


# --- the search ----------------------------------------------------------------------------------------------------

KNOWN = [
    PureDP("1/2", ADD),
    BoundedRange("1/2", ADD),
    BoundedRange(9, ADD),
    ZeroConcentratedDP("1/50", ADD),
    RenyiDP([("3/2", "1/10"), (8, "1/3"), (40, 2)], ADD),
    GaussianDP("1/3", ADD),
    ApproximateDP(1, "1e-7", ADD),
    TotalVariation("1/20", ADD),
]


def every_chain(notion: Notion, goal: Goal, length: int):
    yield notion
    if length == 0:
        return
    for edge in EDGES:
        if edge.is_of_use(notion, goal):
            with contextlib.suppress(Declined):
                after = edge.apply(notion, goal)
                if after != notion:
                    yield from every_chain(after, goal, length - 1)


@pytest.mark.parametrize("notion", KNOWN, ids=lambda notion: type(notion).__name__)
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_search_finds_the_best_of_all_chains(notion, relation):
    targets = [
        (ApproximateDP, {"delta": Fraction(1, 10**6)}),
        (ApproximateDP, {"epsilon": Fraction(1, 4)}),
        (TotalVariation, {"epsilon": Fraction(0)}),
        (ZeroConcentratedDP, {}),
        (RenyiDP, {"order": Fraction(3)}),
    ]
    for kind, target in targets:
        goal = Goal(kind, relation, 1, **target)
        reached = [goal.cost(end) for end in every_chain(notion, goal, 4) if goal.is_met_by(end)]
        asked = {"orders": [target["order"]]} if "order" in target else {} if kind is TotalVariation else target
        if reached:
            found = convert(notion, kind, relation=relation, **asked)
            assert goal.cost(found.notion) == min(reached)
        else:
            with pytest.raises(UnsupportedMechanism, match="no chain of proven implications"):
                convert(notion, kind, relation=relation, **asked)


def test_a_chain_is_printed_one_line_per_edge_and_hangs_together():
    found = convert(PureDP("1/100", ADD), ApproximateDP, delta="1e-6", relation=REPLACE)
    lines = str(found).splitlines()
    assert len(lines) == len(found.chain) + 1
    for step, line in zip(found.chain, lines, strict=False):
        assert line == f"{step.edge.name}: {step.before} -> {step.after} [{step.edge.source}]"
    assert found.chain[0].before == PureDP("1/100", ADD)
    assert all(one.after == two.before for one, two in itertools.pairwise(found.chain))
    assert found.chain[-1].after == found.notion
    assert found.notion.relation is REPLACE
    assert convert(PureDP(1, ADD), PureDP).chain == ()


def test_several_orders_each_take_their_own_best_chain():
    found = convert(BoundedRange(1, ADD), RenyiDP, orders=[2, 50])
    by_zcdp, by_pure = found.notion.parameters
    assert by_zcdp == Fraction(1, 4)
    assert by_pure < 1 < Fraction(50, 8)
    assert len(found.chain) == 4


def test_an_edge_refuses_what_it_says_nothing_about():
    edge = next(edge for edge in EDGES if edge.takes is PureDP and "zCDP" in edge.name)
    with pytest.raises(UnsupportedMechanism, match="of no use"):
        edge.apply(TotalVariation(1, ADD), Goal(ZeroConcentratedDP, ADD, 1))


def test_names_of_edges_are_unique_and_have_sources():
    assert len({edge.name for edge in EDGES}) == len(EDGES)
    assert all(edge.source == "definition" or "section" in edge.source or "20" in edge.source for edge in EDGES)


# --- traps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1"])
def test_zcdp_is_no_gaussian_curve(epsilon):
    rho = convert(PureDP(epsilon, REPLACE), ZeroConcentratedDP).notion.rho
    truth = hockey_stick(responses(mp.exp(m(epsilon))), 1)  # what randomised response really gives away
    claimed = gaussian_delta(2 * rho, 0)  # what a Gaussian with the same rho gives away
    assert m(claimed) * mp.mpf("1.1") < truth
    assert m(convert(ZeroConcentratedDP(rho, REPLACE), TotalVariation).notion.delta) >= truth
    for notion in (ZeroConcentratedDP(rho, REPLACE), PureDP(epsilon, REPLACE), RenyiDP([(2, 1)], REPLACE)):
        with pytest.raises(UnsupportedMechanism, match="not a Gaussian curve"):
            convert(notion, GaussianDP)


@pytest.mark.parametrize("notion", KNOWN, ids=lambda notion: type(notion).__name__)
def test_replace_one_gives_nothing_under_add_or_remove_one(notion):
    with pytest.raises(UnsupportedMechanism, match="number of records"):
        convert(replace(notion, relation=REPLACE), type(notion), relation=ADD, **target_of(notion))


def target_of(notion: Notion) -> dict[str, object]:
    return {ApproximateDP: {"delta": "1e-6"}, RenyiDP: {"orders": [2]}}.get(type(notion), {})


def test_what_cannot_follow_is_refused_with_the_reason():
    with pytest.raises(UnsupportedMechanism, match="smaller than the 1e-06"):
        convert(ApproximateDP(1, "1e-6", ADD), ApproximateDP, delta="1e-7")
    with pytest.raises(UnsupportedMechanism, match="delta = 1e-06 is not 0"):
        convert(ApproximateDP(1, "1e-6", ADD), ZeroConcentratedDP)
    with pytest.raises(UnsupportedMechanism, match="delta greater than 0"):
        convert(ZeroConcentratedDP(1, ADD), ApproximateDP, delta=0)
    with pytest.raises(UnsupportedMechanism, match="no chain"):
        convert(GaussianDP(1, ADD), PureDP)
    assert convert(PureDP(1, ADD), ApproximateDP, delta=0).notion == ApproximateDP(1, 0, ADD)
