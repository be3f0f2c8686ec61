"""What a calibration holds from its beginning: proven on both sides, whatever the numbers, and named as far apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy.stats import binom, norm

import dpbounds as dp
from dpbounds.errors import NotCertified
from dpbounds.expressions.time_limit import clocked
from dpbounds.privacy.budgets.calibration import Calibration, calibrate
from dpbounds.privacy.budgets.held import Held, improved, proven_at_once
from dpbounds.privacy.budgets.parameter import Solve
from dpbounds.privacy.values import Budget

ADD, REPLACE, ZERO = "add-or-remove-one", "replace-one", "zero-out-one"
Factory = Callable[[Fraction], dp.Mechanism]


class Stopped:
    """A clock on which no time is left when it is looked at for the second time."""

    def __init__(self) -> None:
        self.now = -100.0

    def __call__(self) -> float:
        self.now += 100.0
        return self.now


def stopped(factory: Factory, epsilon: object, relation: str = ADD, solve: Solve = "noise", **more: int) -> Calibration:
    with clocked(Stopped()):
        return calibrate(factory, epsilon, "1e-5", relation, solve=solve, time_limit=1, **more)


def poisson(rate: str, steps: int) -> Factory:
    return lambda z: dp.PoissonSampled(dp.Gaussian(z), rate) ** steps


def delta_by_draws(rate: float, steps: int, noise: float, epsilon: float) -> float:
    """An upper bound on δ(ε): what it is where the draws are known, in doubles."""

    def gaussian(squared: float) -> float:
        mu = math.sqrt(squared)
        first, second = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(norm.cdf(first) - math.exp(min(700.0, epsilon + norm.logcdf(second))))

    return sum(binom.pmf(k, steps, rate) * gaussian(k / noise**2) for k in range(1, steps + 1))


@pytest.mark.seconds
@pytest.mark.parametrize(("rate", "steps", "epsilon"), [("0.05", 1000, 10**6), ("0.01", 1000, 10**4)])
def test_budgets_that_no_search_can_plan(rate: str, steps: int, epsilon: int) -> None:
    """ε = 1e6: 0.0224282 is what the full batch needs; what is held is less, and right by counting draws."""
    found = stopped(poisson(rate, steps), epsilon)
    whole = float(calibrate(lambda z: dp.Gaussian(z) ** steps, epsilon, "1e-5").value)
    assert float(found.value) < whole / 2
    assert found.fails_at is not None
    assert delta_by_draws(float(rate), steps, float(found.value), epsilon) <= 1e-5 * 1.001
    assert delta_by_draws(float(rate), steps, float(found.fails_at), epsilon) > 1e-5
    assert not found.complete
    assert found.gap == (found.value - found.fails_at) / found.value < Fraction(1, 50)
    assert found.epsilon.exact_upper == epsilon


@pytest.mark.seconds
def test_without_a_limit_a_search_that_declines_returns_what_is_held() -> None:
    found = calibrate(poisson("0.05", 300), 10**6, "1e-5")
    assert found.complete
    assert float(found.value) < 0.0041
    assert delta_by_draws(0.05, 300, float(found.value), 10**6) <= 1e-5 * 1.001


def test_values_that_are_far_apart_are_called_so() -> None:
    found = stopped(lambda z: dp.PoissonSampled(dp.Laplace(z), "0.01") ** 1000, 10)
    assert not found.within_tolerance
    assert "not within tolerance" in str(found)
    assert "less may suffice" in str(found)


def last_iterate(noise: Fraction) -> dp.Mechanism:
    return dp.LastIterate(dp.Gaussian(noise), batches=4, epochs=2, smoothness_step="0.1", order="fixed")


CASES: list[tuple[str, Solve, str, Factory]] = [
    ("poisson", "noise", ADD, poisson("0.1", 20)),
    ("poisson, replace", "noise", REPLACE, poisson("0.1", 20)),
    ("poisson, zero", "noise", ZERO, poisson("0.1", 20)),
    ("laplace", "noise", ADD, lambda z: dp.PoissonSampled(dp.Laplace(z), "0.1") ** 4),
    ("discrete", "noise", REPLACE, lambda z: dp.DiscreteLaplace(z) ** 3),
    ("fixed size", "noise", REPLACE, lambda z: dp.SampledWithoutReplacement(dp.Gaussian(z), 5, 50) ** 4),
    ("with replacement", "noise", ADD, lambda z: dp.SampledWithReplacement(dp.Gaussian(z), 5, 50) ** 4),
    ("truncated", "noise", ADD, lambda z: dp.TruncatedPoisson(dp.Gaussian(z), "0.1", 5, 20)),
    ("allocated", "noise", ADD, lambda z: dp.RandomlyAllocated(dp.Gaussian(z), 6) ** 2),
    ("bins", "noise", REPLACE, lambda z: dp.BallsInBins(dp.Gaussian(z), 6, 2, redraw=False)),
    ("shuffled", "noise", REPLACE, lambda z: dp.Shuffled(dp.Gaussian(z), 50) ** 2),
    ("last iterate", "noise", REPLACE, lambda z: last_iterate(z)),
    ("choices", "noise", REPLACE, lambda z: dp.ExponentialMechanism(1 / z, relation=REPLACE) ** 30),
    ("steps", "steps", ADD, lambda n: dp.PoissonSampled(dp.Gaussian(4), "0.01") ** int(n)),
    ("laplace steps", "steps", REPLACE, lambda n: dp.Laplace(30) ** int(n)),
    ("epochs", "steps", ADD, lambda n: dp.RandomlyAllocated(dp.Gaussian(8), 10) ** int(n)),
    ("rate", "sample-rate", ADD, lambda q: dp.PoissonSampled(dp.Gaussian(1), q) ** 50),
    ("laplace rate", "sample-rate", REPLACE, lambda q: dp.PoissonSampled(dp.Laplace(3), q) ** 4),
    ("batches", "batches", ADD, lambda b: dp.RandomlyAllocated(dp.Gaussian(2), int(b)) ** 2),
]


def held(solve: Solve, relation: str, factory: Factory) -> Held:
    return proven_at_once(factory, Budget.of(1, "1e-5", relation), solve)


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "solve", "relation", "factory"), CASES, ids=[case[0] for case in CASES])
def test_what_is_held_suffices_by_the_accountants_own_routes(
    name: str, solve: Solve, relation: str, factory: Factory
) -> None:
    found = held(solve, relation, factory)
    assert found.safe is not None
    assert dp.delta(factory(found.safe), 1, relation, tolerance=1e-2).exact_lower <= Fraction("1e-5")
    if found.unsafe is not None:
        assert dp.delta(factory(found.unsafe), 1, relation, tolerance=1e-2).exact_upper > Fraction("1e-5")
        safer = found.safe > found.unsafe
        assert safer is (solve in ("noise", "batches"))


@pytest.mark.parametrize(
    ("solve", "relation", "factory"), [case[1:] for case in CASES if case[0] in ("poisson", "rate")]
)
def test_divergences_come_nearer_and_pass_nothing(solve: Solve, relation: str, factory: Factory) -> None:
    budget, first = Budget.of(1, "1e-5", relation), held(solve, relation, factory)
    nearer = improved(first, factory, budget, solve)
    assert nearer.unsafe == first.unsafe
    assert nearer.safe is not None
    assert first.safe is not None
    assert (nearer.safe < first.safe) is (solve == "noise")
    assert dp.epsilon(factory(nearer.safe), "1e-5", relation).exact_upper <= 1


@pytest.mark.parametrize("solve", ["noise", "sample-rate"])
def test_what_is_not_improved_stays_as_it_was_proven(solve: Solve, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit: of some of these values the exponential of the logarithm is another number."""
    monkeypatch.setattr("dpbounds.privacy.budgets.held._promised_excess", lambda *_: math.inf)
    values = [Fraction(k / 997) for k in range(1, 997)]
    assert any(math.exp(math.log(value)) < value for value in values)
    budget = Budget.of(1, "1e-5", ADD)
    for value in values:
        assert improved(Held(value, None), poisson("0.1", 10), budget, solve).safe == value


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("factory", "relation"),
    [
        (poisson("0.1", 10), ADD),
        (lambda z: dp.SampledWithoutReplacement(dp.Gaussian(z), 5, 50) ** 4, REPLACE),
        (lambda b: dp.PoissonSampled(dp.Laplace(b), "0.2") ** 3, ADD),
    ],
)
def test_groups_hold_a_value_too(factory: Factory, relation: str) -> None:
    found = stopped(factory, 1, relation, group_size=3)
    assert dp.group_account(found.mechanism, 3, epsilon=1, relation=relation).exact_upper <= Fraction("1.01e-5")
    assert found.failing is not None
    assert dp.delta(found.failing, 1, relation).exact_upper > Fraction("1e-5")


