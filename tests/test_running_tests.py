"""The three layers of tests: every case is in one of them, the same one every day."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = {"fast": "not seconds and not minutes", "seconds": "seconds and not minutes", "minutes": "minutes"}

GRID = """
import pytest

@pytest.mark.one_in(4)
@pytest.mark.parametrize("i", range(40))
def test_grid(i): pass

@pytest.mark.one_in(4)
@pytest.mark.parametrize("i", range(3))
@pytest.mark.parametrize("a, b", [(i, i) for i in range(8)])
def test_stacked(i, a, b): pass

@pytest.mark.seconds_cases("b*", "c")
@pytest.mark.parametrize("name", ["a", "b1", "b2", "c", "cc"])
def test_named(name): pass

@pytest.mark.seconds
@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["y", "z", pytest.param("x", marks=pytest.mark.minutes)])
def test_costly(name): pass

def test_burns():
    total = sum(i % 7 for i in range(30_000_000))
"""


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


@pytest.mark.seconds
def test_every_case_is_in_one_layer(project):
    said = {layer: ran(project, "--co", "-q", "-n", "0", "-m", mark) for layer, mark in LAYERS.items()}
    found = {layer: [name for name in text.split() if "::" in name] for layer, text in said.items()}
    layers = {layer: {name.partition("::")[2] for name in names} for layer, names in found.items()}
    assert sum(map(len, layers.values())) == len(set().union(*layers.values())) == 40 + 24 + 5 + 3 + 1
    assert {name for name in layers["fast"] if "grid" in name} == {
        f"test_grid[{i}]" for i in (0, 7, 10, 13, 16, 23, 26, 29, 32, 39)
    }
    stacked = [name.removeprefix("test_stacked[")[:-1].split("-") for name in layers["fast"] if "stacked" in name]
    assert len(stacked) == 6
    assert {i for *_, i in stacked} == {"0", "1", "2"}
    assert layers["seconds"] == {"test_named[b1]", "test_named[b2]", "test_named[c]", "test_costly[y]"}
    assert {"test_costly[z]", "test_costly[x]"} < layers["minutes"]


@pytest.mark.seconds
def test_a_costly_fast_test_is_listed_and_does_not_fail(project):
    said = ran(project, "-q", "-k", "burns")
    assert "above 0.5 CPU seconds" in said
    assert "tests/test_grid.py::test_burns" in said
    assert "1 passed" in said
    assert "CPU seconds" not in ran(project, "-q", "-k", "named")
