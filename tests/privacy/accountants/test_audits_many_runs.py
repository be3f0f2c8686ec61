"""Audits with many runs, against closed forms, numerical integrals and exact probabilities."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats

from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.audits.many_runs import (
    GaussianPrivacy,
    Privacy,
    RankTest,
    error_rates,
    largest_by_ranks,
    rank_tests,
)
from dpbounds.privacy.accountants.audits.tails import at_least, smallest_rate

PURE, LEVEL = Privacy(Fraction(0)), Fraction(1, 100)


@pytest.mark.parametrize(("count", "share"), [(10, "1/3"), (500, "1/50"), (1000, "0.97")])
def test_tails_of_binomials(count, share):
    with working(128):
        success = arb(Fraction(share).numerator) / Fraction(share).denominator
        for first in (0, 1, count // 50, count // 3, count - 3, count, count + 1):
            expected = float(stats.binom.sf(first - 1, count, float(Fraction(share))))
            assert float(at_least(first, count, success).mid()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("rank", "sample", "above", "others"), [(1, 20, 6, 20), (4, 50, 20, 40), (16, 64, 30, 60)])
def test_equal_distributions_are_a_matter_of_order(rank, sample, above, others):
    """At ε = 0 and at μ = 0: of the k + v - 1 largest of all scores at least v are of one kind."""
    exact = stats.hypergeom(sample + others, others, rank + above - 1).sf(above - 1)
    for hypothesis in (PURE, GaussianPrivacy()):
        found = RankTest(rank, sample, above, others).p_value(hypothesis, Fraction(0), LEVEL)
        assert exact <= float(found) < exact * 1.2 + 3e-6


@pytest.mark.parametrize(
    ("hypothesis", "number", "allowed"),
    [
        (Privacy(Fraction("0.01")), "1.5", lambda a: min(1, math.exp(1.5) * a + 0.01, 1 - math.exp(-1.5) * (0.99 - a))),
        (PURE, "3", lambda a: min(1, math.exp(3) * a, 1 - math.exp(-3) * (1 - a))),
        (GaussianPrivacy(), "1.25", lambda a: stats.norm.cdf(stats.norm.ppf(a) + 1.25)),
    ],
)
@pytest.mark.parametrize(
    "test", [RankTest(1, 40, 12, 50), RankTest(8, 200, 60, 150), RankTest(64, 100, 99, 100)], ids=str
)
def test_the_p_value_is_an_integral(test, hypothesis, number, allowed):
    """P(V <= h(U)), from above; and by little."""

    def inside(a):
        density = stats.beta.pdf(a, test.rank, test.sample - test.rank + 1)
        return density * stats.beta.cdf(allowed(a), test.above, test.others - test.above + 1)

    exact, _ = integrate.quad(inside, 0, 1, limit=400, points=[0.01, 0.05, 0.1, 0.3, 0.6])
    found = float(test.p_value(hypothesis, Fraction(number), LEVEL))
    assert exact * (1 - 1e-7) <= found <= exact * 1.3 + 1e-5
    assert test.planned_p_value(hypothesis, float(number), 0.01) == pytest.approx(found, rel=1e-6, abs=1e-12)


def least_above(rank, sample, others, hypothesis, number, level):
    """The least number of scores above the threshold that refutes a hypothesis."""
    return next(
        (
            v
            for v in range(1, others + 1)
            if RankTest(rank, sample, v, others).p_value(hypothesis, number, level) <= level
        ),
        others + 1,
    )


@pytest.mark.seconds
@pytest.mark.parametrize("epsilon", ["0.5", "1"])
def test_the_confidence_for_randomised_response_is_exact(epsilon):
    """Scores 1 and 0, so that all depends on two binomial numbers; ties at every threshold."""
    runs, error, number = 24, Fraction(1, 5), Fraction(epsilon)
    share = 1 / (1 + math.exp(-float(number)))
    tests = rank_tests(np.ones(runs), np.zeros(runs))
    least = {test.rank: least_above(test.rank, runs, runs, PURE, number, error / len(tests)) for test in tests}
    assert any(v <= runs for v in least.values())
    wrong = 0.0
    for with_canary in range(runs + 1):
        for without in range(runs + 1):
            included = (np.arange(runs) < with_canary).astype(float)
            excluded = (np.arange(runs) < without).astype(float)
            if any(test.above >= least[test.rank] for test in rank_tests(included, excluded)):
                wrong += stats.binom.pmf(with_canary, runs, share) * stats.binom.pmf(without, runs, 1 - share)
    assert wrong <= error


@pytest.mark.seconds
def test_the_confidence_of_mu_in_simulations():
    draw, runs, audits, error = np.random.default_rng(5), 60, 300, 0.2
    wrong = 0
    for _ in range(audits):
        tests = rank_tests(draw.normal(size=runs) + 1, draw.normal(size=runs))
        level = error / len(tests)
        wrong += any(test.planned_p_value(GaussianPrivacy(), 1.0, level) <= level for test in tests)
    assert 0 < wrong <= stats.binom.isf(1e-6, audits, error)


def test_both_ends_of_the_scores_are_tried():
    """All scores without the canary are small; but for that, those with it are the same: and the other way round."""
    draw = np.random.default_rng(1)
    high, low = draw.random(400) + (np.arange(400) < 100) * 2, draw.random(400)
    first, by = largest_by_ranks(rank_tests(high, low), PURE, LEVEL)
    second, mirrored = largest_by_ranks(rank_tests(-low, -high), PURE, LEVEL)
    assert first == second > 1
    assert (by.rank, by.above) == (mirrored.rank, mirrored.above)


@pytest.mark.parametrize("hypothesis", [PURE, Privacy(Fraction("0.01")), GaussianPrivacy()], ids=repr)
def test_the_tests_share_the_error(hypothesis):
    draw = np.random.default_rng(2)
    tests = rank_tests(draw.normal(size=100) + 2, draw.normal(size=100))
    found, by = largest_by_ranks(tests, hypothesis, LEVEL)
    assert len(tests) == 14
    assert found > 0.5
    assert by.p_value(hypothesis, found, LEVEL / 14) <= LEVEL / 14
    for test in tests:  # none of them shows 1 % more
        assert test.planned_p_value(hypothesis, float(found) * 1.01, float(LEVEL / 14)) > LEVEL / 14


def test_ranks_are_counted_from_the_largest_score_and_ties_do_not_count():
    included, excluded = np.array([3.0, 3.0, 5.0, 1.0]), np.array([0.0, 3.0, 2.0, 2.0])
    found = [(test.rank, test.above) for test in rank_tests(included, excluded)]
    assert found[:3] == [(1, 1), (2, 3), (4, 4)]  # above 3; above 2; above 0
    assert found[3:] == [(1, 1), (2, 3), (4, 4)]  # below 1; below 3; below 5


@pytest.mark.parametrize(("count", "seen"), [(500, 0), (500, 7), (20, 19), (1000, 400)])
def test_clopper_and_pearson(count, seen):
    found = smallest_rate(count, seen, Fraction(1, 40))
    assert float(found) == pytest.approx(stats.beta.isf(0.025, seen + 1, count - seen), rel=1e-9)
    assert stats.binom.cdf(seen, count, float(found)) <= 0.025 * (1 + 1e-9)
    assert smallest_rate(count, count, Fraction(1, 40)) == 1


def test_perfect_separation_at_a_threshold_in_closed_form():
    """n runs of each kind and no error: log((1 - u)/u), 1 - u the n-th root of half of the error."""
    rates = error_rates(np.ones(500), np.zeros(500), 0.5, Fraction(1, 100))
    rate = 1 - 0.005 ** (1 / 500)
    assert float(PURE.shown(*rates)) == pytest.approx(math.log((1 - rate) / rate), rel=1e-9)  # 4.54
    assert float(GaussianPrivacy().shown(*rates)) == pytest.approx(2 * stats.norm.isf(rate), rel=1e-9)
    delta = Privacy(Fraction("0.1")).shown(*rates)
    assert float(delta) == pytest.approx(math.log((0.9 - rate) / rate), rel=1e-9)


def test_error_rates_that_exclude_nothing():
    for rates in ((Fraction(1), Fraction(0)), (Fraction(3, 5), Fraction(3, 5)), (Fraction(1), Fraction(1))):
        assert PURE.shown(*rates) == 0
        assert GaussianPrivacy().shown(*rates) == 0
    assert PURE.shown(Fraction(2, 5), Fraction(2, 5)) > 0


def test_rates_next_to_one_are_no_obstacle():
    found = RankTest(512, 600, 600, 600).p_value(GaussianPrivacy(), Fraction(30), LEVEL)
    assert found == 1
    with working(128):
        for success in (arb(1) - arb(2) ** -200, arb(2) ** -300 - arb(0).union(arb(2) ** -299)):
            assert at_least(3, 9, success).contains(1 if success > arb("0.5") else 0)
