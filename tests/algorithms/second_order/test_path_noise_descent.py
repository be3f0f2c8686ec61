import math
from contextlib import nullcontext
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from attrs import evolve

from dpbounds.algorithms import noise
from dpbounds.algorithms.guards.residuals import Residuals
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger
from dpbounds.algorithms.oracles import PathGradientOracle
from dpbounds.algorithms.oracles.watching import watched_by
from dpbounds.algorithms.planning import PrivacyBudget
from dpbounds.algorithms.problems import cauchy
from dpbounds.algorithms.second_order.guarantees import demand_curvature
from dpbounds.algorithms.second_order.negative_curvature_descent import NegativeCurvatureDescent
from dpbounds.algorithms.second_order.path_noise_descent import PathNoiseDescent
from dpbounds.algorithms.second_order.reserved import ReservedLedger
from dpbounds.algorithms.verification.studies.second_order import double_well, saddle
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.expressions import symbols
from dpbounds.expressions.evaluation import evaluate
from dpbounds.papers.ours import searches, second_order_path_noise as theorem
from dpbounds.privacy.mechanisms import Gaussian
from tests.algorithms.shared import at_the_records_needed, bounded_regression, refused

PROBLEM = bounded_regression(cauchy)


def test_it_is_the_algorithm_step_by_step():
    # noise as large as the decisions it takes part in: gradient moves, curvature moves, returns and caps are seen
    n, alpha, P, K, T = 3000, 0.3, 2.0, 2, 30
    problem = double_well(n)
    L, rho, G = (float(each) for each in (problem.smoothness, problem.hessian_lipschitz, problem.lipschitz))
    c, s, w_error = 0.8, 1.25, 0.1
    method = PathNoiseDescent(20, 400, T, K, Fraction(P), Fraction(3, 10))
    run = method.run(problem, seed=2, repetitions=24)
    V = 20**2 * (G * G + 2 * G * L * P) / n**2
    kinds = set()
    for r, generator in enumerate(noise.streams(2, 24)):
        w, found, tests, left = np.zeros(2), False, 0, 1 / 20**2
        g = w**3 - w + math.sqrt(V) * generator.standard_normal(2)
        left -= G**2 / (n**2 * V)
        for k in range(1, T + 2):
            if np.linalg.norm(g) > (1 - w_error) * alpha:
                move, kind = -g / L, "gradient"
            else:
                tests += 1
                if tests > K:
                    kinds.add("no more searches")
                    break
                a, b, d = generator.standard_normal(3) * 400 * math.sqrt(2) * L / n
                noisy = np.diag(3 * w**2 - 1) + np.array([[a, b / math.sqrt(2)], [b / math.sqrt(2), d]])
                values, vectors = np.linalg.eigh(noisy)
                if values[0] >= -(1 + c) / 2 * math.sqrt(rho * alpha):
                    found = True
                    kinds.add("returned")
                    break
                v = vectors[:, 0]
                move, kind = s * math.sqrt(alpha / rho) * (-v if g @ v > 0 else v), "curvature"
            u = L * np.linalg.norm(move) / G
            reach = G * (1 - math.exp(-u) + u * math.exp(-u))
            share = reach**2 / (n**2 * V * (1 - math.exp(-2 * u)))
            if k == T + 1 or share > left * (1 + 1e-6):
                kinds.add("no more path")
                break
            left -= share
            kinds.add(kind)
            new = w + move
            kept = math.exp(-u)
            change = new**3 - new - kept * (w**3 - w)
            g = kept * g + change + math.sqrt(V * (1 - kept**2)) * generator.standard_normal(2)
            w = new
        assert run.output[r] == pytest.approx(w, abs=1e-6)
        assert run.outputs["found"][r] == found
        assert run.output_step[r] == k
    assert kinds >= {"gradient", "curvature", "returned", "no more searches"}
    path, hessians = run.ledger.releases
    assert path.mechanism() == Gaussian(20)
    assert hessians.count == K  # whatever was asked


def test_a_path_ends_where_it_is_paid_for():
    problem = double_well(3000)
    run = PathNoiseDescent(20, 400, 30, 2, Fraction(1, 10), Fraction(3, 10)).run(problem, repetitions=24)
    assert not run.outputs["found"].all()
    assert (run.measured["path"] <= 0.15).all()  # moves cost a little less than the bound on them


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
def test_the_budget_is_kept_and_used(relation):
    method = PathNoiseDescent.calibrated(PROBLEM, 1, "1e-5", 2, relation=relation)
    run = method.run(PROBLEM, repetitions=3, guarded=True)
    assert 1 - 1e-6 < run.spent.lower <= run.spent.exact_upper <= 1
    path, hessians = run.ledger.releases
    assert (path.count, hessians.count) == (1, method.searches)
    assert run.spent.upper == pytest.approx(1, abs=1e-6)


@pytest.mark.seconds
@pytest.mark.parametrize("posed", [double_well, saddle])
def test_it_succeeds_at_the_records_that_the_guarantee_asks_for(posed):
    method = PathNoiseDescent.calibrated(posed(2), stationarity="1/14", failure_probability="1/4")
    run = at_the_records_needed(method, posed, 32)
    assert run.outputs["found"].all()
    assert run.trace is not None


