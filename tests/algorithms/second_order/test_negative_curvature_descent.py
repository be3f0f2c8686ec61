import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.problems import cauchy
from dpbounds.algorithms.second_order.negative_curvature_descent import NegativeCurvatureDescent
from dpbounds.algorithms.verification.studies.second_order import double_well
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.ours import negative_curvature_descent as theorem, searches
from tests.algorithms.shared import at_the_records_needed, bounded_regression, refused

PROBLEM = bounded_regression(cauchy)


def smaller(vectors):
    return vectors[:, 0]


def test_it_is_the_algorithm_step_by_step():
    # noise as large as the decisions it takes part in: some repetitions return, some do not, saddles are seen
    problem, T = double_well(2000), 12
    alpha, L, rho, G = 0.3, float(problem.smoothness), float(problem.hessian_lipschitz), float(problem.lipschitz)
    method = NegativeCurvatureDescent(40, 400, T, Fraction(3, 10))
    run = method.run(problem, seed=2, repetitions=12)
    kinds = set()
    for r, generator in enumerate(noise.streams(2, 12)):
        w, result, when = np.zeros(2), None, 0
        for t in range(1, T + 1):
            g = w**3 - w + 40 * G / 2000 * generator.standard_normal(2)
            if np.linalg.norm(g) > 0.75 * alpha:
                w = w - g / L
                kinds.add("gradient")
                continue
            a, b, c = generator.standard_normal(3) * 400 * math.sqrt(2) * L / 2000
            noisy = np.diag(3 * w**2 - 1) + np.array([[a, b / math.sqrt(2)], [b / math.sqrt(2), c]])
            values, vectors = np.linalg.eigh(noisy)
            if values[0] >= -7 / 8 * math.sqrt(rho * alpha):
                result, when = w, t
                break
            v = smaller(vectors)
            kinds.add("curvature")
            w = w + math.sqrt(alpha / rho) * (-v if g @ v > 0 else v)
        assert run.outputs["found"][r] == (result is not None)
        assert run.output_step[r] == when
        if result is None:
            assert np.isnan(run.output[r]).all()
            assert run.measured["failure"][r] == 1
        else:
            assert run.output[r] == pytest.approx(result, abs=1e-9)
            kinds.add("return")
    assert kinds == {"gradient", "curvature", "return"}
    assert run.outputs["found"].sum() > 0


def test_no_more_hessians_are_asked_for_than_planned():
    alone = NegativeCurvatureDescent(40, 400, 40, Fraction(3, 10), searches=1).run(double_well(2000), repetitions=12)
    assert alone.ledger.releases[1].count == 1
    assert 0 < alone.outputs["found"].sum() < 12  # who was sent on by its only Hessian finds nothing


def test_not_found_is_said_and_nothing_is_returned():
    run = NegativeCurvatureDescent("1e-6", "1e-6", 3, "1/100").run(double_well(100), repetitions=4)
    assert not run.outputs["found"].any()
    assert np.isnan(run.output).all()
    assert (run.output_step == 0).all()
    assert (run.measured["failure"] == 1).all()
    assert np.isfinite(run.measured["gradient_norm"]).all()


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_the_budget_is_kept_and_used(relation):
    method = NegativeCurvatureDescent.calibrated(PROBLEM, 1, "1e-5", 2, relation=relation, share="3/4")
    run = method.run(PROBLEM, repetitions=3)
    assert 1 - 1e-6 < run.spent.lower <= run.spent.exact_upper <= 1
    gradients, hessians = run.ledger.releases
    assert gradients.count == hessians.count == method.steps
    assert float(hessians.noise_multiplier / gradients.noise_multiplier) == pytest.approx(math.sqrt(3), rel=1e-6)
    assert hessians.per_record_bound == Fraction(8) / 400  # rank 1: L/n without a root of p


def test_it_succeeds_at_the_records_that_the_guarantee_asks_for():
    alpha = "1/14"
    method = NegativeCurvatureDescent.calibrated(double_well(2), stationarity=alpha, failure_probability="1/4")
    run = at_the_records_needed(method, double_well, 64)
    assert (run.measured["gradient_norm"] <= float(Fraction(alpha))).all()
    assert (run.measured["curvature"] > 0).all()  # the start, a saddle point, was left


def test_it_can_fail_with_few_records():
    method = NegativeCurvatureDescent.calibrated(double_well(2), stationarity="1/10")
    run = method.run(double_well(10_000), repetitions=64)
    assert run.samples.mean() > 0.1


def test_the_records_needed_are_the_theorems_at_its_own_noise():
    # noise 2√(T/ρ) for gradients and Hessians alike is the theorem's, for Hessians of full rank
    problem = double_well(2)
    method = NegativeCurvatureDescent(200, 200, 400, "1/8", "1/20")
    values = {
        symbols.rho: sympy.Rational(4 * 400, 200**2),
        symbols.steps: 400,
        searches: 400,
        symbols.stationarity: sympy.Rational(1, 8),
        symbols.failure_probability: sympy.Rational(1, 20),
        symbols.lipschitz: problem.lipschitz,
        symbols.smoothness: problem.smoothness,
        symbols.hessian_lipschitz: problem.hessian_lipschitz,
        symbols.dimension: 2,
    }
    expected = evaluate(theorem.sample_size.subs(values), {}).upper
    assert method.records_needed(problem).upper == pytest.approx(expected, rel=1e-9)
    assert method.records_needed(problem).exact_lower > expected  # for what rounding may add to the noise
    # more noise on Hessians alone moves the larger of the two terms in the end
    assert NegativeCurvatureDescent(200, 20_000, 400, "1/8").records_needed(problem).upper > 10 * expected


def test_rank_one_needs_fewer_records():
    class Full:
        """The same constants, Hessians of any rank."""

        hessian_rank = None

        def __getattr__(self, name):
            return getattr(PROBLEM, name)

    method = NegativeCurvatureDescent(1, 1000, 100, 1)
    ratio = method.records_needed(Full()).upper / method.records_needed(PROBLEM).upper
    assert ratio == pytest.approx(math.sqrt(3), rel=1e-9)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_the_smallest_stationarity_is_found():
    problem = double_well(10**6)
    method = NegativeCurvatureDescent.calibrated(problem)
    assert method.bound(problem).contains(Fraction(1, 10))
    better = NegativeCurvatureDescent.calibrated(problem, stationarity=method.stationarity * Fraction(63, 65))
    assert better.records_needed(problem).exact_lower > 10**6
    for match, attempt in (
        ("more records", lambda: NegativeCurvatureDescent.calibrated(double_well(1000))),
        ("share", lambda: NegativeCurvatureDescent.calibrated(problem, share=1)),
        ("steps", lambda: NegativeCurvatureDescent(1, 1, 5, "1/10").bound(problem)),
        ("searches", lambda: NegativeCurvatureDescent(1, 1, 10**6, "1/10", searches=5).bound(problem)),
    ):
        refused(match, attempt)
