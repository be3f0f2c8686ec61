import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy
from attrs import evolve

from dpbounds.algorithms import PrivacyBudget, noise, problems
from dpbounds.algorithms.planning import multiplier_of_one
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.spider.restarted_spider import THEOREMS, Growth, RestartedSpider, growth_of
from dpbounds.algorithms.spider.spider import Spider, enclosed
from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.judging.slopes import slope_check
from dpbounds.algorithms.verification.studies.spider import QUARTIC, quartic, wavy
from dpbounds.errors import InvalidValue
from dpbounds.theorems.registry import theorem
from tests.algorithms.shared import holds, refused

PROBLEM = wavy(8000)


def test_it_is_spider_again_and_again_step_by_step():
    problem = wavy(1000)
    stages = (Spider(3, 2, 5, 5), Spider(4, 3, 7, 7))
    run = RestartedSpider(stages).run(problem, seed=4, repetitions=3)
    G, L, n = 8 * 2 * (1 + 1e-9) + 1, 8.0, 1000

    def gradient(w):
        return 2 * w + 3 * np.sin(2 * w)

    for r, generator in enumerate(noise.streams(4, 3)):
        w = previous = np.array([0.8, -0.5])
        for first, other, T in ((3, 2, 5), (4, 3, 7)):
            chosen, walked = generator.integers(0, T), []
            for t in range(T):
                walked.append(w)
                if t == 0:
                    estimate = gradient(w) + first * G / n * generator.standard_normal(2)
                else:
                    stddev = other * min(L * np.linalg.norm(w - previous), 2 * G) / n
                    estimate = estimate + gradient(w) - gradient(previous) + stddev * generator.standard_normal(2)
                previous, w = w, w - estimate / 16
            w = walked[chosen]
        assert run.output[r] == pytest.approx(w, abs=1e-8)
        assert run.output_step[r] == chosen
        norms = [np.linalg.norm(gradient(w)) for w in walked]
        assert run.trace.gradient_norm.per_repetition[r] == pytest.approx(np.mean(norms), rel=1e-9)


def test_the_ledger_is_the_plan_and_keeps_the_budget_and_hardly_less_under_kl():
    problem = quartic(2000)
    method = RestartedSpider.calibrated(problem, 2, "1e-5", growth=QUARTIC, stages=3)
    run = method.run(problem, repetitions=2)
    assert 2 * (1 - 1e-6) < run.spent.lower <= run.spent.upper <= 2
    assert sum(release.count for release in run.ledger.releases) == run.steps == sum(s.steps for s in method.stages)


def test_stages_share_the_budget_evenly():
    stages = RestartedSpider.calibrated(PROBLEM, stages=4).stages
    parts = [1 / s.anchor_multiplier**2 for s in stages]
    parts += [(s.steps - 1) / s.difference_multiplier**2 for s in stages]
    assert len(parts) == 8
    assert float(max(parts) / min(parts)) == pytest.approx(1, rel=1e-10)
    # a stage of one step has no differences to pay for
    (only,) = RestartedSpider.calibrated(PROBLEM, stages=1, growth=Growth("1/100", 2)).stages
    assert only.steps == 1
    assert float(only.anchor_multiplier**2 * parts[0]) == pytest.approx(1 / 8, rel=1e-10)


@pytest.mark.seconds
def test_under_pl_what_is_measured_stays_below_the_bounds():
    problem = PROBLEM
    method = RestartedSpider.calibrated(problem, 2, "1e-5", stages=5)
    run = method.run(problem, seed=3, repetitions=16)
    bound, closed = method.bound(problem), method.closed_form(problem)
    assert bound.exact_upper < closed.exact_lower
    assert closed.upper < 1.1 * bound.upper
    assert holds(run.samples, bound)
    assert 0.05 < run.samples.mean() / bound.upper < 1
    assert holds(run.measured["output_objective"], method.excess_bound(problem))


@pytest.mark.seconds
def test_under_kl_what_is_measured_stays_below_the_bounds():
    problem = quartic(1000)
    method = RestartedSpider.calibrated(problem, 2, "1e-5", growth=QUARTIC)
    run = method.run(problem, seed=3, repetitions=16)
    assert holds(run.samples, method.bound(problem))
    assert holds(run.measured["output_objective"], method.excess_bound(problem))
    steps = [stage.steps for stage in method.stages]
    assert all(before < after for before, after in pairwise(steps))  # the flatter, the longer


