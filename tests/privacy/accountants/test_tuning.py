"""The best of a random number of runs: closed forms, brute force on small mechanisms, planted errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy import stats

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.accountants.numbers_of_runs import NumberOfRuns, PoissonRuns, RandomRuns
from dpbounds.privacy.accountants.tuning import (
    tuned_enclosure,
    tuned_epsilon,
    tuned_fixed,
    tuned_guarantee,
    tuned_profile,
    tuned_pure,
)
from tests.privacy.small_laws import Pair, divergence, swapped

Array = NDArray[np.float64]


def law_of_runs(runs: NumberOfRuns, longest: int = 4000) -> Array:
    """P(K = k), k = 0, 1, ..., from the coefficients of (1 - (1-γ)x)^(-η), or of e^(m(x-1))."""
    if isinstance(runs, PoissonRuns):
        return stats.poisson.pmf(np.arange(200), float(runs.runs))
    assert isinstance(runs, RandomRuns)
    gamma, eta = float(runs.gamma), float(runs.eta)
    coefficients = np.zeros(longest)
    coefficients[1] = 1
    for k in range(2, longest):
        coefficients[k] = coefficients[k - 1] * (1 - gamma) * (eta + k - 1) / k
    return coefficients / coefficients.sum()


def best_of(law: Array, runs: Array) -> Array:
    """The law of the largest of K outcomes, outcomes in increasing order."""
    below = np.concatenate([[0.0], np.cumsum(law)])
    reached = np.array([float(np.sum(runs * x ** np.arange(len(runs)))) for x in below])
    return np.diff(reached)


def pair_of(first: Array, second: Array) -> Pair:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def winners(first: Array, second: Array, runs: Array) -> Pair:
    """What is published: the best outcome, or nothing."""
    nothing = [(float(runs[0]), float(runs[0]))] if runs[0] else []
    return pair_of(best_of(first, runs), best_of(second, runs)) + nothing


PAIRS = [
    (np.array(first), np.array(second))
    for first, second in (
        ([0.5, 0.3, 0.2], [0.4, 0.35, 0.25]),
        ([0.9, 0.1], [0.8, 0.2]),
        ([0.01, 0.19, 0.8], [0.02, 0.18, 0.8]),
        ([0.25, 0.25, 0.49, 0.01], [0.24, 0.26, 0.485, 0.015]),
    )
]


LAWS = [RandomRuns(gamma, eta) for gamma in ("0.5", "0.05") for eta in ("-0.5", 0, "0.5", 1, 3)]
LAWS_OF_ALL: list[NumberOfRuns] = [*LAWS, *(PoissonRuns(mean) for mean in ("0.3", 1, 5, 40))]


@pytest.mark.parametrize("runs", LAWS_OF_ALL, ids=str)
def test_the_mean_number_of_runs(runs: NumberOfRuns) -> None:
    law = law_of_runs(runs)
    assert runs.mean().upper == pytest.approx(float(np.sum(law * np.arange(len(law)))), rel=1e-9)


@pytest.mark.parametrize("runs", LAWS_OF_ALL, ids=str)
def test_a_rare_winner(runs: NumberOfRuns) -> None:
    """1 - f(1 - p) at rare and at common outcomes."""
    law = law_of_runs(runs)
    for p in (1e-6, 0.01, 0.5, 1.0):
        with working(128):
            found = float(runs.winner(arb(p)))
        assert found == pytest.approx(float(np.sum(law * (1 - (1 - p) ** np.arange(len(law))))), rel=1e-8)


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("runs", LAWS_OF_ALL, ids=str)
def test_brute_force_stays_below(first: Array, second: Array, runs: NumberOfRuns) -> None:
    single, best = pair_of(first, second), winners(first, second, law_of_runs(runs))
    epsilon, spent = (max(abs(math.log(p / q)) for p, q in pair) for pair in (single, best))
    assert spent <= float(tuned_pure(epsilon, runs)) + 1e-9

    def of_one(order: Fraction) -> Fraction:
        return Fraction(max(float(divergence(pair, float(order))) for pair in (single, swapped(single))))

    def profile(epsilon: Fraction) -> Fraction:
        return Fraction(hockey_stick(single, float(epsilon)))

    for order, other in itertools.product((1.1, 1.5, 2, 8), (1.25, 3, 20)):
        bound = float(runs.divergence(of_one, profile, Fraction(order), Fraction(other)))
        assert all(divergence(pair, order) <= bound + 1e-9 for pair in (best, swapped(best)))


def hockey_stick(pair: Pair, epsilon: float) -> float:
    """δ(ε), the larger of both orders."""
    return max(math.fsum(max(p - math.exp(epsilon) * q, 0.0) for p, q in each) for each in (pair, swapped(pair)))


@pytest.mark.parametrize("runs", LAWS_OF_ALL, ids=str)
def test_brute_force_stays_below_the_profile(runs: NumberOfRuns) -> None:
    """Exact laws of winners, at any ε and ε₁."""
    generator, law = np.random.default_rng(5), law_of_runs(runs)
    for first, second in [*PAIRS, *(generator.dirichlet([0.7] * 4, size=2) for _ in range(10))]:
        single, best = pair_of(first, second), winners(first, second, law)

        def of_one(epsilon: Fraction, single: Pair = single) -> Fraction:
            return Fraction(hockey_stick(single, float(epsilon)))

        for epsilon, other in itertools.product((0.05, 0.3, 1.0, 2.5), (0.0, 0.1, 0.5, 1.5)):
            assert hockey_stick(best, epsilon) <= float(tuned_profile(of_one, runs, epsilon, other)) + 1e-9


def test_a_profile_bound_with_less_of_kappa_would_be_refuted() -> None:
    """The second outcome is half as rare on D', what lies above it twice as likely: losses of log 2 become 3 log 2."""
    runs, other = RandomRuns("0.001"), math.log(2)
    first, second, law = np.array([0.898, 0.002, 0.1]), np.array([0.799, 0.001, 0.2]), law_of_runs(runs, 40_000)
    single, best = pair_of(first, second), pair_of(best_of(first, law), best_of(second, law))
    assert hockey_stick(single, other) < 1e-12  # so that κ = 2, and both factors of it are needed
    for factors, holds in ((2, True), (1, False), (0, False)):
        excess = [
            hockey_stick(best, factors * other + extra) - runs.mean().upper * hockey_stick(single, extra)
            for extra in (0.0, 0.1, 0.3, 0.6, 0.7)
        ]
        assert (max(excess) <= 1e-9) is holds


