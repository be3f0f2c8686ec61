"""The fuzzers: a small fixed sample in seconds, a minute of each at night; more with ``python -m tests.fuzz``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import commands
from tests.fuzz.children import Ended

ROOT = Path(__file__).parents[2]


SAMPLES = {"commands": "epsilon,delta,calibrate,check,ball,evaluate", "calls": "Gaussian,epsilon,delta,calibrate"}


def fuzzed(kind, count, only=""):
    """What the fuzzer reports; it forks, and so has a process of its own."""
    words = [sys.executable, "-m", "tests.fuzz", kind, "--seed", "20260101", "--count", str(count), "--only", only]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr[-2000:]
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.seconds
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_small_sample(kind):
    report = fuzzed(kind, 30, SAMPLES[kind])
    assert report["cases"] == 30
    assert set(report["statuses"]) == set(SAMPLES[kind].split(","))


@pytest.mark.minutes
def test_commands():
    report = fuzzed("commands", 120)
    assert report["cases"] == 120
    assert set(report["statuses"]) == set(commands.BASES)  # every verb is reached,
    assert all(found.get("0") for found in report["statuses"].values())  # and answers, at least sometimes
    refused = sum(found.get("2", 0) for found in report["statuses"].values())
    assert 25 < refused < 100


@pytest.mark.minutes
def test_calls():
    report = fuzzed("calls", 350)
    assert report["cases"] == 350
    assert all(found.get("returned") for found in report["statuses"].values())  # once at least, with right values
    assert sum(found.get("refused", 0) for found in report["statuses"].values()) > 100


def test_cases_are_always_the_same_and_reach_every_option():
    import click

    from dpbounds.cli import _VERBS, _commands

    assert set(commands.BASES) == set(_VERBS)
    assert [commands.drawn(3, case) for case in range(60)] == [commands.drawn(3, case) for case in range(60)]
    seen = {word.split("=")[0] for case in range(6000) for word in commands.drawn(3, case)}
    for verb in _VERBS:
        command = _commands.get_command(click.Context(_commands), verb)
        assert command is not None
        for param in command.params:
            known = seen | commands.MINUTES
            assert not isinstance(param, click.Option) or set(param.opts) & known, f"{verb} {param.opts}"


@pytest.mark.parametrize(
    ("ended", "changed", "told"),
    [
        (Ended(0, "epsilon 1", "", ""), [], ""),
        (Ended(0, "epsilon 1", "note: a single release\n", ""), [], ""),
        (Ended(2, "", "dpbounds: no\n", ""), [], ""),
        (Ended(1, "", "dpbounds: not proven\n", ""), [], ""),
        (Ended(3, "", "dpbounds: a defect\n", ""), [], "status 3"),
        (Ended(-9, "", "", ""), [], "status -9"),
        (Ended(2, "", "dpbounds: no\ndpbounds: no\n", ""), [], "2 error lines"),
        (Ended(2, "", "", ""), [], "0 error lines"),
        (Ended(1, "something", "", ""), [], "0 error lines"),  # a verdict of a verb that has none
        (Ended(0, "x", "dpbounds: no\n", ""), [], "1 error lines"),
        (Ended(0, "x", "Traceback (most recent call last):\n", ""), [], "traceback"),
        (Ended(0, "x", "a.py:1: RuntimeWarning: overflow\n", ""), [], "a warning"),
        (Ended(2, "", "dpbounds: " + "x" * 1000 + "\n", ""), [], "1010 characters"),
        (Ended(2, "", "dpbounds: \x1b[2J\n", ""), [], "control character"),
        (Ended(2, "", "dpbounds: no\n", ""), ["c.csv"], "left behind"),
        (Ended(0, "x", "", ""), ["c.csv.tmp"], "nobody named"),
        (Ended(0, "", "", ""), [], "nothing on standard output"),
        (Ended(-24, "", "", "too much processor time"), [], "too much processor time"),
    ],
)
def test_what_a_fault_is(ended, changed, told):
    found = list(commands.faults(["epsilon", "--curve", "c.csv"], ended, changed))
    assert bool(found) == bool(told)
    assert any(told in fault for fault in found) or not told


def test_json_that_is_none_is_a_fault():
    for out, wrong in (("{}", False), ('{"a": NaN}', True), ("epsilon 1", True)):
        assert bool(list(commands.faults(["epsilon", "--json"], Ended(0, out, "", ""), []))) is wrong
