import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from attrs import evolve

from dpbounds.algorithms import noise
from dpbounds.algorithms.guards.residuals import NoiseWrong, Residuals
from dpbounds.algorithms.ledger import OpenLedger
from dpbounds.algorithms.oracles import HessianProductOracle, choice
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.problems import cauchy
from dpbounds.algorithms.problems.finite_sum import mean_products
from dpbounds.algorithms.second_order.iterative_path_noise import IterativePathNoise
from dpbounds.algorithms.second_order.path_noise_descent import PathNoiseDescent
from dpbounds.algorithms.unreleased import opened
from dpbounds.algorithms.verification.studies.second_order import double_well, saddle
from dpbounds.errors import BudgetExceeded
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.ours import second_order_path_noise_iterative as theorem
from dpbounds.privacy.domination.many_choices import with_reserve
from dpbounds.privacy.mechanisms import Gaussian
from tests.algorithms.shared import at_the_records_needed, bounded_regression, refused

PROBLEM = bounded_regression(cauchy)


def test_it_is_the_algorithm_step_by_step():
    """Against plain NumPy with the same streams; noise so large that searches find, fail, and run out of restarts."""
    n, alpha, T, K, R, N, m = 3000, 0.3, 12, 5, 2, 3, 4
    problem = double_well(n)
    L, rho, G, P = (*(float(each) for each in (problem.smoothness, problem.hessian_lipschitz, problem.lipschitz)), 4.0)
    z, step, check, epsilon = 20, 300, 301, Fraction(1, 300)
    c, s, omega, w_2 = 0.74, 1.28, 0.08, 1 / 90
    method = IterativePathNoise(z, step, check, epsilon, T, K, R, N, m, P, Fraction(3, 10))
    run = method.run(problem, seed=2, repetitions=24)
    V = z**2 * (G * G + 2 * G * L * P) / n**2
    scale, threshold = 2 * 2 / n / float(epsilon), (c + w_2) * math.sqrt(rho * alpha) / L
    kinds = set()
    for r, draw in enumerate(noise.streams(2, 24)):
        w, tests, begun, found = np.zeros(2), 0, 0, False
        g = w**3 - w + math.sqrt(V) * draw.standard_normal(2)
        for k in range(1, T + 2):
            if np.linalg.norm(g) > (1 - omega) * alpha:
                move = -g / L
                kinds.add("gradient")
            else:
                tests += 1
                if tests > K:
                    kinds.add("no more searches")
                    break
                curvature, v, passed = 3 * w**2 - 1, None, False
                for attempt in range(R):
                    if begun == N:
                        break
                    begun += 1
                    y, points, scores = draw.standard_normal(2), [], []
                    for j in range(m):
                        y = y / np.linalg.norm(y)
                        points.append(y)
                        scores.append(-(y @ (curvature * y)) / L)
                        if j < m - 1:
                            y = y - curvature * y / L - step / n * draw.standard_normal(2)
                    gumbel = -np.log(draw.standard_exponential(m))
                    v = points[int((np.array(scores) + scale * gumbel).argmax())]
                    noisy = curvature * v + check * L / n * draw.standard_normal(2)
                    if passed := -(v @ noisy) / L >= threshold:
                        break
                    found = attempt == R - 1
                if not passed:
                    kinds.add("nothing there" if found else "no more restarts")
                    break
                move = s * math.sqrt(alpha / rho) * (-v if g @ v > 0 else v)
                kinds.add("curvature")
            if k == T + 1:
                kinds.add("no more moves")
                break
            u = L * np.linalg.norm(move) / G
            kept, new = math.exp(-u), w + move
            g = kept * g + new**3 - new - kept * (w**3 - w) + math.sqrt(V * (1 - kept**2)) * draw.standard_normal(2)
            w = new
        assert run.output[r] == pytest.approx(w, abs=1e-6)
        assert run.outputs["found"][r] == found
        assert run.output_step[r] == k
    assert kinds >= {"gradient", "curvature", "nothing there", "no more restarts", "no more moves"}
    held = {(type(one), one.count) for one in run.ledger.releases}
    assert {count for _, count in held} == {1, N * (m - 1), N}  # whatever was asked
    run.ledger.check_plan(method.planned)


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize(("restarts", "used"), [(4, 0.9), (24, 0.97)])  # of few choices their zCDP is told
def test_the_budget_is_kept(relation, restarts, used):
    few = {"searches": 2, "restarts": restarts, "power_steps": 8}
    method = IterativePathNoise.calibrated(PROBLEM, 1, "1e-5", "1/5", relation=relation, **few)
    run = method.run(PROBLEM, repetitions=3, guarded=True)
    assert used < run.spent.lower <= run.spent.exact_upper <= 1
    refused("searches", method.bound, PROBLEM)