@pytest.mark.parametrize(
    ("z", "gamma", "delta", "upper", "attack"),
    [
        (20, "0.01", "1e-6", 0.4107, 0.2386),
        (20, "0.1", "1e-6", 0.3053, 0.2151),
        (5, "0.01", "1e-6", 1.7091, 1.0212),
        (1, "0.01", "1e-5", 8.656, 5.349),
        (5, "0.001", "1e-6", 2.0776, 1.1040),
    ],
)
def test_both_ends_for_gaussian_runs(z: int, gamma: str, delta: str, upper: float, attack: float) -> None:
    found = tuned_enclosure(dp.Gaussian(z), RandomRuns(gamma), delta)
    assert found.upper == pytest.approx(upper, rel=1e-3)
    assert found.lower == pytest.approx(attack, rel=1e-3)
    assert found.exact_upper == tuned_epsilon(dp.Gaussian(z), RandomRuns(gamma), delta)


@pytest.mark.parametrize("runs", [RandomRuns("0.1"), RandomRuns("0.1", 0), PoissonRuns(3), PoissonRuns(30)], ids=str)
def test_the_attack_is_an_event_of_the_winner(runs: NumberOfRuns) -> None:
    """Randomised response, the true answer preferred: exact laws of the winner."""
    epsilon = 0.5
    found = tuned_enclosure(dp.PureDP("0.5", relation="add-or-remove-one"), runs, "0.01")
    odds = math.exp(epsilon) / (1 + math.exp(epsilon))
    law = law_of_runs(runs)
    lies, truth, *nothing = winners(np.array([1 - odds, odds]), np.array([odds, 1 - odds]), law)
    without = [sum(column) for column in zip(lies, *nothing, strict=True)]  # the true answer does not win
    spent = max([0.0, *(math.log((p - 0.01) / q) for p, q in (truth, without[::-1]) if p > 0.01)])
    assert found.lower == pytest.approx(spent, abs=1e-6)
    assert found.upper >= spent


