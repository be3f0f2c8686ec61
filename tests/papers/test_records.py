"""What every statement claims, against a second transcription that only people edit: ``records/<paper>.toml``.

Formulas have their second transcription in ``reference_formulas.py``; these files have the rest of a statement: its
status, its source, what it bounds, the neighbouring relation, the sampling, assumptions, conditions and errata. No
command writes them: `python -m dpbounds.theorems`, which writes the index, leaves them as they are, so that no field of
a statement changes unnoticed. The first entries were copied from the library: they are no
independent reading of the papers until somebody has compared them. The docstring of ``claims`` says what each field
holds.
"""

import tomllib
from pathlib import Path

import pytest
import sympy
from attrs import evolve

from dpbounds.theorems.index import Entry
from dpbounds.theorems.language import Condition, q
from dpbounds.theorems.registry import library, theorem
from tests.papers.reference_formulas import place

RECORDS = Path(__file__).with_name("records")
FOLDERS = sorted(path.stem for path in RECORDS.glob("*.toml"))


def claims(statement):
    """The fields of a statement that are transcribed twice; a field without content is left out.

    - ``status``; ``source``: where in the paper it stands, and what of the paper was read here.
    - ``bounds``: metric, side and mode; ``relation`` and ``sampling`` of a statement about privacy.
    - ``privacy``: the kind of the promise and its relation.
    - ``assumptions`` and ``relies_on``: names; ``conditions``: relations between quantities by their full names.
    - ``errata``: where, how severe, under which relation, and which other statements share the fault.
    - ``formulas``: the names of all parts, by kind; ``parts``: what one of them says that differs from its statement.
    """
    formulas, parts = {}, {part.name: part_of(part) for part in statement.parts}
    for part in statement.parts:
        formulas.setdefault(str(part.kind), []).append(part.name)
    sense = [str(one) for one in (statement.metric, statement.side, statement.mode) if one]
    found = {
        "status": str(statement.status),
        "source": {"where": statement.where, "read": str(statement.read)},
        "bounds": ", ".join(one for one in sense if one != "none"),
        "relation": str(statement.relation or ""),
        "sampling": statement.sampling,
        "privacy": f"{statement.privacy.claim}, {statement.privacy.relation}" if statement.privacy else "",
        "assumptions": [one.name for one in statement.assumptions],
        "conditions": [one.holds for one in statement.conditions],
        "relies_on": list(statement.relies_on),
        "errata": [erratum_of(one) for one in statement.errata],
        "formulas": formulas,
        "parts": {name: said for name, said in parts.items() if said},
    }
    return {name: value for name, value in found.items() if value}


def erratum_of(erratum):
    fields = {"severity": erratum.severity, "where": erratum.where, "relation": erratum.relation}
    found = {name: str(value) for name, value in fields.items() if value}
    return found | ({"also": list(erratum.also)} if erratum.also else {})


def part_of(part):
    found = {
        "status": str(part.status or ""),
        "side": str(part.side or ""),
        "under": str(part.under or ""),
        "hides": " ".join(one.name for one in getattr(part, "hides", ())),
        "order": getattr(part, "up_to_constant", False),
        "logs_hidden": getattr(part, "logs_hidden", False),
        "assumptions": [one.name for one in part.assumptions],
        "conditions": [one.holds for one in part.conditions],
    }
    found = {name: value for name, value in found.items() if value}
    return found if part.relies_on is None else found | {"relies_on": list(part.relies_on)}


def same(field, said, wanted, symbols):
    """Whether a field of a record is what its file says; conditions are compared as relations, not as text."""
    if field != "conditions" or said is None or wanted is None:
        return said == wanted
    texts = list(map(str, said))
    return texts == wanted or relations(texts, symbols) == relations(wanted, symbols)


def relations(texts, symbols):
    return [sympy.sympify(text, locals=symbols) for text in texts]


def differences(statement, wanted):
    """Where a record and its second transcription differ, in words."""
    symbols = {one.name: one for each in statement.every_condition for one in each.symbols}
    said = flat(claims(statement))
    wanted = flat(wanted)
    for field in sorted({*said, *wanted}):
        one, two = said.get(field), wanted.get(field)
        if not same(field.rpartition(".")[2], one, two, symbols):
            shown = list(map(str, one)) if isinstance(one, list) else one
            yield f"{statement.id}: {field} is {shown} in the library and {two} in the second transcription"


def flat(fields):
    """The fields of a record, of its source and of its parts under one name each."""
    own = {name: value for name, value in fields.items() if name not in ("source", "parts")}
    nested = {"source": fields.get("source", {}), **fields.get("parts", {})}
    return own | {f"{part}.{name}": value for part, said in nested.items() for name, value in said.items()}


def transcribed(folder):
    return tomllib.loads((RECORDS / f"{folder}.toml").read_text(encoding="utf-8"))


ADVICE = "Read the statement in the paper before you edit either; tests/papers/records/*.toml are edited by hand."


@pytest.mark.parametrize("folder", FOLDERS)
def test_claims_are_those_of_the_second_transcription(folder):
    wanted = transcribed(folder)
    statements = {item: one for one in library() for home, item in [place(one.id)] if home == folder}
    file = f"tests/papers/records/{folder}.toml"
    found = [f'{statements[item].id}: write its entry ["{item}"] in {file}' for item in statements.keys() - wanted]
    found += [f'["{item}"] in {file} is of no statement' for item in wanted.keys() - statements]
    assert not found, "\n".join([*found, ADVICE])
    found = [text for item, one in statements.items() for text in differences(one, wanted[item])]
    assert not found, "\n".join([*found, ADVICE])


def test_every_folder_of_statements_has_its_file():
    missing = sorted({place(one.id)[0] for one in library()} ^ set(FOLDERS))
    assert not missing, f"files without statements, or statements without a file: tests/papers/records/ of {missing}"


def test_each_field_that_changes_is_named_and_no_index_hides_it():
    statement = theorem("cited/zhang-et-al-2017/main-result")
    wanted = transcribed("cited")["zhang-et-al-2017/main-result"]
    changed = {
        "status": "proved",
        "where": "Theorem 7",
        "read": "full text",
        "assumptions": statement.assumptions[1:],
        "conditions": Condition(q.epsilon < 3),
    }
    for field, value in changed.items():
        (found,) = differences(evolve(statement, **{field: value}), wanted)
        named = f"source.{field}" if field in ("where", "read") else field
        assert found.startswith(f"cited/zhang-et-al-2017/main-result: {named} is ")
    in_the_index = {
        field
        for field, value in changed.items()
        if Entry.of(evolve(statement, **{field: value})) != Entry.of(statement)
    }
    assert in_the_index == {"status"}


def test_a_condition_may_be_written_in_another_order():
    statement = theorem("wang-xu-2019/theorem-2/explicit")
    wanted = transcribed("wang_xu_2019")["theorem-2/explicit"]
    assert list(differences(statement, wanted)) == []
    for part in (one for one in wanted["parts"].values() if "conditions" in one):
        part["conditions"] = [text.replace("2/smoothness", "smoothness**-1 * 2") for text in part["conditions"]]
    assert list(differences(statement, wanted)) == []
    part["conditions"] = [text.replace("* 2", "* 3") for text in part["conditions"]]
    (found,) = differences(statement, wanted)
    assert "conditions is ['step_size < 2/smoothness'] in the library" in found
