"""The search for counter-examples: silent about right constants, and it finds those that are wrong."""

import numpy as np
import pytest
import sympy

from dpbounds.algorithms import problems
from dpbounds.algorithms.problems import CounterExample, check_problem
from dpbounds.errors import InvalidValue
from tests.algorithms.problems.test_every_problem import PROBLEMS

every = pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
SEARCHED = ("lipschitz", "smoothness", "hessian_lipschitz")


class But:
    """A problem with some answers or constants of its own."""

    def __init__(self, problem, **other):
        self._problem, self._other = problem, other

    def __getattr__(self, name):
        return self._other[name] if name in self._other else getattr(self._problem, name)


@pytest.mark.seconds_cases("well", "bumps")
@every
@pytest.mark.minutes_cases("bu*")
def test_right_constants_have_no_counter_example_and_most_are_attained(make):
    problem = make()
    report = check_problem(problem, lines=20 if problem.smoothness is None else 3)
    declared = {name for name in (*SEARCHED, "initial_gap", "loss_range") if getattr(problem, name) is not None}
    assert set(report.found) == declared
    assert all(0 <= one.share <= 1 + 1e-9 for one in report.found.values())
    assert min(report.found[name].share for name in set(SEARCHED) & declared if getattr(problem, name) != 0) > 0.5
    assert "found" in str(report)
    assert "not private" in str(report)


@pytest.mark.seconds_cases("well", "bumps")
@every
def test_a_constant_that_is_half_of_what_it_should_be_is_found(make):
    problem = make()
    for name in SEARCHED:
        if getattr(problem, name):
            wrong = But(problem, **{name: getattr(problem, name) / 2})
            with pytest.raises(CounterExample, match=f"problem.{name} must be at least") as error:
                check_problem(wrong, lines=20 if problem.smoothness is None else 6)
            witness = error.value.witness
            assert witness.largest > witness.declared == pytest.approx(float(getattr(problem, name)) / 2)
            assert len(witness.point) == problem.dimension


def test_the_witness_is_one():
    problem = PROBLEMS["sigmoid"]()
    with pytest.raises(CounterExample) as error:
        check_problem(But(problem, lipschitz=sympy.Rational(1, 1000)))
    witness = error.value.witness
    slope = problem.record_gradients(np.array(witness.point), np.array([witness.record]))
    assert np.linalg.norm(slope) == pytest.approx(witness.largest)
    assert f"record {witness.record}" in str(error.value)


WRONG = {
    "gap": ("wavy", lambda whole: {"initial_gap": whole.initial_gap * sympy.Rational(4, 5)}),
    "range": ("biweight", lambda whole: {"loss_range": whole.loss_range / 2}),
    "a sign": ("Cauchy", lambda whole: {"objective": lambda X: -whole.objective(X)}),
    "a factor": ("wavy", lambda whole: {"hessian": lambda X: 2 * whole.hessian(X)}),
    "a gradient that is not the mean": ("Cauchy", lambda whole: {"gradient": lambda X: 1.01 * whole.gradient(X)}),
    "a batch that is a sum": (
        "Cauchy",
        lambda whole: {"batch_gradient": lambda X, rows: whole.batch_gradient(X, rows) * np.shape(rows)[1]},
    ),
    "gradients of the record before": (
        "Cauchy",
        lambda whole: {"record_gradients": lambda x, rows: whole.record_gradients(x, np.asarray(rows) - 1)},
    ),
    "a start outside": ("least squares", lambda whole: {"initial_point": np.array([9.0, 0.0, 0.0])}),
}


@pytest.mark.parametrize(("name", "other"), WRONG.values(), ids=WRONG)
def test_answers_that_do_not_fit_together_are_found(name, other):
    problem = PROBLEMS[name]()
    with pytest.raises((CounterExample, InvalidValue)):
        check_problem(But(problem, **other(problem)), lines=1)


@pytest.mark.seconds
def test_problems_with_no_more_than_what_is_asked_are_searched():
    """Without gradients of records: batches of one record are."""
    problem = PROBLEMS["Geman-McClure"]()
    members = [name for name in vars(problems.FiniteSum) if not name.startswith("_")]
    bare = type("Bare", (), {name: getattr(problem, name) for name in members if not callable(getattr(problem, name))})
    for name in members:
        if callable(getattr(problem, name)):
            setattr(bare, name, staticmethod(getattr(problem, name)))
    assert not hasattr(bare(), "record_gradients")
    assert check_problem(bare(), lines=1).found["lipschitz"].share > 0.99


@pytest.mark.parametrize("options", [{"reach": 0}, {"reach": -1}, {"lines": 0}, {"reach": "far"}, {"reach": 3}])
def test_where_to_search_is_checked(options):
    with pytest.raises(InvalidValue, match=r"reach|lines"):
        check_problem(PROBLEMS["least squares"](), **options)
