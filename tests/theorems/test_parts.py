"""What is known of a statement is known of its parts: a half that stands does not fall with the other."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from attrs import evolve
from sympy import Rational

from dpbounds.cli import main
from dpbounds.privacy.relations import Relation
from dpbounds.render.catalogue import table
from dpbounds.render.tables import Formula, Id
from dpbounds.theorems.language import q
from dpbounds.theorems.parts import Numbers
from dpbounds.theorems.record import Side, Status
from dpbounds.theorems.registry import library, theorem
from dpbounds.theorems.standing import standing, standing_in_words
from dpbounds.theorems.wording import as_data, as_latex, as_markdown, as_text, letters_of

SELECTION = "ganesh-liu-oh-thakurta-2023/theorem-5.11"


def test_a_half_stands_and_the_other_does_not():
    selection = theorem(SELECTION)
    assert standing(selection) is Status.FALSE
    assert standing(selection, selection.part("printed")) is Status.FALSE
    assert standing(selection, selection.part("sampling")) is Status.PROVED
    assert "sampling: the second term" in as_text(selection)
    told = {one["name"]: one for one in as_data(selection)["parts"]}
    assert (told["printed"]["status"], told["sampling"]["status"]) == ("false", "proved")
    assert told["sampling"]["side"] == "lower"


def test_the_conditions_of_a_part_are_told_in_every_form():
    statement = theorem("wang-xu-2019/theorem-2/explicit")
    assert not statement.conditions
    (condition,) = statement.part("bound").conditions
    (told,) = as_data(statement)["parts"][0]["conditions"]
    assert told["why"] == condition.why
    assert f"needs {told['text']}   ({condition.why})" in as_text(statement)
    (line,) = [one for one in as_markdown(statement).splitlines() if one.startswith("Needs")][:1]
    assert line.endswith(f"$ ({condition.why}).")
    limit = line.split("$")[1]
    assert r"\frac{2}{L}" in limit
    assert f"% needs ${limit}$" in as_latex(statement)


def test_numbers_of_a_mechanism_are_rounded_to_the_safe_side():
    """Noise down and rates up in the 30th digit, counts up; what was given stays exact."""
    at = Numbers({"rho": "0.1", "steps": 7}, Relation.REPLACE_ONE)
    root = q.rho ** Rational(1, 2)
    assert at.down(root) ** 2 < Fraction(1, 10) < at.up(root) ** 2
    assert at.up(root) - at.down(root) < Fraction(1, 10**28)
    assert at[q.rho] == Fraction(1, 10)
    assert [at.count(one) for one in (q.T, q.T / 2, q.T + root, q.rho)] == [7, 4, 8, 1]


def test_a_part_is_as_good_as_what_it_rests_on():
    selection = theorem(SELECTION)
    part = evolve(selection.part("sampling"), relies_on=("ganesh-liu-oh-thakurta-2023/lemma-3.4",))
    selection = evolve(selection, parts=(part,))
    assert standing(selection, part) is Status.DISPUTED
    assert standing_in_words(selection, part) == "disputed (through what it relies on)"


def test_by_default_a_part_is_as_its_statement():
    for one in library():
        for part in one.parts:
            if part.status is None and part.relies_on is None:
                assert standing(one, part) is standing(one)
            if part.side is None:
                assert one.side_of(part) is one.side


@pytest.mark.parametrize(
    ("name", "part", "wanted"),
    [
        ("ganesh-liu-oh-thakurta-2023/lemma-3.4", "counterexample", "proved"),
        ("ganesh-liu-oh-thakurta-2023/lemma-3.4", "rate", "false"),
        ("ganesh-liu-oh-thakurta-2023/lemma-b.2", "counterexample", "proved"),
        ("ganesh-liu-oh-thakurta-2023/lemma-3.3", "equation-1", "false"),
        ("ganesh-liu-oh-thakurta-2023/table-1", "empirical-sosp", "disputed"),
        ("ganesh-liu-oh-thakurta-2023/table-1", "empirical-lower", "claimed"),
        ("ganesh-liu-oh-thakurta-2023/table-1", "excess-lower", "claimed"),
        ("ganesh-liu-oh-thakurta-2023/table-3", "wang-xu-2020", "claimed"),
        ("ganesh-liu-oh-thakurta-2023/table-3", "population", "disputed"),
        ("lowy-ullman-wright-2024/lemma-6.5", "rate", "repaired"),
        ("lowy-ullman-wright-2024/lemma-6.5", "survives", "claimed"),
        ("wang-chen-xu-2019/theorem-3", "rate", "claimed"),
        ("wang-chen-xu-2019/theorem-3", "polynomial", "false"),
        ("wang-chen-xu-2019/theorem-8", "printed_sample_size", "false"),
    ],
)
def test_what_a_defect_touches(name, part, wanted):
    found = theorem(name)
    assert standing(found, found.part(part)) == wanted


def test_no_row_of_a_table_is_worse_than_what_it_quotes():
    for name in ("ganesh-liu-oh-thakurta-2023/table-1", "ganesh-liu-oh-thakurta-2023/table-3"):
        record = theorem(name)
        for part in record.parts:
            if part.relies_on and standing(record, part) is Status.DISPUTED:
                assert any(standing(theorem(one)) in (Status.DISPUTED, Status.FALSE) for one in part.relies_on)


def test_every_lower_bound_that_is_tight_says_where():
    """A statement that is tight on both sides has one formula for each, with the range of its lower bound."""
    for one in library():
        if one.side is Side.TIGHT and str(one.metric).startswith("excess"):
            lower = [part for part in one.parts if one.side_of(part) is Side.LOWER]
            assert lower, one.id
            assert all(part.conditions for part in lower), one.id


def test_tables_tell_parts_apart():
    rows = {row[0].text: row for row in table("excess-population-risk").rows if isinstance(row[0], Id)}
    assert (rows[SELECTION][-1].text, rows[f"{SELECTION}: sampling"][-1].text) == ("false", "proved")
    printed = {row[0]: row for row in table("ganesh-liu-oh-thakurta-2023-table-1").rows}
    assert (printed["empirical sosp"][-1].text, printed["empirical lower"][-1].text) == ("disputed", "claimed")
    assert isinstance(printed["empirical lower"][2], Formula)


def test_lists_tell_parts_apart(capsys):
    assert main(["theorems", "--status", "false", "--json"]) == 0
    found = {one["id"]: one for one in json.loads(capsys.readouterr().out)}
    assert found[SELECTION]["part_statuses"] == {"printed": "false", "sampling": "proved"}
    assert found["wang-chen-xu-2019/theorem-8"]["part_statuses"]["printed_sample_size"] == "false"
    assert main(["theorems", "--search", "theorem-5.11"]) == 0
    assert "[sampling proved]" in capsys.readouterr().out


def test_one_letter_for_one_thing():
    """Within a statement no two quantities are shown by the same letter, and another letter of the text is named."""
    for one in library():
        letters = Counter(shown for shown, _, _ in letters_of(one))
        assert not [shown for shown, count in letters.items() if count > 1], one.id
        for symbol, latex in one.in_text:
            assert latex in (one.statement or "")
            assert symbol.name in {name for _, name, _ in letters_of(one)}
    assert "η is step_size (γ in the text)" in as_text(theorem("wang-xu-2019/theorem-2/explicit"))
