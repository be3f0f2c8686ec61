import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.problems.landscapes import DOUBLE_WELL, landscape
from dpbounds.algorithms.selection.above_threshold import AboveThresholdSelection
from dpbounds.algorithms.spider.stochastic_spider import Kicks, StochasticSpider, claimed_zcdp
from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.judging.estimates import estimate_check
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.accountants.certified import epsilon as certified_epsilon
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.algorithms.shared import holds, refused, wavy


def plain(method, problem, generator):
    """Algorithm 1 with plain gradients: x_0 .. x_T, queries of either kind."""
    n, p, T = problem.records, problem.dimension, method.steps
    G, M = float(problem.lipschitz), float(problem.smoothness)
    printed = method.variant == "as-printed"
    x = problem.initial_point
    previous, estimate, walked, kinds = None, None, [x], ""
    drift, frozen = [math.inf], 1  # line 4
    for t in range(T):
        tested = drift[t - 1] if printed and t > 0 else drift[t]
        kick = t > 0 and method.kicks is not None and np.linalg.norm(estimate) <= method.kicks.below
        kick = kick and frozen <= 0  # line 6, of the step before
        frozen = method.kicks.wait if kick else frozen - 1  # lines 7, 10, 12
        if tested >= method.drift_threshold or (printed and kick):
            if kinds.count("1") == method.fresh_estimates:
                walked += [x] * (T - t)
                return np.array(walked), kinds, True
            sigma = float(method.noise_multiplier) * G / n
            estimate = problem.gradient(x[None])[0] + sigma * generator.standard_normal(p)
            drift[t] = 0.0
            kinds += "1"
        else:
            reach = min(M * np.linalg.norm(x - previous), 2 * G) / n
            change = problem.gradient(x[None])[0] - problem.gradient(previous[None])[0]
            estimate = estimate + change + float(method.difference_multiplier) * reach * generator.standard_normal(p)
            kinds += "2"
        push = np.zeros(p)
        if kick:
            drawn = method.kicks.scale * generator.standard_normal(p)
            estimate, push = (estimate + drawn, push) if printed else (estimate, drawn)
        previous, x = x, x - estimate / M + push
        drift.append(drift[t] + float((x - previous) @ (x - previous)))
        walked.append(x)
    return np.array(walked), kinds, False


KICKS = Kicks(below=0.8, wait=3, scale=0.05)


@pytest.mark.parametrize("variant", ["repaired", "as-printed"])
@pytest.mark.parametrize("kicks", [None, KICKS], ids=["no kicks", "kicks"])
@pytest.mark.parametrize(("threshold", "cap"), [(0.02, 25), (0.02, 4), (1e9, 25)])
def test_it_is_algorithm_1_step_by_step(variant, kicks, threshold, cap):
    problem = landscape(DOUBLE_WELL, 100, [0.2, -0.3, 0.1], 3)
    method = StochasticSpider(2, 6, 25, cap, threshold, kicks=kicks, variant=variant)
    run = method.run(problem, seed=5, repetitions=6)
    seen = set()
    for r, generator in enumerate(noise.streams(5, 6)):
        points, kinds, stopped = plain(method, problem, generator)
        assert np.allclose(run.outputs["iterates"][r], points, rtol=0, atol=1e-6)
        assert np.allclose(run.output[r], points[-1], rtol=0, atol=1e-6)
        assert run.measured["fresh"][r] == kinds.count("1")
        assert run.measured["updates"][r] == kinds.count("2")
        assert bool(run.measured["stopped"][r]) == stopped
        slopes = np.linalg.norm(problem.gradient(points[:-1]), axis=1)
        assert run.measured["smallest"][r] == pytest.approx(slopes.min(), abs=1e-9)
        seen.add(kinds)
    assert len(seen) > 1 or threshold == 1e9  # repetitions do ask differently
    if threshold == 0.02 and cap == 25 and kicks is None:
        assert run.measured["fresh"].mean() > 1


def test_printed_line_9_asks_for_an_update_after_a_long_step():
    # the first step is longer than κ: repaired, a fresh estimate follows; as printed, an update of whatever length
    problem = wavy(100_000)
    for variant, first_updates in (("repaired", 0), ("as-printed", 1)):
        method = StochasticSpider(1, 1, 2, 2, 1e-3, variant=variant)
        run = method.run(problem, repetitions=3)
        assert (run.measured["updates"] == first_updates).all()


