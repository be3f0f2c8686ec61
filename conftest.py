"""What holds for every test: it depends on no clock, date, machine or order, and its layer is fixed."""

import itertools
import os
import secrets
import time
from fnmatch import fnmatchcase
from importlib.util import find_spec

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

settings.register_profile("the same everywhere", deadline=None, derandomize=True)
settings.load_profile("the same everywhere")

collect_ignore_glob = [] if find_spec("opacus") else ["dpbounds/opacus/*.py", "tests/opacus/*.py"]


@pytest.fixture(autouse=True)
def _seeds_that_repeat(monkeypatch):
    """What asks the operating system for a seed gets 0, 1, 2, ... in a test: what failed fails again."""
    numbers = itertools.count()
    monkeypatch.setattr(secrets, "randbits", lambda bits: next(numbers))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """No module is imported for doctests that it does not have."""
    found = yield
    return [one for one in found if not isinstance(one, DoctestModule) or b">>>" in file_path.read_bytes()]


# --- Three layers, the same every day: what has no mark, `seconds`, `minutes` ---


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem():
    """Marks the cases that a function names as longer, and of a grid all but one in so many as `minutes`."""
    found = yield
    for place, item in enumerate(found if isinstance(found, list) else ()):
        case = item.name.partition("[")[2].removesuffix("]")
        for layer in ("seconds", "minutes"):
            named = [one for mark in item.iter_markers(f"{layer}_cases") for one in mark.args]
            if any(fnmatchcase(case, one) for one in named):
                item.add_marker(layer)
        share = mark.args[0] if (mark := item.get_closest_marker("one_in")) else 1
        if (
            place + place // share
        ) % share:  # one of each `share` cases, each time one place further on: no value is left out
            item.add_marker("minutes")
    return found


# --- What tests cost: CPU seconds of a call, relative to a loop whose cost is known ---

_LOOP_SECONDS = 0.01  # of the loop below, on the machine that the limits are meant for
_COSTLY = 0.5  # a fast test above it is listed, at the end; none fails for it: machines differ


def _used():
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _slowness():
    """How much slower this process runs a loop than the machine that the limits are meant for; the best of five."""

    def loop():
        began = time.process_time()
        sum(i % 7 for i in range(300_000))
        return time.process_time() - began

    return max(min(loop() for _ in range(5)) / _LOOP_SECONDS, 1.0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Notes the CPU seconds of a call."""
    began = _used()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu_seconds", _used() - began))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Sends a cost above the limit along with the report, in seconds of the reference machine."""
    report = yield
    cost = dict(item.user_properties).get("cpu_seconds", 0.0)
    if call.when == "call" and cost > _COSTLY and not any(map(item.get_closest_marker, ("seconds", "minutes"))):
        report.costly = cost / _slowness()
    return report


def pytest_report_teststatus(report):
    """Names a test as soon as it fails: a run of hours may be stopped before its summary."""
    return ("failed", f"F[{report.nodeid}]", "FAILED") if report.failed and report.when == "call" else None


def pytest_terminal_summary(terminalreporter):
    """Lists the fast tests that cost too much."""
    reports = [one for found in terminalreporter.stats.values() for one in found if getattr(one, "costly", 0) > _COSTLY]
    costs = sorted(((one.costly, one.nodeid) for one in reports), reverse=True)
    if costs:
        terminalreporter.section(f"fast tests above {_COSTLY} CPU seconds: smaller, or marked `seconds`")
    for cost, name in costs[:20]:
        terminalreporter.line(f"{cost:5.1f}  {name}")
