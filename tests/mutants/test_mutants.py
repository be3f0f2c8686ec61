"""The tool that plants bugs: what it plants, what it refuses, and what it says of tests that do not notice."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.planting import Mutant, NotPlanted, broken_source, plant, read_lists

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

TOY = """
from functools import lru_cache
import attrs

LIMIT = 3

@attrs.frozen
class Record:
    size: int
    parts: tuple = ()

RECORD = Record(size=5, parts=(Record(1), Record(2)))

def twice(x):
    return 2 * x

def evens(numbers):
    return [twice(x) for x in numbers if x % 2 == 0]

def adder(step):
    def add(x):
        return x + step
    return add

class Counter:
    @property
    def many(self):
        return self.most + 1
    most = 1

@lru_cache
def limit():
    return LIMIT + RECORD.size
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A module of its own for each test: a bug that is planted stays."""
    name = f"toy_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(name)
    yield module
    del sys.modules[name]


def mutant(module, **said):
    return Mutant("X1", "a flaw", "toy", module.__name__, ("tests/",), **said)


def test_a_function_has_the_bug_wherever_it_was_imported_to(toy):
    before = toy.twice
    plant(mutant(toy, old="return 2 * x", new="return 3 * x"))
    assert before(2) == toy.twice(2) == 6
    assert toy.evens([2]) == [6]


@pytest.mark.parametrize(
    ("old", "new"), [("if x % 2 == 0", "if x % 2 == 1"), ("[twice(x) for x in numbers if x % 2 == 0]", "numbers[:1]")]
)
def test_code_within_a_function_is_planted(toy, old, new):
    plant(mutant(toy, old=old, new=new))
    assert toy.evens([1, 2]) in ([2], [1])
    assert toy.evens([1, 2]) != [4]


def test_a_closure_that_exists_gets_the_bug(toy):
    add = toy.adder(1)
    plant(mutant(toy, old="return x + step", new="return x - step"))
    assert add(1) == toy.adder(1)(1) == 0


def test_a_property_gets_the_bug(toy):
    counter = toy.Counter()
    plant(mutant(toy, old="return self.most + 1", new="return self.most + 2"))
    assert counter.many == 3


def test_a_record_gets_the_fields_of_the_broken_one(toy):
    record = toy.RECORD
    plant(mutant(toy, old="Record(size=5,", new="Record(size=6,"))
    assert record is toy.RECORD
    assert record.size == 6


def test_a_record_within_a_record_stays_the_object_that_it_is(toy):
    part = toy.RECORD.parts[1]
    plant(mutant(toy, old="Record(2)", new="Record(3)"))
    assert toy.RECORD.parts[1] is part
    assert part.size == 3
    assert toy.RECORD.parts[0].size == 1


def test_a_record_loses_a_part(toy):
    plant(mutant(toy, old="(Record(1), Record(2))", new="(Record(2),)"))
    assert [part.size for part in toy.RECORD.parts] == [2]


def test_a_constant_is_replaced(toy):
    plant(mutant(toy, old="LIMIT = 3", new="LIMIT = 4"))
    assert toy.LIMIT == 4


def test_statements_run_in_the_module(toy):
    plant(mutant(toy, run="RECORD = Record(size=twice(LIMIT))"))
    assert toy.RECORD.size == 6


def test_caches_are_emptied(toy):
    toy.limit.__module__ = "tests.toy"  # as the caches of tests and of the package are
    assert toy.limit() == 8
    plant(mutant(toy, old="LIMIT = 3", new="LIMIT = 4"))
    assert toy.limit() == 9


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 4 * x", "return 5 * x"),  # it is not there
        ("def ", "def the_"),  # it is there several times
        ("def twice(x):", "def twice(x, y=1):"),  # a default is not part of a function's code
        ("return 2 * x", "return 2 * x  # the same"),
        ("return x + step", "return x"),  # a function with other variables of the one around it
    ],
)
def test_a_bug_that_changes_nothing_in_use_is_an_error(toy, old, new):
    add = toy.adder(1)
    if old.startswith("def twice"):
        old, new = "import attrs\n", "import attrs as attrs\n"
    with pytest.raises(NotPlanted):
        plant(mutant(toy, old=old, new=new))
    assert toy.twice(1) == add(1) == 2


@pytest.mark.parametrize("said", [{}, {"old": "a", "new": "a"}, {"old": "a", "new": "b", "run": "c"}])
def test_an_entry_says_one_change(said):
    with pytest.raises(ValueError, match="X1"):
        Mutant("X1", "a flaw", "toy", "toy", ("tests/",), **said)


def test_an_id_stands_in_one_list(tmp_path):
    entry = '[[mutant]]\nid = "X1"\nflaw = "f"\nmodule = "m"\nold = "a"\nnew = "b"\ntests = ["tests/"]\n'
    (tmp_path / "one.toml").write_text(entry)
    assert read_lists(tmp_path)["X1"].area == "one"
    (tmp_path / "two.toml").write_text(entry)
    with pytest.raises(ValueError, match="X1 stands in one and in two"):
        read_lists(tmp_path)


# --- The list of this repository


def test_every_text_that_is_replaced_stands_once_in_its_module():
    for one in read_lists(HERE / "planted").values():
        file = ROOT / one.module.replace(".", "/")
        source = (file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_text("utf-8")
        compile(one.run or broken_source(one, source), one.id, "exec")


def test_every_bug_has_tests_that_are_recorded_and_there():
    caught = json.loads((HERE / "caught.json").read_text("utf-8"))
    planted = read_lists(HERE / "planted")
    assert set(caught) <= set(planted)
    for name, tests in caught.items():
        assert tests
        for test in tests:
            file, *_, function = test.partition("[")[0].split("::")
            assert f"def {function}(" in (ROOT / file).read_text("utf-8"), name


# --- The command, on a toy of its own

LISTS = '''
[[mutant]]
id = "X1"
flaw = "three times"
module = "toy"
old = "return 2 * x"
new = "return 3 * x"
tests = ["test_toy"]

[[mutant]]
id = "X2"
flaw = "nobody looks at it"
module = "toy"
old = "return x + step"
new = "return x - step"
tests = ["test_toy"]

[[mutant]]
id = "X3"
flaw = "its text is not there"
module = "toy"
old = "return 4 * x"
new = "return 5 * x"
tests = ["test_toy"]

[[mutant]]
id = "X4"
flaw = "only a test that fails anyway, or one that takes minutes, fails"
module = "toy"
old = "return LIMIT + RECORD.size"
new = "return LIMIT - RECORD.size"
tests = ["test_toy"]

[[mutant]]
id = "X5"
flaw = "it takes for ever"
module = "toy"
old = "return self.most + 1"
new = """return [1 for _ in iter(int, 1)]"""
tests = ["test_toy.py::*many"]
'''
TESTS = """
import pytest, toy