@pytest.mark.minutes
def test_it_succeeds_at_the_records_that_the_guarantee_asks_for():
    method = IterativePathNoise.calibrated(saddle(2), stationarity="1/7", failure_probability="1/4")
    run = at_the_records_needed(method, saddle, 16)
    assert run.outputs["found"].all()
    assert method.run(saddle(4000), seed=1, repetitions=16).samples.mean() > 0.1  # with fewer it can fail


@pytest.mark.seconds
def test_in_many_dimensions_it_asks_for_fewer_records_than_the_search_with_hessians():
    problem = saddle(2, 300)
    iterative, full = (
        kind.calibrated(problem, stationarity="1/10").records_needed(problem).upper
        for kind in (IterativePathNoise, PathNoiseDescent)
    )
    assert 0.3 < iterative / full < 0.8


@pytest.mark.seconds
def test_the_records_needed_are_the_theorems_at_its_own_noise():
    problem = saddle(2)
    method = IterativePathNoise.calibrated(problem, stationarity="1/8")
    values = method._values(problem)
    N, m = method.restarts, method.power_steps
    costs = {
        theorem.gradients: 2 / method.gradient_multiplier**2,
        2 * N * (m - 1) / theorem.step_stddev**2: 2 * N * (m - 1) / method.step_multiplier**2,
        2 * N / theorem.check_stddev**2: 2 * N / method.check_multiplier**2,
        2 * theorem.choices * theorem.scale**2: with_reserve(N) * method.selection_epsilon**2 / 8,
    }
    needed = [
        evaluate(sympy.sqrt(account / symbols.rho).subs({**values, symbols.rho: sympy.sympify(rho)}), {}).upper
        for account, rho in costs.items()
    ]
    assert method.records_needed(problem).upper == pytest.approx(max(needed), rel=1e-6)
    assert max(needed) < 1.01 * min(needed)  # the budget is split as all need it
    whole = evaluate(sympy.sqrt((theorem.gradients + theorem.account) / sum(costs.values())).subs(values), {}).upper
    assert method.records_needed(problem).upper == pytest.approx(whole, rel=1e-3)


@pytest.mark.seconds
def test_what_is_smaller_than_the_theorems_is_refused():
    problem = saddle(3 * 10**5)
    method = IterativePathNoise.calibrated(problem, stationarity="1/8")
    assert method.bound(problem).contains(Fraction(1, 10))
    for named, change in (
        ("path_length", {"path_length": 1}),
        ("searches", {"searches": 1}),
        ("steps", {"steps": 1}),
        ("power_steps", {"power_steps": method.power_steps - 1}),
        ("search_restarts", {"search_restarts": method.search_restarts - 1}),
        ("restarts", {"restarts": method.restarts - 1}),
        ("gradient_error", {"gradient_error": "0.24", "curvature_kept": "0.5"}),
        ("selection_error", {"selection_error": "0.3"}),
        ("small_ball", {"small_ball": "0.49", "power_noise": 3}),
    ):
        refused(named, evolve(method, **change).bound, problem)
    refused("L²/ρ_H", lambda: IterativePathNoise.calibrated(problem, stationarity=100))
    refused("searches", lambda: IterativePathNoise.calibrated(problem, stationarity="1/8", searches=0))


def test_a_gradient_move_has_to_lower_the_risk_by_as_much_as_a_curvature_move():
    """As for ``PathNoiseDescent``: at ω = .3 the formula of the drop is positive, and larger than such a move's."""
    own = {"curvature_kept": "0.97", "curvature_length": "1.485", "gradient_error": "0.3", "window": "1/150"}
    own |= {"small_ball": "1/16", "overgrowth": "1/40", "power_noise": "27/50", "restart_ratio": "3/4"}
    own |= {"selection_error": "1/100", "check_error": "1/400"}
    problem, asked = saddle(10**9), "gradient_error must be at most 1/4"
    refused(asked, IterativePathNoise.calibrated, problem, stationarity="1/8", **own)
    refused(asked, IterativePathNoise(*(1,) * 6, 2, *(1,) * 3, "1/8", **own).bound, problem)


