import attrs
import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.method import OpenRun
from dpbounds.algorithms.oracles import Poisson
from dpbounds.algorithms.planning import multiplier_of_one
from dpbounds.algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from dpbounds.algorithms.spider.spider import Spider
from dpbounds.algorithms.verification.studies.stochastic import realisable
from dpbounds.algorithms.verification.studies.warm_starts import regression
from dpbounds.algorithms.warm_starts.warm_started_spider import WarmStartedSpider
from dpbounds.privacy.mechanisms import ExponentialMechanism, parts_of
from dpbounds.privacy.relations import Relation
from tests.algorithms.shared import holds, refused


def warm(problem, **options):
    return WarmStartedSpider.calibrated(
        problem, **{"epsilon": 2, "delta": "1e-5", "radius": 1, "covering_radius": "0.1"} | options
    )


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_it_is_the_start_and_then_spider_with_the_same_streams():
    problem = regression(200, 2)
    method = warm(problem, steps=12)
    run = method.run(problem, seed=4, repetitions=3)
    generators, pen = noise.streams(4, 3), OpenLedger()
    start = method.start.starts(problem, generators, pen)
    walked = method.spider.descend(problem, OpenRun(problem, generators, pen), start)
    assert np.array_equal(run.outputs["start"], start)
    assert np.array_equal(run.output, walked.point)
    assert pen.close().releases == run.ledger.releases
    # and the walk from there, written again without batches
    eta, gradients = method.spider.step_size_for(problem), lambda w: problem.gradient(w[None])[0]
    first = run.outputs["start"][0]
    assert np.linalg.norm(first) <= 1
    assert eta == pytest.approx(0.25)  # 1/(2L), L = 2
    assert run.trace.gradient_norm.per_repetition.shape == (3,)
    assert run.trace.gradient_norm.per_step[0] == pytest.approx(
        np.mean([np.linalg.norm(gradients(row)) for row in run.outputs["start"]])
    )


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_start_and_walk_share_one_budget(relation):
    problem = regression(300, 2)
    method = warm(problem, steps=10, relation=relation)
    run = method.run(problem, repetitions=2)
    assert run.spent.upper <= 2
    (selection, count), *rest = parts_of(method.planned)
    assert isinstance(selection, ExponentialMechanism)
    assert (count, sum(times for _, times in rest)) == (1, 10)
    # half of the budget in zCDP, ε_E²/8 = ρ/2: that of one Gaussian release that keeps the budget, (f/z)²/2
    factor = 2 if relation is Relation.REPLACE_ONE else 1
    rho = (factor / float(multiplier_of_one(PrivacyBudget.of(2, "1e-5", relation)))) ** 2 / 2
    assert float(selection.epsilon) ** 2 / 8 == pytest.approx(rho / 2, rel=1e-6)
    assert method.bound(problem).upper < 1


@pytest.mark.minutes
def test_behind_a_start_of_any_cost_there_is_a_bound():
    problem = regression(2000, 2)
    budget = PrivacyBudget.of(2, "1e-5")
    for epsilon in ("1/2", 1, "3/2", "19/10"):
        start = NetExponentialMechanism.calibrated(problem, epsilon, radius=1, covering_radius="0.1")
        start = attrs.evolve(start, budget=None)
        method = WarmStartedSpider.behind(start, problem, start.bound(problem).exact_upper, budget)
        assert method.bound(problem).upper < 1
        run = method.run(problem, repetitions=1)
        assert 1.9 < run.spent.exact_upper <= 2


