"""Audits in one run, against all mechanisms of few canaries, exhaustive enumeration, and published numbers."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from dpbounds.privacy.accountants.audits import one_run
from dpbounds.privacy.accountants.audits.one_run import Guesses
from dpbounds.privacy.accountants.audits.scores import gaussian_epsilon_at_least, guessed
from dpbounds.privacy.accountants.audits.tails import largest_refuted

ERROR = Fraction(1, 20)


# --- The p-value


def largest_probability(canaries, guesses, correct, epsilon, delta):
    """Of this many correct guesses, over all (ε, δ)-private mechanisms: a linear program.

    What a mechanism publishes may as well be the guesses themselves.
    """
    made = [g for g in itertools.product((-1, 0, 1), repeat=canaries) if sum(map(abs, g)) == guesses]
    coins = list(itertools.product((-1, 1), repeat=canaries))
    edges = [(s, t) for s, t in itertools.permutations(coins, 2) if sum(a != b for a, b in zip(s, t, strict=True)) == 1]
    count, masses = len(made), len(coins) * len(made)
    right = [[sum(a == b for a, b in zip(s, g, strict=True)) >= correct for g in made] for s in coins]
    gain = -np.concatenate([np.array(right, dtype=float).ravel() / len(coins), np.zeros(len(edges) * count)])
    bound = sparse.lil_matrix((len(edges) * (count + 1), len(gain)))
    limits = np.zeros(len(edges) * (count + 1))
    for edge, (s, t) in enumerate(edges):
        excess = masses + edge * count
        for g in range(count):  # the mass on s is at most e^ε that on t, and an excess
            row = edge * (count + 1) + g
            bound[row, coins.index(s) * count + g] = 1
            bound[row, coins.index(t) * count + g] = -math.exp(epsilon)
            bound[row, excess + g] = -1
        bound[row + 1, excess : excess + count] = 1
        limits[row + 1] = delta
    total = sparse.kron(sparse.eye(len(coins)), np.ones((1, count)))
    total = sparse.hstack([total, sparse.csr_matrix((len(coins), len(edges) * count))])
    found = optimize.linprog(gain, bound.tocsr(), limits, total.tocsr(), np.ones(len(coins)), method="highs")
    return -found.fun


@pytest.mark.parametrize("delta", ["0.001", "0.02"])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 1, 1), (3, 2, 2), (3, 3, 2), (3, 3, 3)], ids=str
)
def test_no_mechanism_does_better_and_one_does_as_well(shape, delta):
    found = float(Guesses(*shape).p_value(Fraction(1, 2), Fraction(delta)))
    assert found == pytest.approx(largest_probability(*shape, 0.5, float(delta)), abs=1e-8)


@pytest.mark.parametrize("shape", [(40, 30, 21), (30, 30, 30), (7, 5, 4), (1000, 400, 260)], ids=str)
def test_the_formula_by_the_sums_of_its_definition(shape):
    canaries, guesses, correct = shape
    epsilon, delta = 0.4, 1e-3
    masses = stats.binom.pmf(np.arange(guesses + 1), guesses, 1 / (1 + math.exp(-epsilon)))
    tail = math.fsum(masses[correct:])
    expected = tail + canaries * delta * tail * (1 - tail) / (correct * masses[correct])
    found = Guesses(*shape).p_value(Fraction("0.4"), Fraction("0.001"))
    assert float(found) == pytest.approx(expected, rel=1e-10)
    planned = Guesses(*shape).planned_p_values(np.array([epsilon]), np.array([delta]))
    assert planned == pytest.approx(expected, rel=1e-9)


def test_up_to_the_mean_nothing_is_said():
    assert Guesses(10, 10, 5).p_value(Fraction(0), Fraction(0)) == 1
    assert Guesses(10, 10, 0).p_value(Fraction(0), Fraction(0)) == 1
    assert Guesses(10, 0, 0).least_epsilon(Fraction(0), ERROR) == 0


def published(canaries, guesses, correct, epsilon, delta):
    """Steinke, Nasr & Jagielski 2023, Appendix D: f + 2 m δ max_i (f_(v-i) - f_v)/i."""
    share = 1 / (1 + math.exp(-epsilon))
    below = np.cumsum(stats.binom.pmf(correct - np.arange(1, correct + 1), guesses, share))
    steepest = float((below / np.arange(1, correct + 1)).max())
    return float(stats.binom.sf(correct - 1, guesses, share)) + 2 * canaries * delta * steepest


@pytest.mark.parametrize(
    ("shape", "delta", "printed"),
    [
        ((100, 100, 75), "0", 0.702),
        ((100, 100, 75), "1e-4", 0.699),
        ((1000, 100, 75), "1e-4", 0.673),
        ((100_000, 1510, 1439), "1e-5", 2.675),
    ],
)
def test_published_numbers(shape, delta, printed):
    """The paper's formula gives them, and ours gives no less: the same at δ = 0."""
    theirs = optimize.brentq(lambda epsilon: published(*shape, epsilon, float(delta)) - 0.05, 0, 10)
    assert theirs == pytest.approx(printed, abs=1e-3)
    found = float(Guesses(*shape).least_epsilon(Fraction(delta), ERROR))
    assert found >= theirs - 1e-9
    assert found == pytest.approx(theirs, rel=1e-9 if delta == "0" else 0.06)
    assert (found == pytest.approx(theirs, rel=1e-9)) == (delta == "0")


