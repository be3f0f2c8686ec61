"""Nothing numbered is missing: what each paper prints against the registry.

``printed_labels.json`` holds every numbered label that occurs in the text of a paper, heading or mention, and how
often: ``labels_in(text)`` made it from the texts, so that whoever has one can make it again. (The text of Lowy, Ullman
and Wright was an abridged one.) Labels of other papers are named with the place they belong to.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from dpbounds.theorems import index, registry

FOUND = json.loads(Path(__file__).with_name("printed_labels.json").read_text(encoding="utf-8"))
_KINDS = {
    "definition": "Definition|Def",
    "lemma": "Lemma|Lem",
    "theorem": "Theorem|Thm",
    "corollary": "Corollary|Cor",
    "proposition": "Proposition|Prop",
    "remark": "Remark",
    "assumption": "Assumption",
    "fact": "Fact",
    "claim": "Claim",
    "algorithm": "Algorithm|Alg",
    "table": "Table",
    "figure": "Figure|Fig",
}
_LABEL = re.compile(rf"\b({'|'.join(_KINDS.values())})\.?[*\s]+([A-Z]\.[0-9]+|[0-9]+(?:\.[0-9]+)?)\b")


def labels_in(text):
    """Every numbered label of a text, as the last part of an id, with how often it occurs."""
    kinds = {word: kind for kind, words in _KINDS.items() for word in words.split("|")}
    return Counter(f"{kinds[word]}-{number.lower()}" for word, number in _LABEL.findall(text))


@pytest.mark.parametrize("paper", FOUND)
def test_every_printed_item_is_there(paper):
    held = {entry.id for entry in index.listing()}
    of_others = FOUND[paper]["of other papers"]
    assert set(of_others) <= set(FOUND[paper]["labels"])
    assert [one for one in FOUND[paper]["labels"] if one not in of_others and f"{paper}/{one}" not in held] == []


def test_every_paper_has_its_list():
    assert set(FOUND) == set(index.PAPERS) - {"cited", "dpbounds"}


@pytest.mark.parametrize("paper", FOUND)
def test_numbers_have_no_gap(paper):
    """A text that lost an item would lose its label too: within each kind and section the numbers run on."""
    of_others = FOUND[paper]["of other papers"]
    counted = {}
    for label in set(FOUND[paper]["labels"]) - set(of_others):
        kind, number = label.split("-")
        section, _, last = number.rpartition(".")
        counted.setdefault((kind if not section else "", section), set()).add(int(last))
    lost = {
        f"{kind or 'item'} {section + '.' if section else ''}{number}"
        for (kind, section), numbers in counted.items()
        for number in range(1, max(numbers))
        if number not in numbers
    }
    assert lost <= set(FOUND[paper]["not printed"]), lost


def test_labels_are_found_in_text():
    text = (
        "**Theorem 2.** See Lemma B.1, Fig. 3 and Def 2.4; Theorem 2 again, Definition A.1. Theorems, Corollary-free."
    )
    assert labels_in(text) == {"theorem-2": 2, "lemma-b.1": 1, "figure-3": 1, "definition-2.4": 1, "definition-a.1": 1}


def test_what_the_papers_build_on_is_there():
    """Everything that a statement rests on is in the library, so the folders of cited papers are not a list by hand."""
    held = {entry.id for entry in index.listing()}
    used = {name for one in registry.library() for name in (*one.relies_on, *one.superseded_by)}
    assert {name for name in used if name.startswith("cited/")} <= held
    assert len({entry.paper for entry in index.listing() if entry.paper.startswith("cited/")}) >= 26
