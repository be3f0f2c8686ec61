import math

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.method import OpenRun
from dpbounds.algorithms.oracles import Poisson
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.spider.spider import Spider, anchors, starts
from dpbounds.algorithms.verification.studies.spider import regression
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.privacy.mechanisms import Gaussian
from tests.algorithms.shared import assert_independent_repetitions, holds, refused

PROBLEM = regression(500, 4)
SMALL = Spider(anchor_multiplier=3, difference_multiplier=2, steps=11, anchor_period=4)


def gradient_of(problem, w, rows=slice(None)):
    a, u = problem.features[rows], problem.features[rows] @ w - problem.targets[rows]
    return (2 * u / (1 + u * u) ** 2) @ a


@pytest.mark.parametrize("variant", ["repaired", "as-printed"])
def test_it_is_algorithm_1_step_by_step(variant):
    problem = regression(60, 3)
    run = Spider(3, 2, 11, 4, variant=variant).run(problem, seed=5, repetitions=3)
    n, eta, G, L = 60, 0.25, 3 * math.sqrt(3) / 8, 2.0
    first = 1 if variant == "as-printed" else 0
    for r, generator in enumerate(noise.streams(5, 3)):
        chosen = generator.integers(first, first + 11)
        w = previous = np.zeros(3)
        walked, errors = [], []
        for t in range(11):
            walked.append(w)
            if t % 4 == 0:
                estimate = gradient_of(problem, w) / n + 3 * G / n * generator.standard_normal(3)
            else:
                moved = min(L * np.linalg.norm(w - previous), 2 * G)
                change = (gradient_of(problem, w) - gradient_of(problem, previous)) / n
                estimate = estimate + change + 2 * moved / n * generator.standard_normal(3)
            errors.append(((estimate - gradient_of(problem, w) / n) ** 2).sum())
            previous, w = w, w - eta * estimate
        walked.append(w)
        norms = [np.linalg.norm(gradient_of(problem, w)) / n for w in walked]
        assert run.output_step[r] == chosen
        assert run.output[r] == pytest.approx(walked[chosen], abs=1e-9)
        assert run.measured["output_gradient_norm"][r] == pytest.approx(norms[chosen], rel=1e-7)
        assert run.trace.gradient_norm.per_repetition[r] == pytest.approx(np.mean(norms[:11]), rel=1e-7)
        assert run.trace.noise.per_repetition[r] == pytest.approx(np.mean(errors), rel=1e-9)
    assert run.metric == ("gradient_norm" if variant == "repaired" else "output_gradient_norm")


def test_on_random_batches_both_points_of_a_difference_see_the_same_records():
    problem = regression(40, 3)
    fixed, poisson = Batch(10, 40, replacement=False), Poisson("1/4")
    run = Spider(3, 2, 5, 3, anchor_sampling=poisson, difference_sampling=fixed).run(problem, seed=2, repetitions=2)
    G = 3 * math.sqrt(3) / 8
    for r, generator in enumerate(noise.streams(2, 2)):
        chosen, walked = generator.integers(0, 5), []
        w = previous = np.zeros(3)
        for t in range(5):
            walked.append(w)
            if t % 3 == 0:
                rows = np.flatnonzero(generator.random(40) < 0.25)
                estimate = (gradient_of(problem, w, rows) + 3 * G * generator.standard_normal(3)) / 10
            else:
                rows = generator.choice(40, size=10, replace=False, shuffle=False)
                moved = min(2 * np.linalg.norm(w - previous), 2 * G)
                change = gradient_of(problem, w, rows) - gradient_of(problem, previous, rows)
                estimate = estimate + (change + 2 * moved * generator.standard_normal(3)) / 10
            previous, w = w, w - 0.25 * estimate
        assert run.output[r] == pytest.approx(walked[chosen], abs=1e-8)
    assert run.metric == "output_gradient_norm"
    assert len(run.trace) == 0


def test_repetitions_are_independent_bit_for_bit_on_batches():
    sampling = Batch(30, 500, replacement=True)
    assert_independent_repetitions(Spider(3, 2, 7, 3, anchor_sampling=sampling, difference_sampling=sampling), PROBLEM)