@pytest.mark.minutes
def test_under_pl_the_gradient_falls_like_one_over_n():
    sizes, samples = (8000, 16_000, 32_000, 64_000), []
    for n in sizes:
        problem = wavy(n)
        samples.append(RestartedSpider.calibrated(problem, 2, "1e-5", stages=12).run(problem, repetitions=64).samples)
    found = slope_check("x", -1.0, sizes, samples, confidence=0.999999, widest=0.5)
    assert found.verdict in (Verdict.HOLDS, Verdict.COMPATIBLE), found.reason
    assert found.slope.high < -2 / 3  # without the PL inequality it is that


def test_the_bound_stage_by_stage_in_plain_floats():
    method = RestartedSpider.calibrated(PROBLEM, 2, "1e-5", stages=3)
    G, gap, n = 16 * (1 + 1e-9) + 1, float(PROBLEM.initial_gap), 8000
    mu = 0.17553
    for stage, found in zip(method.stages, method.bounds(PROBLEM), strict=True):
        assert stage.steps == math.ceil(4 * 8 / mu)
        square = 4 * 8 * gap / stage.steps + 2 * (float(stage.anchor_multiplier) * G / n) ** 2
        assert found.upper == pytest.approx(math.sqrt(square), rel=1e-9)
        gap = square / (2 * mu)
    assert method.excess_bound(PROBLEM).upper == pytest.approx(gap, rel=1e-9)


def test_as_many_stages_as_suit_the_bound():
    best = RestartedSpider.calibrated(PROBLEM, 2, "1e-5")
    J = len(best.stages)
    for other in (1, J - 1, J + 1, 2 * J):
        assert best.bound(PROBLEM) < RestartedSpider.calibrated(PROBLEM, 2, "1e-5", stages=other).bound(PROBLEM)


def test_too_few_records_for_the_condition_number_are_refused():
    refused(r"records must be .*, not 100", RestartedSpider.calibrated, wavy(100))
    hopeless = RestartedSpider((Spider(20, 3000, 183, 183),) * 2)
    refused(r"d σ₂² η² \(q - 1\)", hopeless.bound, wavy(2000))


def test_the_closed_form_is_about_equal_stages_of_sufficient_length():
    refused("different kinds", RestartedSpider((Spider(3, 2, 5, 5), Spider(4, 3, 7, 7))).closed_form, PROBLEM)
    refused("halves the gap", RestartedSpider((Spider(3, 2, 50, 50),)).closed_form, PROBLEM)


def test_a_walk_that_leaves_the_ball_is_refused():
    refused("outside the ball", RestartedSpider((Spider(10**5, 10**5, 5, 5),)).run, PROBLEM, repetitions=4)


def test_growth_of_a_pl_loss():
    growth = growth_of(PROBLEM, None)
    assert growth.exponent == 2
    assert 0 <= growth.constant**2 * 2 * Fraction("0.17553") - 1 < Fraction(1, 10**12)  # rounded up
    assert Growth.polyak_lojasiewicz("1/8") == Growth(2, 2)
    assert growth_of(PROBLEM, QUARTIC) is QUARTIC


def test_growth_holds_where_it_is_claimed():
    w = np.linspace(-1, 1, 2001)
    value, slope, _ = problems.power(4).derivatives(w)
    assert value == pytest.approx((np.abs(slope) / 4) ** (4 / 3))  # attained
    value, slope, _ = problems.WAVY.derivatives(20 * w)
    assert (value <= float(growth_of(PROBLEM, None).constant) ** 2 * slope**2 * (1 + 1e-9)).all()