@pytest.mark.minutes
def test_the_smallest_stationarity_is_found():
    problem = saddle(10**6)
    method = IterativePathNoise.calibrated(problem)
    assert method.bound(problem).contains(Fraction(1, 10))
    better = IterativePathNoise.calibrated(problem, stationarity=method.stationarity * Fraction(60, 65))
    assert better.records_needed(problem).exact_lower > 10**6


# --- products with Hessians, of problems that clip nothing


@pytest.mark.parametrize("problem", [PROBLEM, double_well(60), saddle(60)], ids=["records", "well", "surface"])
def test_products_are_those_of_the_hessian_and_their_noise_is_in_proportion(problem):
    generators, pen = noise.streams(1, 300), OpenLedger()
    oracle, residuals = HessianProductOracle(problem, Fraction(3), generators, pen), Residuals()
    draw = np.random.default_rng(0)
    X, V = draw.uniform(-0.3, 0.3, (2, 300, problem.dimension))
    with watched_by(residuals):
        answer = oracle(X, V)
    residuals.demand_right(pen.close())
    exact = np.stack([problem.hessian(x[None])[0] @ v for x, v in zip(X, V, strict=True)])
    assert opened(answer.exact) == pytest.approx(exact, abs=1e-12)
    L = float(problem.smoothness)
    assert answer.noise_stddev == pytest.approx(3 * L * np.linalg.norm(V, axis=1) / problem.records, rel=1e-6)
    assert np.std((answer.noisy - exact) / answer.noise_stddev[:, None]) == pytest.approx(1, rel=0.15)
    assert [one.mechanism() for one in pen.close().releases] == [Gaussian(3)]


@pytest.mark.parametrize("wrong", ["noise", "exact", "choice", "unreserved"])
def test_planted_bugs_of_a_search_are_seen(wrong, monkeypatch):
    problem = double_well(3000)
    method = IterativePathNoise(20, 300, 300, Fraction(1, 300), 12, 5, 2, 6, 4, 4, Fraction(3, 10))
    if wrong == "noise":
        real = HessianProductOracle._bounds
        monkeypatch.setattr(HessianProductOracle, "_bounds", lambda oracle, X: 0.9 * real(oracle, X))
    elif wrong == "exact":
        product = HessianProductOracle._exact
        monkeypatch.setattr(HessianProductOracle, "_exact", lambda oracle, X, V: 2 * product(oracle, X, V))
    elif wrong == "choice":
        method = evolve(method, selection_epsilon=Fraction(1, 299))
        planned = method.planned
        monkeypatch.setattr(IterativePathNoise, "planned", property(lambda own: planned))
        real_choice = choice
        monkeypatch.setattr(
            "dpbounds.algorithms.second_order.iterative_path_noise.choice",
            lambda epsilon, *rest: real_choice(Fraction(1, 300), *rest),
        )
    else:
        monkeypatch.setattr(
            "dpbounds.algorithms.second_order.iterative_path_noise.reserved", lambda oracle, count=1: oracle
        )

    def heard():
        with watched_by(Residuals()) as residuals:
            method.run(problem, seed=0, repetitions=8)
        residuals.demand_right()

    with pytest.raises((BudgetExceeded, NoiseWrong)):
        heard()


def test_products_that_are_inherited_beside_hessians_of_one_s_own_are_not_used():
    class Bent(type(PROBLEM)):
        __slots__ = ()

        def hessian(self, X):
            return 2 * super().hessian(X)

    bent = object.__new__(Bent)
    for name in type(PROBLEM).__dataclass_fields__:
        object.__setattr__(bent, name, getattr(PROBLEM, name))
    X = V = np.full((2, PROBLEM.dimension), 0.1)
    assert mean_products(bent, X, V) == pytest.approx(2 * mean_products(PROBLEM, X, V))
    assert "hessian_products" in dir(PROBLEM)
