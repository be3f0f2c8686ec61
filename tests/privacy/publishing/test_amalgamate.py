"""The stand-alone checker in one file, and in the files from which that is made."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys

import pytest

from dpbounds.privacy.publishing import standalone_checker as checker
from dpbounds.privacy.publishing.amalgamate import TARGET, CannotAmalgamate, amalgamated, sources

PACKAGE = "dpbounds.privacy.publishing.checker"
HEAD = '"""A file."""\n\nfrom __future__ import annotations\n\n'
COMMAND = f'"""Say it."""\n\nfrom __future__ import annotations\n\nfrom {PACKAGE}.rules.sums import total\n\n'
COMMAND += "\ndef main() -> float:\n    return total([1])\n"
SUMS = '"""Sums.\n\nOf numbers.\n"""\n\nfrom __future__ import annotations\n\nimport math\n\n'
SUMS += f"from {PACKAGE}.core import ONE\n\n"
SUMS += "\ndef total(values: list[int]) -> float:\n    return ONE + math.fsum(values)\n"
CORE = '"""Numbers."""\n\nfrom fractions import Fraction\n\nONE = Fraction(1)\n'
FILES = {"command": COMMAND, "core": CORE, "rules.sums": SUMS}


def test_the_committed_file_is_what_the_command_writes() -> None:
    assert TARGET.read_text("utf-8") == amalgamated(sources())


def test_the_committed_file_names_every_file() -> None:
    text = TARGET.read_text("utf-8")
    for name in sources():
        assert text.count(f"\n# --- {name.replace('.', '/')}.py") == 1


def test_files_of_moderate_size() -> None:
    assert max(len(text.splitlines()) for text in sources().values()) <= 600


def test_files_follow_what_they_import_from(tmp_path) -> None:
    text = amalgamated(FILES)
    places = [text.index(each) for each in ('"""Say it."""', "import math", "ONE =", "# Of numbers.", "def main")]
    assert places == sorted(places)
    assert PACKAGE not in text
    (tmp_path / "one.py").write_text(text, encoding="utf-8")
    assert runpy.run_path(str(tmp_path / "one.py"))["main"]() == 2


REFUSED = {
    "two constants": ("rules.more", HEAD + "ONE = 1\n", "defines ONE, which core does"),
    "two functions": ("rules.more", HEAD + "def total():\n    return 1\n", "defines total, which rules.sums does"),
    "a module": ("core", CORE + "\nmath = 1\n", "imports math from elsewhere, which core"),
    "no import": ("rules.sums", SUMS + "\n\ndef more():\n    return main()\n", "uses main of other files without"),
    "no such name": ("rules.sums", SUMS + "\n\ndef more():\n    return nowhere\n", "uses nowhere, which nothing"),
    "another name": ("rules.sums", SUMS.replace("import ONE", "import ONE as I"), "imports ONE under another name"),
    "not there": ("rules.sums", SUMS.replace("import ONE", "import TWO"), "imports TWO from core, where that is not"),
    "NumPy": (
        "rules.sums",
        SUMS.replace("import math\n", "import numpy\n"),
        "imports numpy, which a lone file may not",
    ),
    "dpbounds": (
        "rules.sums",
        SUMS.replace("import math\n", "from dpbounds.errors import total\n"),
        "imports dpbounds",
    ),
    "a submodule": ("rules.sums", SUMS.replace("import math\n", "import os.path\n"), "imports a module of a package"),
    "a comment": ("rules.sums", SUMS.replace("import math\n", "import math  # why\n"), "comments among imports"),
    "inside": ("rules.sums", SUMS + "\n\ndef more():\n    import json\n    return json\n", "imports within functions"),
    "imported and defined": ("rules.sums", SUMS + "\n\nONE = 2\n", "defines ONE, which it imports as well"),
    "below": ("core", CORE + "\nfrom math import e\n", "has imports below the first lines"),
    "no docstring": ("core", CORE.replace('"""Numbers."""', ""), "has no docstring"),
    "circle": ("core", CORE.replace("\n\nONE", f"\nfrom {PACKAGE}.command import main\n\nONE"), "from itself"),
    "not used": ("rules.more", HEAD, "does not lead to rules.more"),
    "no such file": ("command", COMMAND.replace("rules.sums", "nothing"), "from nothing, where that is not defined"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_mean_something_else_in_one_file_is_refused(name: str) -> None:
    file, text, reason = REFUSED[name]
    with pytest.raises(CannotAmalgamate, match=reason):
        amalgamated(FILES | {file: text})


def test_what_means_the_same_is_not_refused() -> None:
    for file, text in (
        ("core", CORE + "\nsum = 1\n"),  # a builtin that the others do not use
        ("core", CORE + "\nfloat = 1\n"),  # in an annotation alone
        ("rules.sums", SUMS.replace("    return", "    main = 2\n    return")),  # a variable of a function
    ):
        assert text.splitlines()[-1] in amalgamated(FILES | {file: text})


def test_a_builtin_that_another_file_redefines_is_refused() -> None:
    files = FILES | {"core": CORE + "\n\ndef sum(x):\n    return x\n", "rules.sums": SUMS.replace("math.fsum", "sum")}
    with pytest.raises(CannotAmalgamate, match="uses sum of other files without an import"):
        amalgamated(files)


OTHERWISE = {  # words of other meanings, too
    ("gaussian", "schemes.gaussian"),  # noise, and releases of it alone
    ("balls-in-bins", "schemes.matrices"),  # how a record takes part in the steps of a matrix
    ("shuffled", "schemes.last_iterates"),  # an order of batches
    ("shuffled", "schemes.secret_orders"),
    ("matrix", "schemes.binned_matrices"),  # a field
    ("matrix", "schemes.participations"),
}


def test_a_kind_is_named_in_its_own_file_alone() -> None:
    """Readers, words, profiles and conditions of a scheme or a noise stand in one file, and in a table of all."""
    files = sources()
    for kind in {*checker.SCHEMES, *checker.NOISES}:
        found = {name for name, text in files.items() if f'"{kind}"' in text}
        (own,) = found - {name for each, name in OTHERWISE if each == kind}
        assert own.startswith(("schemes.", "noises.")), (kind, own)


@pytest.mark.seconds
def test_the_files_give_the_same_verdict(tmp_path) -> None:
    """As a package, which one file is made of: what developers change is what is shipped."""
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps({"format": checker.FORMAT, "version": 9}), encoding="utf-8")
    said = []
    for module in (f"{PACKAGE}.command", "dpbounds.privacy.publishing.standalone_checker"):
        done = subprocess.run([sys.executable, "-m", module, path], capture_output=True, text=True, check=False)
        said.append((done.returncode, done.stdout, done.stderr))
    assert said[0] == said[1]
    assert said[0][0] == checker.MALFORMED
