"""What holds for every test: none is late or left to chance or costly unnoticed, and large grids take turns."""

import itertools
import os
import secrets
import time
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from importlib.util import find_spec
from zlib import crc32

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


# --- Grids that take turns: of what is left out, .ci/run runs half; the rest has its turn in other weeks ---

_WEEK = "DPBOUNDS_TEST_WEEK"


def pytest_configure():
    """All workers agree on the week, at midnight, too."""
    year, week, _ = datetime.now(UTC).isocalendar()
    os.environ.setdefault(_WEEK, str(53 * year + week))


def pytest_report_header():
    """Which cases have their turn, so that a run can be repeated."""
    return f"cases that take turns: {_WEEK}={os.environ[_WEEK]}"


def weeks_until(node_id, share, week):
    """In how many weeks a case is among the one in ``share`` that are run by default."""
    return -(crc32(node_id.encode()) + week) % share


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks what waits for its turn as thorough or, if that comes late, slow; and the cases that a function names."""
    week = int(os.environ[_WEEK])
    for item in items:
        case = item.name.partition("[")[2].removesuffix("]")
        turns = [(weeks_until(item.nodeid, *mark.args, week), *mark.args) for mark in item.iter_markers("rotating")]
        named = any(fnmatchcase(case, one) for mark in item.iter_markers("thorough_cases") for one in mark.args)
        if any(weeks > share / 2 for weeks, share in turns):
            item.add_marker("slow")
        elif (any(weeks for weeks, _ in turns) or named) and not item.get_closest_marker("slow"):
            item.add_marker("thorough")


# --- What tests cost: CPU seconds of a call, relative to a loop whose cost is known ---

_LOOP_SECONDS = 0.01  # of the loop below, on the machine that the limits are meant for
_COSTLY = 0.5  # a default test above it is listed, at the end; none fails for it: machines differ


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
    if call.when == "call" and cost > _COSTLY and not any(map(item.get_closest_marker, ("slow", "thorough"))):
        report.costly = cost / _slowness()
    return report


def pytest_terminal_summary(terminalreporter):
    """Lists the default tests that cost too much."""
    reports = [one for found in terminalreporter.stats.values() for one in found if getattr(one, "costly", 0) > _COSTLY]
    costs = sorted(((one.costly, one.nodeid) for one in reports), reverse=True)
    if costs:
        terminalreporter.section(f"default tests above {_COSTLY} CPU seconds: smaller, or marked thorough")
    for cost, name in costs[:20]:
        terminalreporter.line(f"{cost:5.1f}  {name}")
