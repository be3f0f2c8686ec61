"""The package as a whole: quick to import, one version, the promised names, the rooms in their order."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import hypothesis
import pytest

import dpbounds

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def in_a_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("package", ["dpbounds", "dpbounds.algorithms", "dpbounds.cli"])
def test_importing_is_quick(package):
    """It loads a handful of modules, of ours and of the standard library, and nothing heavy."""
    code = f"import sys; before = set(sys.modules); import {package}; print(*sorted(set(sys.modules) - before))"
    loaded = in_a_new_process(code).split()
    ours = [name for name in loaded if name.split(".")[0] == "dpbounds"]
    others = {name.split(".")[0] for name in loaded} - sys.stdlib_module_names - {"dpbounds"}
    assert others <= {"click"}
    assert len(ours) <= 5, ours
    assert len(loaded) <= 150, loaded


@pytest.mark.seconds
def test_accounting_needs_no_computer_algebra():
    code = "import sys, dpbounds as dp; dp.epsilon(dp.Gaussian(5), delta='1e-5'); print('sympy' in sys.modules)"
    assert in_a_new_process(code) == "False"


def test_the_version_is_the_same_everywhere():
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    released = re.search(r"^## \[(\d[^\]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    dated = re.search(r'^date-released: "(.+)"$', (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert citation is not None
    assert released is not None
    assert dated is not None
    assert "version" in PROJECT["dynamic"]  # read from dpbounds/__init__.py
    assert dpbounds.__version__ == citation[1] == released[1]
    assert dated[1] == released[2]


def test_all_names_are_there():
    """Which ones are promised, docs/api/ lists: tests/documentation/test_generated.py compares."""
    for name in dpbounds.__all__:
        assert getattr(dpbounds, name).__module__.startswith("dpbounds.")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        dpbounds.nonsense  # noqa: B018


def test_the_console_script_is_the_command_line():
    assert PROJECT["scripts"] == {"dpbounds": "dpbounds.cli:main"}
    module, _, name = PROJECT["scripts"]["dpbounds"].partition(":")
    assert in_a_new_process(f"import {module} as m; print(callable(m.{name}))") == "True"


def test_types_are_shipped():
    assert (ROOT / "dpbounds" / "py.typed").is_file()


# --- The tests themselves ---

CLOCKS = {"perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "process_time_ns", "time_ns"}


TIMES = ("time.time", "timeit.default_timer")
SUSPICIOUS = re.compile("|".join((*CLOCKS, *TIMES, "deadline")))  # most files say nothing of the kind


def read_clocks(file):
    """Names of clocks in a file, and deadlines that it gives to Hypothesis."""
    text = file.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if SUSPICIOUS.search(text) else ():
        name = getattr(node, "attr", getattr(node, "id", None))
        if name in CLOCKS or (isinstance(node, ast.Attribute) and ast.unparse(node) in TIMES):
            yield name
        if isinstance(node, ast.keyword) and node.arg == "deadline" and ast.unparse(node.value) != "None":
            yield "deadline"


@pytest.mark.seconds
def test_no_test_reads_a_clock():
    # they set the time at which a job began, end children that stand still, or print what a question or a bug costs
    watching = {
        ROOT / "tests" / file
        for file in ("app/test_jobs.py", "fuzz/children.py", "golden/recording.py", "mutants/__main__.py")
    }
    tests = [file for folder in ("tests", "proofs") for file in (ROOT / folder).rglob("*.py") if file not in watching]
    assert len(tests) > 100
    assert [(file.name, name) for file in tests for name in read_clocks(file)] == []
    assert list(read_clocks(ROOT / "benchmarks" / "test_speed.py")) != []  # it would be seen
    assert hypothesis.settings().deadline is None
    assert hypothesis.settings().derandomize
