"""Stochastic Spider and its private selection: what runs measure and spend, how often a selection goes wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from algorithms import problems
from algorithms.problems.landscapes import DOUBLE_WELL, WAVY, Landscape, landscape
from algorithms.problems.problem import Problem
from algorithms.selection.above_threshold import AboveThresholdSelection, Variant
from algorithms.selection.above_threshold_attack import attack
from algorithms.spider.population_stochastic_spider import PopulationStochasticSpider
from algorithms.spider.stochastic_spider import StochasticSpider, claimed_zcdp
from dpbounds.privacy.concentrated_accounts import zcdp_rho
from dpbounds.privacy.relations import Relation

Numbers = dict[str, float | list[float]]
_EPSILON, _DELTA = 1, Fraction(1, 10**5)
FAILURE = Fraction(1, 10)


def wavy(records: int) -> Landscape:
    """A smooth non-convex landscape of which the records say nothing but their number."""
    return landscape(WAVY, records, [0.8] * 8, 3)


def labelled(records: int) -> Problem:
    """The sigmoid loss without a regulariser, on records that are independent draws: the same for every cell."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((records, 3))
    labels = np.where(features[:, 0] + 0.5 * rng.standard_normal(records) > 0, 1, -1)
    return problems.sigmoid_loss(features, labels, l1=0)


def planned_search(records: int) -> StochasticSpider:
    """On all records, with the parameters of its theorem."""
    return StochasticSpider.calibrated(wavy(records), _EPSILON, _DELTA, failure_probability=FAILURE)


def planned_population_search(records: int) -> PopulationStochasticSpider:
    """On fresh batches, with the parameters of its theorem."""
    return PopulationStochasticSpider.calibrated(labelled(records), _EPSILON, _DELTA, failure_probability=FAILURE)


def search(records: int, repetitions: int, seed: int) -> Numbers:
    """The smallest gradient norm and the largest error of each run, how many fresh estimates; ε that was spent."""
    run = planned_search(records).run(wavy(records), seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {
        "smallest": run.measured["smallest"].tolist(),
        "largest_error": run.measured["largest error"].tolist(),
        "fresh": run.measured["fresh"].tolist(),
        "squared_errors": (run.trace["error"].per_repetition * run.steps).tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
    }


def population_search(records: int, repetitions: int, seed: int) -> Numbers:
    """The same on fresh batches; gradients of all records stand in for the population's."""
    run = planned_population_search(records).run(labelled(records), seed=seed % 2**63, repetitions=repetitions)
    assert run.spent is not None
    return {
        "smallest": run.measured["smallest"].tolist(),
        "spent_lower": run.spent.lower,
        "spent_upper": run.spent.upper,
    }


def printed_search(records: int, seed: int) -> Numbers:
    """What the printed noise spends in the search, in units of φ, for either relation: by the ledger of a run."""
    problem = wavy(records)
    method = StochasticSpider.calibrated(problem, _EPSILON, _DELTA, variant="as-printed")
    assert method.budget is not None
    ledger = method.run(problem, seed=seed % 2**63, repetitions=1).ledger.mechanism()
    phi = claimed_zcdp(method.budget)
    return {
        "replaced": float(zcdp_rho(ledger, Relation.REPLACE_ONE) / phi),
        "added": float(zcdp_rho(ledger, Relation.ADD_OR_REMOVE_ONE) / phi),
    }


def planned_selection(records: int, candidates: int, variant: Variant) -> tuple[AboveThresholdSelection, Landscape]:
    """A selection among ever flatter points, down to a minimum: the first that passes is hardly flat enough."""
    problem = landscape(DOUBLE_WELL, records, [0.7], 2)
    points = np.linspace([0.6], [1.0], candidates)
    return AboveThresholdSelection(points, 1, "0.01", FAILURE, variant=variant), problem


def selection(records: int, candidates: int, variant: Variant, repetitions: int, seed: int) -> Numbers:
    """The slope at every selected point (the first point's, the steepest, where none was selected)."""
    method, problem = planned_selection(records, candidates, variant)
    run = method.run(problem, seed=seed % 2**63, repetitions=repetitions)
    return {"gradient": run.measured["gradient"].tolist()}


def attacked(candidates: int, variant: Variant, sign: int, draws: int, seed: int) -> Numbers:
    """How often the literal algorithm returns the last point, on one of two neighbouring data sets."""
    found = attack(candidates, variant=variant)
    problem = found.neighbours[0 if sign > 0 else 1]
    index = found.selection.run(problem, seed=seed % 2**63, repetitions=draws).outputs["index"]
    return {"hits": float((index == candidates - 1).sum()), "draws": float(draws)}


def realised_loss(candidates: int, variant: Variant, seed: int) -> Numbers:
    """The privacy loss on two neighbouring data sets, by quadrature, in units of ε."""
    return {"loss": attack(candidates, variant=variant).privacy_loss()}
