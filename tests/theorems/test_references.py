"""Sources: every paper has an entry, every entry belongs to a paper, and the parser refuses what is malformed."""

import re
from importlib import resources

import pytest

from dpbounds.errors import InvalidValue
from dpbounds.theorems import index
from dpbounds.theorems.references import FILE, bibliography, bibtex, parse, references

GOOD = "@misc{a-2020,\n  author = {A. B.},\n  title = {On {X}},\n  year = {2020},\n}\n"


def source():
    return resources.files("dpbounds.papers").joinpath(FILE).read_text(encoding="utf-8")


def test_every_paper_of_the_registry_has_an_entry():
    papers = {entry.paper for entry in index.listing()} | (set(index.PAPERS) - {"cited"})
    assert papers <= set(references())


def test_every_entry_is_used():
    used = {entry.paper for entry in index.listing()} | (set(index.PAPERS) - {"cited"})
    assert set(references()) <= used


def test_every_entry_is_found_by_the_parser_and_nothing_is_lost():
    assert len(references()) == source().count("@")
    rest = source()
    for paper in references():
        assert rest.count(bibtex(paper)) == 1
        rest = rest.replace(bibtex(paper), "")
    assert all(not line or line.startswith("%") for line in rest.splitlines())


@pytest.mark.parametrize("paper", sorted(references()))
def test_entries_are_plain(paper):
    one = references()[paper]
    assert one.text.isascii()  # accents as LaTeX commands: every BibTeX reads them
    assert re.fullmatch(r"(19|20)\d\d", one.fields["year"])
    assert set(one.fields) <= {
        "author", "title", "year", "booktitle", "journal", "series", "volume", "number", "pages", "eprint",
        "archiveprefix", "note",
    }  # fmt: skip
    assert not re.search(r"://|www\.|doi|\.org|\.com|\.io", one.text)
    assert ("eprint" in one.fields) == ("archiveprefix" in one.fields)
    if "eprint" in one.fields:
        assert re.fullmatch(r"\d{4}\.\d{4,5}", one.fields["eprint"])
    if "pages" in one.fields:
        first, last = map(int, one.fields["pages"].split("--"))
        assert first < last
    people = one.fields["author"].split(" and ")
    assert all("," in person or person.startswith("{") for person in people)
    first_author = re.sub(r"[^a-z]", "", people[0].split(",")[0].lower())
    assert first_author in paper.replace("-", "") or paper == "dpbounds"


def test_titles_and_identifiers_stand_once():
    for field in ("title", "eprint"):
        values = [one.fields[field] for one in references().values() if field in one.fields]
        assert len(set(values)) == len(values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + GOOD, "line 6.*occurs once"),
        (GOOD.replace("  year = {2020},\n", ""), "has year"),
        (GOOD.replace("{2020},", "{2020}"), "line 4.*ends with"),
        (GOOD.replace("{On {X}}", "{On {X}"), "line 3.*braces closed"),
        (GOOD.replace("{2020}", "{{{2020}"), "line 4.*brace is closed"),
        (GOOD.replace("{On {X}}", '"On X"'), "line 3.*goes on"),
        (GOOD.replace("{On {X}}", "{ }"), "title of a-2020 has a value"),
        (GOOD.replace("title", "author"), "author occurs once"),
        (GOOD.replace("misc", "book"), "known kind"),
        (GOOD.replace("misc", "article"), "has journal"),
        (GOOD.removesuffix("}\n"), "line 5.*goes on"),
        ("stray words\n" + GOOD, "line 1.*begins with"),
        (GOOD + "}\n", "line 6"),
    ],
)
def test_what_is_malformed_is_refused(text, message):
    with pytest.raises(InvalidValue, match=message):
        parse(text)


def test_comments_and_blank_lines_are_skipped():
    (one,) = parse("% a comment with a brace {\n\n" + GOOD + "\n% the end\n")
    assert one.text == GOOD
    assert dict(one.fields) == {"author": "A. B.", "title": "On {X}", "year": "2020"}
    assert parse("") == ()


def test_an_unknown_paper_is_refused_by_name():
    with pytest.raises(InvalidValue, match="wang-xu-2019"):
        bibtex("wang-xu-2018")
    with pytest.raises(InvalidValue, match="a paper of the library"):
        bibtex("abadi-et-al-2016/theorem-1")
    with pytest.raises(InvalidValue, match="a new paper needs an entry in dpbounds/papers/") as found:
        bibtex("xyz-3000")  # similar to none
    assert len(str(found.value)) < 200


def test_a_bibliography_has_each_source_once_in_the_order_given():
    found = bibliography(["cited/abadi-et-al-2016", "wang-xu-2019", "cited/abadi-et-al-2016"])
    assert [one.key for one in parse(found)] == ["abadi-et-al-2016", "wang-xu-2019"]
    assert bibliography([]) == ""
