"""Filters and the odometer: exact enumeration of adaptive two-step interactions, planted errors, exact budgets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings, strategies as st

from dpbounds.errors import BudgetExceeded, InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.budgets.filters import GaussianFilter, Odometer, RenyiFilter, ZCDPFilter, least_multiplier
from dpbounds.privacy.mechanisms import Gaussian, InParallel, PoissonSampled, SampledWithoutReplacement, UniformBall
from dpbounds.privacy.notions.concentrated import renyi_budget, renyi_epsilon, zcdp_epsilon
from dpbounds.privacy.notions.gaussian import gaussian_delta, gaussian_epsilon
from dpbounds.privacy.notions.notions import (
    ApproximateDP,
    BoundedRange,
    GaussianDP,
    PureDP,
    RenyiDP,
    TotalVariation,
    ZeroConcentratedDP,
)
from dpbounds.privacy.relations import Relation
from tests.privacy.small_laws import Pair as Law, divergence, hockey_stick, m, responses, swapped

ADD, REPLACE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE


# --- what a step costs, and where a filter stops ---------------------------------------------------------------------


def test_the_relation_supplies_the_factor():
    assert ZCDPFilter.of(1, ADD).cost(Gaussian(5)) == Fraction(1, 50)
    assert ZCDPFilter.of(1, REPLACE).cost(Gaussian(5)) == Fraction(4, 50)
    explicit = Gaussian(noise_stddev=10, sensitivity=2)  # the final distance: no factor
    assert ZCDPFilter.of(1, ADD).cost(explicit) == ZCDPFilter.of(1, REPLACE).cost(explicit) == Fraction(1, 50)
    assert GaussianFilter.of(1, REPLACE).cost(Gaussian(5) ** 3) == Fraction(12, 25)
    assert ZCDPFilter.of(1, ADD).cost(PoissonSampled(Gaussian(5), 1)) == Fraction(1, 50)
    one = RenyiFilter.for_target([2], 8, "1e-3", REPLACE)
    assert one.cost(Gaussian(5)) == (2 * Fraction(4, 50),)


def test_black_boxes_cost_what_their_conversion_proves():
    counting = ZCDPFilter.of(1, ADD)
    assert counting.cost(ZeroConcentratedDP("1/7", ADD)) == Fraction(1, 7)
    assert counting.cost(GaussianDP("1/2", ADD)) == Fraction(1, 8)
    assert counting.cost(BoundedRange("1/2", ADD)) == Fraction(1, 32)
    assert float(counting.cost(PureDP("1/2", ADD))) == pytest.approx(math.tanh(0.25) / 2, rel=1e-15)
    orders = RenyiFilter.for_target([2, 8], 8, "1e-3", ADD)
    chord = (Fraction(1, 4) * Fraction(1, 9) + Fraction(3, 4) * 9) / 7  # of (λ-1) D_λ, between the orders 2 and 10
    assert orders.cost(RenyiDP([(2, "1/9"), (10, 1)], ADD)) == (Fraction(1, 9), chord)
    for step in (TotalVariation("0.1", ADD), ApproximateDP(1, "1e-6", ADD), RenyiDP([(2, 1)], ADD)):
        with pytest.raises(UnsupportedMechanism):
            counting.cost(step)
    with pytest.raises(UnsupportedMechanism, match="largest order"):
        orders.cost(RenyiDP([(2, 1)], ADD))
    assert counting.cost(PoissonSampled(Gaussian(1), "0.01")) == Fraction(1, 2)  # a sample gains nothing here
    with pytest.raises(UnsupportedMechanism, match="use a RenyiFilter"):
        GaussianFilter.of(1, ADD).cost(PoissonSampled(Gaussian(1), "0.01"))
    with pytest.raises(UnsupportedMechanism, match="full-batch"):
        GaussianFilter.of(1, ADD).cost(PureDP(1, ADD))


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("step", "relation"),
    [
        (PoissonSampled(Gaussian(1), "0.1"), ADD),
        (PoissonSampled(Gaussian(1), "0.1"), REPLACE),
        (SampledWithoutReplacement(Gaussian(4), 10, 100), ADD),
        (InParallel((PoissonSampled(Gaussian(1), "0.1"), Gaussian(8))), ADD),
    ],
)
def test_sampled_steps_are_spent_as_they_are(step, relation):
    """Fixed in advance, the steps that a filter admitted keep its target, and use up much of it."""
    budget, count = RenyiFilter.for_target([4, 8, 16], 4, "1e-5", relation), 0
    while budget.admits(step):
        budget, count = budget.spend(step), count + 1
    assert 0 < count < 1000
    assert 2 < account(step**count, delta="1e-5", relation=relation).enclosure.upper < 4
    read = Odometer.ladder("1e-5", relation, smallest_rho="1e-2", rungs=8)
    for _ in range(count):
        read = read.spend(step)
    assert account(step**count, delta="1e-5", relation=relation).enclosure.upper < read.spent()[0] < 7


def test_an_order_without_a_finite_divergence_is_refused():
    budget = RenyiFilter.for_target([2], 9, "1e-3", ADD)
    with pytest.raises(UnsupportedMechanism, match="no finite Rényi divergence at order 2"):
        budget.admits(UniformBall(10, 2))


@pytest.mark.parametrize("wrong", [PureDP(1, REPLACE), PureDP(1, ADD, group=2)])
def test_guarantees_for_other_neighbours_are_refused(wrong):
    for counter in (ZCDPFilter.of(1, ADD), RenyiFilter.for_target([2], 8, "1e-3", ADD), Odometer.ladder("1e-6", ADD)):
        with pytest.raises(InvalidValue, match=r"the filter's own|single records"):
            counter.spend(wrong)


@pytest.mark.parametrize("kind", [ZCDPFilter, GaussianFilter])
def test_a_filter_stops_exactly_at_the_budget(kind):
    cost = kind.of(1, REPLACE).cost(Gaussian(7))
    start = kind.of(3 * cost, REPLACE)
    full = start.spend(Gaussian(7)).spend(Gaussian(7)).spend(Gaussian(7))
    assert full.remaining == 0
    assert start.remaining == 3 * cost  # frozen: the first one is as it was
    with pytest.raises(BudgetExceeded, match="nothing is left"):
        full.spend(Gaussian(10**9))
    almost = kind.of(3 * cost - Fraction(1, 10**60), REPLACE).spend(Gaussian(7) ** 2)
    assert not almost.admits(Gaussian(7))
    with pytest.raises(BudgetExceeded) as refused:
        almost.spend(Gaussian(7))
    text = str(refused.value)
    assert "would cost" in text
    assert "do not release" in text
    assert "least noise multiplier that still fits, on the full batch, is 7" in text


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("budget", ["1/8", "1/3", "2e-9", "31/7"])
def test_the_least_multiplier_fits_and_slightly_less_does_not(relation, budget):
    several = RenyiFilter.for_target([2, 6, 30], 4, "1e-5", relation)
    for start in (ZCDPFilter.of(budget, relation), GaussianFilter.of(budget, relation), several):
        least = start.least_noise_multiplier
        assert start.admits(Gaussian(least))
        assert not start.admits(Gaussian(least * (1 - Fraction(1, 1 << 60))))


def test_multipliers_are_exact_where_they_can_be():
    assert least_multiplier(Fraction(1, 36), REPLACE) == 12
    assert least_multiplier(Fraction(0), REPLACE) is None
    assert ZCDPFilter.of("1/8", ADD).least_noise_multiplier == 2


@pytest.mark.parametrize("epsilon", ["1/10", "1", "8"])
def test_targets_are_kept_and_nearly_used_up(epsilon):
    for kind, slack in ((ZCDPFilter, "1e-9"), (GaussianFilter, "1e-12")):
        start = kind.for_target(epsilon, "1e-6", REPLACE)
        assert Fraction(epsilon) * (1 - Fraction(slack)) <= start.epsilon("1e-6")
        assert start.epsilon("1e-6") <= Fraction(epsilon) * (1 + Fraction(1, 10**15))
    (budget,) = RenyiFilter.for_target([200], epsilon, "1e-6", REPLACE).budgets
    assert renyi_epsilon([(200, budget)], "1e-6") <= Fraction(epsilon) + Fraction(1, 10**30)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ZCDPFilter.of(-1, ADD),
        lambda: ZCDPFilter(Fraction(1), ADD, Fraction(2)),
        lambda: ZCDPFilter.for_target(1, 0, ADD),
        lambda: GaussianFilter.for_target(1, 1, ADD),
        lambda: RenyiFilter.for_target([], 1, "1e-6", ADD),
        lambda: RenyiFilter.for_target([2, 2], 1, "1e-6", ADD),
        lambda: RenyiFilter.for_target([1], 1, "1e-6", ADD),
        lambda: RenyiFilter.for_target([2], 9, "3/2", ADD),
        lambda: RenyiFilter.for_target([20, 30], 1, "1e-6", ADD, weights=["1/2", "2/3"]),
        lambda: RenyiFilter.for_target([20, 30], 1, "1e-6", ADD, weights=[1]),
        lambda: RenyiFilter.for_target([20, 30], 1, "1e-6", ADD, weights=[1, 0]),
        lambda: RenyiFilter.for_target(["3/2", 2], 1, "1e-6", ADD),  # nothing is left at such orders
        lambda: Odometer.ladder(1, ADD),
        lambda: Odometer.ladder("1e-6", ADD, rungs=0),
        lambda: Odometer.ladder("1e-6", ADD, ratio=1),
        lambda: Odometer.ladder("1e-6", ADD, smallest_rho=0),
    ],
)
def test_bad_budgets_are_refused(call):
    with pytest.raises(InvalidValue):
        call()


NOISE = st.one_of(
    st.fractions(1, 40, max_denominator=50).filter(lambda z: z > 0),
    st.floats(0.5, 60, allow_nan=False).map(Fraction),
)


@given(noise=st.lists(NOISE, min_size=1, max_size=20))
@settings(max_examples=10)
def test_no_sequence_of_choices_exceeds_the_budget(noise):
    for start, cost in (
        (ZCDPFilter.of("1/20", REPLACE), lambda z: 2 / z**2),
        (GaussianFilter.of("1/20", REPLACE), lambda z: 4 / z**2),
    ):
        counter, exact = start, Fraction(0)
        for z in noise:
            try:
                counter = counter.spend(Gaussian(z))
            except BudgetExceeded:
                assert counter.spent + cost(z) > start.budget
                continue
            exact += cost(z)
            assert exact <= counter.spent <= start.budget
            assert counter.spent - exact < Fraction(1, 10**60)
            assert counter.spent.denominator.bit_length() < 1000  # a long run of unlike fractions stays short


@given(noise=st.lists(NOISE, min_size=1, max_size=15))
@settings(max_examples=8)
def test_no_sequence_of_choices_exceeds_every_order(noise):
    start = RenyiFilter.for_target([3, 10, 40], 3, "1e-5", REPLACE)
    counter, exact = start, Fraction(0)
    for z in noise:
        try:
            counter = counter.spend(Gaussian(z))
        except BudgetExceeded:
            continue
        exact += 2 / z**2
        assert any(order * exact <= budget for order, budget in zip(start.orders, start.budgets, strict=True))
        assert dict(counter.remaining).keys() <= set(start.orders)
        assert all(order * exact <= spent for order, spent in zip(start.orders, counter.spent, strict=True))


# --- interactions by enumeration -------------------------------------------------------------------------------------


def interaction(first: Law, second: Callable[[int], Law]) -> Law:
    """The law of both outputs, the second mechanism chosen in view of the first output."""
    return [(p * pp, q * qq) for y, (p, q) in enumerate(first) for pp, qq in second(y)]


@dataclass(frozen=True)
class Known:
    """A release known by its curve alone, so that a filter cannot use anything else."""

    law: Law
    relation: Relation = ADD

    def renyi(self, order: Fraction) -> Fraction:
        return upwards(divergence(self.law, m(order)))


def tailed(mass: Fraction | str, loss: Fraction | int) -> Known:
    """Losses z, 0 and -z: with probability s it gives the dataset away to odds of e^z."""
    s = m(mass)
    t = s * mp.exp(-m(loss))
    return Known(((s, t), (1 - s - t, 1 - s - t), (t, s)))


def responding(epsilon: Fraction) -> Known:
    return Known(responses(mp.exp(m(epsilon))))


def upwards(value: mp.mpf) -> Fraction:
    return Fraction(mp.nstr(value, 30)) + Fraction(1, 10**25)


def test_choosing_the_order_afterwards_exceeds_delta_and_splitting_it_does_not():
    epsilon, delta, orders = 6, Fraction(1, 100), (3, 12)
    first = responding(Fraction(1, 8))
    second = {12: tailed("0.1405", 6), 3: tailed("0.0236", Fraction(13, 2))}
    for order, step in second.items():  # each history ends within the whole budget of one order
        RenyiFilter.for_target([order], epsilon, delta, ADD).spend(first).spend(step)
    with mp.workdps(30):
        both = interaction(first.law, lambda y: second[(12, 3)[y]].law)
        spent = hockey_stick(both, mp.exp(epsilon))
        assert spent > mp.mpf("1.2") * m(delta)
    split = RenyiFilter.for_target(orders, epsilon, delta, ADD).spend(first)
    assert not (split.admits(second[12]) and split.admits(second[3]))
    # the same fault in an odometer: shares that add up to 2δ, told as δ
    counted = Odometer((Fraction(3), Fraction(12)), (delta, delta), ADD, (Fraction(0),) * 2).spend(first)
    assert max(counted.spend(step).spent()[0] for step in second.values()) <= epsilon
    assert counted.spent()[1] == 2 * delta
    assert spent <= m(2 * delta)


STRATEGIES: dict[str, Callable[[int, Fraction], Fraction]] = {
    "more after a telling answer": lambda y, left: left if y == 0 else left / 2,
    "more after a misleading answer": lambda y, left: left / 3 if y == 0 else left,
    "stop or spend all": lambda y, left: left if y == 0 else Fraction(0),
}


def largest_response(fits: Callable[[Fraction], bool]) -> Fraction:
    """The largest ε of randomised response that fits, to twelve binary digits."""
    low, high = Fraction(0), Fraction(16)
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES.keys())
@pytest.mark.parametrize("start", ["1/4", "1", "5/2"])
def test_a_filter_bounds_the_divergence_of_what_it_admits(strategy, start):
    order, first = Fraction(5, 2), responding(Fraction(start))
    begun = RenyiFilter.for_target([order], 6, "1/20", ADD).spend(first)

    room = largest_response(lambda e: e == 0 or begun.admits(responding(e)))

    def second(y: int) -> Law:
        share = strategy(y, room)
        return responding(share).law if share else ((mp.mpf(1), mp.mpf(1)),)

    both = interaction(first.law, second)
    for law in (both, swapped(both)):
        assert divergence(law, m(order)) <= m(begun.budgets[0])
        assert hockey_stick(law, mp.exp(6)) <= mp.mpf(1) / 20


def test_the_budget_of_one_order_is_reached():
    """Both branches spend what is left: the divergence of the whole is the budget, so no larger one would be sound."""
    order, first = Fraction(5, 2), responding(Fraction(1))
    begun = RenyiFilter.for_target([order], 6, "1/20", ADD).spend(first)
    room = responding(largest_response(lambda e: e == 0 or begun.admits(responding(e))))
    rare = tailed("1/50", largest_response(lambda z: z == 0 or begun.admits(tailed("1/50", z))))
    both = interaction(first.law, lambda y: (room, rare)[y].law)
    budget = m(begun.budgets[0])
    assert budget * mp.mpf("0.999") < divergence(both, m(order)) <= budget


# --- Gaussian releases alone -----------------------------------------------------------------------------------------


def shifted(mu: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    if mu == 0:
        return max(mp.mpf(0), 1 - mp.exp(epsilon))
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-epsilon / mu - mu / 2)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("cut", ["-1", "0", "3/2"])
@pytest.mark.parametrize("shares", [(1, 1), (0, 1), (1, 0), ("1/2", 1)])
def test_adaptive_gaussian_releases_are_within_the_gaussian_curve(cut, shares):
    """One release at μ₁, then what is left of μ² or a part of it, according to the first answer; by quadrature."""
    total, first, epsilon = Fraction(9, 4), Fraction(1, 2), Fraction(3, 2)
    begun = GaussianFilter.of(total, ADD).spend(Gaussian(noise_stddev=1, sensitivity=first))
    assert begun.remaining == 2
    with mp.workdps(20):
        c, mu, e = m(Fraction(cut)), mp.mpf(1) / 2, mp.mpf(3) / 2
        rest = [mp.sqrt(2 * m(Fraction(share))) for share in shares]

        def part(branch: int, low: mp.mpf, high: mp.mpf) -> mp.mpf:
            return mp.quad(
                lambda x: mp.npdf(x, mu) * shifted(rest[branch], e - mu * x + mu * mu / 2),
                sorted({low, *(point for point in (-4, 0, 3, 6) if low < point < high), high}),
            )

        spent = part(0, mp.mpf(-12), c) + part(1, c, mp.mpf(14))
    bound = m(gaussian_delta(total, epsilon))
    assert spent <= bound + mp.mpf("1e-12")
    if shares == (1, 1):
        assert spent > bound - mp.mpf("1e-12")  # all of the budget spent: the curve itself
        smaller = gaussian_delta(total * Fraction(99, 100), epsilon)
        assert spent > m(smaller)


# --- the odometer ----------------------------------------------------------------------------------------------------


def test_an_odometer_starts_at_zero_and_only_grows():
    odometer = Odometer.ladder("1e-6", REPLACE)
    readings = [odometer.spent()]
    for step in (Gaussian(100), PureDP("1/100", REPLACE), ZeroConcentratedDP("1/9", REPLACE), Gaussian(1)):
        odometer = odometer.spend(step)
        readings.append(odometer.spent())
    assert readings[0] == (0, Fraction(1, 10**6))
    assert all(one < two for one, two in itertools.pairwise(reading[0] for reading in readings))
    assert {reading[1] for reading in readings} == {Fraction(1, 10**6)}


@pytest.mark.parametrize("rho", ["1/1000", "1/50", "3/7", "12", "3e4"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_the_odometer_is_above_every_filter_and_not_far(rho, delta):
    reading, of = Odometer.ladder(delta, ADD).spend(ZeroConcentratedDP(rho, ADD)).spent()
    least = zcdp_epsilon(rho, delta)
    assert of == Fraction(delta)
    assert least < reading < 2 * least
    assert reading > gaussian_epsilon(2 * Fraction(rho), delta)


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES.keys())
@pytest.mark.parametrize("rungs", [1, 3, 8])
def test_the_odometer_against_exact_enumeration(strategy, rungs):
    """Whatever was chosen: the mean of (1 - e^{ε - loss})_+ is at most δ, ε being the reading of that history."""
    delta = Fraction(1, 10)
    for first, most in itertools.product((Fraction(1, 2), Fraction(2)), (Fraction(1), Fraction(4))):
        begun = Odometer.ladder(delta, ADD, smallest_rho="1/100", rungs=rungs).spend(PureDP(first, ADD))
        chosen = [strategy(y, most) for y in (0, 1)]
        readings = [begun.spend(PureDP(epsilon, ADD)).spent()[0] for epsilon in chosen]
        over = under = mp.mpf(0)
        for y, (p, q) in enumerate(responding(first).law):
            growth = mp.exp(m(readings[y]))
            for pp, qq in responding(chosen[y]).law:
                over += max(p * pp - growth * q * qq, 0)
                under += max(q * qq - growth * p * pp, 0)
        assert max(over, under) <= mp.mpf(1) / 10


def test_an_odometer_that_forgets_the_second_step_is_caught():
    """The enumeration above can fail: with a single order that suits it, half the reading is refuted."""
    order, delta = Fraction(5, 2), Fraction(1, 10)
    odometer = Odometer((order,), (delta,), ADD, (Fraction(0),))
    steps = tailed(Fraction(3, 10), Fraction(4)), tailed(Fraction(3, 10), Fraction(4))
    both = interaction(steps[0].law, lambda _: steps[1].law)
    right, wrong = odometer.spend(steps[0]).spend(steps[1]).spent()[0], odometer.spend(steps[0]).spent()[0]
    at_right, at_wrong = (hockey_stick(both, mp.exp(m(e))) for e in (right, wrong))
    assert at_right <= mp.mpf(1) / 10 < at_wrong


def test_readings_are_the_formula():
    order, share = Fraction(7), Fraction(1, 1000)
    odometer = Odometer((order,), (share,), REPLACE, (Fraction(0),)).spend(Gaussian(2) ** 2)
    assert odometer.losses == (7 * Fraction(2, 4) * 2,)
    assert odometer.spent() == (renyi_epsilon([(7, 7)], share), share)
    assert renyi_budget(7, odometer.spent()[0], share) <= 7 + Fraction(1, 10**25)
    assert replace(odometer, losses=(Fraction(0),)).spent()[0] == 0
