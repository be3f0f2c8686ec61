import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbounds.algorithms import noise
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, landscape
from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection, stationarity
from dpbounds.algorithms.selection.above_threshold_attack import outcome_chances
from dpbounds.algorithms.verification import Verdict, bound_check
from dpbounds.algorithms.verification.judging.estimates import estimate_check
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.mechanisms import AboveThreshold, PureDP
from dpbounds.privacy.relations import Relation

VARIANTS = ("one-test", "doubled", "as-printed")
PROBLEM = landscape(DOUBLE_WELL, 2000, [0.5, 0.5], 2)
POINTS = [[0.0, 0.0], [0.5, 0.5], [1.5, -1.0], [0.0, 1.0], [0.99, -1.0], [1.0, 1.0]]  # saddles, slopes, a minimum


def plain(method, problem, generator):
    """Algorithm 2 for one repetition, point by point; the noise is drawn in the order of the module."""
    n, N = problem.records, len(method.points)
    G, M, rho = (float(one) for one in (problem.lipschitz, problem.smoothness, problem.hessian_lipschitz))
    alpha, eps, omega = (float(one) for one in (method.stationarity, method.epsilon, method.failure_probability))

    def laplace(scale, count):
        sizes = generator.standard_exponential(count)
        return scale * sizes * np.where(generator.random(count) < 0.5, -1, 1)

    norms = [np.linalg.norm(problem.gradient(x[None])[0]) for x in method.points]
    smallest = [np.linalg.eigvalsh(problem.hessian(x[None])[0])[0] for x in method.points]
    if method.variant == "one-test":
        threshold = laplace(4 / (n * eps), 1)[0] + 12 * math.log((N + 1) / omega) / (n * eps)
        added = laplace(8 / (n * eps), N)
        for i in range(N):
            q = max((norms[i] - alpha) / G, (-math.sqrt(rho * alpha) - smallest[i]) / M)
            if q + added[i] <= threshold:
                return i
        return -1
    unit = (2 if method.variant == "doubled" else 1) / (n * eps)
    offset = 16 * math.log(2 * N / omega) * unit
    first, nu = alpha + laplace(4 * G * unit, 1)[0] + G * offset, laplace(8 * G * unit, N)
    second, mu = -math.sqrt(rho * alpha) - laplace(4 * M * unit, 1)[0] - M * offset, -laplace(8 * M * unit, N)
    for i in range(N):
        if norms[i] + nu[i] <= first and smallest[i] + mu[i] >= second:
            return i
    return -1


@pytest.mark.one_in(4)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("epsilon", ["0.02", "0.1", 5])
def test_it_is_algorithm_2_step_by_step(variant, epsilon):
    method = AboveThresholdSelection(POINTS, epsilon, "0.01", variant=variant)
    run = method.run(PROBLEM, seed=9, repetitions=200)
    expected = [plain(method, PROBLEM, generator) for generator in noise.streams(9, 200)]
    assert run.outputs["index"].tolist() == expected
    chosen = np.maximum(expected, 0)
    assert np.array_equal(run.output, np.array(POINTS)[chosen])
    assert run.measured["gradient"] == pytest.approx(np.linalg.norm(PROBLEM.gradient(run.output), axis=1))
    assert (run.measured["found"] == (np.array(expected) >= 0)).all()