def test_kicks_as_printed_use_up_fresh_estimates_and_repaired_ones_do_not():
    problem = wavy(100_000, start=0.0)  # starts at the minimum
    kicks = Kicks(below=1.0, wait=2, scale=1e-3)
    runs = {
        v: StochasticSpider(1, 1, 30, 6, 1.0, kicks=kicks, variant=v).run(problem) for v in ("repaired", "as-printed")
    }
    assert (runs["as-printed"].measured["stopped"] == 1).all()
    assert (runs["repaired"].measured["stopped"] == 0).all()
    assert (runs["repaired"].measured["fresh"] == 1).all()


def test_printed_kicks_come_at_1_9_17_for_a_wait_of_7():
    """A kick at t sets frozen_t = Γ, and the next one needs frozen_{t-1} <= 0; each is a fresh estimate more."""
    problem = wavy(100_000, start=0.0)
    for steps, kicked in ((1, 0), (2, 1), (9, 1), (10, 2), (17, 2), (18, 3), (26, 4)):
        kicks = Kicks(below=1e9, wait=7, scale=1e-3)
        run = StochasticSpider(1, 1, steps, steps, 1e9, kicks=kicks, variant="as-printed").run(problem, 1, 2)
        assert (run.measured["fresh"] == 1 + kicked).all()


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_the_ledger_is_the_plan_whatever_was_asked(relation):
    problem = wavy(2000)
    method = StochasticSpider.calibrated(problem, 1, "1e-5", relation)
    run = method.run(problem, repetitions=4)
    assert 0.99 < run.spent.lower <= run.spent.upper <= 1
    run.ledger.check_plan(method.planned)
    fresh, updates = run.ledger.releases
    assert (fresh.count, updates.count) == (method.fresh_estimates, method.steps)
    assert run.measured["fresh"].max() < method.fresh_estimates  # far fewer were made; the ledger must not depend on it
    assert fresh.described.noise_multiplier >= method.noise_multiplier
    assert 2 * method.fresh_estimates / method.noise_multiplier**2 == pytest.approx(
        float(2 * method.steps / method.difference_multiplier**2)
    )


def test_a_run_that_needs_no_update_has_the_same_ledger():
    problem = wavy(2000)
    never, always = (StochasticSpider(50, 60, 5, 5, kappa).run(problem) for kappa in (1e-12, 1e12))
    assert never.measured["updates"].max() == 0 < always.measured["updates"].min()
    assert [(one.described, one.count) for one in always.ledger.releases][1] == (Gaussian(60), 5)
    assert never.ledger.mechanism() == always.ledger.mechanism()


def test_noise_as_printed_spends_four_phi_in_the_search_if_a_record_is_replaced():
    problem = wavy(2000)
    method = StochasticSpider.calibrated(problem, 1, "1e-5", variant="as-printed")
    phi = claimed_zcdp(method.budget)
    assert float(phi + 2 * math.sqrt(phi * math.log(1e5))) == pytest.approx(1, abs=1e-12)
    run = method.run(problem, repetitions=3)
    assert float(zcdp_rho(run.ledger.mechanism(), Relation.REPLACE_ONE) / phi) == pytest.approx(4, rel=1e-9)
    assert float(zcdp_rho(run.ledger.mechanism(), Relation.ADD_OR_REMOVE_ONE) / phi) == pytest.approx(1, rel=1e-9)
    assert run.budget is None  # the paper's claim is not kept
    assert run.ledger.spent("1e-5").lower > 1.5


@pytest.mark.parametrize("relation", list(Relation), ids=str)
@pytest.mark.parametrize("p", [2, 100])
def test_what_is_calibrated_has_a_bound(relation, p):
    # at p = 100 few steps are made, in which errors exceed what T₁ was first made for
    for n in (300, 5000):
        for epsilon in ("1/2", 4):
            problem = wavy(n, p, start=0.3, radius=6)
            method = StochasticSpider.calibrated(problem, epsilon, "1e-5", relation)
            assert method.fresh_estimates <= method.steps
            assert method.bound(problem).upper > 0


