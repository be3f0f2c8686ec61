import numpy as np
import pytest
from attrs import evolve

from dpbounds.algorithms import problems
from dpbounds.algorithms.verification.studies.warm_starts import regression
from dpbounds.algorithms.warm_starts.population_warm_start import PopulationWarmStart, part_of
from dpbounds.privacy.mechanisms import ApproximateDP
from dpbounds.privacy.relations import Relation
from tests.algorithms.shared import refused


def split(problem, **options):
    return PopulationWarmStart.calibrated(
        problem, **{"epsilon": 4, "delta": "1e-5", "radius": 1, "covering_radius": "1/5"} | options
    )


def test_the_parts_share_no_record_and_keep_the_constants():
    problem = regression(400, 2)
    first, rest = part_of(problem, 0, 100), part_of(problem, 100, 300)
    assert np.array_equal(np.concatenate([first.features, rest.features]), problem.features)
    assert np.array_equal(np.concatenate([first.targets, rest.targets]), problem.targets)
    assert first.lipschitz == rest.lipschitz == problem.lipschitz
    refused("records", part_of, problem, 300, 101)
    refused("linear model", part_of, problems.landscape(problems.WAVY, 10, [1.0], 2), 0, 5)


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_each_part_keeps_the_whole_budget(relation):
    problem = regression(2000, 2)
    method = split(problem, relation=relation)
    run = method.run(problem, repetitions=2)
    assert run.spent.upper <= 4
    assert run.ledger.mechanism().parts == ((ApproximateDP(4, "1e-5", relation=relation), 1),)
    # the start alone is pure, at the whole of ε; the search has a Gaussian that keeps (ε, δ) by itself
    assert method.start.epsilon == 4
    assert method.search.budget == method.budget


def test_a_record_of_one_part_does_not_move_the_other():
    problem = regression(2000, 2)
    method = split(problem)
    run = method.run(problem, seed=5, repetitions=3)
    features = problem.features.copy()
    features[method.first_part] *= -1  # of the search's part: the start stays as it is
    other = method.run(problems.geman_mcclure(features, problem.targets), seed=5, repetitions=3)
    assert np.array_equal(run.outputs["start"], other.outputs["start"])
    assert not np.array_equal(run.output, other.output)
    assert np.array_equal(run.outputs["iterates"][:, 0], run.outputs["start"])
    assert np.array_equal(method._rest(problem).features, problem.features[method.first_part :])  # none of the start's


def test_the_smallest_gradient_is_below_its_bound():
    problem = regression(20_000, 2)
    method = split(problem, covering_radius="1/10")
    run = method.run(problem, seed=1, repetitions=16)
    # each run exceeds the bound with probability 1/5 at most; 16 times 1/5 and more than 11 of them: below 1e-6
    assert (run.measured["smallest"] > method.bound(problem).upper).sum() <= 11
    assert np.median(run.measured["smallest"]) < method.bound(problem).upper


def test_a_start_that_may_be_worse_than_the_search_was_planned_for_has_no_bound():
    """The start always gets n₁ records, so that ψ grows with the constants of the problem only."""
    problem = regression(2000, 2)
    method = split(problem, outside="1/100")
    assert method.bound(problem).upper < 1
    assert (
        method.search.initial_gap
        == (method.start.bound(part_of(problem, 0, 500), "population").exact_upper + method.outside) * 10
    )
    longer = problems.geman_mcclure(problem.features, problem.targets, feature_bound=2)
    refused("search.initial_gap must be at least", method.bound, longer)
    refused("search.initial_gap must be at least", evolve(method, outside="1/50").bound, problem)
    refused("records", method.bound, regression(100, 2))


def test_what_is_said_of_its_releases_is_about_both_parts():
    problem = regression(2000, 2)
    method = split(problem)
    run, search = method.run(problem, repetitions=1), method.search.run(method._rest(problem), repetitions=1)
    assert run.chosen == f"{search.chosen}; before these, one release on other records draws the start"


def test_refusals():
    for name, value in (
        ("share", "1/10000"),
        ("share", 1),
        ("outside", -1),
        ("failure_probability", 0),
        ("radius", None),
    ):
        refused(name, split, regression(400, 2), **{name: value})
