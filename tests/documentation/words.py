"""Count wording that readers stumble over, in prose only: pages, docstrings, comments and texts, never names.

python -m tests.documentation.words             how often each is found, by place
python -m tests.documentation.words RULE        where it is found
python -m tests.documentation.words --write     write down the counts, which may only fall
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.documentation.pages import ROOT

FROZEN = "dpbounds/privacy/publishing/checker/assumptions.py"
COUNTS = Path(__file__).with_name("words.txt")
PLACES = ("pages", "texts", "code", "proofs")  # what users read, what programs print, what maintainers read, proofs
RULES = {
    "person": r"\b(?:whoever|whomever|nobody|somebody|anybody)\b",  # for a fact: say what is or is not so
    "tell": r"\b(?:tells|telling|(?:is|are|be|was|were|been) told)\b",  # software prints, returns or reports
    # distinguish
    "apart": r"\b(?:tell|tells|told|telling)\b[^.|]{0,40}\bapart\b|\b(?:hard|harder|easy|easier) to tell\b",
    "so many": r"\bso (?:many|much)\b(?! (?:as|that))",  # a number, by its name
    "in print": r"\bin print\b",  # in the published version
    "print": r"\b(?:as|what|unlike|refutes) print\b|\bprint (?:takes|hides|says|has|claims|means|does|leaves)\b",
    "law": r"(?<!power )(?<!power-)\blaws?\b(?! of large)",  # distribution
    "chance": r"\bchances?\b",  # probability
    "held against": r"\bheld against\b|\bholds? \w+ (?:\w+ )?against\b",  # compared with
    "stands": r"\bstands? (?:in|beside|below|above|once|already|where|there|at|under|behind)\b",  # is
    "is no": r"(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|fewer|better|worse|larger|smaller|such)[a-z]+\b",
    "dear": r"\bdear(?:er|est)?\b",  # the largest ε, or the most work
    "house": r"\bthe house\b|\bhouse rules\b|\brooms\b|\ba room (?!for)|\bthe roof\b",  # packages and layers
    "ends": r"\b(?:upper|lower|both) ends?\b",  # upper and lower bounds
    "data set": r"\bdata sets?\b",  # dataset, as in the names of options
}
FIRST = r"(?:What|Those|The same|Everything|Whoever|All that|Of|Where|As)\b"  # which no docstring begins with
FRAGMENT = r"#\s+(?:of|than|which|whose|beyond|until|so|the same|that) "  # which no comment behind code begins with
_FENCES = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1$", re.DOTALL | re.MULTILINE)
_CODE_OF_DOCSTRINGS = re.compile(r"^ *(?:>>>|\.\.\.) .*$|^ {4}\*{0,2}\w+(?:, \w+)*:", re.MULTILINE)  # and names
_CODE = re.compile(r"``[^`]*``|`[^`]*`|<[^>]*>")


class Piece(NamedTuple):
    """A text, where it begins, and what it is: "text", "docstring", "comment" or "remark" (a comment behind code)."""

    line: int
    kind: str
    text: str


class Hit(NamedTuple):
    """A rule that a text breaks."""

    place: str
    rule: str
    path: Path
    line: int
    text: str


def hits() -> Iterator[Hit]:
    """Everything that is found, in the repository, but for assumptions that certificates compare word by word."""
    frozen = {piece.text for piece in _of_code(ROOT / FROZEN)}
    for place, path in _files():
        pieces = _of_code(path) if path.suffix == ".py" else _of_page(path)
        for line, kind, text in pieces:
            if kind == "text" and text in frozen:
                continue
            where = "texts" if place == "code" and kind == "text" else place
            words = _CODE.sub("", text)
            found = [rule for rule, pattern in RULES.items() for _ in re.finditer(pattern, words, re.IGNORECASE)]
            found += ["first word"] * (kind == "docstring" and bool(re.match(FIRST, text)))
            found += ["fragment"] * (kind == "remark" and bool(re.match(FRAGMENT, text)))
            yield from (Hit(where, rule, path.relative_to(ROOT), line, text) for rule in found)


def counts() -> dict[tuple[str, str], int]:
    """How often each rule is broken in each place."""
    return dict(Counter((hit.rule, hit.place) for hit in hits()))


def recorded() -> dict[tuple[str, str], int]:
    """The same as it was written down."""
    lines = (line.rsplit(maxsplit=2) for line in COUNTS.read_text("utf-8").splitlines())
    return {(rule, place): int(count) for rule, place, count in lines}


def _files() -> Iterator[tuple[str, Path]]:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))):
        yield "pages", path
    for folder in ("dpbounds", "algorithms"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.relative_to(ROOT).parts[:2] != ("dpbounds", "algorithms") and path.suffix in (
                ".py",
                ".md",
                ".html",
            ):
                yield {".py": "code", ".md": "proofs", ".html": "pages"}[path.suffix], path


def _of_page(path: Path) -> Iterator[Piece]:
    text = _FENCES.sub(lambda fence: "\n" * fence[0].count("\n"), path.read_text("utf-8"))
    yield from (Piece(number, "page", line) for number, line in enumerate(text.splitlines(), 1))


def _of_code(path: Path) -> Iterator[Piece]:
    source = path.read_text("utf-8")
    seen: set[int] = set()
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            words := ast.get_docstring(node)
        ):
            words = _CODE_OF_DOCSTRINGS.sub("", words)
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            seen.add(id(first.value))
            yield Piece(first.lineno, "docstring", " ".join(words.split()))
        elif isinstance(node, ast.JoinedStr):
            seen |= {id(part) for part in ast.walk(node)}
            parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield Piece(node.lineno, "text", "".join(parts))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in seen:
            yield Piece(node.lineno, "text", node.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"#\s*(?:noqa|type:|ruff)", token.string):
            behind = bool(token.line[: token.start[1]].strip())
            yield Piece(token.start[0], "remark" if behind else "comment", token.string)


def main(arguments: list[str]) -> None:
    """Print, or write down."""
    if arguments == ["--write"]:
        lines = (f"{rule:14} {place:7} {count}\n" for (rule, place), count in sorted(counts().items()))
        COUNTS.write_text("".join(lines), "utf-8")
    elif arguments:
        for hit in hits():
            if hit.rule == " ".join(arguments):
                print(f"{hit.path}:{hit.line}: {hit.text[:160]}")
    else:
        found = counts()
        print(f"{'':14}", *(f"{place:>7}" for place in PLACES))
        for rule in (*RULES, "first word", "fragment"):
            print(f"{rule:14}", *(f"{found.get((rule, place), 0):7}" for place in PLACES))


if __name__ == "__main__":
    main(sys.argv[1:])
