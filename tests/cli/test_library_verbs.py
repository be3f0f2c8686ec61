"""`theorems`, `show`, `evaluate`, `compare`, `errata`, `table`: what a reader and a program get, and kind refusals."""

import json
from fractions import Fraction

import mpmath
import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.theorems import index

PAPER = "wang-xu-2019"
RATE, EXPLICIT = f"{PAPER}/theorem-2", f"{PAPER}/theorem-2/explicit"
POINT = ["n=1e5", "d=50", "rho=0.1", "lipschitz=1", "smoothness=1", "initial_gap=0.5"]
MINE = '''r"""Ball noise once more: $\\delta \\le C/r$."""

from sympy import Expr

from dpbounds.expressions.symbols import dataset_size, dimension, epsilon, lipschitz
from dpbounds.theorems.record import Bound, Metric, Mode, Side, Status, Theorem
from dpbounds.expressions.symbols import Unit


def bound() -> Expr:
    """Half of d/(nε)."""
    return lipschitz * dimension / (2 * dataset_size * epsilon)


THEOREM = Theorem(
    id="mine/theorem-1",
    title="my gradient bound",
    statement=__doc__,
    where="Section 1",
    metric=Metric.GRADIENT_NORM,
    side=Side.UPPER,
    mode=Mode.EXPECTATION,
    status=Status.CLAIMED,
    parts=(Bound(formula=bound, unit=Unit(1, -1)),),
)
'''


def said(capsys, *arguments, status=0):
    assert main(list(arguments)) == status
    return capsys.readouterr().out


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_the_list_has_every_statement(capsys):
    found = json.loads(said(capsys, "theorems", "--json"))
    assert [one["id"] for one in found] == [entry.id for entry in index.listing()]
    assert set(found[0]) == {
        *("id", "paper", "number", "title", "metric", "side", "mode", "status", "parts", "part_statuses", "algorithm"),
        "errata",
    }


def test_the_list_is_filtered(capsys):
    found = json.loads(said(capsys, "theorems", "--metric", "frank-wolfe-gap", "--paper", PAPER, "--json"))
    assert found
    assert {(one["metric"], one["paper"]) for one in found} == {("frank-wolfe-gap", PAPER)}
    proved = json.loads(said(capsys, "theorems", "--status", "proved", "--json"))
    assert 0 < len(proved) < len(index.listing())
    assert "no statement fits" in said(capsys, "theorems", "--search", "there is no such text")
    assert RATE in said(capsys, "theorems", "--search", "PROJECTED gradient of dp-pgd")


def test_the_list_in_words(capsys):
    out = said(capsys, "theorems", "--paper", PAPER)
    count = sum(entry.paper == PAPER for entry in index.listing())
    assert f"\n{count} statements; " in out
    assert "wrong in print" in out


@pytest.mark.parametrize("option", ["--paper", "--metric", "--status"])
def test_the_list_refuses_unknown_words(option, capsys):
    assert f"{option} must be one of " in refused(capsys, "theorems", option, "nonsense")


def test_show_tells_a_statement(capsys):
    out = said(capsys, "show", RATE)
    for text in ("Theorem 2", "[proved]", "Assumes", "rate: order of growth; the constant is not stated", "Source: "):
        assert text in out
    assert "relies on wang-xu-2019/theorem-1 (repaired)" in out
    assert "$" not in out
    assert out.strip() == str(dp.theorem(RATE)).strip()


def test_show_for_programs_and_papers(capsys):
    found = json.loads(said(capsys, "show", EXPLICIT, "--json"))
    assert found["id"] == EXPLICIT
    assert {part["kind"] for part in found["parts"]} <= {"bound", "rate", "parameter"}
    assert found["defects"] == []
    assert r"\begin{theorem}[{Theorem 2" in said(capsys, "show", RATE, "--latex")
    assert "$$" in said(capsys, "show", RATE, "--markdown")
    assert said(capsys, "show", RATE, "--bibtex").startswith("@")
    assert "one of --latex, --markdown" in refused(capsys, "show", RATE, "--latex", "--json")


def test_an_unknown_id_names_similar_ones(capsys):
    assert "wang-xu-2019/theorem-2" in refused(capsys, "show", "wang-xu-2019/theorem-22")
    assert "dpbounds theorems" in refused(capsys, "show", "qqq")
    assert "an existing Python file" in refused(capsys, "show", "./there_is_no_such_file.py")


def test_evaluate_gives_the_value(capsys):
    found = json.loads(said(capsys, "evaluate", EXPLICIT, "--part", "tuned", *POINT, "--digits", "40", "--json"))
    lower, upper = (Fraction(found["value"][end]) for end in ("lower", "upper"))
    with mpmath.workdps(60):  # A <= (16/3)(G/n) sqrt(L gap d/rho) + (8/3) d G^2/(n^2 rho), its root
        n, d, rho, gap = mpmath.mpf(10) ** 5, 50, mpmath.mpf("0.1"), mpmath.mpf("0.5")
        root = mpmath.sqrt(mpmath.mpf(16) / 3 / n * mpmath.sqrt(gap * d / rho) + mpmath.mpf(8) / 3 * d / n**2 / rho)
        slack = mpmath.mpf(10) ** -55
        assert mpmath.mpf(lower.numerator) / lower.denominator <= root + slack
        assert root - slack <= mpmath.mpf(upper.numerator) / upper.denominator
    assert 0 <= upper - lower <= Fraction(1, 10**40)
    assert (found["id"], found["part"], found["kind"]) == (EXPLICIT, "tuned", "bound")
    assert found["up_to_constant"] is False
    assert found["digits"] >= 40