def test_the_smallest_gradient_stays_below_the_bound():
    n = 4000
    problem = wavy(n)
    method = StochasticSpider.calibrated(problem, 1, "1e-5")
    run = method.run(problem, seed=2, repetitions=48)
    bound = method.bound(problem)
    smallest = run.measured["smallest"]
    assert holds(smallest, bound)
    hits = {"hits": float((smallest > bound.upper).sum()), "draws": 48.0}
    assert estimate_check("x", hits, Enclosure.exactly(Fraction(1, 4))).verdict is Verdict.HOLDS
    assert bound.upper > 0.05 * float(np.linalg.norm(problem.gradient(problem.initial_point[None])))
    assert 0.02 < smallest.mean() / bound.upper < 1
    assert (run.measured["stopped"] == 0).all()
    # Lemma 3.3, explicit: √V (√d + √(2 ln(2T₁/ω)))
    sigma = float(method.noise_multiplier) * float(problem.lipschitz) / n
    update = float(method.difference_multiplier) * float(problem.smoothness) / n
    spread = math.sqrt(sigma**2 + method.drift_threshold * update**2)
    error = spread * (math.sqrt(2) + math.sqrt(2 * math.log(2 * method.fresh_estimates / 0.1)))
    assert method.error_bound(problem).upper == pytest.approx(error, rel=1e-6)
    assert (run.measured["largest error"] <= error).mean() >= 0.9
    assert bound.upper == pytest.approx(
        math.sqrt(2 * 8 * float(problem.initial_gap) / method.steps + error**2), rel=1e-6
    )


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_kicks_leave_a_saddle_point():
    problem = landscape(DOUBLE_WELL, 100, [0.0, 0.0], 2)
    kicks = Kicks(below=0.1, wait=200, scale=0.1)
    methods = (StochasticSpider("1e-12", "1e-12", 200, 200, 1.0, kicks=one) for one in (None, kicks))
    stuck, left = (method.run(problem, repetitions=8) for method in methods)
    assert np.abs(stuck.output).max() < 1e-3
    assert np.abs(left.output).min() > 0.9


def test_search_and_selection_together_find_a_point_privately():
    # Theorem 4.2 as a whole, for points of first order: ε/2 for the search, ε/2 for the choice among its iterates
    problem = wavy(20_000)
    half = Fraction(1, 2)
    method = StochasticSpider.calibrated(problem, half, "5e-7")
    search = method.run(problem, seed=1, repetitions=4)
    alpha = method.bound(problem).upper
    chosen = [
        AboveThresholdSelection.calibrated(points, Fraction(alpha), half, "5e-7", second_order=False).run(
            problem, seed=100 + r, repetitions=1
        )
        for r, points in enumerate(search.outputs["iterates"][:, :-1])
    ]
    for one in chosen:
        assert one.measured["found"][0] == 1
        assert one.measured["gradient"][0] <= alpha + 24 * float(problem.lipschitz) * math.log(
            (method.steps + 1) / 0.1
        ) / (20_000 * 0.5)
        together = search.ledger.mechanism() @ one.ledger.mechanism()
        assert certified_epsilon(together, "1e-6", "replace-one").upper <= 1


def test_bad_kicks_are_refused():
    for arguments in ((0.0, 1, 1.0), (1.0, 0, 1.0), (1.0, 1, math.inf)):
        refused(r"below|wait|scale", Kicks, *arguments)


def test_no_bound_is_promised_where_none_is_proven():
    problem = wavy(2000)
    method = StochasticSpider.calibrated(problem)
    for change in ({"variant": "as-printed"}, {"kicks": KICKS}):
        refused("proven bound", StochasticSpider.calibrated(problem, **change).bound, problem)
    refused("does not bound the error", StochasticSpider.calibrated(problem, variant="as-printed").error_bound, problem)
    few = StochasticSpider(method.noise_multiplier, method.difference_multiplier, 50, 2, 1e-3)
    refused(r"fresh_estimates must be .*, not 2", few.bound, problem)
    # with as many fresh estimates as steps nothing stops the run
    assert StochasticSpider(50, 50, 50, 50, 1e-3).bound(problem).upper > 0


def test_where_the_theorem_asks_for_more_fresh_estimates_they_are_planned(monkeypatch):
    """One at a time until it applies; the noise is planned anew for each, and the budget is kept."""
    problem, asked = wavy(2000, 3), []
    planned = StochasticSpider.calibrated(problem, 1, "1e-5")
    evaluated = StochasticSpider._evaluated

    def applies_later(self, *given):
        asked.append(self.fresh_estimates)
        return evaluated(self, *given) if len(asked) > 2 else SimpleNamespace(applies=False)

    monkeypatch.setattr(StochasticSpider, "_evaluated", applies_later)
    method = StochasticSpider.calibrated(problem, 1, "1e-5")
    assert asked == [planned.fresh_estimates + more for more in range(3)]
    assert method.fresh_estimates == planned.fresh_estimates + 2
    assert method.noise_multiplier > planned.noise_multiplier
    assert certified_epsilon(method.planned, "1e-5", "replace-one").exact_upper <= 1