@pytest.mark.seconds
def test_it_can_fail_with_few_records():
    method = PathNoiseDescent.calibrated(double_well(2), stationarity="1/10")
    assert method.run(double_well(9000), seed=1, repetitions=64).samples.mean() > 0.1


def test_it_asks_for_fewer_records_than_negative_curvature_descent():
    path, plain = (
        kind.calibrated(double_well(2), stationarity="1/20").records_needed(double_well(2)).upper
        for kind in (PathNoiseDescent, NegativeCurvatureDescent)
    )
    assert plain / path > 8  # seen: 11.9


def test_the_records_needed_are_the_theorems_at_its_own_noise():
    problem = double_well(2)
    method = PathNoiseDescent.calibrated(problem, stationarity="1/10")
    values = method._values(problem) | {symbols.rho: sympy.Rational(2 / method.gradient_multiplier**2)}
    gradients = evaluate(sympy.sqrt(theorem.gradients / symbols.rho).subs(values), {}).upper
    values[symbols.rho] = sympy.Rational(2 * method.searches / method.hessian_multiplier**2)
    hessians = evaluate(sympy.sqrt(theorem.hessian_account / symbols.rho).subs(values), {}).upper
    assert method.records_needed(problem).upper == pytest.approx(max(gradients, hessians), rel=1e-6)
    assert gradients == pytest.approx(hessians, rel=1e-3)  # the budget is split as both need it
    assert values[searches] == method.searches


@pytest.mark.seconds
@pytest.mark.one_in(8)
def test_the_smallest_stationarity_is_found():
    problem = double_well(10**6)
    method = PathNoiseDescent.calibrated(problem)
    assert method.bound(problem).contains(Fraction(1, 10))
    better = PathNoiseDescent.calibrated(problem, stationarity=method.stationarity * Fraction(62, 65))
    assert better.records_needed(problem).exact_lower > 10**6
    for match, attempt in (
        ("more records", lambda: PathNoiseDescent.calibrated(double_well(100))),
        ("L²/ρ_H", lambda: PathNoiseDescent.calibrated(problem, stationarity=100)),
        ("path_length", lambda: evolve(method, path_length=1).bound(problem)),
        ("searches", lambda: evolve(method, searches=1).bound(problem)),
        ("steps", lambda: evolve(method, steps=1).bound(problem)),
        ("gradient_error", lambda: evolve(method, gradient_error="0.24", curvature_kept="0.5").bound(problem)),
    ):
        refused(match, attempt)


def test_a_gradient_move_has_to_lower_the_risk_by_as_much_as_a_curvature_move():
    """At ω = .3 the formula of the drop is .0675, but a gradient move may lower F by l α (1 - 3ω)/2 = .05 l α only."""
    own = {"curvature_kept": "0.99", "curvature_length": "1.485", "gradient_error": "0.3", "window": "1/50"}
    values = {theorem.c: 0.99, theorem.s: 1.485, theorem.w: 0.3}
    assert (1 - 3 * 0.3) / 2 < 0.06 < theorem.drop.subs(values)
    problem = double_well(10**9)
    refused("gradient_error must be at most 1/4", PathNoiseDescent.calibrated, problem, stationarity="1/10", **own)
    generous = PathNoiseDescent("1e-9", "1e-9", 10**9, 10**6, 10**6, "1/10", **own)
    refused("gradient_error must be at most 1/4", generous.bound, problem)
    assert evolve(generous, gradient_error="1/4").bound(problem).contains(Fraction(1, 10))  # the end of its domain


def test_what_a_refusal_asks_for_is_enough():
    problem = double_well(2)  # too few records, which is what is refused last
    method = PathNoiseDescent.calibrated(problem, stationarity="1/10")
    for name in ("path_length", "searches", "steps"):
        with pytest.raises(InvalidValue) as refusal:
            evolve(method, **{name: 1}).bound(problem)
        needed = Fraction(refusal.value.allowed.removeprefix("at least "))
        refused(
            "records", evolve(method, **{name: needed if name == "path_length" else math.ceil(needed)}).bound, problem
        )


@pytest.mark.parametrize("bend", [Fraction(3, 7), Fraction(3, 11)])
def test_the_largest_stationarity_that_is_named_is_allowed(bend):
    problem = SimpleNamespace(smoothness=sympy.Integer(1), hessian_lipschitz=sympy.Rational(bend))
    with pytest.raises(InvalidValue) as refusal:
        demand_curvature(Fraction(100), problem)
    demand_curvature(Fraction(refusal.value.allowed.rpartition(" ")[2]), problem)


def test_each_repetition_has_a_count_of_its_own():
    streams = noise.streams(0, 2)
    ledger = ReservedLedger()
    ledger.reserve(DescribedRelease(Gaussian(2), 2))
    for who, allowed in (
        (streams[:1], True),
        (streams[1:], True),
        (streams, True),
        (streams[1:], False),
        (streams, False),
    ):
        with ledger.asked_by(who), nullcontext() if allowed else pytest.raises(BudgetExceeded, match="0 are left"):
            ledger.release(Gaussian(2))
    with pytest.raises(BudgetExceeded, match="0 are left"):
        ledger.release(Gaussian(2))  # by all
    assert [entry.count for entry in ledger.close().releases] == [2]


