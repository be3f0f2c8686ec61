"""Chien & Li: no formula is known; the record says so."""

from dpbounds.theorems.registry import theorem


def test_there_is_nothing_to_evaluate_and_the_record_says_why():
    statement = theorem("cited/chien-li-2024/main-result")
    assert statement.parts == ()
    assert "no formula" in statement.notes[0].text
