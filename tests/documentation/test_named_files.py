"""Files that a page, a docstring or a message names exist, and so do the sections that are cited of them."""

import re
from collections import defaultdict
from functools import cache

import pytest

from tests.documentation.pages import ROOT

pytestmark = pytest.mark.seconds
FOLDERS = ("dpbounds", "algorithms", "docs", "tables", "tests", "proofs", "benchmarks")
PACKAGES = ("dpbounds", "algorithms")
NAMED = re.compile(r"(?<![\w*<])[\w/-]+\.(?:md|py)\b")
CITED = re.compile(r"([\w/-]+\.md)[`\s,]*\(?sections?\s+(\d+)(?:\s+(?:and|to)\s+(\d+))?")
# files of the reader or of a library
OF_THE_READER = {"func_code.py", "FILE.py", "file.py", "demo.md", "my_paper_2026/theorem_2.py"}


@cache
def texts():
    """The text of every page and every source file, by its path in the project."""
    paths = [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8").replace("\\_", "_")
        for path in paths
        if path.suffix in (".md", ".py") and ROOT / "dpbounds" / "algorithms" not in path.parents  # a link
    }


@cache
def known():
    """The files by every end of their paths."""
    found = defaultdict(list)
    for path in texts():
        for start in range(len(path.parts)):
            found["/".join(path.parts[start:])].append(path)
    return found


def checked():
    """The files whose words are checked: tests name files that they make, and wrong ones on purpose."""
    return ((path, text) for path, text in texts().items() if path.parts[0] not in ("tests", "benchmarks"))


def test_every_function_that_a_proof_names_exists():
    """Of those whose names cannot be ordinary words: with an underscore."""
    derivations = {path: text for path, text in checked() if path.suffix == ".md" and path.parts[0] in PACKAGES}
    code = {name for path, text in texts().items() if path.suffix == ".py" for name in re.findall(r"\w+", text)}
    named = {(str(path), name) for path, text in derivations.items() for name in re.findall(r"`(_\w+)(?:\(\))?`", text)}
    assert len(named) > 20
    assert {(path, name) for path, name in named if name not in code} == set()


def test_every_file_that_is_named_exists():
    named = {(str(path), name) for path, text in checked() for name in NAMED.findall(text)}
    assert len(named) > 500
    missing = {(path, name) for path, name in named if name.lstrip("/") not in known()}
    assert {(path, name) for path, name in missing if name not in OF_THE_READER} == set()


def test_every_section_that_is_cited_exists():
    cited = [(path, *found) for path, text in checked() for found in CITED.findall(text)]
    assert len(cited) > 50
    missing = []
    for path, name, *numbers in cited:
        headings = {
            heading
            for page in known().get(name.lstrip("/"), ())
            for heading in re.findall(r"^#+ (\d+)", texts()[page], flags=re.MULTILINE)
        }
        missing += [(str(path), name, number) for number in numbers if number and number not in headings]
    assert missing == []
