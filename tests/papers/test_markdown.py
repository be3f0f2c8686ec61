"""Claims and derivations are Markdown that a forge shows as it is meant."""

import re

import pytest

from dpbounds.theorems import index, registry

DERIVATIONS = sorted(index.HOME.rglob("*.md"))


def test_no_line_of_a_formula_begins_like_an_item_of_a_list():
    formulas = [(one.id, text) for one in registry.library() for text in re.findall(r"\$[^$]*\$", one.statement)]
    assert [each for each in formulas if re.search(r"\n\s*([-+*]|[0-9]+[.)])\s", each[1])] == []


@pytest.mark.parametrize("file", DERIVATIONS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_index_and_no_star_of_a_derivation_is_read_as_emphasis(file):
    markdown = pytest.importorskip("markdown_it").MarkdownIt()
    for block in markdown.parse(file.read_text(encoding="utf-8")):
        marks = [one for one in block.children or () if one.type == "em_open"]
        assert all(one.markup == "*" for one in marks), block.content
        emphasised = re.findall(r"(?<![\\*])\*(?![\\*])([^*]+)\*", block.content) if marks else []
        assert all(re.match(r"[A-Za-z]", one) for one in emphasised), emphasised
