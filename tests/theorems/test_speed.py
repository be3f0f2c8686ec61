"""Work where people wait: listing from cold, and evaluating a bound again and again. No clock decides."""

import subprocess
import sys
from functools import partial

import pytest

from dpbounds.theorems import registry
from dpbounds.theorems.checking import sample
from dpbounds.theorems.record import Bound, Metric
from tests.work import calls

MANY_CALLS = 25_000  # of Python functions; the most is a quarter of it, the first evaluation takes up to 740 000


def printed_and_loaded(*words):
    """The output of a command, and the modules that it imports."""
    code = (
        "import sys; before = set(sys.modules); from dpbounds.cli import main; main(sys.argv[1:]); "
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.split()


def test_listing_loads_little():
    """A list of hundreds of statements is read from an index: no statement is imported, and no computer algebra."""
    printed, loaded = printed_and_loaded("theorems")
    assert "statements;" in printed
    others = {name.split(".")[0] for name in loaded} - sys.stdlib_module_names - {"dpbounds"}
    assert others <= {"click"}
    assert len([name for name in loaded if name.startswith("dpbounds")]) <= 20, loaded
    assert len(loaded) <= 200, loaded


@pytest.mark.seconds
def test_a_map_of_one_metric_imports_few_statements():
    """Those on the metric and those that their proofs use: about 70 modules of 300."""
    printed, loaded = printed_and_loaded("regimes", "sosp")
    assert "boundaries" in printed
    assert 30 <= len([name for name in loaded if name.startswith("dpbounds.papers.")]) <= 120


def test_statements_on_a_metric_are_those_of_the_library():
    for metric in Metric:
        assert registry.on_metrics(metric) == tuple(one for one in registry.library() if one.metric is metric)
    assert registry.on_metrics(*Metric) == registry.library()


def test_numbers_of_records_that_reach_a_metric_are_found_by_their_own():
    """``candidates`` relies on it."""
    assert {one.metric for one in registry.library() if one.reaches is not None} == {Metric.SAMPLE_SIZE}


ENTERED = """
import inspect, sys, dpbounds.cli
entered = set()
functions = inspect.CO_OPTIMIZED  # which modules and the bodies of classes are not
sys.setprofile(lambda frame, event, argument: event == "call" and frame.f_code.co_flags & functions
               and entered.add(frame.f_code.co_filename))
status = dpbounds.cli.main(sys.argv[1:])
sys.setprofile(None)
print(status, *(name for name in entered if "/dpbounds/" in name or "/algorithms/" in name), sep="\\n", file=sys.stderr)
"""


STATEMENT = "wang-xu-2019/theorem-2/explicit"
POINT = "n=1e5 d=50 rho=0.1 lipschitz=1 smoothness=1 initial_gap=0.5"


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("words", "most"), [(f"evaluate {STATEMENT} --part tuned {POINT}", 26), (f"verify {STATEMENT} --quick", 103)]
)
def test_one_statement_enters_few_files(words, most):
    """Whoever follows a call with a debugger enters functions of these files."""
    done = subprocess.run([sys.executable, "-c", ENTERED, *words.split()], capture_output=True, text=True, check=True)
    status, *entered = done.stderr.splitlines()
    assert status == "0"
    assert len(entered) <= most, sorted(entered)


def ordinary(theorem, part):
    """A point at which the value is within the range of doubles; exact ends of 1e-287884 have a million bits."""
    for point in sample(theorem, part.expression, (), 20):
        value = theorem.evaluate(part.name, **point).formula_value
        if value.exact_lower == value.exact_upper == 0 or 1e-300 < abs(value.lower) < 1e300:
            return point
    raise AssertionError(theorem.id)


@pytest.mark.minutes
@pytest.mark.parametrize("digits", [15, 100])
def test_evaluating_any_bound_again_is_little_work(digits):
    """It is compiled once: after that an evaluation takes a thousand calls or so, at any number of digits."""
    work = []
    for theorem in registry.library():
        for part in theorem.parts:
            if not isinstance(part, Bound):
                continue
            point = ordinary(theorem, part)
            theorem.evaluate(part.name, digits=digits, **point)
            again = calls(partial(theorem.evaluate, part.name, digits=digits, **point))
            work.append((again, theorem.id, part.name))
    assert work
    assert max(work)[0] < MANY_CALLS, max(work)