@pytest.mark.seconds
@pytest.mark.parametrize("x", [1, 2])
def test_twice_of_some(x):
    assert toy.twice(x) == 2 * x

def test_twice():
    assert toy.twice(1) == 2

@pytest.mark.minutes
def test_limit():
    assert toy.limit() == 8

def test_that_fails():
    assert False

def test_many():
    assert toy.Counter().many == 2
"""
SETTINGS = (
    '[pytest]\nmarkers =\n  seconds\n  minutes\naddopts = --import-mode=importlib -m "not seconds and not minutes"\n'
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A package, its tests and its planted bugs."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in {"toy.py": TOY, "test_toy.py": TESTS, "pytest.ini": SETTINGS, "planted/toy.toml": LISTS}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def ran(project, *words):
    """The exit status, and what was printed about each bug."""
    asked = [sys.executable, "-m", "tests.mutants", "--folder", str(project), "--limit", "2", *words]
    path = os.pathsep.join((str(ROOT), str(project)))
    done = subprocess.run(
        asked, cwd=project, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def line_of(name, said):
    return next(line for line in said.splitlines() if line.startswith(f"{name} ") and " CPU s" in line)


@pytest.mark.seconds
def test_what_the_command_says_of_each_bug(project):
    status, said = ran(project, "--record", "X1", "X2", "X3", "X4", "X5")
    assert status == 1, said
    assert line_of("X1", said).endswith(
        "caught by test_toy.py::test_twice, test_toy.py::test_that_fails, test_toy.py::test_twice_of_some[1]"
    )
    assert "not planted: found 0 times" in line_of("X3", said)
    assert "SURVIVED the process ended with status -24" in line_of("X5", said)
    assert "fail without a bug, too: test_toy.py::test_that_fails" in said
    assert "not caught: X2, X3, X4, X5" in said
    recorded = json.loads((project / "caught.json").read_text())
    assert set(recorded) == {"X1"}
    assert set(recorded["X1"]) == {"test_toy.py::test_twice", "test_toy.py::test_twice_of_some[1]"}


@pytest.mark.seconds
def test_recorded_tests_are_enough(project):
    (project / "caught.json").write_text(json.dumps({"X1": ["test_toy.py::test_twice"]}))
    status, said = ran(project, "X1")
    assert status == 0, said
    assert "1 of    1 tests" in line_of("X1", said)
    (project / "caught.json").write_text(json.dumps({"X1": ["test_toy.py::test_many", "test_toy.py::test_gone"]}))
    status, said = ran(project, "X1")
    assert status == 0, said
    assert "caught by tests that are not recorded (--record): X1" in said


@pytest.mark.seconds
def test_the_command_lists_bugs_and_refuses_unknown_ones(project):
    status, said = ran(project, "--list")
    assert status == 0
    assert "three times" in said
    assert "toy 5" in said
    assert ran(project, "X9")[0] == ran(project)[0] == 2
