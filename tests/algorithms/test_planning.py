"""What every algorithm is told, checked where it is told, before any record is looked at."""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import PrivacyBudget, ProjectedGradientDescent, fields, problems
from dpbounds.algorithms.descents.stochastic_gradient_descent import StochasticGradientDescent
from dpbounds.algorithms.iterates import best_count
from dpbounds.algorithms.ledger import checked_budget
from dpbounds.algorithms.oracles import Poisson
from dpbounds.algorithms.second_order.gradient_descent import GradientDescent
from dpbounds.algorithms.selection.projected_langevin import ProjectedLangevin
from dpbounds.algorithms.selection.regularised_exponential_mechanism import RegularisedExponentialMechanism
from dpbounds.algorithms.spider.spider import Spider
from dpbounds.errors import InvalidValue

RECORDS, LABELS = np.tile(np.eye(2), (50, 1)) * 0.9, np.tile([1.0, -1.0], 50)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "long", [0.1], (1, 2)])
def test_step_sizes_that_are_none_are_refused_by_name(value):
    with pytest.raises(InvalidValue, match="step_size"):
        fields.step_size(value)


def test_step_sizes_are_doubles():
    assert fields.step_size(None) is None
    for value in ("0.1", 0.1, Fraction(1, 10), np.float32(0.5)):
        assert fields.step_size(value) == float(value)


@pytest.mark.parametrize(
    "make", [lambda b: ProjectedGradientDescent(5, 5, budget=b), lambda b: Spider(5, 5, 3, 2, budget=b)]
)
def test_a_budget_is_a_budget(make):
    with pytest.raises(InvalidValue, match=r"PrivacyBudget.of"):
        make((1, 1e-6))
    assert make(PrivacyBudget.of(1, "1e-6")).budget == checked_budget(PrivacyBudget.of(1, "1e-6"))


def test_samplings_are_samplings():
    with pytest.raises(InvalidValue, match="sampling"):
        StochasticGradientDescent(5, 5, sampling=0.1)
    for name in ("anchor_sampling", "difference_sampling"):
        with pytest.raises(InvalidValue, match=name):
            Spider(5, 5, 3, 2, **{name: 0.1})
    assert StochasticGradientDescent(5, 5, sampling=Poisson("1/10")).sampling == Poisson("1/10")


def test_a_problem_without_a_proximal_step_is_refused_before_anything_is_drawn():
    with pytest.raises(InvalidValue, match="proximal"):
        ProjectedGradientDescent(5, 5).run(problems.cauchy(RECORDS, np.zeros(100)))


@pytest.mark.parametrize("radius", [0, -1])
def test_radii_are_refused_by_name(radius):
    problem = problems.sigmoid_loss(RECORDS, LABELS, l1=0)
    with pytest.raises(InvalidValue, match="radius"):
        ProjectedLangevin.calibrated(problem, radius=radius)
    with pytest.raises(InvalidValue, match="radius"):
        RegularisedExponentialMechanism.calibrated(problem, radius=radius, sampler="alternating")


@pytest.mark.parametrize("ratio", [0, 1, Fraction(3, 2), 2, Fraction(201, 100), 6, 7, 10**6, 10**6 + 1000])
def test_the_best_count_is_the_best(ratio):
    def cost(count):
        return Fraction(ratio) / count + count

    found = best_count(Fraction(ratio))
    assert cost(found) == min(cost(count) for count in range(max(1, found - 3), found + 4))


def test_gradient_descent_takes_the_best_number_of_steps():
    problem = problems.sigmoid_loss(np.random.default_rng(0).uniform(-0.4, 0.4, (300, 4)), np.tile([1, -1], 150), l1=0)
    for epsilon in ("1/20", "1/10", "1/5"):
        chosen = GradientDescent.calibrated(problem, epsilon, "1e-5")
        bounds = {
            steps: GradientDescent.calibrated(problem, epsilon, "1e-5", steps=steps).bound(problem).upper
            for steps in range(max(1, chosen.steps - 2), chosen.steps + 3)
        }
        assert bounds[chosen.steps] <= min(bounds.values()) * (1 + 1e-9)
