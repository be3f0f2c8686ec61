"""The package as a whole: quick to import, one version, the promised names, the rooms in their order."""

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dpbounds

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HEAVY = ("sympy", "numpy", "scipy", "flint", "mpmath", "sklearn", "matplotlib", "rich")


def in_a_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("package", ["dpbounds", "algorithms", "dpbounds.cli"])
def test_importing_loads_nothing_heavy(package):
    code = f"import sys, {package}; print([name for name in {HEAVY} if name in sys.modules])"
    assert in_a_new_process(code) == "[]"


@pytest.mark.parametrize("package", ["dpbounds", "algorithms", "dpbounds.cli"])
def test_importing_is_quick(package):
    code = f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    assert statistics.median(float(in_a_new_process(code)) for _ in range(7)) < 0.2


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
    assert PROJECT["dynamic"] == ["version"]  # read from dpbounds/__init__.py
    assert dpbounds.__version__ == citation[1] == released[1]
    assert dated[1] == released[2]


def test_the_promised_names_are_there():
    promised = {
        "Gaussian",
        "Laplace",
        "UniformBall",
        "RandomizedResponse",
        "ExponentialMechanism",
        "AboveThreshold",
        "PureDP",
        "ApproximateDP",
        "ZCDP",
        "RenyiDP",
        "PoissonSampled",
        "SampledWithoutReplacement",
        "SampledWithReplacement",
        "InParallel",
        "group_account",
        "remaining",
        "plan",
        "ZCDPFilter",
        "GaussianFilter",
        "RenyiFilter",
        "Odometer",
        "epsilon",
        "delta",
        "calibrate",
        "get_noise_multiplier",
        "Enclosure",
        "DpboundsError",
    }
    assert promised <= set(dir(dpbounds))
    for name in dpbounds.__all__:
        assert getattr(dpbounds, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        dpbounds.nonsense  # noqa: B018


def test_the_console_script_is_the_command_line():
    assert PROJECT["scripts"] == {"dpbounds": "dpbounds.cli:main"}
    module, _, name = PROJECT["scripts"]["dpbounds"].partition(":")
    assert in_a_new_process(f"import {module} as m; print(callable(m.{name}))") == "True"


def imported_by(file):
    """Names of the modules of this project that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(module):
    """The room of a module of this project, or None."""
    parts = module.split(".")
    if parts[0] == "algorithms":
        return "algorithms"
    return parts[1] if parts[0] == "dpbounds" and len(parts) > 1 and parts[1] in ROOMS else None


ROOMS = ("errors", "expressions", "privacy", "cli")  # from the ground floor up; each may use those before it
MAY_USE = {room: ROOMS[: index + 1] for index, room in enumerate(ROOMS)}
MAY_USE["cli"] += ("algorithms",)  # the roof knows both packages
MAY_USE["algorithms"] = ("errors", "expressions", "privacy", "algorithms")


def test_rooms_import_only_from_rooms_above_them():
    # the same contracts as in pyproject.toml, for those who have no import-linter
    seen = 0
    for file in [*ROOT.glob("dpbounds/**/*.py"), *ROOT.glob("algorithms/**/*.py")]:
        room = room_of(".".join(file.relative_to(ROOT).with_suffix("").parts))
        for module in imported_by(file) if room is not None else ():
            used = room_of(module)
            assert used is None or used in MAY_USE[room], f"{file} imports {module}"
            seen += used is not None
    assert seen > 100


def test_types_are_shipped():
    assert (ROOT / "dpbounds" / "py.typed").is_file()
