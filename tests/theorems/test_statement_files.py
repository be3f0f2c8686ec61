"""A statement in a file: whatever the file does is an error of that file, told in one line."""

from dataclasses import replace

import pytest

from dpbounds.cli import main
from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import Unit, as_expression
from dpbounds.rates.orders import Order
from dpbounds.theorems import index, registry
from dpbounds.theorems.assumptions import LIPSCHITZ, SMOOTH
from dpbounds.theorems.checking import defects
from dpbounds.theorems.language import LENGTH, Bound, Paper, q
from dpbounds.theorems.registry import from_file, theorem
from dpbounds.theorems.spending import spending
from dpbounds.theorems.wording import as_data

BROKEN = {
    "raise RuntimeError('boom')": "line 1: RuntimeError('boom')",
    "x = 1\nraise SystemExit(7)": "line 2: SystemExit(7)",
    "import sys\n\nsys.exit()": "line 3: SystemExit",
    "x = 1\ndef (": "line 2: SyntaxError",
    "\n\nx = 1 +": "line 3: SyntaxError",
    "def f():\n    return f()\nf()": "line 2: RecursionError",
    "open('nosuch.csv')": "line 1: FileNotFoundError",
    "import nosuch_module": "line 1: ModuleNotFoundError",
    "raise RuntimeError('x' * 100_000)": "line 1: RuntimeError",
    "x = '\\0": "SyntaxError",
    "THEOREM = 1": "a record named THEOREM",
    "": "a record named THEOREM",
}


