"""Nothing numbered is missing: what each paper prints, listed from the papers, against the registry.

The lists are written by hand from the papers' texts: every numbered definition, assumption, fact, lemma, theorem,
corollary, proposition, claim, remark, algorithm, table and figure. Figures and remarks without a formula are in the
library, too, with a note.
"""

import pytest

from dpbounds.theorems import registry


def numbered(kind, *numbers):
    return [f"{kind}-{number}" for number in numbers]


PRINTED = {
    "wang-xu-2019": [
        *numbered("definition", *range(1, 10)),
        *numbered("lemma", 1, 2, 3, 4),
        *numbered("algorithm", 1, 2, 3, 4),
        *numbered("theorem", 1, 2, 3, 4, 5, 6),
        *numbered("corollary", 1),
        *numbered("remark", 1, 2, 3),
        *numbered("table", 1),
        *numbered("figure", 1, 2, 3, 4),
    ],
    "wang-chen-xu-2019": [
        *numbered("definition", *range(1, 11)),
        *numbered("lemma", 1),
        *numbered("assumption", 1, 2, 3, 4),
        *numbered("algorithm", 1, 2, 3, 4, 5, 6),
        *numbered("theorem", *range(1, 10)),
        *numbered("remark", 1, 2, 3),
    ],
    "tholeti-kalyani-2020": [
        *numbered("definition", 1, 2, 3, 4, 5),
        *numbered("theorem", 1, 2),
        *numbered("algorithm", 1),
        *numbered("figure", 1, 2),
    ],
    "ganesh-liu-oh-thakurta-2023": [
        *numbered("definition", "1.1", "1.2", "2.1", "2.2", "3.2", "a.1", "a.2", "f.1"),
        *numbered("assumption", "3.1"),
        *numbered("fact", "2.3"),
        *numbered("lemma", "2.4", "3.3", "3.4", "3.5", "3.6", "3.7", "4.1", "4.5", "5.2", "5.3", "5.4", "5.5"),
        *numbered("lemma", "a.4", "b.1", "b.2", "d.2"),
        *numbered("claim", "4.4"),
        *numbered("remark", "4.3"),
        *numbered(
            "theorem", "4.2", "4.6", "5.1", "5.6", "5.7", "5.8", "5.9", "5.10", "5.11", "a.3", "a.5", "a.6", "d.1"
        ),
        *numbered("algorithm", 1, 2, 3),
        *numbered("table", 1, 2, 3),
    ],
    "lowy-ullman-wright-2024": [
        *numbered("definition", "2.1", "2.2", "2.4", "2.5", "4.1", "5.1", "6.1"),
        *numbered("assumption", "2.3"),
        *numbered("lemma", "2.6", "3.1", "3.3", "4.2", "6.2", "6.5", "8.1", "b.1", "e.1", "e.3"),
        *numbered("theorem", "3.2", "3.4", "e.2"),
        *numbered("corollary", "4.3", "4.4", "5.3", "6.3", "7.1", "8.2", "e.4"),
        *numbered("proposition", "5.2"),
        *numbered("remark", "5.4", "6.4", "8.3"),
        *numbered("algorithm", 1, 2, 3, 4),
        *numbered("figure", 1),
    ],
}
CITED = (
    "abadi-et-al-2016",
    "arora-et-al-2023",
    "bassily-smith-thakurta-2014",
    "bun-steinke-2016",
    "dwork-roth-2014",
    "ganesh-et-al-2022",
    "gao-wright-2023",
    "kairouz-oh-viswanath-2015",
    "menart-et-al-2023",
    "talwar-thakurta-zhang-2014",
    "talwar-thakurta-zhang-2015",
    "tran-cutkosky-2022",
    "wang-xu-2020",
    "wang-ye-xu-2017",
    "zhang-et-al-2017",
    "zhou-et-al-2020",
)


@pytest.mark.parametrize("paper", PRINTED)
def test_every_printed_item_is_there(paper):
    held = {entry.id for entry in registry.listing()}
    assert [item for item in PRINTED[paper] if f"{paper}/{item}" not in held] == []


def test_every_paper_has_its_list():
    assert set(PRINTED) == set(registry.PAPERS) - {"cited", "dpbounds"}


def test_what_the_papers_build_on_is_there():
    held = {entry.paper.removeprefix("cited/") for entry in registry.listing() if entry.paper.startswith("cited/")}
    assert [paper for paper in CITED if paper not in held] == []
