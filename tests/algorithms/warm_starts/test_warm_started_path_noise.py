"""A point drawn from a net, then path noise: what it spends, what it promises, and that it can fail."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from attrs import evolve

from dpbounds.algorithms.second_order.path_noise_descent import PathNoiseDescent
from dpbounds.algorithms.verification.studies.second_order import double_well
from dpbounds.algorithms.warm_starts.warm_started_path_noise import WarmStartedPathNoise
from dpbounds.privacy.accountants.certified import delta
from tests.algorithms.shared import refused

MANY = double_well(10**6, 1)


@cache
def method():
    return WarmStartedPathNoise.calibrated(MANY, 1, "1e-6", covering_radius="1/1000")


@pytest.mark.seconds
def test_it_walks_on_from_the_point_that_was_drawn():
    run = method().run(MANY, seed=3, repetitions=8)
    values = MANY.objective_at(method().start.net.points)
    assert set(run.outputs["start"].ravel()) <= set(method().start.net.points.ravel())
    assert run.measured["start_objective"] == pytest.approx(MANY.objective_at(run.outputs["start"]), abs=1e-12)
    assert (run.measured["start_objective"] <= values.min() + float(method().descent.initial_gap)).all()
    moved = np.linalg.norm(run.output - run.outputs["start"], axis=1)
    assert (moved <= run.measured["path"] + 1e-12).all()
    assert run.outputs["found"].all()
    assert not run.samples.any()


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_both_together_keep_the_budget_and_use_it():
    run = method().run(MANY, seed=3, guarded=True)
    choice, path, hessians = run.ledger.releases
    assert (choice.mechanism(), path.count, hessians.count) == (method().start.planned, 1, method().descent.searches)
    assert run.spent.exact_upper <= 1
    spent = delta(method().planned, 1, relation="replace-one")
    assert 0.99e-6 < spent.upper <= 1e-6


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_good_start_makes_a_better_point():
    cold = PathNoiseDescent.calibrated(MANY, 1, "1e-6")
    assert method().bound(MANY).contains(Fraction(1, 10))
    assert method().descent.stationarity < cold.stationarity / 2


@pytest.mark.seconds
def test_what_is_promised_rests_on_the_start():
    worse = evolve(method(), descent=evolve(method().descent, initial_gap=method().descent.initial_gap / 2))
    refused("descent.initial_gap", worse.bound, MANY)
    refused("descent.initial_gap", evolve(method(), outside=Fraction(1, 1000)).bound, MANY)
    refused("descent.initial_gap", evolve, method(), descent=evolve(method().descent, initial_gap=None))
    refused("at least", method().bound, double_well(10**6 // 2, 1))


@pytest.mark.seconds
def test_it_can_fail_with_few_records():
    assert method().run(double_well(2000, 1), seed=1, repetitions=64).samples.mean() > 0.1
