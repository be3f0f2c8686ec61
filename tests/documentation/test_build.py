"""The documentation builds without a warning, needs no other host, and leaves no formula as it was typed."""

import html
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from tests.documentation.pages import ROOT

pytestmark = pytest.mark.minutes
LOADED = {"src", "srcset", "data", "poster", "action", "xlink:href"}
# What must not be visible outside of code: LaTeX, and the marks of subscripts and superscripts.
UNRENDERED = re.compile(r"\$|\\\(|\\frac|\\sqrt|\\le\b|[\^_]\{|\w\^[\w-]")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("sphinx")
    output = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-c", "docs", ".", output]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return output


class Page(HTMLParser):
    """What a page loads, and the text that is seen outside of code."""

    HIDES = frozenset({"code", "script", "style", "title", "math"})

    def __init__(self, text):
        super().__init__()
        self.loads, self.seen, self.formulas, self._hides = [], [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loads += [value for name, value in given.items() if name in LOADED]
        self.loads += [given["href"]] if tag == "link" and "href" in given else []
        self.formulas += tag == "math"
        # a highlighted block is code, one with a class holds the formulas of a derivation
        if tag in self.HIDES or (tag == "pre" and "class" not in given):
            self._hides.append(tag)

    def handle_endtag(self, tag):
        if tag in self._hides[-1:]:
            self._hides.pop()

    def handle_data(self, data):
        if not self._hides:
            self.seen.append(data)


@pytest.fixture(scope="module")
def pages(built):
    return {
        path.relative_to(built): Page(path.read_text(encoding="utf-8"))
        for path in built.rglob("*.html")
        if path.stem not in ("genindex", "search", "py-modindex")
    }


def test_there_is_a_page_for_every_source(pages):
    sources = [
        page.relative_to(ROOT).with_suffix(".html")
        for folder in ("docs", "dpbounds", "algorithms", "tables")
        for page in (ROOT / folder).rglob("*.md")
        if page.name != "ATTRIBUTION.md"
    ]
    assert len(sources) > 60
    assert set(sources) <= set(pages)


def test_no_page_loads_anything_from_another_host(built, pages):
    for path, page in pages.items():
        for address in page.loads:
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{path} loads {address}"
    for style in built.rglob("*.css"):
        for address in re.findall(r"url\(([^)]*)\)|@import\s+([^;]*)", style.read_text(encoding="utf-8")):
            assert "//" not in "".join(address).replace("http://www.w3.org/2000/svg", ""), style


def test_every_link_to_another_host_is_one_that_we_wrote(built):
    ours = "".join(
        path.read_text(encoding="utf-8") for path in ROOT.rglob("*.md") if path.relative_to(ROOT).parts[0][0] != "."
    )
    docstrings = "".join(
        path.read_text(encoding="utf-8") for room in ("dpbounds", "algorithms") for path in (ROOT / room).rglob("*.py")
    )
    for path in built.rglob("*.html"):
        for address in re.findall(r'<a[^>]*href="(https?://[^"#]*)', path.read_text(encoding="utf-8")):
            if "pradyunsg.me" not in address and "github.com/pradyunsg/furo" not in address:  # the theme's own credit
                assert html.unescape(address) in ours + docstrings, f"{path.name}: {address}"


def test_formulas_are_drawn(pages):
    assert sum(page.formulas for path, page in pages.items() if path.parts[0] == "tables") > 1000
    for path, page in pages.items():
        seen = "".join(page.seen)
        left = UNRENDERED.search(seen)
        assert left is None, f"{path}: {seen[max(0, left.start() - 60) : left.end() + 60]}"


def test_a_formula_that_is_not_known_is_an_error(tmp_path):
    pytest.importorskip("sphinx")
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'docs')!r})\n"
        "extensions = ['myst_parser', 'rendering']\nmyst_enable_extensions = ['dollarmath']\n"
        "html_math_renderer = 'mathml'\n"
    )
    for formula, accepted in ((r"\sqrt{x_1} \le \frac12", True), (r"\nosuchcommand{x}", False)):
        (tmp_path / "index.md").write_text(f"# A page\n\n${formula}$\n")
        command = [sys.executable, "-m", "sphinx", "-W", "-q", "-E", tmp_path, tmp_path / "built"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode == 0) == accepted, done.stderr
