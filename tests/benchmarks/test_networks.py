"""The stored results of private networks: the page shows them, and new runs find some of them again."""

import re
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("sklearn")

from sympy import Rational

from benchmarks.networks import cases, methods, page, paid, regime, sweep
from dpbounds.algorithms import ProjectedGradientDescent, Spider, Storm
from dpbounds.privacy.accountants.tuning import tuned_epsilon
from dpbounds.privacy.mechanisms import Gaussian

pytestmark = pytest.mark.seconds


def rows_of(**wanted):
    return [row for row in sweep.rows() if all(row[name] == str(value) for name, value in wanted.items())]


def test_every_job_has_five_seeds_within_its_budget():
    jobs = {(row["case"], row["epsilon"], row["method"], row["chosen"]) for row in sweep.rows()}
    for case, epsilon, method, how in jobs:
        own = rows_of(case=case, epsilon=epsilon, method=method, chosen=how)
        assert [row["seed"] for row in own] == ["0", "1", "2", "3", "4"]
        assert all(Fraction(row["spent"]) <= int(epsilon) for row in own)


@pytest.mark.parametrize(("method", "epsilon"), [("dp-sgd", 4), ("dp-storm", 1)])
def test_a_run_of_networks_is_found_again(method, epsilon):
    own = rows_of(case="digits-mlp", epsilon=epsilon, method=method, chosen="public")
    found = sweep.trained("digits-mlp", method, epsilon, sweep.settings_in(own[0]["settings"]), len(own))
    np.testing.assert_allclose([one.loss for one in found], [float(row["loss"]) for row in own], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose([one.score for one in found], [float(row["score"]) for row in own], atol=0.003)


@pytest.mark.parametrize("method", ["dp-gd", "dp-storm", "path-noise"])
def test_a_run_of_the_regime_is_found_again(method):
    (row,) = [
        each
        for each in regime.rows()
        if (each["data"], each["epsilon"], each["steps"], each["method"]) == ("breast cancer", "8", "40", method)
    ]
    found = regime.measured("breast cancer", 8, method, sweep.settings_in(row["settings"]), 2, regime.SEEDS)
    assert found["gradient_norm"].mean() == pytest.approx(float(row["gradient_norm"]), rel=1e-3)
    assert found["accuracy"].mean() == pytest.approx(float(row["accuracy"]), abs=1e-4)


def test_recursion_beats_descent_where_theory_says_so():
    own = [row for row in regime.rows() if (row["data"], row["epsilon"]) == ("breast cancer", "8")]
    best = {}
    for name in ("dp-gd", "dp-gd-momentum", "dp-storm"):
        row = min((each for each in own if each["method"] == name), key=lambda each: float(each["gradient_norm"]))
        best[name] = float(row["gradient_norm"]), float(row["half"])
    ours, half = best.pop("dp-storm")
    assert all(ours + half < value - other for value, other in best.values())


class _Rounded:
    """A problem whose initial gap, log(109/100), is rounded up to a rational number."""

    def __init__(self, problem):
        self.problem = problem

    initial_gap = Rational(8618, 100_000)

    def __getattr__(self, name):
        return getattr(self.problem, name)


def test_proven_bounds_order_the_methods_as_the_page_says():
    """On the norm of the gradient: of STORM and of projected descent the root of what bounds its square."""
    problem = regime.data_of("breast cancer")[0]
    at, given = (4, methods.DELTA), {"relation": methods.RELATION}
    rounded = _Rounded(problem)
    assert 0 < rounded.initial_gap - problem.initial_gap < 1e-5
    storm, spider = (one.calibrated(problem, *at, **given) for one in (Storm, Spider))
    descents = [ProjectedGradientDescent.calibrated(rounded, *at, steps, **given) for steps in range(20, 31)]
    bounds = [each.bound(rounded, "exact").upper for each in descents]
    assert bounds[0] > min(bounds) < bounds[-1]
    assert (storm.metric, spider.metric) == ("mean_square", "gradient_norm")
    found = storm.bound(problem).upper ** 0.5, spider.bound(problem).upper, min(bounds) ** 0.5
    text = " ".join((page.DOCS / "networks.md").read_text(encoding="utf-8").split())
    order = "{:.4f} for STORM, {:.4f} for SPIDER and {:.3f} for projected descent".format(*found)
    assert f"at ε = 4 on the breast cancer data {order}" in text


def test_a_selection_is_paid_for():
    epsilon, records = 4, 1078
    z, spent = paid.multiplier("dp-gd", 60, records, epsilon, "best of a random number")
    budget = sweep.budget_of(epsilon)
    assert spent <= epsilon
    assert spent == pytest.approx(
        float(rows_of(epsilon=4, method="dp-gd", chosen="best of a random number")[0]["spent"]), abs=1e-5
    )
    less = tuned_epsilon(
        Gaussian(z * Fraction(19, 20)) @ Gaussian(paid.SCORE), paid.RUNS, budget.delta, budget.relation
    )
    assert less > epsilon
    alone = methods.planning.multiplier_of_one(budget)
    assert z > alone  # choosing costs noise


def test_cases_are_what_the_page_calls_them():
    for name in ("digits-mlp", "digits-conv", "digits-attention", "covertype-mlp"):
        case = sweep.case_of(name)
        assert (case.model, case.data) == cases.ABOUT[name]
    assert set(cases.ABOUT) == set(sweep.CASES)


def test_the_page_shows_the_results():
    text = (page.DOCS / "networks.md").read_text(encoding="utf-8")
    for made in page.TABLES:
        shown = re.search(rf"<!-- table {made.__name__} -->\n\n(.*?)\n\n<!-- end", text, flags=re.DOTALL)
        assert shown is not None
        assert shown[1] == made()