def test_the_bound_is_the_printed_one() -> None:
    """D_λ + (1+η)(1-1/λ̂) D_λ̂ + (1+η) log(1/γ)/λ̂ + log(E K)/(λ-1), Papernot & Steinke 2022, Theorem 2."""
    runs = RandomRuns("0.1", "1/2")
    expected = 3 / 7 + 1.5 * (1 - 1 / 8) * 8 / 7 + 1.5 * math.log(10) / 8 + math.log(runs.mean().upper) / 2
    found = runs.divergence(lambda order: order / 7, lambda epsilon: Fraction(0), Fraction(3), Fraction(8))
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_a_bound_without_the_second_divergence_would_be_refuted() -> None:
    # with the term (1+η)(1-1/λ̂) D_λ̂ left out, the best of a geometric number of runs exceeds the bound
    law = law_of_runs(RandomRuns("0.1"))
    first, second = np.array([0.9, 0.1]), np.array([0.8, 0.2])
    order, other = 50.0, 1e6
    without = divergence(pair_of(first, second), order) + 2 * math.log(10) / other + math.log(10) / (order - 1)
    assert divergence(pair_of(best_of(first, law), best_of(second, law)), order) > without + 0.3


def test_pure_runs_cost_three_times_as_much() -> None:
    # attained in the limit of many runs, of which the best is rare
    runs = RandomRuns("0.0001")
    epsilon = 0.1
    low = 1e-6
    first = np.array([1 - low, low])
    second = np.array([1 - low * math.exp(epsilon), low * math.exp(epsilon)])
    law = law_of_runs(runs, 200_000)
    spent = float(np.max(np.abs(np.log(best_of(first, law) / best_of(second, law)))))
    assert 0.09 < spent <= float(tuned_pure(epsilon, runs))


@pytest.mark.seconds
def test_the_best_of_many_runs_costs_less_than_all_of_them() -> None:
    run = dp.PoissonSampled(dp.Gaussian(2), "0.01") ** 500
    single = account(run, delta="1e-6").enclosure.upper
    best = float(tuned_epsilon(run, RandomRuns("0.02"), "1e-6"))  # 50 runs on average
    every = tuned_fixed(run, 50, "1e-6").upper
    assert single < best < every
    assert tuned_fixed(run, 1, "1e-6").upper == single


def test_poisson_runs_by_profile_and_by_divergences() -> None:
    """m δ(0) is little for few runs; many cost less by Rényi divergences. Both stay above an attack."""
    for runs, z in ((PoissonRuns(3), 20), (PoissonRuns(100), 20), (PoissonRuns("0.001"), 1)):
        found = tuned_enclosure(dp.Gaussian(z), runs, "1e-6")
        single = account(dp.Gaussian(z), delta="1e-6").enclosure.upper
        assert 0 <= found.lower < found.upper
        assert found.upper < single + float(runs.pure(Fraction(4, z)))
    few, many = (tuned_epsilon(dp.Gaussian(20), PoissonRuns(m), "1e-6") for m in (10, 1000))
    assert few < many < Fraction(5, 2)  # m δ(0) alone is 20 there