@pytest.mark.parametrize(("steps", "period"), [(None, None), (10, 3), (10, 1), (1, 1), (7, 7)])
def test_the_ledger_is_the_plan_and_keeps_the_budget_and_hardly_less(steps, period):
    method = Spider.calibrated(PROBLEM, 2, "1e-5", steps=steps, anchor_period=period)
    run = method.run(PROBLEM, repetitions=2)
    assert 2 * (1 - 1e-6) < run.spent.lower <= run.spent.upper <= 2
    counts = {"anchor": 0, "difference": 0}
    for release in run.ledger.releases:
        counts["difference" if hasattr(release, "described") else "anchor"] += release.count
    N1 = -(-method.steps // method.anchor_period)
    assert counts == {"anchor": N1, "difference": method.steps - N1}


def test_anchors_and_differences_share_the_budget_evenly_and_nothing_is_kept_for_no_differences():
    both = Spider.calibrated(PROBLEM, steps=12, anchor_period=4)
    shares = [3 / both.anchor_multiplier**2, 9 / both.difference_multiplier**2]
    assert float(shares[0] / shares[1]) == pytest.approx(1, rel=1e-10)
    alone = Spider.calibrated(PROBLEM, steps=3, anchor_period=1)
    assert alone.difference_multiplier is None
    assert float(both.anchor_multiplier / alone.anchor_multiplier) == pytest.approx(math.sqrt(2), rel=1e-10)


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize(
    ("anchors_on", "differences_on"),
    [
        (Poisson("0.5"), Poisson("0.1")),
        (None, Poisson("0.1")),
        *(pytest.param(None, Batch(50, 500, again), marks=pytest.mark.minutes) for again in (False, True)),
    ],
)
def test_random_batches_keep_the_budget(relation, anchors_on, differences_on):
    sampled = {"anchor_sampling": anchors_on, "difference_sampling": differences_on}
    method = Spider.calibrated(PROBLEM, 2, "1e-5", relation, 12, 4, **sampled)
    assert 1.9 < method.run(PROBLEM, repetitions=2).spent.upper <= 2
    refused("full batch", method.bound, PROBLEM)


def test_found_differences_with_half_the_noise(monkeypatch):
    real = noise.per_unit
    monkeypatch.setattr(noise, "per_unit", lambda *args, **rest: real(*args, **rest) / 2)
    with pytest.raises(BudgetExceeded, match="less noise was added"):
        Spider.calibrated(PROBLEM, steps=60, anchor_period=20).run(PROBLEM)


def test_a_walk_writes_into_the_ledger_that_it_is_given():
    ledger = OpenLedger()
    ledger.release(Gaussian(50))
    generators = noise.streams(0, 3)
    start = np.full((3, 4), 0.1) * np.arange(3)[:, None]
    walked = SMALL.descend(PROBLEM, OpenRun(PROBLEM, generators, ledger), start)
    closed = ledger.close()
    assert sum(release.count for release in closed.releases) == 12
    alone = SMALL.run(PROBLEM, seed=0, repetitions=3, start=start)
    assert (walked.point == alone.output).all()
    assert (walked.index == alone.output_step).all()


@pytest.mark.seconds
def test_measured_gradients_stay_below_the_bound_without_making_it_vacuous():
    problem = regression(600, 5)
    method = Spider.calibrated(problem, 2, "1e-5")
    run = method.run(problem, seed=3, repetitions=16)
    bound = method.bound(problem)
    assert holds(run.samples, bound)
    assert 0.1 < run.samples.mean() / bound.upper < 1
    # the bound is one of the root mean square, too
    assert run.trace.squared_gradient.mean < bound.upper**2


def test_the_bound_in_plain_floats():
    G, T, n = 3 * math.sqrt(3) / 8, 12, 500
    sigma = 30 * G / n
    assert Spider(30, 30, T, 3).bound(PROBLEM).upper == pytest.approx(
        math.sqrt(2 * float(PROBLEM.initial_gap) / (0.25 * T) + 4 * sigma**2), rel=1e-12
    )


def test_the_bound_is_refused_where_its_hypothesis_fails():
    # 1 - Lη = 1/2; dσ₂²η² = 4 (z 2/500)²/16 = z²/250000, so that q - 1 phases pay up to z²(q - 1) = 125000
    assert Spider(10, 50, 100, 50).bound(PROBLEM).upper > 0
    refused(r"d σ₂² η² \(q - 1\)", Spider(10, 50, 100, 52).bound, PROBLEM)
    refused("where the bound holds", Spider(10, None, 5, 1, step_size=0.51).bound, PROBLEM)
    refused(r"variant must be .*, not 'as-printed'", Spider(3, 2, 11, 4, variant="as-printed").bound, PROBLEM)
    assert Spider(10, 50, 100, 52).run(PROBLEM, repetitions=1).output.shape == (1, 4)  # but it runs


@pytest.mark.parametrize("epsilon", ["0.1", 1, 8])
def test_the_prescribed_parameters_meet_the_hypothesis_and_the_closed_form(epsilon):
    method = Spider.calibrated(PROBLEM, epsilon, "1e-5")
    single = Spider.calibrated(PROBLEM, epsilon, "1e-5", steps=1).anchor_multiplier
    rho, G, L, n, d = 2 / float(single) ** 2, 3 * math.sqrt(3) / 8, 2.0, 500, 4
    a, gap = math.sqrt(d / rho) / n, float(PROBLEM.initial_gap)
    T = max(1, math.ceil((L * gap / (4 * G**2 * a**4)) ** (1 / 3)))
    assert method.steps == T
    assert method.anchor_period == min(T, 1 + math.floor(1 / (2 * T * a * a)))
    root = (math.sqrt(L * gap * G) * a) ** (2 / 3)
    closed = math.sqrt(6) * 2 ** (1 / 3) * root + 2 * G * a + 2 * math.sqrt(6) * G * a * a
    assert method.bound(PROBLEM).upper <= closed * (1 + 1e-9)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_walk_from_given_points_and_a_public_bound_on_their_gap():
    start = np.array([0.1, 0.2, 0.0, -0.1])
    method = Spider.calibrated(PROBLEM, 4, "1e-5", initial_gap="1/5")
    assert method.steps < Spider.calibrated(PROBLEM, 4, "1e-5").steps
    together = method.run(PROBLEM, seed=0, repetitions=3, start=start)
    each = method.run(PROBLEM, seed=0, repetitions=3, start=np.tile(start, (3, 1)))
    assert (together.output == each.output).all()
    at_zero = [r for r in range(3) if together.output_step[r] == 0]
    assert all((together.output[r] == start).all() for r in at_zero)
    assert (start == [0.1, 0.2, 0.0, -0.1]).all()
    assert method.bound(PROBLEM) < Spider.calibrated(PROBLEM, 4, "1e-5").bound(PROBLEM)


@pytest.mark.parametrize("start", [np.zeros(3), np.zeros((2, 4)), np.full(4, math.nan), np.zeros((3, 4, 1))])
def test_other_starts_are_refused(start):
    refused("start", starts, PROBLEM, 3, start)


def test_differences_without_noise_are_refused():
    refused(r"difference_multiplier must be .*, not None", Spider, 1, None, 4, 2)
    assert Spider(1, None, 4, 1).difference_multiplier is None


def test_batches_out_of_other_records_are_refused():
    with pytest.raises(InvalidValue, match=r"batch\.records must be .*, not 400"):
        Spider(1, 1, 4, 2, difference_sampling=Batch(10, 400, replacement=False)).run(PROBLEM)
    refused("batch_size", Batch, 501, 500, replacement=False)


class Missing:
    """The problem without one of its constants."""

    def __init__(self, name, value=None):
        self.name, self.value = name, value

    def __getattr__(self, name):
        return self.value if name == self.name else getattr(PROBLEM, name)


@pytest.mark.parametrize("name", ["lipschitz", "smoothness", "initial_gap"])
@pytest.mark.parametrize("value", [None, sympy.oo])
def test_missing_constants_are_refused_by_name(name, value):
    refused(name, Spider.calibrated, Missing(name, value))
    if name != "initial_gap":
        refused(name, SMALL.run, Missing(name, value))


def test_anchors_are_counted_up():
    assert [anchors(*each) for each in ((10, 3), (10, 10), (10, 1), (9, 3), (1, 1))] == [4, 1, 10, 3, 1]
