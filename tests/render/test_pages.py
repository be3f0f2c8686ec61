"""Pages made from the library: complete, in order, with every erratum, and readable as Markdown."""

import re

import pytest

from dpbounds.errors import InvalidValue
from dpbounds.render.pages import ERRATA, names, page, pages
from dpbounds.theorems import index


@pytest.mark.seconds_cases("cited")
@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", [name for name in names() if name != ERRATA])
def test_a_page_has_every_statement_of_its_paper(name):
    text = page(name)
    ids = [entry.id for entry in index.listing() if entry.paper.split("/")[0] == name]
    assert ids
    shown = re.findall(r"^`([^`]+)` · \*\*", text, flags=re.MULTILINE)
    assert shown == ids
    assert text.count("$$\n") % 2 == 0
    assert all(line.count("$") % 2 == 0 for line in text.splitlines() if line.startswith("|"))


def test_the_page_of_errata_has_all_of_them_with_their_evidence():
    text = page(ERRATA)
    for entry in index.listing():
        for erratum in entry.errata:
            assert f"`{entry.id}`" in text
            assert f"- evidence: `{erratum.evidence}`" in text


def test_all_pages_and_no_other():
    assert set(pages()) == {f"{name}.md" for name in names()}
    with pytest.raises(InvalidValue, match=r"one of .*, or all"):
        page("nonsense")