def test_a_rate_is_never_sold_as_a_bound(capsys):
    arguments = ["evaluate", RATE, "n=1e4", "d=10", "epsilon=1", "delta=1e-5"]
    out = said(capsys, *arguments)
    assert "order of growth: it holds up to a constant that is not stated, so this is no bound" in out
    assert "value" not in out
    found = json.loads(said(capsys, *arguments, "--json"))
    assert (found["kind"], found["up_to_constant"]) == ("rate", True)


def test_conditions_are_reported_one_by_one(capsys):
    values = ["d=50", "noise_stddev=0.1", "T=10", "smoothness=1", "initial_gap=1", "step_size=1.9"]
    assert "holds: η < 2/L  (each step must decrease the risk)" in said(capsys, "evaluate", EXPLICIT, *values)
    name, values = f"{PAPER}/lemma-1", ["delta=1e-5", "T=10"]
    out = said(capsys, "evaluate", name, "epsilon=2", *values)
    assert "FAILS: ε < 1" in out
    assert "THE STATEMENT DOES NOT APPLY at these values" in out
    found = json.loads(said(capsys, "evaluate", name, "epsilon=2", *values, "--json"))
    assert [(one["text"], one["holds"]) for one in found["conditions"]] == [("ε < 1", False)]
    fine = json.loads(said(capsys, "evaluate", name, "epsilon=1/2", *values, "--json"))
    assert [one["holds"] for one in fine["conditions"]] == [True]


def test_what_a_statement_spends(capsys):
    arguments = ["evaluate", EXPLICIT, "--part", "spent", "n=1000", "rho=0.1", "steps=10"]
    replace = json.loads(said(capsys, *arguments, "--json"))
    assert (replace["claim"], replace["relation"], replace["kept"]) == ("ρ-zCDP", "replace-one", True)
    assert float(replace["value"]["upper"]) == pytest.approx(0.1)
    other = json.loads(said(capsys, *arguments, "--relation", "add-or-remove-one", "--json"))
    assert float(other["value"]["upper"]) == pytest.approx(0.025)  # a quarter: the mean's n is public
    assert "kept (proven)" in said(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["n=0"], ["dataset_size must be", "not 0", "whole number at least 1"]),
        (["n=3.5"], ["dataset_size must be", "not 7/2", "whole number"]),
        (["n=10"], [" is missing: ", "smoothness: ", "steps or T: ", "give NAME=VALUE"]),
        (["n=10", "dataset_size=10"], ["another name of dataset_size"]),
        (["n=10", "n=11"], ["given once only"]),
        (["zzz=10"], ["zzz", "it uses: "]),
        (["n"], ["name=value"]),
        (["n=ten"], ["ten"]),
        (["--part", "nonsense"], ["one of the parts of"]),
        (["--relation", "replace-one"], ["left out without --part spent"]),
    ],
)
def test_evaluate_refuses(arguments, texts, capsys):
    error = refused(capsys, "evaluate", EXPLICIT, *arguments)
    for text in texts:
        assert text in error


def test_a_statement_of_ones_own(capsys, tmp_path):
    file = tmp_path / "my_theorem.py"
    file.write_text(MINE)
    assert "Defects found in the file\n  none" in said(capsys, "show", str(file))
    found = json.loads(said(capsys, "evaluate", str(file), "n=100", "d=10", "epsilon=1", "lipschitz=2", "--json"))
    assert found["value"] == {"lower": "0.1", "upper": "0.1"}
    out = said(capsys, "compare", str(file), EXPLICIT, *POINT, "epsilon=1", "--parts", "bound,tuned")
    assert "mine/theorem-1 bound: 0.00025" in out
    assert "ratio: " in out


def test_defects_of_a_statement_of_ones_own_are_found(capsys, tmp_path):
    file = tmp_path / "my_theorem.py"
    file.write_text(MINE.replace("unit=Unit(1, -1)", "unit=Unit(1, 0)").replace("(2 * dataset", "(2.5 * dataset"))
    out = said(capsys, "show", str(file))
    assert "Float" in out or "exact" in out
    file.write_text(MINE.replace("unit=Unit(1, -1)", "unit=Unit(1, 0)"))
    assert "none" not in said(capsys, "show", str(file)).split("Defects found in the file")[1]


def test_compare_at_the_same_values(capsys):
    arguments = ["compare", EXPLICIT, EXPLICIT, *POINT, "--parts", "tuned,tuned", "--json"]
    found = json.loads(said(capsys, *arguments))
    assert float(found["ratio"]["lower"]) <= 1 <= float(found["ratio"]["upper"])
    assert found["same_kind"] is True
    assert (found["assumptions"]["first_only"], found["assumptions"]["second_only"]) == ([], [])
    values = [*POINT, "epsilon=1", "delta=1e-6"]
    out = said(capsys, "compare", RATE, EXPLICIT, *values, "--parts", "rate,tuned")
    assert "one is a bound and the other an order of growth" in out


def test_errata_in_words_and_for_programs(capsys):
    found = json.loads(said(capsys, "errata", "--json"))
    assert {"id", "where", "printed", "right", "severity", "evidence"} <= set(found[0])
    assert len(found) == sum(len(entry.errata) for entry in index.listing())
    private = json.loads(said(capsys, "errata", "--paper", PAPER, "--severity", "privacy", "--json"))
    assert private
    assert {one["severity"] for one in private} == {"privacy"}
    assert f"{len(private)} errata" in said(capsys, "errata", "--paper", PAPER, "--severity", "privacy")
    assert "one of typo, harmless" in refused(capsys, "errata", "--severity", "awful")
    assert "not nobody-1999" in refused(capsys, "errata", "--paper", "nobody-1999")
