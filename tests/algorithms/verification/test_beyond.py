"""Checks of what is promised beyond one algorithm: planted wrong constants fail."""

from fractions import Fraction
from functools import cache

import pytest

from dpbounds.algorithms.verification import Verdict
from dpbounds.algorithms.verification.judging import planned_checks as kinds
from dpbounds.algorithms.verification.judging.planned_checks import Size
from dpbounds.algorithms.verification.studies import beyond
from dpbounds.algorithms.verification.sweeping.cells import run
from dpbounds.expressions.enclosure import Enclosure

CHECKS = {one.name: one for one in beyond.CHECKS}
BOWL, WAVY = (f"falling noise, excess risk, {shape}, n = 1000" for shape in ("bowl", "wavy"))
ORDER, MISSED = "least α against n", "a second-order point of the population is missed"


@cache
def results(name):
    return [run(cell) for cell in CHECKS[name].cells(Size.QUICK)]


@pytest.mark.seconds_cases("least*")
@pytest.mark.parametrize("name", [BOWL, WAVY, ORDER])
def test_what_is_promised_holds(name):
    assert CHECKS[name].judge(results(name), 0.9999).verdict is Verdict.HOLDS


def test_half_of_what_falling_noise_promises_would_fail():
    def wrong(result):
        bound = beyond.falling_bound(result)
        return Enclosure(bound.exact_lower / 2, bound.exact_upper / 2)

    (planted,) = kinds.mean_bounded("x", "y", CHECKS[BOWL].cells, wrong)
    assert planted.judge(results(BOWL), 0.9999).verdict is Verdict.FAILS


@pytest.mark.seconds
def test_a_faster_order_would_fail():
    assert beyond.falls_as(Fraction(-3, 4))(results(ORDER), 0.9999).verdict is Verdict.FAILS


@pytest.mark.seconds
def test_a_point_that_the_population_s_deviations_do_not_allow_for_is_seen(monkeypatch):
    cell = {**dict(CHECKS[MISSED].cells(Size.QUICK)[0].parameters), "repetitions": 24, "seed": 3}
    right = beyond.population(**cell)
    assert right["hits"] == 0
    seen = []

    def none(one, problem, failure):
        seen.append(failure)
        alpha, rho_H = float(one.descent.stationarity), float(problem.hessian_lipschitz)
        return 1e-5 - alpha, 1e-3 - (rho_H * alpha) ** 0.5

    monkeypatch.setattr(beyond, "deviations", none)
    assert beyond.population(**cell)["hits"] > 20
    assert seen == [Fraction(1, 5)]


@pytest.mark.seconds
@pytest.mark.parametrize("start", ["1/2", "a net"])
def test_a_gradient_that_is_larger_than_the_statement_says_is_seen(start, monkeypatch):
    name = f"a small gradient of the population is missed from {start}"
    cell = {**dict(CHECKS[name].cells(Size.QUICK)[0].parameters), "repetitions": 24, "seed": 3}
    right = beyond.small_gradient(**cell)
    assert right["hits"] == 0
    # a bound between what runs reach and what they are promised
    monkeypatch.setattr(beyond, "off_by_sampling", lambda statement, walk, *_: 1e-6 - float(walk.stationarity))
    assert beyond.small_gradient(**cell)["hits"] > 20


def test_deviations_are_about_the_ball_that_runs_stay_in():
    problem = beyond.drawn_well(1000, 0)
    other = beyond.drawn_well(1000, 1)
    slopes = [one.gradient([[0.0]])[0, 0] for one in (problem, other)]
    assert len(set(slopes)) == 2
    assert max(map(abs, slopes)) < 0.02  # means of 1000 records ±1/10