@pytest.mark.one_in(4)
@pytest.mark.seconds_cases("add-or-remove-one")
@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_behind_a_descent_all_noise_is_one_gaussian(relation):
    problem = realisable(400, 3)
    method = WarmStartedSpider.behind_descent(problem, 1, "1e-5", relation)
    run = method.run(problem, seed=2, repetitions=3)
    budget = PrivacyBudget.of(1, "1e-5", relation)
    single = float(multiplier_of_one(budget))
    assert sum(n / float(part.noise_multiplier) ** 2 for part, n in parts_of(method.planned)) == pytest.approx(
        1 / single**2, rel=1e-6
    )
    (descent, steps), *_ = parts_of(method.planned)
    assert steps / float(descent.noise_multiplier) ** 2 == pytest.approx(0.5 / single**2, rel=1e-6)
    assert run.spent.exact_upper <= 1
    # the start is the descent's own output, from the same streams
    generators, pen = noise.streams(2, 3), OpenLedger()
    assert np.array_equal(run.outputs["start"], method.start.starts(problem, generators, pen))
    assert np.array_equal(method.start.run(problem, seed=2, repetitions=3).output, run.outputs["start"])
    assert method.spider.initial_gap == method.start.bound(problem).exact_upper


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_behind_a_descent_the_mean_gradient_is_below_the_bound():
    problem = realisable(400, 3)
    method = WarmStartedSpider.behind_descent(problem, 1, "1e-5")
    run = method.run(problem, seed=1, repetitions=16)
    assert holds(run.samples, method.bound(problem))


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_more_for_the_start_is_less_for_the_walk():
    problem = regression(300, 2)
    little, much = (warm(problem, steps=10, share=share) for share in ("1/10", "9/10"))
    assert little.start.epsilon < much.start.epsilon
    assert little.spider.anchor_multiplier < much.spider.anchor_multiplier
    assert little.spider.initial_gap > much.spider.initial_gap


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_the_mean_gradient_is_below_the_bound():
    problem = regression(600, 2)
    method = warm(problem)
    run = method.run(problem, seed=1, repetitions=16)
    assert holds(run.samples, method.bound(problem))


@pytest.mark.seconds
def test_the_excess_of_the_start_is_below_psi():
    problem = regression(600, 2)
    method = warm(problem)
    run = method.run(problem, seed=2, repetitions=64)
    fine = NetExponentialMechanism.calibrated(problem, 2, radius=1, covering_radius="0.02").net.points
    excess = run.measured["start_objective"] - problem.objective_at(fine).min()
    assert excess.mean() < method.spider.initial_gap


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_cold_start_has_a_larger_bound_where_records_are_many():
    problem = regression(20_000, 2)
    cold = Spider.calibrated(problem, epsilon=2, delta="1e-5")
    behind = warm(problem, covering_radius="0.02")
    assert behind.bound(problem).upper < cold.bound(problem).upper


@pytest.mark.seconds
def test_a_start_that_may_be_worse_than_the_walk_was_planned_for_has_no_bound():
    problem, asked = regression(10**4, 2), "spider.initial_gap must be at least"
    method = warm(problem, steps=10, outside="1/100")
    assert method.bound(problem).upper < 1
    assert method.spider.initial_gap == method.start.bound(problem).exact_upper + method.outside
    refused(asked, method.bound, regression(100, 2))
    refused(asked, attrs.evolve(method, outside="1/50").bound, problem)


@pytest.mark.seconds
def test_behind_a_descent_the_bound_is_about_its_quasar_convexity():
    problem = realisable(400, 3)
    own, given = (WarmStartedSpider.behind_descent(problem, quasar_convexity=q) for q in (None, "1/4"))
    for method in (own, given):
        assert method.bound(problem).upper > 0
        refused("spider.initial_gap must be at least", method.bound, realisable(40, 3))
    assert given.quasar_convexity * 4 == 1
    refused(
        "spider.initial_gap must be at least", attrs.evolve(own, quasar_convexity=given.quasar_convexity).bound, problem
    )
    net = warm(regression(100, 2), steps=3)
    refused("a start that is not a descent", attrs.evolve, net, quasar_convexity=given.quasar_convexity)


@pytest.mark.seconds
def test_refusals():
    for name, value in (("share", 0), ("share", 1), ("outside", -1), ("steps", 0), ("radius", None), ("epsilon", 0)):
        refused(name, warm, regression(100, 2), **{name: value})


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_walk_without_a_gap_or_with_a_budget_of_its_own_is_refused():
    start = warm(regression(100, 2), steps=3).start
    refused("initial_gap", WarmStartedSpider, start, Spider(5, 5, 3, 2))
    own = Spider(5, 5, 3, 2, initial_gap=1, budget=PrivacyBudget.of(1, "1e-5"))
    refused("budget", WarmStartedSpider, start, own)
    for options in ({"variant": "as-printed"}, {"anchor_sampling": Poisson("1/10")}):
        refused("spider", WarmStartedSpider, start, Spider(5, 5, 3, 2, initial_gap=1, **options))
