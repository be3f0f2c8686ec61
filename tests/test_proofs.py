"""The folder ``proofs/``: derivations that no change of the package can make fail, since they do not use it.

Nor does the oracle of small datasets, which some of them test and others use.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROOFS = sorted((ROOT / "proofs").rglob("*.py"))
HELPERS = [ROOT / "proofs" / "kernel" / "build.py", ROOT / "proofs" / "privacy" / "boxes.py"]
ORACLE = sorted((ROOT / "tests" / "privacy" / "oracle").glob("*.py"))
PROJECT = {"dpbounds", "algorithms", "tests", "benchmarks"}


def imported(file):
    """The modules that a file imports, at any depth of nesting."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def of_the_project(file):
    """The packages of the project that a file imports, the oracle aside."""
    return PROJECT & {name.split(".")[0] for name in imported(file) if not name.startswith("tests.privacy.oracle")}


def test_proofs_import_nothing_of_the_project():
    assert {file: names for file in PROOFS + ORACLE if (names := of_the_project(file))} == {}
    assert "dpbounds" in of_the_project(Path(__file__).parent / "test_errors.py")  # an import would be seen


def test_proofs_are_found_by_pytest_and_stand_under_their_paper():
    assert len(PROOFS) > 50
    assert [file for file in PROOFS if not file.name.startswith("test_")] == HELPERS
    papers = {path.name for path in (ROOT / "dpbounds" / "papers").iterdir() if path.is_dir()}
    assert {file.parent.name for file in PROOFS} <= papers | {"algorithms", "kernel", "privacy"}
