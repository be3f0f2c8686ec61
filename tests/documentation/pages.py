"""The pages of the documentation, and what of them can be run.

A fence is a block between lines of three backticks. What stands in a comment in the line above it tells how it is run:
``<!-- seconds -->`` takes seconds, ``<!-- continued -->`` goes on where the block before it ended, and
``<!-- needs opacus -->`` is left out where that is not installed.
"""

import doctest
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*\w)")
_NUMBER = "\0"
_FENCE = re.compile(r"^((?:<!-- [^\n]* -->\n)*)(```+|~~~+)([^\n]*)\n(.*?)^\2$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """A block of a page: its page, its number there, its language, its lines, and the remarks above it."""

    page: Path
    place: int
    language: str
    text: str
    remarks: frozenset[str]

    @property
    def name(self) -> str:
        """For the list of tests."""
        return f"{self.page.relative_to(ROOT)}-{self.place}-{self.text.splitlines()[0][:50]}"

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        """Of the test that runs it."""
        return [pytest.mark.seconds] if "seconds" in self.remarks else []


def fences(page: Path, *languages: str) -> list[Fence]:
    """All blocks of a page, in order; of some languages, or of any."""
    found = [
        Fence(page, place, language.strip(), text, frozenset(re.findall(r"<!-- (.*?) -->", above)))
        for place, (above, _, language, text) in enumerate(_FENCE.findall(page.read_text(encoding="utf-8")), 1)
    ]
    return [fence for fence in found if not languages or fence.language in languages]


def sessions(page: Path) -> list[tuple[Fence, ...]]:
    """The console blocks of a page, each with those that it continues: they share a directory."""
    found: list[tuple[Fence, ...]] = []
    for fence in fences(page, "console"):
        if "continued" in fence.remarks:
            found[-1] += (fence,)
        else:
            found.append((fence,))
    return found


def commands(fence: Fence) -> list[tuple[str, str]]:
    """(command, expected output) of a console block."""
    examples = re.split(r"^\$ ", fence.text, flags=re.MULTILINE)
    assert examples[0] == ""
    split = [example.replace("\\\n", " ").partition("\n") for example in examples[1:]]
    return [(re.sub(r"\s+", " ", command), expected) for command, _, expected in split]


def assert_same_up_to_round_off(found: str, expected: str, relative: float = 1e-9) -> None:
    """The same text; numbers may differ in the last digits from machine to machine, and ``...`` stands for anything."""
    told = f"shown:\n{expected}\nprinted:\n{found}"
    parts = NUMBER.sub(_NUMBER, expected).split("...")
    matched = re.fullmatch("(.*?)".join(map(re.escape, parts)), NUMBER.sub(_NUMBER, found), flags=re.DOTALL)
    assert matched, told
    numbers = iter([float(number) for number in NUMBER.findall(found)])
    kept = []
    for part, left_out in itertools.zip_longest(parts, matched.groups(), fillvalue=""):
        kept += [next(numbers) for _ in range(part.count(_NUMBER))]
        for _ in range(left_out.count(_NUMBER)):
            next(numbers)
    assert kept == pytest.approx([float(number) for number in NUMBER.findall(expected)], rel=relative), told


class RoundOff(doctest.OutputChecker):
    """The same text, up to round-off of numbers."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether what is shown is what was printed."""
        try:
            assert_same_up_to_round_off(got, want)
        except AssertionError:
            return False
        return True
