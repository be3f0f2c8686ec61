"""Nothing is promised, and nothing drawn, where a problem's constants do not hold or a regulariser is left out."""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds import algorithms
from dpbounds.algorithms import problems
from dpbounds.algorithms.problems.domain import demand_all_of_space, demand_within, hessian_rank
from dpbounds.algorithms.problems.mirrors import EuclideanMirror
from dpbounds.algorithms.problems.sets import L2Ball
from dpbounds.errors import InvalidValue

RECORDS = np.tile(np.eye(2), (50, 1)) * 0.9
LABELS = np.tile([1.0, -1.0], 50)


def with_regulariser():
    return problems.sigmoid_loss(RECORDS, LABELS, l1="0.1")


def in_a_ball():
    return problems.sigmoid_loss(RECORDS, LABELS, l1=0, radius=1)


def where_constants_end():
    return problems.phase_retrieval(RECORDS, np.ones(100), radius=1, start=[0.3, 0.3])


EVERYWHERE = {
    "Langevin": algorithms.LangevinDynamics(10, 5, 1),
    "GD": algorithms.GradientDescent(10, 5),
    "weighted GD": algorithms.WeightedDescent(10, 5),
    "GD on samples": algorithms.BatchDescent(10, 5, "1/2", 0.1),
    "STORM on samples": algorithms.BatchStorm(10, 2, 5, "1/2", "1/2", 0.1),
    "NC": algorithms.NegativeCurvatureDescent(10, 10, 5, 1),
    "path noise": algorithms.PathNoiseDescent(10, 10, 5, 5, 1, 1),
    "iterative path noise": algorithms.IterativePathNoise(10, 10, 10, "1/10", 5, 5, 2, 5, 3, 1, 1),
    "path noise to a small gradient": algorithms.GradientPathNoise(10, 5, 1, 1),
    "SOSP selection": algorithms.StationaryPointSelection(10, 10, 10, 5, 1),
    "SPIDER": algorithms.Spider(10, 10, 5, 5),
    "STORM": algorithms.Storm(10, 10, 5, 1, 0.1),
    "stochastic SPIDER": algorithms.StochasticSpider(10, 10, 5, 5, 1.0),
    "tree SPIDER": algorithms.PopulationTreeSpider(10, 5, 1, 5, 5, 1.0),
    "population SPIDER": algorithms.PopulationStochasticSpider(10, 5, 5, 5, 5, 1.0),
    "PrGD": algorithms.PerturbedGradientDescent(1, 100, 2, 3),
}
WITHIN = {
    "mirror descent": algorithms.MirrorDescent(EuclideanMirror.of_ball(L2Ball(2, 2)), 10, 5),
    "Frank-Wolfe": algorithms.GaussianFrankWolfe(L2Ball(2, 2), 10, 5),
    "constrained": algorithms.ConstrainedSecondOrder(L2Ball(2, 2), 10, 10, 5, 1, 1),
}


@pytest.mark.parametrize("name", EVERYWHERE)
@pytest.mark.parametrize("ask", ["bound", "run"])
def test_walks_in_all_of_space_leave_no_ball_and_no_regulariser_out(name, ask):
    method = EVERYWHERE[name]
    with pytest.raises(InvalidValue, match="l1"):
        getattr(method, ask)(with_regulariser())
    for problem in (in_a_ball(), where_constants_end()):
        with pytest.raises(InvalidValue, match="radius"):
            getattr(method, ask)(problem)


@pytest.mark.parametrize(
    "method",
    [algorithms.StochasticGradientDescent(10, 5), algorithms.SelectedStochasticGradientDescent(10, 5, 3, 1)],
    ids=["one", "selected"],
)
def test_descents_in_a_ball_of_their_own_leave_no_regulariser_out(method):
    asked = (
        lambda: method.run(with_regulariser()),
        lambda: method.bound(with_regulariser(), quasar_convexity="1/2"),
        lambda: type(method).calibrated(with_regulariser(), steps=3),
    )
    for ask in asked:
        with pytest.raises(InvalidValue, match="l1"):
            ask()
    assert method.run(in_a_ball(), repetitions=1).steps == 5


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("ask", ["bound", "run"])
def test_sets_that_reach_beyond_the_constants_are_refused(name, ask):
    for problem in (in_a_ball(), where_constants_end()):
        with pytest.raises(InvalidValue, match="radius 1"):
            getattr(WITHIN[name], ask)(problem)
    with pytest.raises(InvalidValue, match="l1"):
        getattr(WITHIN[name], ask)(with_regulariser())


def test_a_gap_is_not_taken_from_a_range_that_ends_before():
    # the range of Cauchy's loss on a ball of radius 1/100 is 4e-4, and the loss at distance 1 is ln 2
    problem = problems.cauchy(np.tile([1.0, 0, 0], (400, 1)), np.zeros(400), target_bound="1/100", radius="1/100")
    method = algorithms.MirrorDescent(EuclideanMirror.of_ball(L2Ball(3, 5)), "1e-9", 1, start=(1.0, 0, 0))
    with pytest.raises(InvalidValue, match="ball of radius"):
        method.bound(problem)


def test_landscapes_may_be_walked_and_say_when_they_are_left():
    landscape = problems.landscape(problems.WAVY, 10, [0.5], 2)
    demand_all_of_space(landscape)
    with pytest.raises(InvalidValue, match="outside the ball"):
        landscape.gradient(np.array([[2.1]]))


def test_sets_that_fit_are_let_through():
    demand_within(in_a_ball(), L2Ball(2, 1))
    with pytest.raises(InvalidValue, match="dimension"):
        demand_within(in_a_ball(), L2Ball(3, 1))
    with pytest.raises(InvalidValue, match="radius"):
        demand_within(in_a_ball(), L2Ball(2, 1 + Fraction(1, 10**9)))


def test_ranks_are_those_of_the_hessians():
    for problem in (in_a_ball(), where_constants_end(), problems.cauchy(RECORDS, np.zeros(100))):
        assert hessian_rank(problem) == 1
        one = problems.phase_retrieval(RECORDS[:1], np.ones(1), radius=1, start=[0.3, 0.3])
        assert np.linalg.matrix_rank(one.hessian(np.array([[0.2, 0.4]]))[0]) == 1
    assert hessian_rank(problems.landscape(problems.WAVY, 10, [0.5], 2)) is None


def test_a_selection_of_stationary_points_leaves_no_regulariser_out():
    # at (300, 0) the smooth part is flat and F is 150, where it is 1/2 at the origin
    problem = problems.sigmoid_loss(RECORDS, LABELS, l1="0.5")
    method = algorithms.AboveThresholdSelection(np.array([[0.0, 0.0], [300.0, 0.0]]), 1000, "0.01")
    for ask in (method.run, method.bound):
        with pytest.raises(InvalidValue, match="l1"):
            ask(problem)