@pytest.mark.parametrize(("text", "told"), BROKEN.items())
@pytest.mark.parametrize("verb", [["show"], ["evaluate"], ["compare", "wang-xu-2019/theorem-2"]])
def test_a_broken_file_is_bad_input(verb, text, told, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidValue, match=r"mine\.py"):
        from_file(file)
    assert main([*verb, str(file)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert len(err) <= 501
    assert "mine.py" in err
    assert told in err


def test_a_file_of_bytes_is_bad_input(tmp_path, capsys):
    file = tmp_path / "bytes.py"
    file.write_bytes(b"\xff\xfe\x00x")
    assert main(["show", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("verb", ["show", "evaluate", "compare"])
def test_the_help_says_that_files_are_executed(verb, capsys):
    assert main([verb, "--help"]) == 0
    assert "A FILE.py is executed" in capsys.readouterr().out


def test_text_is_never_read_as_a_formula(tmp_path):
    mark = tmp_path / "ran"
    text = f"__import__('pathlib').Path({str(mark)!r}).write_text('x')"
    with pytest.raises(InvalidValue, match="text is not read as a formula"):
        str(Unit(loss=text))
    for read in (as_expression, Order.of):
        with pytest.raises(InvalidValue, match="text is not read as a formula"):
            read(text)
    assert not mark.exists()


IN_FULL = """
'''A statement in records, each field said: formulas and conditions may be functions.'''
from sympy import sqrt
from dpbounds.expressions.symbols import Unit, dimension, lipschitz, noise_stddev, rho, steps
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.assumptions import LIPSCHITZ
from dpbounds.theorems.record import Bound, Claim, Condition, Metric, Mode, Note, Privacy, Side, Status, Theorem

def bound():
    return lipschitz * sqrt(dimension) + noise_stddev

def conditions():
    return (Condition(holds=dimension >= 2, why="a plane"),)

THEOREM = Theorem(
    id="mine/theorem-1", title="t", statement=__doc__, where="here", metric=Metric.GRADIENT_NORM, side=Side.UPPER,
    mode=Mode.EXPECTATION, status=Status.CLAIMED, relation=Relation.REPLACE_ONE, assumptions=(LIPSCHITZ,),
    conditions=conditions, notes=(Note("n"),),
    parts=(Bound(formula=bound, unit=Unit(1, -1), increasing_in=(dimension,), decreasing_in=()),),
    privacy=Privacy(claim=Claim.ZCDP, mechanism=lambda at: Gaussian(at.down(sqrt(2 / rho))), needs=(rho,)),
)
"""
IN_SHORT = """
'''The same.'''
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.theorems.language import Bound, Condition, Paper, Privacy, q, sqrt

THEOREM = Paper("mine").theorem(
    id="theorem-1", title="t", where="here", bounds="gradient-norm, expectation", status="claimed",
    assumptions="Lipschitz", conditions=Condition(q.d >= 2, "a plane"), notes="n",
    parts=Bound(q.G * sqrt(q.d) + q.sigma),
    privacy=Privacy(lambda at: Gaussian(at.down(sqrt(2 / q.rho))), "rho"),
)
"""


def test_a_statement_may_be_written_in_full_or_in_short(tmp_path):
    found = []
    for name, text in (("full", IN_FULL), ("short", IN_SHORT)):
        file = tmp_path / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        found.append(from_file(file))
    full, short = (as_data(one) | {"statement": None} for one in found)
    assert full == short
    assert [one.parts[0].unit for one in found] == [Unit(1, -1)] * 2
    assert all(defects(one) == () for one in found)
    assert spending(found[0], {"rho": 1}).spent == spending(found[1], {"rho": 1}).spent
    assert found[0].evaluate(lipschitz=1, dimension=1, noise_stddev=1).applies is False


NAMED = """r'''The claim.'''
from dpbounds.theorems.language import Paper

THEOREM = Paper("mine").theorem(title="t", where="here", status="claimed", notes="n"{more})
"""


def test_the_file_gives_the_id_and_the_claim(tmp_path):
    def read(name, more="", text=NAMED):
        file = tmp_path / name
        file.write_text(text.format(more=more), encoding="utf-8")
        return from_file(file)

    statement = read("corollary_4_3_explicit.py")
    assert (statement.id, statement.statement) == ("mine/corollary-4.3/explicit", "The claim.")
    assert (statement.makes_explicit, read("lemma_a_4.py").number) == ("mine/corollary-4.3", "Lemma A.4")
    given = read("lemma_1.py", ', id="parts/two", statement="Another claim."')
    assert (given.id, given.statement) == ("mine/parts/two", "Another claim.")
    assert "a docstring that states the claim" in defects(read("lemma_2.py", text=NAMED.partition("\n")[2]))[0]
    with pytest.raises(InvalidValue, match="id must be paper/item in lower case letters"):
        read("Lemma 1.py")


def test_a_statement_of_another_paper_has_the_name_and_the_claim_of_its_own_file(tmp_path):
    text = """from dpbounds.theorems.language import Paper
from dpbounds.theorems.registry import theorem

THEOREM = Paper("mine").same_as(theorem("wang-xu-2019/theorem-2"))
"""
    (tmp_path / "theorem_7.py").write_text(text, encoding="utf-8")
    (tmp_path / "theorem_8.py").write_text(f"'Our words.'\n{text}", encoding="utf-8")
    silent, own = (from_file(tmp_path / f"theorem_{number}.py") for number in (7, 8))
    assert (silent.id, silent.statement) == ("mine/theorem-7", theorem("wang-xu-2019/theorem-2").statement)
    assert (own.id, own.statement) == ("mine/theorem-8", "Our words.")


def test_a_statement_without_its_file_is_named_with_the_file(monkeypatch, capsys):
    (known,) = [entry for entry in index.indexed() if entry.id == "wang-xu-2019/theorem-2"]
    monkeypatch.setattr(registry, "indexed", lambda: [replace(known, id="wang-xu-2019/theorem-99")])
    with pytest.raises(
        InvalidValue, match=r"dpbounds/papers/wang_xu_2019/theorem_99\.py is missing: restore it, or run"
    ):
        theorem("wang-xu-2019/theorem-99")
    assert main(["show", "wang-xu-2019/theorem-99"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(InvalidValue, match="an id such as wang-xu-2019/theorem-"):
        theorem("wang-xu-2019/theorem-98")


@pytest.mark.parametrize("missing", ["id", "statement"])
def test_a_notebook_gives_the_id_and_the_claim_itself(missing):
    fields = {"id": "lemma-1", "statement": "s", "title": "t", "where": "w", "status": "claimed"}
    notebook = {"PAPER": Paper("mine"), "__doc__": "Created for an interactive session.", "fields": fields}
    assert eval("PAPER.theorem(**fields)", notebook).statement == "s"  # noqa: S307 (our own text)
    del fields[missing]
    with pytest.raises(InvalidValue, match=f"{missing} is missing"):
        eval("PAPER.theorem(**fields)", notebook)  # noqa: S307


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('status="claimed"', 'status="clamed"', "a known word, such as claimed"),
        ("gradient-norm", "gradient norm", "bounds must be"),
        ('"Lipschitz"', '"lipshitz"', "Lipschitz in l1"),
        ("q.d >=", "q.dimensoin >=", "such as dimension"),
        ('"rho")', '"roh")', "such as rho"),
        ('status="claimed",', "", "status is missing"),
        ("parts=Bound(", "parts=Parameter(", "Parameter"),
    ],
)
def test_a_slip_is_named(before, after, told, tmp_path, capsys):
    file = tmp_path / "mine.py"
    assert before in IN_SHORT
    file.write_text(IN_SHORT.replace(before, after), encoding="utf-8")
    assert main(["show", str(file)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert told in err


def test_a_paper_has_one_quantity_of_a_name():
    paper = Paper("mine")
    apart = paper.quantity("apart", "a", "how far", unit=LENGTH)
    assert paper.quantity("apart", "a", "how far", unit=LENGTH) == apart
    statement = paper.theorem(
        id="lemma-1", title="t", statement="s", where="w", status="claimed", parts=Bound(2 * apart * q.n, "twice")
    )
    assert [one.name for one in statement.local] == ["apart"]
    with pytest.raises(InvalidValue, match="a name that neither the symbol table nor mine has yet"):
        paper.quantity("apart", "a", "something else")
    with pytest.raises(InvalidValue, match="not 'epsilon'"):
        paper.quantity("epsilon", "e", "the table has one")
    other = Paper("yours")
    assert other.borrowed(paper, "apart") == apart
    again = other.same_as(statement, id="lemma-2", where="elsewhere")
    assert (again.id, again.title, again.parts) == ("yours/lemma-2", "t", statement.parts)


def test_a_paper_knows_its_own_assumptions_by_name():
    paper = Paper("mine")
    own = paper.assumption("flat", "F is flat", LIPSCHITZ, holds_for="lipschitz_square")
    statement = paper.theorem(
        id="lemma-1", title="t", statement="s", where="w", status="claimed", notes="n", assumptions="flat, smooth"
    )
    assert statement.assumptions == (own, SMOOTH)
    assert own.implies(LIPSCHITZ)
