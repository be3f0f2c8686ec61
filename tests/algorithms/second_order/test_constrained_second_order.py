import math
from fractions import Fraction

import numpy as np
import pytest

from dpbounds.algorithms import noise
from dpbounds.algorithms.problems import cauchy
from dpbounds.algorithms.problems.sets import Box, L1Ball, L2Ball
from dpbounds.algorithms.second_order.constrained_second_order import ConstrainedSecondOrder
from dpbounds.algorithms.verification.studies.second_order import double_well
from tests.algorithms.shared import at_the_records_needed, bounded_regression, refused

INTERVAL = L2Ball(1, "6/5")
DISC = L2Ball(3, "1/2")


PROBLEM = bounded_regression(cauchy)


def test_it_is_algorithm_6_step_by_step_on_an_interval():
    # in one dimension the quadratic's minimiser is an end of [w + lowest, w + highest]: written out here
    problem, T, R, a, b = double_well(200_000, 1, "6/5"), 120, 1.2, 0.5, 1.0
    L, rho, G, D = float(problem.smoothness), float(problem.hessian_lipschitz), float(problem.lipschitz), 2.4
    run = ConstrainedSecondOrder(INTERVAL, 400, 9000, T, "1/2", 1).run(problem, seed=1, repetitions=8)
    eta, theta, slack = a / (2 * D**2 * L), b / (2 * rho * D**3), b**2 / (96 * rho * D**3)
    assert run.parameters["slack"] == pytest.approx(slack)
    kinds = set()
    for r, generator in enumerate(noise.streams(1, 8)):
        w, result = 0.0, None
        for _ in range(T):
            g = w**3 - w + 400 * G / 200_000 * generator.standard_normal()
            v = -R * np.sign(g)
            if g * (v - w) < -a / 2:
                w = (1 - eta) * w + eta * v
                kinds.add("first")
                continue
            h = 3 * w**2 - 1 + 9000 * L / 200_000 * generator.standard_normal()
            ends = [max(-R, w + slack / g), R] if g < 0 else [-R, min(R, w + slack / g)]
            u = min([w, *ends], key=lambda u, w=w, h=h: h * (u - w) ** 2)
            if h * (u - w) ** 2 > -b / 2:
                result = w
                break
            w = (1 - theta) * w + theta * u
            kinds.add("second")
        assert run.outputs["found"][r] == (result is not None)
        assert run.output[r, 0] == pytest.approx(math.nan if result is None else result, abs=1e-9, nan_ok=True)
    assert kinds == {"first", "second"}
    assert run.outputs["found"].any()


@pytest.mark.seconds
@pytest.mark.parametrize(("gap", "bend"), [("1/2", "1"), ("1/2", "5/4"), ("1", "9/10")])
def test_it_succeeds_at_the_records_that_the_guarantee_asks_for(gap, bend):
    def posed(records):
        return double_well(records, 1, "6/5")

    method = ConstrainedSecondOrder.calibrated(posed(2), INTERVAL, gap, bend, failure_probability="1/2")
    run = at_the_records_needed(method, posed, 24)
    assert (np.abs(run.output) > 0.1).all()  # the start is not good enough: min q = -1.44 there


@pytest.mark.minutes
def test_it_leaves_a_saddle_point_of_a_disc():
    method = ConstrainedSecondOrder.calibrated(double_well(2), L2Ball(2, "3/2"), 1, 2, failure_probability="1/4")
    run = at_the_records_needed(method, double_well, 1)
    assert (np.linalg.norm(run.output, axis=1) > 0.1).all()


def test_a_constrained_minimum_is_no_failure():
    # over a disc that the minimum lies outside of, without noise to speak of: the gap closes
    run = ConstrainedSecondOrder(DISC, "1e-6", "1e-6", 4000, "1/10", 1).run(PROBLEM, repetitions=1)
    assert run.outputs["found"].all()
    assert (run.measured["gap"] <= 0.1).all()
    assert (run.samples == 0).all()


def test_nothing_found_is_said():
    run = ConstrainedSecondOrder(INTERVAL, "1e-6", "1e-6", 3, "1/2", 1).run(double_well(100, 1, "6/5"), repetitions=3)
    assert not run.outputs["found"].any()
    assert np.isnan(run.output).all()
    assert (run.samples == 1).all()


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_a_weaker_oracle_asks_for_more_steps_and_records():
    class Weaker:
        ratio = Fraction(1, 2)

        def __call__(self, hessian, gradient, point, slack):
            raise AssertionError

    def planned(oracle):
        return ConstrainedSecondOrder.calibrated(PROBLEM, DISC, 1, 1, oracle=oracle)

    exact, weaker = planned(None), planned(Weaker())
    assert weaker.steps > 4 * exact.steps
    assert weaker.records_needed(PROBLEM).lower > 4 * exact.records_needed(PROBLEM).upper


class Impossible:
    ratio = Fraction(2)


def test_bad_input_is_refused():
    refused("ratio", ConstrainedSecondOrder, DISC, 1, 1, 5, 1, 1, oracle=Impossible())
    refused("NP-hard", ConstrainedSecondOrder, L1Ball(3, 1), 1, 1, 5, 1, 1)
    refused("dimension", ConstrainedSecondOrder(L2Ball(2, 1), 1, 1, 5, 1, 1).run, PROBLEM)
    refused("initial_point", ConstrainedSecondOrder(Box([1] * 3, [2] * 3), 1, 1, 5, 1, 1).run, PROBLEM)
    refused("gap_tolerance", ConstrainedSecondOrder(DISC, 1, 1, 5, 10**6, 1).run, PROBLEM)
    refused("curvature_tolerance", ConstrainedSecondOrder(DISC, 1, 1, 5, 1, 10**6).run, PROBLEM)
    refused("steps", ConstrainedSecondOrder(DISC, 1, 1, 5, "1/10", "1/10").bound, PROBLEM)
