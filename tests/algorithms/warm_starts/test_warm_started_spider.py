import numpy as np
import pytest

from algorithms import noise, problems
from algorithms.ledger import OpenLedger, PrivacyBudget
from algorithms.selection.net_exponential_mechanism import NetExponentialMechanism
from algorithms.spider.spider import Spider
from algorithms.verification import Verdict, bound_check
from algorithms.warm_starts.warm_started_spider import THEOREMS, WarmStartedSpider
from dpbounds.errors import InvalidValue
from dpbounds.privacy.mechanisms import ExponentialMechanism, parts_of
from dpbounds.privacy.relations import Relation


def regression(n=600, d=2, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    targets = features @ np.full(d, 0.5) + 0.3 * rng.standard_normal(n)
    return problems.geman_mcclure(features, targets)


def warm(problem, **options):
    return WarmStartedSpider.calibrated(
        problem, **{"epsilon": 2, "delta": "1e-5", "radius": 1, "covering_radius": "0.1"} | options
    )


def test_it_is_the_start_and_then_spider_with_the_same_streams():
    problem = regression(200)
    method = warm(problem, steps=12)
    run = method.run(problem, seed=4, repetitions=3)
    generators, pen = noise.streams(4, 3), OpenLedger()
    start = method.start.starts(problem, generators, pen)
    walked = method.spider.walk(problem, start, generators, pen)
    assert np.array_equal(run.outputs["start"], start)
    assert np.array_equal(run.output, walked.output)
    assert pen.close() == run.ledger
    # and the walk from there, written again without batches
    eta, gradients = method.spider.step_size_for(problem), lambda w: problem.gradient(w[None])[0]
    first = run.outputs["start"][0]
    assert np.linalg.norm(first) <= 1
    assert eta == pytest.approx(0.25)  # 1/(2L), L = 2
    assert run.trace.gradient_norm.per_repetition.shape == (3,)
    assert run.trace.gradient_norm.per_step[0] == pytest.approx(
        np.mean([np.linalg.norm(gradients(row)) for row in run.outputs["start"]])
    )


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_start_and_walk_share_one_budget(relation):
    problem = regression(300)
    method = warm(problem, steps=10, relation=relation)
    run = method.run(problem, repetitions=2)
    assert run.spent.upper <= 2
    (selection, count), *rest = parts_of(method.planned)
    assert isinstance(selection, ExponentialMechanism)
    assert (count, sum(times for _, times in rest)) == (1, 10)
    # half of the budget in zCDP: ε_E²/8 = ρ/2 with ρ = 2/z² of one Gaussian release
    assert float(method.start.epsilon) < 2


def test_more_for_the_start_is_less_for_the_walk():
    problem = regression(300)
    little, much = (warm(problem, steps=10, share=share) for share in ("1/10", "9/10"))
    assert little.start.epsilon < much.start.epsilon
    assert little.spider.anchor_multiplier < much.spider.anchor_multiplier
    assert little.spider.initial_gap > much.spider.initial_gap


@pytest.mark.parametrize("n", [300, 600, 1200])
def test_the_mean_gradient_is_below_the_bound(n):
    problem = regression(n)
    method = warm(problem)
    run = method.run(problem, seed=1, repetitions=16)
    check = bound_check(THEOREMS["bound"], run.samples, method.bound(problem))
    assert check.verdict is Verdict.HOLDS, check


def test_the_excess_of_the_start_is_below_psi():
    problem = regression(600)
    method = warm(problem)
    run = method.run(problem, seed=2, repetitions=64)
    fine = NetExponentialMechanism.calibrated(problem, 2, radius=1, covering_radius="0.02").net.points
    excess = run.measured["start_objective"] - problem.objective_at(fine).min()
    assert excess.mean() < method.spider.initial_gap


def test_a_cold_start_has_a_larger_bound_where_records_are_many():
    problem = regression(20_000)
    cold = Spider.calibrated(problem, epsilon=2, delta="1e-5")
    behind = warm(problem, covering_radius="0.02")
    assert behind.bound(problem).upper < cold.bound(problem).upper


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"share": 0}, "share"),
        ({"share": 1}, "share"),
        ({"outside": -1}, "outside"),
        ({"steps": 0}, "steps"),
        ({"radius": None}, "radius"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_refusals(options, named):
    with pytest.raises(InvalidValue, match=named):
        warm(regression(100), **options)


def test_a_walk_without_a_gap_or_with_a_budget_of_its_own_is_refused():
    start = warm(regression(100), steps=3).start
    with pytest.raises(InvalidValue, match="initial_gap"):
        WarmStartedSpider(start, Spider(5, 5, 3, 2))
    own = Spider(5, 5, 3, 2, initial_gap=1, budget=PrivacyBudget.of(1, "1e-5"))
    with pytest.raises(InvalidValue, match="budget"):
        WarmStartedSpider(start, own)