# --- the oracle


def test_an_answer_beyond_the_path_is_refused_before_anything_is_drawn():
    problem, generators, ledger = double_well(100), noise.streams(0, 2), OpenLedger()
    oracle = PathGradientOracle(problem, Fraction(10), Fraction(3, 20), generators, ledger)
    x = np.zeros((2, 2))
    oracle(x)
    y = x + np.array([[0.1, 0.0], [1.4, 0.0]])
    assert oracle.afforded(y, x).tolist() == [True, False]
    states = [generator.bit_generator.state for generator in generators]
    with pytest.raises(BudgetExceeded, match="longer than planned"):
        oracle(y, x)
    assert [generator.bit_generator.state for generator in generators] == states
    assert [entry.mechanism() for entry in ledger.close().releases] == [Gaussian(10)]


@pytest.mark.seconds
def test_the_worst_path_costs_what_is_written_and_no_more():
    # ±Huber losses: gradients of one record turn as fast as they may, so that each answer's shift is C
    problem, z, P = double_well(1000), 5.0, 3.0
    G, L, n = float(problem.lipschitz), float(problem.smoothness), 1000
    oracle = PathGradientOracle(problem, Fraction(5), Fraction(3), noise.streams(0, 1), OpenLedger())
    for size in (1e-3, 0.1, 1.0):
        spent, moved = G**2 / (n * oracle.noise_stddev) ** 2, 0.0
        while moved + size <= P:
            u = L * size / G
            sigma = n * oracle.noise_stddev * math.sqrt(-math.expm1(-2 * u))
            spent, moved = spent + (G * (-math.expm1(-u) + u * math.exp(-u)) / sigma) ** 2, moved + size
        assert spent <= 1 / z**2
    assert spent < 0.9 / z**2  # long moves cost less than their length


def test_guards_hear_answers_along_a_path():
    residuals = Residuals()
    method = PathNoiseDescent.calibrated(PROBLEM, 1, "1e-5", 2)
    with watched_by(residuals):
        method.run(PROBLEM, seed=3, repetitions=8)
    assert any(finding.name.startswith("path") for finding in residuals.demand_right())


@pytest.mark.parametrize("wrong", ["clock", "share"])
def test_planted_bugs_of_the_oracle_are_seen(wrong, monkeypatch):
    method = PathNoiseDescent(2, 40, 30, 20, Fraction(2), Fraction(1, 20))
    if wrong == "clock":
        clock = PathGradientOracle.clock
        monkeypatch.setattr(PathGradientOracle, "clock", lambda oracle, *points: clock(oracle, *points) / 2)
    else:
        monkeypatch.setattr(PathGradientOracle, "_left", lambda oracle: np.full(len(oracle.generators), np.inf))
        method = evolve(method, path_length="1/50")
    with pytest.raises(BudgetExceeded):
        method.run(double_well(3000), seed=0, repetitions=8)


def test_parameters_of_one_s_own_are_kept_and_come_together():
    own = {"curvature_kept": "0.8", "curvature_length": "1.3", "gradient_error": "0.1", "window": "0.02"}
    method = PathNoiseDescent.calibrated(double_well(2), stationarity="1/10", **own)
    assert all(getattr(method, name) == Fraction(value) for name, value in own.items())
    partly = {name: own[name] for name in ("curvature_kept", "window")}
    refused("curvature_length", lambda: PathNoiseDescent.calibrated(double_well(2), stationarity="1/10", **partly))
    wide = own | {"gradient_error": "0.6"}
    refused("gradient_error", lambda: PathNoiseDescent.calibrated(double_well(2), stationarity="1/10", **wide))


CHOSEN = "Which releases are made, and how many, is chosen as the run goes: at most "


def test_a_statement_about_a_walk_that_chooses_says_how_many_releases_there_may_be():
    """30 moves and one gradient before them, on a path that is one entry of the ledger, and two Hessians."""
    method = evolve(PathNoiseDescent(20, 400, 30, 2, Fraction(2), Fraction(3, 10)), budget=PrivacyBudget.of(5, "1e-6"))
    told = method.run(double_well(3000)).statement()
    assert f"{CHOSEN}33, 31 of them along a path, which is accounted for as one release" in told
    assert "along the path earlier answers say how much noise the next one has" in told
    assert "bounds fixed in advance, where nothing else is said above" in told
    assert "It takes" not in told
    assert "Accounted for are: a single release on the full batch" in told


def test_a_statement_about_a_descent_that_chooses_counts_what_was_reserved():
    method = NegativeCurvatureDescent(200, 400, 7, Fraction(3, 10), searches=3)
    told = evolve(method, budget=PrivacyBudget.of(5, "1e-6")).run(double_well(3000)).statement()
    assert f"{CHOSEN}10; the run is accounted for as if it had made all" in told
