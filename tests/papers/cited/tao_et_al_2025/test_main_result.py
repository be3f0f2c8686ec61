"""Tao et al.: nothing is evaluated, because nothing was read that could be."""

from dpbounds.theorems.registry import theorem


def test_no_formula_is_sold():
    statement = theorem("cited/tao-et-al-2025/main-result")
    assert statement.parts == ()
    assert "was not compared with the theorem" in statement.notes[0].text