@pytest.mark.seconds
@pytest.mark.seconds_cases("True-as-printed-0.3")
@pytest.mark.one_in(4)
@pytest.mark.parametrize(("variant", "epsilon"), [("one-test", "0.2"), ("doubled", "0.6"), ("as-printed", "0.3")])
@pytest.mark.parametrize("second_order", [True, False])
def test_outcomes_have_the_chances_that_quadrature_says(variant, epsilon, second_order):
    # a chi-square test of 10 000 draws, rare outcomes in one bin: right code is refused with probability 1e-6 per case
    points = [[1.5, -1.0], [0.4, 0.4], [0.9, -1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    method = AboveThresholdSelection(
        points, epsilon, "0.01", failure_probability="0.9", variant=variant, second_order=second_order
    )
    chances = outcome_chances(method, PROBLEM)
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    draws = 10_000
    index = method.run(PROBLEM, seed=1, repetitions=draws).outputs["index"]
    counts = np.array([(index == i).sum() for i in (*range(len(points)), -1)])
    order = np.argsort(-chances)
    common = max(3, int((chances * draws >= 20).sum()))
    bins = [order[i : i + 1] for i in range(common - 1)] + [order[common - 1 :]]

    def p_value(expected):
        grouped = [(counts[one].sum(), draws * expected[one].sum()) for one in bins]
        return stats.chi2.sf(sum((seen - due) ** 2 / due for seen, due in grouped), len(bins) - 1)

    assert p_value(chances) > 1e-6
    other = AboveThresholdSelection(
        points, Fraction(epsilon) * 2, "0.01", failure_probability="0.9", variant=variant, second_order=second_order
    )
    assert p_value(outcome_chances(other, PROBLEM)) < 1e-6  # twice the noise would be seen


# --- privacy


@pytest.mark.parametrize("relation", list(Relation), ids=str)
@pytest.mark.parametrize("variant", ["one-test", "doubled"])
@pytest.mark.parametrize("second_order", [True, False])
def test_repaired_selections_spend_the_budget_and_no_more(relation, variant, second_order):
    method = AboveThresholdSelection.calibrated(
        POINTS, "0.1", "0.3", "1e-6", relation, variant=variant, second_order=second_order
    )
    run = method.run(PROBLEM, repetitions=2)
    assert run.spent.upper <= 0.3
    assert run.ledger.mechanism().parts[0][0].epsilon <= Fraction(3, 10)
    if second_order or variant == "one-test":
        assert run.ledger.mechanism().parts[0][0].epsilon == Fraction(3, 10)
    run.ledger.check_plan(method.planned)


def test_print_spends_twice_what_it_claims_if_a_record_is_replaced():
    for relation, spends in ((Relation.REPLACE_ONE, 2), (Relation.ADD_OR_REMOVE_ONE, 1)):
        method = AboveThresholdSelection.calibrated(POINTS, "0.1", 1, relation=relation, variant="as-printed")
        run = method.run(PROBLEM, repetitions=2)
        assert run.ledger.releases[0].described == PureDP(spends, relation=relation)
        assert run.budget is None
    assert isinstance(AboveThresholdSelection(POINTS, 1, "0.1").planned, AboveThreshold)


@pytest.mark.parametrize("variant", VARIANTS)
def test_found_noise_that_is_a_tenth_short(variant, monkeypatch):
    class Short:
        def __init__(self, generator):
            self.random, self.standard_exponential = generator.random, lambda n: 0.9 * generator.standard_exponential(n)

    real = noise.laplace
    monkeypatch.setattr(noise, "laplace", lambda streams, *a, **rest: real([Short(g) for g in streams], *a, **rest))
    with pytest.raises(BudgetExceeded, match="less noise was added"):
        AboveThresholdSelection(POINTS, 1, "0.1", variant=variant).run(PROBLEM, repetitions=1200)


# --- utility: Lemma 4.1


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("n", "count"), [(2000, 5), (20_000, 20), (100_000, 60)])
def test_the_selected_point_is_as_good_as_promised(variant, n, count):
    problem = landscape(DOUBLE_WELL, n, [0.5], 2)
    probe = AboveThresholdSelection([[1.0]] * count, 1, "0.01", "0.2", variant=variant)
    allowed, bends = probe.bound(problem).upper, probe.bound(problem, "curvature").upper
    # slopes a hair beyond what may be returned, and one minimum, last
    slope = min(allowed * 1.0001, 0.38)
    bad = min(root.real for root in np.roots([1, 0, -1, slope]) if abs(root.imag) < 1e-12 and root.real > 0)
    points = [[bad]] * (count - 1) + [[1.0]]
    method = AboveThresholdSelection(points, 1, "0.01", "0.2", variant=variant)
    run = method.run(problem, seed=2, repetitions=400)
    wrong = (run.measured["gradient"] > allowed) | (run.measured["curvature"] > bends)
    for failures in (wrong.sum(), (run.measured["found"] == 0).sum()):
        hits = {"hits": float(failures), "draws": 400.0}
        assert estimate_check("x", hits, Enclosure.exactly(Fraction(1, 5))).verdict is Verdict.HOLDS
    if slope == allowed * 1.0001:
        assert bound_check("x", run.measured["gradient"], method.bound(problem)).verdict is Verdict.HOLDS


def test_the_bounds_are_those_of_the_lemmas():
    G, M, rho, n, N = (*(float(getattr(PROBLEM, c)) for c in ("lipschitz", "smoothness", "hessian_lipschitz")), 2000, 6)
    for variant, slack in (
        ("one-test", 24 * math.log((N + 1) / 0.1)),
        ("as-printed", 32 * math.log(2 * N / 0.1)),
        ("doubled", 64 * math.log(2 * N / 0.1)),
    ):
        method = AboveThresholdSelection(POINTS, "0.5", "0.04", variant=variant)
        assert method.bound(PROBLEM).upper == pytest.approx(0.04 + slack * G / (n * 0.5))
        assert method.bound(PROBLEM, "curvature").upper == pytest.approx(math.sqrt(rho * 0.04) + slack * M / (n * 0.5))


def test_stationarity_of_many_points():
    points = np.random.default_rng(0).uniform(-1, 1, (150, 2))
    slopes, curvatures = stationarity(PROBLEM, points)
    assert slopes == pytest.approx(np.linalg.norm(points**3 - points, axis=1))
    assert curvatures == pytest.approx(-(3 * points**2 - 1).min(axis=1))


# --- bad input


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidValue, match=r"points\.shape"):
        AboveThresholdSelection([[1.0]], 1, 1).run(PROBLEM)
    with pytest.raises(InvalidValue, match="which"):
        AboveThresholdSelection(POINTS, 1, 1, second_order=False).bound(PROBLEM, "curvature")
    with pytest.raises(InvalidValue, match="which"):
        AboveThresholdSelection(POINTS, 1, 1).bound(PROBLEM, "value")
    budget = AboveThresholdSelection.calibrated(POINTS, 1).budget
    with pytest.raises(InvalidValue, match="relation"):
        AboveThresholdSelection(POINTS, 1, 1, relation="add-or-remove-one", budget=budget)
