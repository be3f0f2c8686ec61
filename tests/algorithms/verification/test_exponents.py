"""What the sweeps in d and ε rest on: data that do not change with the dimension, and the noise that is prescribed."""

import math

import numpy as np
import pytest
import sympy

from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies.exponents import (
    CHECKS,
    CHOSEN,
    PROBLEMS,
    padded,
    prescribed_descent,
    prescribed_gradient,
)
from dpbounds.algorithms.verification.suite import planned
from dpbounds.algorithms.verification.sweeping.cells import Result
from dpbounds.expressions import symbols
from dpbounds.theorems.registry import theorem


def test_only_the_dimension_changes():
    small, large = padded(50, 4), padded(50, 9)
    x = np.array([[0.3, -0.2, 0.1, 0.4]])
    wide = np.pad(x, ((0, 0), (0, 5)))
    assert small.objective(x) == pytest.approx(large.objective(wide), rel=1e-14)
    np.testing.assert_allclose(small.gradient(x)[0], large.gradient(wide)[0, :4], rtol=1e-12)
    assert (large.gradient(wide)[0, 4:] == 0).all()
    for public in ("lipschitz", "smoothness", "initial_gap"):
        assert getattr(small, public) == getattr(large, public)


@pytest.mark.parametrize("epsilon", [0.125, 1.0])
def test_the_variance_is_the_prescribed_one(epsilon):
    algorithm = prescribed_descent(padded(500, 4), epsilon)
    log = math.log(1e5)
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    assert float(algorithm.noise_multiplier) ** 2 == pytest.approx(2 * algorithm.steps / rho, rel=1e-9)


def test_the_budget_is_kept():
    for problem in PROBLEMS:
        found = prescribed_gradient(problem, 200, 4, 1.0, 2, 0)
        assert 0.5 < found["spent_lower"] <= found["spent_upper"] <= 1
    assert len(found["exact"]) == 2


MEAN_SQUARES = {"noisy", "exact"}  # of what the rates are about
SYMBOLS = {"records": symbols.dataset_size, "dimension": symbols.dimension, "epsilon": symbols.epsilon}
SLOPES = [one for one in planned() if one.kind == "slope" and theorem(one.theorem).rate is not None]


@pytest.mark.parametrize("plan", SLOPES, ids=lambda plan: plan.name)
def test_a_typed_exponent_is_that_of_the_rate(plan):
    """The exponent is typed; the rate stands in the record: they are the same, but for the square."""
    read = []

    class Numbers(dict):
        def __missing__(self, name):
            read.append(name)
            return [0.9, 1.0, 1.1]

    against = {"n": "records", "d": "dimension", "ε": "epsilon"}[plan.name.rpartition(" against ")[2]]

    def sweep(cell):
        return cell.task, {name: value for name, value in cell.parameters if name != against}

    # the first sweep is the chosen one; of others of its task nothing is needed
    every = plan.cells(Size.QUICK)
    cells = [cell for cell in every if cell.task != every[0].task or sweep(cell) == sweep(every[0])]
    assert len({dict(cell.parameters)[against] for cell in cells}) > 2
    check = plan.judge([Result(cell, Numbers(), 0.0) for cell in cells], 0.99)
    symbol, rate = SYMBOLS[against], theorem(plan.theorem).rate.formula
    exponent = sympy.simplify(symbol * sympy.diff(sympy.log(rate), symbol))
    squared = 2 if set(read) <= MEAN_SQUARES else 1
    assert exponent.is_number
    assert check.predicted == pytest.approx(float(squared * exponent), abs=1e-12)


def test_there_are_rates_to_compare_with():
    assert len(SLOPES) >= 7
    assert {theorem(one.theorem).paper for one in SLOPES} == {"wang-xu-2019", "lowy-ullman-wright-2024"}


@pytest.mark.parametrize("size", Size)
def test_nothing_else_changes_within_a_sweep(size):
    for one in CHECKS:
        given = [dict(cell.parameters) for cell in one.cells(size)]
        for problem in PROBLEMS:
            same = [each for each in given if each["problem"] == problem]
            assert {name for name in same[0] if len({each[name] for each in same}) > 1} in ({"dimension"}, {"epsilon"})


@pytest.mark.seconds
def test_a_problem_that_was_chosen_is_said_with_what_the_others_gave():
    """The verdict rests on the chosen problem; every other exponent is reported as it was measured."""
    (plan,) = [one for one in CHECKS if one.name == "DP-PGD, exact mapping against d"]
    powers = dict(zip(PROBLEMS, (0.5, 0.9, 0.4, 0.1, 0.0, -0.3, 0.46, 0.2), strict=True))
    results = []
    for cell in plan.cells(Size.QUICK):
        given = dict(cell.parameters)
        mean = given["dimension"] ** powers[given["problem"]]
        results.append(Result(cell, {"exact": [mean * share for share in (0.99, 1.0, 1.01)]}, 0.0))
    check = plan.judge(results, 0.99)
    assert check.verdict == "holds"
    assert check.slope.value == pytest.approx(0.5)
    assert len(check.others) == 7
    assert {one.problem: one.slope.value for one in check.others} == pytest.approx(
        {name: power for name, power in powers.items() if name != CHOSEN}
    )
    assert f"{CHOSEN}: chosen among 8 problems because" in check.reason
    assert "0.90 (the same with an l1 term, γ h T 3.5 to 14)" in check.reason
    assert "-0.30 (no labels flipped, without a ball, γ h T 0.42 to 1.7)" in check.reason  # too short to show it
