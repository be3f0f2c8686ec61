"""Files that a page, a docstring, a comment or a message names exist, and so do the sections that they are cited by."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("dpbounds", "algorithms")
NAMED = re.compile(r"(?<![\w*<])[\w/-]+\.(?:md|py)\b")
CITED = re.compile(r"([\w/-]+\.md)[`\s,]*\(?sections?\s+(\d+)(?:\s+(?:and|to)\s+(\d+))?")
OF_THE_READER = {"FILE.py", "file.py", "demo.md", "my_paper_2026/theorem_2.py"}  # a file of theirs, or what is written


def files(*ends):
    """All files of the project that end so, without links."""
    found = [path for path in ROOT.glob("*") if path.is_file()]
    for room in (*PACKAGES, "tests", "proofs", "benchmarks", "docs", "tables"):
        found += [path for path in (ROOT / room).rglob("*") if path.is_file()]
    return [path for path in found if path.name.endswith(ends) and not _linked(path)]


def _linked(path):
    return (ROOT / "dpbounds" / "algorithms") in path.parents


def said_by(path):
    """The words of a file: a page as a whole, the docstrings and comments of code, and a package's strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text.replace("\\_", "_")
    tree = ast.parse(text)
    with_docstrings = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    words = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, with_docstrings)]
    if path.relative_to(ROOT).parts[0] in PACKAGES:
        words += [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is str]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join([*words, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


SOURCES = sorted(files(".md", ".py"))
KNOWN = defaultdict(list)  # by every end of their paths
for _path in SOURCES:
    _parts = _path.relative_to(ROOT).parts
    for _start in range(len(_parts)):
        KNOWN["/".join(_parts[_start:])].append(_path)


def missing(words):
    """The files that some words name, and that do not exist."""
    return sorted(name for name in set(NAMED.findall(words)) - OF_THE_READER if name.lstrip("/") not in KNOWN)


def sections_missing(words):
    """The sections that some words cite, of files that have no such section."""
    found = []
    for name, *numbers in CITED.findall(words):
        headings = [heading for page in KNOWN.get(name.lstrip("/"), ()) for heading in numbered(page)]
        found += [f"{name}, section {number}" for number in numbers if number and number not in headings]
    return found


@cache
def numbered(page):
    """The numbers of a page's sections."""
    return re.findall(r"^#+ (\d+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def wrong_in_sources(find):
    """What is wrong in the words of each file; files in whose text nothing is are not parsed."""
    suspects = [path for path in SOURCES if find(path.read_text(encoding="utf-8").replace("\\_", "_"))]
    return {str(path.relative_to(ROOT)): wrong for path in suspects if (wrong := find(said_by(path)))}


def test_every_file_that_is_named_exists():
    assert wrong_in_sources(missing) == {}


def test_every_section_that_is_cited_exists():
    assert wrong_in_sources(sections_missing) == {}


@pytest.mark.parametrize(
    ("words", "wrong"),
    [("see ``laws.md``", ["laws.md"]), ("privacy/pairs.md", ["privacy/pairs.md"]), ("pairs/pairs.md, sampling.md", [])],
)
def test_a_file_that_moved_is_seen(words, wrong):
    assert missing(words) == wrong


def test_a_section_that_is_not_there_is_seen():
    assert sections_missing("``losses.md``, section 2, and `losses.md` sections 2 and 99") == ["losses.md, section 99"]