@pytest.mark.seconds
def test_a_chain_of_neighbours_adds_up_with_growth() -> None:
    """(ε/k, δ')-DP for one record is (ε, δ' (1 + e^(ε/k) + ...))-DP for k: at ε = 30 the sum is most of it."""

    def factory(noise: Fraction) -> dp.Mechanism:
        return dp.RandomlyAllocated(dp.Gaussian(noise), 2)

    found = proven_at_once(factory, Budget.of(30, "1e-5", ADD), "noise", 3)
    assert found.safe is not None
    one = dp.delta(factory(found.safe), 10).upper
    assert one * (1 + math.exp(10) + math.exp(20)) <= 1e-5 * 1.001


def test_where_nothing_is_held_the_search_refuses() -> None:
    """What clones prove of a number of batches needs minutes; nothing that is quicker depends on that number."""
    with pytest.raises(NotCertified, match="time limit passed before any batches"):
        stopped(lambda b: dp.Shuffled(dp.Gaussian(6), int(b)) ** 2, 1, REPLACE, "batches")


def test_what_any_noise_keeps_is_refused_as_before() -> None:
    with pytest.raises(NotCertified, match="does not bound"):
        calibrate(lambda z: dp.PoissonSampled(dp.Gaussian(z), "1e-9"), 1, "1e-5")


