"""Statements of which no formula is known: the record says so, and why."""

import pytest

from dpbounds.theorems.registry import theorem


@pytest.mark.parametrize(
    ("paper", "why"),
    [("chien-li-2024", "no formula")],
)
def test_there_is_nothing_to_evaluate(paper, why):
    statement = theorem(f"cited/{paper}/main-result")
    assert statement.parts == ()
    assert why in statement.notes[0].text
