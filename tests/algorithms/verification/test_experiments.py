"""The papers' experiments again: every one runs at a tiny size, and its sentences follow the numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpbounds.algorithms.verification import experiments
from dpbounds.algorithms.verification.experiments import ganesh_liu_oh_thakurta_2023 as ganesh
from dpbounds.algorithms.verification.experiments import lowy_ullman_wright_2024 as lowy
from dpbounds.algorithms.verification.experiments import sizes
from dpbounds.algorithms.verification.experiments import wang_xu_2019_methods as methods
from dpbounds.algorithms.verification.experiments.runs import quoted_noise
from dpbounds.algorithms.verification.judging.checks import Measured, mean_interval
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies import selection
from dpbounds.algorithms.verification.studies.running import bound_of
from dpbounds.algorithms.verification.sweeping.cells import Cell, Result, parameter, run
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.render.curves import draw
from dpbounds.theorems.registry import theorem


def results_of(experiment):
    return [run(cell) for cell in experiment.cells(Size.QUICK)]


def named(name):
    (found,) = (one for one in experiments.experiments() if one.name == name)
    return found


def scaled(results, which, number, factor):
    """The results, with some numbers of some cells multiplied."""
    changed = []
    for each in results:
        if which(each):
            values = (np.asarray(each.numbers[number]) * factor).tolist()
            each = replace(each, numbers={**each.numbers, number: values})
        changed.append(each)
    return changed


def shown(experiment, results):
    """Panels with finite, positive curves that enclose their means, and sentences."""
    panels, findings = experiment.panels(results), experiment.findings(results)
    assert panels
    assert findings
    for panel in panels:
        assert any(curve.promised for curve in panel.curves)
        assert any(curve.low for curve in panel.curves)
        for curve in panel.curves:
            assert len(curve.x) == len(curve.y) > 0
            assert all(math.isfinite(value) and value > 0 for value in curve.y)
            if curve.low:
                bands = zip(curve.low, curve.y, curve.high, strict=True)
                assert all(low <= mean <= high < math.inf for low, mean, high in bands)
    draw(experiment.title, panels)
    return " ".join(findings)


def test_statements_exist():
    for one in experiments.experiments():
        theorem(one.theorem)
        assert all(one.cells(size) for size in Size)


@pytest.fixture(scope="module")
def figure_4():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_RECORDS": 300, "_STEPS": 30, "_LAST": 5, "_REPETITIONS": {Size.QUICK: 3}}.items():
            patch.setattr(methods, name, value)
        return results_of(named("wang-xu-2019-figure-4"))


@pytest.mark.thorough
def test_figure_4(figure_4):
    said = shown(named("wang-xu-2019-figure-4"), figure_4)
    assert "made honest they are our method" in said
    assert said.count(", keeps it") == 8  # all methods at both ε: 30 steps are few
    assert "breaks its promise" not in said
    assert "breaks it from T = 122 on" in said


@pytest.mark.thorough
def test_figure_4_follows_a_planted_order(figure_4):
    def ours(each):
        return '"certified"' in each.key

    experiment = named("wang-xu-2019-figure-4")
    better = " ".join(experiment.findings(scaled(figure_4, ours, "end", 1e-3)))
    worse = " ".join(experiment.findings(scaled(figure_4, ours, "end", 1e3)))
    assert better.count("better than all of them, as print says") == 2
    assert worse.count("that holds against none of them, and the other way round against Zhang et al.") == 2
    spent = " ".join(experiment.findings(scaled(figure_4, lambda each: '"zhang"' in each.key, "spent_lower", 100)))
    assert spent.count("breaks its promise") == 2
    broken = scaled(figure_4, lambda each: "quoted_noise" in each.key, "zhang", 2)
    assert "differ from our method even if made honest" in " ".join(experiment.findings(broken))
    high = " ".join(experiment.findings(scaled(figure_4, ours, "average", 1e3)))
    assert high.count(", fails and is") == 2


@pytest.mark.rotating(4)
def test_where_the_quoted_noise_breaks_is_the_first_such_step():
    from dpbounds.algorithms.descents.quoted_baselines import ZhangEtAl2017

    found = quoted_noise(300, 0.5, 10, seed=0)
    first = int(found["broken_from"])
    assert ZhangEtAl2017.quoted("0.5", "1e-3", first).spent.lower > 0.5
    assert ZhangEtAl2017.quoted("0.5", "1e-3", first - 1).spent.upper <= 0.5
    assert found["spent_before"] <= 0.5


@pytest.mark.thorough
def test_stochastic_spider(monkeypatch):
    monkeypatch.setattr(ganesh, "_SEARCH_REPETITIONS", {Size.QUICK: 8})
    experiment = named("ganesh-liu-oh-thakurta-2023-stochastic-spider")
    results = results_of(experiment)
    said = shown(experiment, results)
    assert "the bound holds at every n" in said
    assert "0 of 24 runs lie above it, a share of 0, at most the 0.1" in said
    planted = " ".join(experiment.findings(scaled(results, lambda each: True, "smallest", 1e3)))
    assert "the bound fails somewhere" in planted
    assert "24 of 24 runs lie above it, a share of 1, more than the 0.1" in planted


@pytest.mark.rotating(4)
def test_exponential_mechanisms(monkeypatch):
    monkeypatch.setattr(ganesh, "_REPETITIONS", {Size.QUICK: 200})
    monkeypatch.setattr(ganesh, "_SIZES", {Size.QUICK: (500, 1000, 2000)})
    monkeypatch.setattr(ganesh, "_PLANE_SIZES", {Size.QUICK: (50, 100, 200)})
    experiment = named("ganesh-liu-oh-thakurta-2023-exponential-mechanism")
    results = results_of(experiment)
    said = shown(experiment, results)
    assert said.count("the bound holds at every n") == 4
    planted = experiment.findings(scaled(results, lambda each: "net_choice" in each.key, "excess", 1e3))
    assert "the excess on a net is larger than that of a Gibbs sample at every n" in " ".join(planted)


@pytest.mark.parametrize(("records", "dimension"), [(1000, 1), (32_000, 1), (50, 2), (400, 2)])
def test_the_bound_on_a_net_covers_its_real_number_of_points(records, dimension):
    cell = Cell.of(selection.net_choice, records=records, dimension=dimension, epsilon=1.0, variant="proven")
    result = Result(cell.key, {}, 0.0)
    exact = bound_of(selection.net_choice)(result)
    assert exact.upper <= ganesh.net_bound(result).upper <= 1.5 * exact.upper


@pytest.mark.thorough
def test_warm_and_cold_starts(monkeypatch):
    monkeypatch.setattr(lowy, "_START_SIZES", {Size.QUICK: (150, 200, 300)})
    monkeypatch.setattr(lowy, "_START_REPETITIONS", {Size.QUICK: 4})
    experiment = named("lowy-ullman-wright-2024-warm-start")
    results = results_of(experiment)
    said = shown(experiment, results)
    assert said.count("the bound holds at every n") == 2
    first, second = "the gradient after a warm start", "that after a cold start"
    for factor, word in ((1e-3, "smaller"), (1e3, "larger")):
        planted = experiment.findings(scaled(results, lambda each: ":warm" in each.key, "gradient_norm", factor))
        assert f"{first} is {word} than {second} at every n" in " ".join(planted)


def test_quasar_convex_descent(monkeypatch):
    monkeypatch.setattr(lowy, "_QUASAR_SIZES", {Size.QUICK: (50, 100, 200)})
    monkeypatch.setattr(lowy, "_QUASAR_REPETITIONS", {Size.QUICK: 8})
    experiment = named("lowy-ullman-wright-2024-quasar-convex")
    results = results_of(experiment)
    assert "the bound holds at every n" in shown(experiment, results)
    planted = experiment.findings(scaled(results, lambda each: '"records": 200' in each.key, "excess", 100))
    assert "the bound fails somewhere" in planted[0]


@pytest.mark.thorough
def test_restarts(monkeypatch):
    monkeypatch.setattr(lowy, "_RESTARTS_SIZES", {Size.QUICK: (2000, 4000, 8000)})
    monkeypatch.setattr(lowy, "_RESTARTS_REPETITIONS", {Size.QUICK: 8})
    experiment = named("polyak-lojasiewicz-restarted-spider")
    results = results_of(experiment)
    assert "Stages: " in shown(experiment, results)
    planted = experiment.findings(scaled(results, lambda each: '"records": 8000' in each.key, "gradient", 10))
    assert "it falls more slowly than its bound" in planted[0]


def made(records, values):
    return Result(Cell.of("some:task", 0, records=records).key, {"value": values}, 0.0)


@pytest.mark.parametrize(
    ("power", "words"),
    [(-2, "it falls faster than its bound"), (-1, "it falls as fast as its bound"), (0, "more slowly than its bound")],
)
def test_exponents_are_compared_with_the_bound_at_the_same_sizes(power, words):
    noise = np.random.default_rng(0).uniform(0.9, 1.1, (4, 50))
    results = [made(n, (row * n**power).tolist()) for n, row in zip((10, 20, 40, 80), noise, strict=True)]
    quantity = sizes.Quantity("error", "value", lambda run: Enclosure.exactly(30 / parameter(run, "records")), "bound")
    assert words in quantity.told(results)
    assert "the bound at these n like n^-1.00" in quantity.told(results)


def test_comparisons_name_the_sizes():
    low, high = Measured(1, 0.9, 1.1), Measured(2, 1.9, 2.1)
    n = (10.0, 20.0)
    assert sizes.compared([low, high], [high, low], ("a", "b"), n).startswith("a against b: smaller at n = 10, larger")
    assert "not told apart at n = 20" in sizes.compared([low, low], [high, low], ("a", "b"), n)
    assert sizes.held([low], [1.0]).startswith("whether the bound holds everywhere is open")


def test_intervals_are_students():
    found = mean_interval([1.0, 2.0, 3.0], 0.95)
    assert found.mean == 2
    assert found.high - found.mean == pytest.approx(4.302652729911275 / math.sqrt(3))
    assert mean_interval([1.0]).low == -math.inf