def test_bad_parameters_are_refused_by_name():
    for growth in [(0, 2), (-1, 2), (1, "0.9"), (1, "2.1"), (math.nan, 2)]:
        refused("constant|exponent", Growth, *growth)
    for constant in (0, -1, sympy.Integer(0)):
        refused("pl_constant", Growth.polyak_lojasiewicz, constant)
    refused(r"stages must be .*, not 0", RestartedSpider, ())
    for options in (
        {"variant": "as-printed"},
        {"difference_sampling": Batch(2, 8000, replacement=False)},
        {"budget": PrivacyBudget.of(1, "1e-5")},
    ):
        refused("stages", RestartedSpider, (Spider(1, 1, 4, 2, **options),))
    refused(r"stages must be .*, not 0", RestartedSpider.calibrated, PROBLEM, stages=0)
    refused(r"growth must be .*, not None", RestartedSpider.calibrated, quartic(2000))


def test_a_gap_that_is_as_good_as_nothing_is_answered_without_overflow():
    assert RestartedSpider.calibrated(quartic(2000), growth=Growth("1/4", 2), stages=1, initial_gap="1e-400")
    for exponent in (1, Fraction(4, 3)):  # a stage that halves such a gap would take more steps than the noise allows
        with pytest.raises(InvalidValue, match=r"records must be .*, not 2000"):
            RestartedSpider.calibrated(quartic(2000), growth=Growth("1/4", exponent), stages=1, initial_gap="1e-400")


@pytest.mark.seconds
def test_a_public_bound_on_the_gap_of_another_start():
    near = RestartedSpider.calibrated(PROBLEM, 2, "1e-5", initial_gap="1/100")
    far = RestartedSpider.calibrated(PROBLEM, 2, "1e-5")
    assert len(near.stages) < len(far.stages)
    assert near.bound(PROBLEM) < far.bound(PROBLEM)
    run = near.run(PROBLEM, repetitions=2, start=[0.01, -0.02])
    assert run.samples.mean() < near.bound(PROBLEM).upper


@pytest.mark.seconds
def test_falling_shares_are_those_of_the_statement():
    """Its bound at the ρ of the budget is what the stages prove one after another."""
    method = RestartedSpider.calibrated(PROBLEM, 2, "1e-5", shares="falling", stages=6, initial_gap=1)
    run = method.run(PROBLEM, seed=0, repetitions=2)
    assert 2 * (1 - 1e-6) < run.spent.lower <= run.spent.upper <= 2
    anchors = [float(stage.anchor_multiplier) for stage in method.stages]
    assert all(one / other == pytest.approx(2**0.25, rel=1e-6) for one, other in pairwise(anchors))
    rho = 2 / multiplier_of_one(PrivacyBudget.of(2, "1e-5")) ** 2
    named = ("lipschitz", "smoothness", "pl_constant")
    problem = {name: enclosed(getattr(PROBLEM, name), name) for name in named} | {"initial_gap": 1}
    sizes = {"dataset_size": 8000, "dimension": 2, "steps": method.stages[0].steps, "stages": 6, "rho": rho}
    promised = theorem(THEOREMS["shares"]).evaluate("excess_risk", **sizes, **problem)
    assert promised.applies
    # T is rounded up, which the statement does not make use of
    assert 0.97 * promised.value.upper < method.excess_bound(PROBLEM).upper <= promised.value.upper
    left = float(rho) - 6 * 2 * (method.stages[0].steps - 1) ** 2 / 8000**2
    total = sum(2 ** (-i / 2) for i in range(6))
    assert anchors[-1] == pytest.approx(math.sqrt(2 * total / left), rel=1e-6)
    noisier = evolve(
        method.stages[0], difference_multiplier=method.stages[0].difference_multiplier * Fraction(1001, 1000)
    )
    refused("difference", evolve(method, stages=(noisier, *method.stages[1:])).bound, PROBLEM)


@pytest.mark.seconds
def test_falling_shares_lower_the_bound_also_under_kl():
    for problem, growth in ((PROBLEM, None), (quartic(4000), QUARTIC)):
        equal, falling = (
            RestartedSpider.calibrated(problem, 2, "1e-5", growth=growth, shares=shares)
            for shares in ("equal", "falling")
        )
        assert falling.bound(problem).upper < 0.9 * equal.bound(problem).upper
    refused("shares", RestartedSpider.calibrated, PROBLEM, shares="rising")
    refused(r"J d \(T - 1\)² < n² ρ", RestartedSpider.calibrated, wavy(40), shares="falling")