def test_the_published_term_in_delta_is_too_small_below_the_mean():
    """``audits.md``: an (ε, δ)-private mechanism that is right about one of two coins more often."""
    power, delta = math.e, 0.05
    none = (1 - 0.1 * (1 + power / 2)) / (1 + 2 * power * (1 + power / 2))
    one = 2 * power * none + 0.1
    each = {0: none, 1: one / 2, 2: power * one / 2}  # by the number of right guesses: w_k over binomial(2, k)
    assert each[0] + 2 * each[1] + each[2] == pytest.approx(1)
    # a coin is flipped: of the two guesses about it one becomes wrong, and the other one right
    for other in (0, 1):
        assert each[other] <= power * each[other + 1]
    excess = sum(max(0, each[other + 1] - power * each[other]) for other in (0, 1))
    assert excess <= delta + 1e-12
    assert published(2, 2, 1, 1, delta) == pytest.approx(0.9421, abs=1e-4)
    assert 1 - none == pytest.approx(0.9447, abs=1e-4)
    assert largest_probability(2, 2, 1, 1, delta) == pytest.approx(1 - none, abs=1e-8)


# --- Confidence


@cache
def least_epsilon(found, delta, level):
    return found.least_epsilon(delta, level)


def answers_of(canaries, epsilon):
    """All answers of randomised response by whether each is true, with their probabilities."""
    share = 1 / (1 + math.exp(-float(epsilon)))
    for true in itertools.product((False, True), repeat=canaries):
        yield np.array(true), share ** sum(true) * (1 - share) ** (canaries - sum(true))


@pytest.mark.parametrize("guesses", [6, 4, 2])
@pytest.mark.parametrize("epsilon", ["0", "0.3"])
def test_randomised_response_of_all_coins_and_answers_keeps_the_confidence(guesses, epsilon):
    """In a file that lists canaries that were out first: an order that tells the coins."""
    level, wrong = Fraction(1, 5), 0.0
    for ones in range(7):
        coins = np.arange(6) >= 6 - ones
        for true, chance in answers_of(6, Fraction(epsilon)):
            found = guessed(np.where(true, coins, ~coins).astype(float), coins, guesses)
            if least_epsilon(found, Fraction(0), level) > Fraction(epsilon):
                wrong += math.comb(6, ones) / 2**6 * chance
    assert wrong <= level


@pytest.mark.parametrize(("canaries", "delta"), [(10, "0"), (10, "0.01"), (60, "0.001")])
def test_the_confidence_is_kept_by_a_mechanism_that_may_publish_all_coins(canaries, delta):
    """Randomised response, and with probability δ the truth; exactly, by the number of right answers."""
    epsilon, share = Fraction(1), 1 / (1 + math.exp(-1))
    chances = (1 - float(delta)) * stats.binom.pmf(np.arange(canaries + 1), canaries, share)
    chances[canaries] += float(delta)
    bounds = [least_epsilon(Guesses(canaries, canaries, v), Fraction(delta), ERROR) for v in range(canaries + 1)]
    assert bounds == sorted(bounds)
    wrong = sum(chance for chance, bound in zip(chances, bounds, strict=True) if bound > epsilon)
    assert wrong <= ERROR
    if delta == "0":
        more = chances[: canaries + 1 - sum(bound > epsilon for bound in bounds)][-1]
        assert wrong + more > ERROR  # one more result counted as extreme would break it


def test_equal_scores_are_not_ordered_by_their_place():
    coins = np.arange(1000) >= 500
    found = guessed(np.zeros(1000), coins, 1000)
    assert 430 < found.correct < 570


# --- Gaussian differential privacy


@pytest.mark.seconds
def test_the_confidence_of_mu_for_gaussian_noise_on_every_coin():
    """Each coin is guessed rightly with probability Φ(μ/2), independently."""
    canaries, mu = 200, Fraction(1)
    share = stats.norm.cdf(0.5)
    low, high = canaries // 2, canaries  # the least number of right guesses with a bound above μ
    while high - low > 1:
        middle = (low + high) // 2
        exceeds = Guesses(canaries, canaries, middle).least_mu(ERROR) > mu
        low, high = (low, middle) if exceeds else (middle, high)
    assert 0 < stats.binom.sf(high - 1, canaries, share) <= ERROR


def test_the_p_value_of_mu_is_that_of_one_of_its_epsilons():
    found = Guesses(500, 100, 93)
    mu = found.least_mu(ERROR)
    assert 0.5 < mu < 3
    # a grid of ε of its own: none refutes a μ that is 2 % larger
    larger, epsilons = float(mu) * 1.02, np.linspace(0.05, 8, 200)
    places = larger / 2 - epsilons / larger
    deltas = stats.norm.cdf(places) - np.exp(epsilons) * stats.norm.cdf(places - larger)
    assert (found.planned_p_values(epsilons, deltas) > 0.05).all()
    assert gaussian_epsilon_at_least(mu, Fraction(1, 10**5)) > found.least_epsilon(Fraction(1, 10**5), ERROR)


# --- What floats find is proven


@pytest.mark.parametrize("too_large", [1, 1 + 1e-10, 1 + 1e-5, 2])
def test_a_plan_that_promises_too_much_is_corrected_or_dropped(too_large):
    def proven(number):
        return Fraction(1, 100) if number <= 3 else Fraction(1)

    found = largest_refuted(lambda number: 0.005 if number <= 3 * too_large else 1.0, proven, Fraction(1, 100))
    assert found <= 3
    assert found == pytest.approx(3 if too_large < 2 else 0, rel=2e-4)


def test_a_wrong_plan_of_mu_is_refused(monkeypatch):
    found = Guesses(500, 100, 93)
    assert found.least_mu(ERROR) > 0.5
    deltas = one_run._gaussian_deltas
    monkeypatch.setattr(one_run, "_gaussian_deltas", lambda mu: deltas(0.97 * mu))  # those of a smaller μ
    assert found.least_mu(ERROR) == 0
