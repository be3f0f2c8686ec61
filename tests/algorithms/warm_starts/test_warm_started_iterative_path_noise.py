"""A point drawn from a net, then path noise without Hessians: what it spends and promises, and that it can fail."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from attrs import evolve

from dpbounds.algorithms import noise
from dpbounds.algorithms.method import OpenRun
from dpbounds.algorithms.second_order.iterative_path_noise import IterativePathNoise
from dpbounds.algorithms.verification.studies.problems import smooth_design
from dpbounds.algorithms.verification.studies.second_order import double_well
from dpbounds.algorithms.warm_starts.warm_started_iterative_path_noise import WarmStartedIterativePathNoise
from dpbounds.privacy.accountants.certified import delta
from dpbounds.privacy.mechanisms import ZCDP, ExponentialMechanism, parts_of
from dpbounds.privacy.relations import Relation
from tests.algorithms.shared import refused

MANY = double_well(10**6, 1)
SMALL = smooth_design(400, 2)
AT = {"stationarity": "1/5", "radius": 1, "covering_radius": "1/5", "searches": 3, "power_steps": 3}


@cache
def method(stationarity="1/12"):
    return WarmStartedIterativePathNoise.calibrated(
        MANY, 1, "1e-6", stationarity=stationarity, covering_radius="1/67", failure_probability="1/5"
    )


@pytest.mark.seconds
def test_it_walks_on_from_the_point_that_was_drawn():
    run = method().run(MANY, seed=3, repetitions=4)
    assert set(run.outputs["start"].ravel()) <= set(method().start.net.points.ravel())
    moved = np.linalg.norm(run.output - run.outputs["start"], axis=1)
    assert (moved <= run.measured["path"] + 1e-12).all()
    assert run.outputs["found"].all()
    assert not run.samples.any()


def test_the_walk_begins_at_the_point_that_it_is_given():
    """At a minimiser it stays, with noise as small as this; the problem's own start is a saddle point."""
    problem = double_well(10**5)
    walk = IterativePathNoise(1, 1, 1, 1, 12, 5, 2, 10, 4, 4, Fraction(1, 20))
    ends = []
    for start in (np.ones((3, 2)), None):
        run = OpenRun(problem, noise.streams(5, 3), walk._ledger(), "gaussian", Relation.REPLACE_ONE)
        ends.append(walk.walk(problem, run, start).output)
    assert (ends[0] == 1).all()
    assert not (ends[1] == 0).any()


@pytest.mark.seconds
@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one"])
@pytest.mark.parametrize(  # of few choices, their zCDP is told
    ("restarts", "kind", "used"), [(6, ZCDP, 0.35e-5), (24, ExponentialMechanism, 0.9e-5)]
)
def test_start_and_walk_keep_the_budget_together(relation, restarts, kind, used):
    made = WarmStartedIterativePathNoise.calibrated(SMALL, 1, "1e-5", relation, restarts=restarts, **AT)
    run = made.run(SMALL, seed=1, repetitions=2, guarded=True)
    assert run.spent.exact_upper <= 1
    spent = delta(made.planned, 1, relation=relation)
    assert used < spent.upper <= 1e-5
    (first, _), *_, (last, count) = parts_of(made.planned)
    assert (first, type(last), count) == (made.start.planned, kind, restarts)
    assert {one.relation for one in (first, last)} == {Relation(relation)}
    refused("searches", made.bound, SMALL)


@pytest.mark.seconds
def test_what_is_promised_rests_on_the_start():
    assert method().bound(MANY).contains(Fraction(1, 5))
    gap = method().descent.initial_gap
    assert gap >= method().start.tail(MANY, Fraction(1, 10)).exact_upper
    refused("descent.initial_gap", evolve(method(), descent=evolve(method().descent, initial_gap=gap / 2)).bound, MANY)
    refused("descent.initial_gap", evolve(method(), outside=Fraction(1, 1000)).bound, MANY)
    refused("at least", method().bound, double_well(10**6 // 2, 1))
    cold = IterativePathNoise.calibrated(MANY, 1, "1e-6", "1/12", "1/5")
    assert cold.records_needed(MANY).upper > method().descent.records_needed(MANY).upper


@pytest.mark.minutes
def test_it_can_fail_with_few_records():
    assert method().run(double_well(2000, 1), seed=1, repetitions=4).samples.mean() > 0.1