def test_a_poisson_bound_without_the_shift_would_be_refuted() -> None:
    """δ_best(ε) <= m δ(ε - m δ(0)): with half of m δ(0) it is false."""
    runs, first, second = PoissonRuns(40), np.array([0.899, 0.001, 0.1]), np.array([0.949, 0.001, 0.05])
    single, best = pair_of(first, second), winners(first, second, law_of_runs(runs))
    shift = 40 * hockey_stick(single, 0.0)

    def holds(share: float) -> bool:
        places = [share * shift + extra for extra in (0.0, 0.05, 0.1, 0.3, 0.7)]
        return all(hockey_stick(best, at) <= 40 * hockey_stick(single, at - share * shift) + 1e-9 for at in places)

    assert holds(1.0)
    assert not holds(0.5)


@pytest.mark.parametrize("runs", [RandomRuns("0.05"), RandomRuns("0.05", 0), PoissonRuns(5)], ids=str)
def test_the_guarantee_of_the_best_run_composes(runs: NumberOfRuns) -> None:
    """Randomised response: two tunings and a third response, against all outcomes of the three."""
    epsilon = 0.5
    odds = math.exp(epsilon) / (1 + math.exp(epsilon))
    single = [(1 - odds, odds), (odds, 1 - odds)]
    best = winners(np.array([1 - odds, odds]), np.array([odds, 1 - odds]), law_of_runs(runs))
    both = [tuple(map(math.prod, zip(*each, strict=True))) for each in itertools.product(best, best, single)]
    response = dp.PureDP("0.5", relation="add-or-remove-one")
    guarantee = tuned_guarantee(response, runs, least_delta="1e-9")
    for at in (0.0, 0.3, 1.0, 2.5):
        assert hockey_stick(both, at) <= account(guarantee @ guarantee @ response, epsilon=at).enclosure.upper + 1e-9


def test_the_guarantee_of_pure_runs_is_pure() -> None:
    response = dp.PureDP("0.1", relation="add-or-remove-one")
    guarantee = tuned_guarantee(response, RandomRuns("1e-30"))
    assert account(guarantee, delta=0).enclosure.upper == pytest.approx(0.3, rel=1e-12)
    assert account(guarantee, delta="1e-40").enclosure.upper <= 0.3 * (1 + 1e-12)


def test_the_guarantee_alone_is_about_the_bound_by_the_profile() -> None:
    runs = RandomRuns("0.01")
    guarantee = tuned_guarantee(dp.Gaussian(20), runs)
    alone = account(guarantee, delta="1e-6").enclosure
    assert alone.upper == pytest.approx(float(tuned_epsilon(dp.Gaussian(20), runs, "1e-6")), rel=1e-2)
    assert alone.upper >= tuned_enclosure(dp.Gaussian(20), runs, "1e-6").lower
    with pytest.raises(NotCertified, match="least_delta"):
        tuned_guarantee(dp.UniformBall(9, 3), runs)


def test_what_is_refused() -> None:
    for gamma, eta in ((0, 1), (1, 1), ("0.5", -2), ("0.5", -1)):
        with pytest.raises(InvalidValue):
            RandomRuns(gamma, eta)
    with pytest.raises(InvalidValue, match="runs"):
        PoissonRuns(0)
    with pytest.raises(NotCertified, match="fixed number of runs"):
        tuned_epsilon(dp.UniformBall(9, 3), RandomRuns("0.5"), "1e-3")
    assert tuned_epsilon(dp.UniformBall(10**9, 3), RandomRuns("0.5"), "1e-3") < Fraction(1, 10**6)


@pytest.mark.parametrize("runs", [RandomRuns("1e-300"), RandomRuns("1e-12", 0), PoissonRuns(1)], ids=repr)
def test_a_bounded_loss_has_the_pure_bound_however_many_runs_there_are(runs):
    found = tuned_enclosure(dp.PureDP("0.1", relation="replace-one"), runs, "1e-6", "replace-one")
    assert found.exact_lower <= found.exact_upper <= tuned_pure("0.1", runs)
    many = RandomRuns("1e-300")  # the other bounds grow with log E[K]
    assert tuned_epsilon(dp.PureDP("0.1", relation="replace-one"), many, "1e-6", "replace-one") == Fraction(3, 10)
