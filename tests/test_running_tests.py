"""The default run and the thorough one: between them every case, and each in its week."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SPECIFICATION = importlib.util.spec_from_file_location("the_conftest", ROOT / "conftest.py")
CONFTEST = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(CONFTEST)

GRID = """
import pytest

@pytest.mark.rotating(4)
@pytest.mark.parametrize("i", range(40))
def test_grid(i): pass

@pytest.mark.thorough_cases("b*", "c")
@pytest.mark.parametrize("name", ["a", "b1", "b2", "c", "cc"])
def test_named(name): pass

@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", [pytest.param("x", marks=pytest.mark.slow)])
def test_slow(name): pass

def test_burns():
    total = sum(i % 7 for i in range(30_000_000))
"""


@pytest.mark.parametrize("share", [2, 4, 8])
def test_every_case_has_its_turn_and_about_as_many_every_week(share):
    names = [f"tests/test_x.py::test_y[{i}]" for i in range(800)]
    weeks = range(2500, 2500 + share)
    turns = [[name for name in names if CONFTEST.weeks_until(name, share, week) == 0] for week in weeks]
    assert sorted(name for turn in turns for name in turn) == sorted(names)
    assert all(abs(len(turn) - 800 / share) < 100 for turn in turns)
    assert all(CONFTEST.weeks_until(name, share, 2500 + share - 1) == 1 for name in turns[0])


@pytest.fixture
def project(tmp_path):
    for name in ("conftest.py", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for folder in ("tests", "dpbounds", "algorithms"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tests" / "test_grid.py").write_text(GRID)
    return tmp_path


def ran(project, *options):
    command = [sys.executable, "-m", "pytest", "-n", "1", *options]  # what is found out must reach the one that tells
    return subprocess.run(command, cwd=project, capture_output=True, text=True).stdout


@pytest.mark.thorough
def test_what_waits_is_thorough_and_nothing_is_lost(project):
    parts = [
        set(ran(project, "--co", "-q", "-n", "0", "-m", mark).split())
        for mark in ("not slow and not thorough", "thorough and not slow", "slow")
    ]
    names = [{name.partition("::")[2] for name in part if "::" in name} for part in parts]
    default, thorough, slow = names
    assert not default & thorough
    assert not (default | thorough) & slow
    assert len(default | thorough | slow) == 47
    assert "test_slow[x]" in slow
    assert all("grid" in name for name in slow - {"test_slow[x]"})
    assert 15 <= len({name for name in default | thorough if "grid" in name}) <= 37
    assert {name for name in thorough if "named" in name} == {"test_named[b1]", "test_named[b2]", "test_named[c]"}
    assert 3 <= len({name for name in default if "grid" in name}) <= 20


@pytest.mark.thorough
def test_a_costly_default_test_is_listed_and_does_not_fail(project):
    said = ran(project, "-q", "-k", "burns")
    assert "above 0.5 CPU seconds" in said
    assert "tests/test_grid.py::test_burns" in said
    assert "1 passed" in said
    assert "CPU seconds" not in ran(project, "-q", "-k", "named")
