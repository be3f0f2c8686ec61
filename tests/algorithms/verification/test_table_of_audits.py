"""The committed table of audits: numbers where there were zeros, none above what is certified."""

from pathlib import Path

import pytest

from dpbounds.algorithms.verification.catalogue import all_examples

_PAGE = Path(__file__).parents[3] / "tables" / "runs" / "audits-algorithms.md"


def rows():
    lines = [line for line in _PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(head, cells, strict=True)) for cells in body]


@pytest.mark.seconds
def test_rows_are_examples_and_no_bound_exceeds_its_certificate():
    names, examples = [row["algorithm"] for row in rows()], [example.name for example in all_examples()]
    assert names == [name for name in examples if name in names]
    assert len(names) >= len(examples) - 4  # what was added since waits for the next table
    for row in rows():
        certified = float("inf" if row["certified"] == "none" else row["certified"])
        assert float(row["unassuming"]) <= float(row["at least"]) <= certified, row
        assert row["verdict"] in ("agrees", "claim refuted")


def test_audits_find_something_wherever_the_pair_has_something_to_show():
    """Half of what the pair can show, or runs so dear that the time was over before."""
    for row in rows():
        reach = float(row["this pair"].removeprefix("about ") or 0)
        found = float(row["at least"])
        assert found >= 0.5 * reach or row["ended by"].endswith("seconds") or not 0.5 <= reach <= 4, row
    assert sum(float(row["at least"]) > 0 for row in rows()) >= len(rows()) * 3 / 4
