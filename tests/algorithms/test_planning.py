"""What every algorithm is told, checked where it is told, before any record is looked at."""

from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import ProjectedGradientDescent, fields, problems
from dpbounds.algorithms.iterates import best_count
from dpbounds.algorithms.planning import PrivacyBudget, multiplier_of_one, multipliers_of_groups
from dpbounds.algorithms.selection.projected_langevin import ProjectedLangevin
from dpbounds.algorithms.selection.regularised_exponential_mechanism import RegularisedExponentialMechanism
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


@pytest.mark.parametrize("shares", [("1/2", "501/1000"), ("3/2", "-1/2"), ("1", "0")])
def test_shares_are_positive_and_add_up_to_one_at_most(shares):
    """One part in a thousand more than the budget is refused, and all of it is not."""
    budget = PrivacyBudget.of(1, "1e-6")
    with pytest.raises(InvalidValue, match="shares"):
        multipliers_of_groups(budget, {name: (3, Fraction(share)) for name, share in zip("ab", shares, strict=True)})
    halves = multipliers_of_groups(budget, {name: (3, Fraction(1, 2)) for name in "ab"})
    together = sum(3 / multiplier**2 for multiplier in halves.values())
    assert together == pytest.approx(1 / multiplier_of_one(budget) ** 2, rel=1e-9)