GAPS: list[tuple[Solve, object, object, object]] = [
    ("noise", 2, "1.5", Fraction(1, 4)),
    ("noise", 2, None, None),
    ("sample-rate", "0.5", 1, 1),
    ("sample-rate", 1, None, 0),
    ("sample-rate", "0.5", None, None),
    ("steps", 13, 14, 0),
    ("steps", 10, 15, Fraction(4, 10)),
    ("batches", 20, 15, Fraction(4, 20)),
    ("batches", 1, None, 0),
    ("noise", 1000, 999, Fraction(1, 1000)),
    ("noise", 1000, "998.9", Fraction(11, 10_000)),
]


@pytest.mark.parametrize(("solve", "value", "fails_at", "gap"), GAPS)
def test_the_gap_is_how_far_the_best_value_may_be(solve: Solve, value: object, fails_at: object, gap: object) -> None:
    plain = calibrate(dp.Gaussian, 1, "1e-5")
    ends = [None if each is None else Fraction(str(each)) for each in (value, fails_at)]
    found = replace(plain, value=ends[0], fails_at=ends[1], solve=solve)
    assert found.gap == gap
    assert found.within_tolerance is (gap is not None and Fraction(str(gap)) <= Fraction(1, 1000))
    assert ("not within tolerance" in str(found)) is not found.within_tolerance
    assert ("not within tolerance" in dict(found._sheet().facts)) is not found.within_tolerance


def test_of_two_answers_the_nearer_ends_are_kept() -> None:
    def ends(*values: int) -> Held:
        return Held(*(Fraction(value) if value else None for value in values))

    assert ends(5, 1).nearer(ends(4, 2), "noise") == ends(4, 2)
    assert ends(5, 1).nearer(ends(0, 2), "noise") == ends(5, 2)
    assert ends(5, 9).nearer(ends(6, 8), "steps") == ends(6, 8)
    assert ends(0, 0).nearer(ends(0, 0), "steps") == ends(0, 0)
