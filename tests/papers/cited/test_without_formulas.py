"""Statements of which no formula is known: the record says so, and why."""

from dpbounds.theorems.registry import theorem


def test_there_is_nothing_to_evaluate():
    statement = theorem("cited/chien-li-2024/main-result")
    assert statement.parts == ()
    assert "no formula" in statement.notes[0].text
