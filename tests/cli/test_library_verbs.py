"""`theorems`, `show`, `evaluate`, `compare`, `errata`, `table`: what a reader and a program get, and kind refusals."""

import json
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import pytest

import dpbounds as dp
from dpbounds.cli.verbs.compare import _ratio
from dpbounds.expressions.enclosure import Enclosure
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


def test_the_list_has_every_statement(data):
    found = data("theorems")
    assert [one["id"] for one in found] == [entry.id for entry in index.listing()]


def test_the_list_is_filtered(data, said):
    found = data("theorems", "--metric", "frank-wolfe-gap", "--paper", PAPER)
    assert found
    assert {(one["metric"], one["paper"]) for one in found} == {("frank-wolfe-gap", PAPER)}
    proved = data("theorems", "--status", "proved")
    assert 0 < len(proved) < len(index.listing())
    assert (
        said("theorems", "--status", "definition", "--paper", PAPER, "--metric", "frank-wolfe-gap")
        == "no theorem fits\n"
    )
    assert "all of its words" in said("theorems", "--search", "there is no such text")
    assert RATE in said("theorems", "--search", "PROJECTED gradient of dp-pgd")
    assert RATE in said("theorems", "--search", "dp-pgd projected")
    assert RATE not in said("theorems", "--search", "dp-pgd projected nonsense")


def test_the_list_in_words(said):
    out = said("theorems", "--paper", PAPER)
    count = sum(entry.paper == PAPER for entry in index.listing())
    assert f"\n{count} statements; " in out
    assert "errata: " in out


@pytest.mark.parametrize("option", ["--paper", "--metric", "--status"])
def test_the_list_refuses_unknown_words(option, refused):
    assert f"{option} must be one of " in refused("theorems", option, "nonsense")


def test_show_tells_a_statement(said):
    out = said("show", RATE)
    for text in ("Theorem 2", "[proved]", "Assumes", "rate: order of growth; the constant is not stated", "Source: "):
        assert text in out
    assert "relies on wang-xu-2019/theorem-1 (repaired)" in out
    assert "$" not in out
    assert out.strip() == str(dp.theorem(RATE)).strip()


def test_show_for_programs_and_papers(data, said, refused):
    found = data("show", EXPLICIT)
    assert found["id"] == EXPLICIT
    assert {part["kind"] for part in found["parts"]} <= {"bound", "rate", "parameter"}
    assert found["defects"] == []
    assert r"\begin{theorem}[{Theorem 2" in said("show", RATE, "--latex")
    assert "$$" in said("show", RATE, "--markdown")
    assert said("show", RATE, "--bibtex").startswith("@")
    assert "one of --latex, --markdown" in refused("show", RATE, "--latex", "--json")


def test_an_unknown_id_names_similar_ones(refused):
    assert "wang-xu-2019/theorem-2" in refused("show", "wang-xu-2019/theorem-22")
    assert "dpbounds theorems" in refused("show", "qqq")
    assert "an existing Python file" in refused("show", "./there_is_no_such_file.py")


def test_evaluate_gives_the_value(data):
    found = data("evaluate", EXPLICIT, "--part", "tuned", *POINT, "--digits", "40")
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


def test_a_rate_is_never_sold_as_a_bound(data, said):
    arguments = ["evaluate", RATE, "n=1e4", "d=10", "epsilon=1", "delta=1e-5"]
    out = said(*arguments)
    assert "order of growth: it holds up to a constant that is not stated, so this is not a bound" in out
    assert "value" not in out
    found = data(*arguments)
    assert (found["kind"], found["up_to_constant"]) == ("rate", True)


def test_conditions_are_reported_one_by_one(data, said):
    values = ["d=50", "noise_stddev=0.1", "T=10", "smoothness=1", "initial_gap=1", "step_size=1.9"]
    assert "holds: η < 2/L  (each step must decrease the risk)" in said("evaluate", EXPLICIT, *values)
    name, values = f"{PAPER}/lemma-1", ["delta=1e-5", "T=10"]
    out = said("evaluate", name, "epsilon=2", *values, status=1)
    assert "FAILS: ε < 1" in out
    assert "THE STATEMENT DOES NOT APPLY at these values" in out
    found = data("evaluate", name, "epsilon=2", *values, status=1)
    assert [(one["text"], one["holds"]) for one in found["conditions"]] == [("ε < 1", False)]
    fine = data("evaluate", name, "epsilon=1/2", *values)
    assert [one["holds"] for one in fine["conditions"]] == [True]
    assert (found["applies"], fine["applies"]) == (False, True)


@pytest.mark.parametrize(
    ("name", "values", "failing"),
    [
        # the formula has a value there: a probability that is 1 at least
        (f"{PAPER}/lemma-1", ["epsilon=2", "delta=1e-5", "T=10"], "ε < 1"),
        # and here it is the root of a negative number
        (EXPLICIT, ["step_size=2.1", "d=50", "noise_stddev=0.1", "T=10", "smoothness=1", "initial_gap=1"], "η < 2/L"),
    ],
)
def test_a_statement_that_does_not_apply_has_no_value_and_the_exit_status_says_so(data, said, name, values, failing):
    found = data("evaluate", name, *values, status=1)
    assert (found["value"], found["applies"]) == (None, False)
    out = said("evaluate", name, *values, status=1)
    assert "none: the statement does not apply" in out
    assert f"FAILS: {failing}" in out
    assert "proven" not in out
    pair = data("compare", name, name, *values, status=1)
    assert ([one["value"] for one in pair["statements"]], pair["ratio"]) == ([None, None], None)
    assert said("compare", name, name, *values, status=1).count(f"DOES NOT APPLY here: {failing} fails") == 2


def test_what_a_statement_spends(data, said):
    arguments = ["evaluate", EXPLICIT, "--part", "spent", "n=1000", "rho=0.1", "steps=10"]
    replace = data(*arguments)
    assert (replace["claim"], replace["relation"], replace["kept"]) == ("ρ-zCDP", "replace-one", True)
    assert float(replace["value"]["upper"]) == pytest.approx(0.1)
    other = data(*arguments, "--relation", "add-or-remove-one")
    assert float(other["value"]["upper"]) == pytest.approx(0.025)  # a quarter: the mean's n is public
    assert "holds (proven)" in said(*arguments)


def test_a_promise_that_is_broken_is_status_1(data, said):
    broken = [
        "evaluate",
        f"{PAPER}/algorithm-1",
        "--part",
        "spent",
        "n=1e4",
        "epsilon=1",
        "delta=1e-6",
        "T=100",
        "d=10",
    ]
    broken += ["lipschitz=1", "smoothness=0.05"]
    assert data(*broken, status=1)["kept"] is False
    assert "FAILS (proven)" in said(*broken, status=1)


def test_a_statement_of_ones_own(data, said, tmp_path):
    file = tmp_path / "my_theorem.py"
    file.write_text(MINE)
    assert "Defects found in the file\n  none" in said("show", str(file))
    found = data("evaluate", str(file), "n=100", "d=10", "epsilon=1", "lipschitz=2")
    assert found["value"] == {"lower": "0.1", "upper": "0.1"}
    out = said("compare", str(file), EXPLICIT, *POINT, "epsilon=1", "--parts", "bound,tuned")
    assert "mine/theorem-1, bound: 0.00025" in out
    assert "ratio: " in out


def test_defects_of_a_statement_of_ones_own_are_found(said, tmp_path):
    file = tmp_path / "my_theorem.py"
    file.write_text(MINE.replace("unit=Unit(1, -1)", "unit=Unit(1, 0)").replace("(2 * dataset", "(2.5 * dataset"))
    out = said("show", str(file))
    assert "Float" in out or "exact" in out
    file.write_text(MINE.replace("unit=Unit(1, -1)", "unit=Unit(1, 0)"))
    assert "none" not in said("show", str(file)).split("Defects found in the file")[1]


def test_compare_at_the_same_values(said):
    arguments = ["compare", EXPLICIT, EXPLICIT, *POINT, "--parts", "tuned,tuned", "--json"]
    found = json.loads(said(*arguments))
    assert float(found["ratio"]["lower"]) <= 1 <= float(found["ratio"]["upper"])
    assert found["same_kind"] is True
    assert (found["assumptions"]["first_only"], found["assumptions"]["second_only"]) == ([], [])
    values = [*POINT, "epsilon=1", "delta=1e-6"]
    out = said("compare", RATE, EXPLICIT, *values, "--parts", "rate,tuned")
    assert "one is a bound and the other an order of growth" in out


def test_tightness_in_words_and_for_programs(data, said, refused):
    exact = "dpbounds/noisy-descent-exact"
    (found,) = data("tightness", exact)
    assert [one["verdict"] for one in found["instances"]] == ["exact", "exact"]
    one = found["instances"][0]
    assert one["at"]["noise_stddev"] == "1/5"
    assert float(one["ratio"]["lower"]) <= 1 <= float(one["ratio"]["upper"])
    assert found["open"] is None
    words = said("tightness", exact)
    assert "dpbounds, noisy descent exact, bound: exact" in words
    assert "loses     nothing" in words
    assert "open: " in said("tightness", "wang-chen-xu-2019/theorem-5/explicit")
    assert "ID must be a statement with a bound with constants" in refused("tightness", "wang-xu-2019/theorem-1")
    assert "nosuch" in refused("tightness", "nosuch")


def test_errata_in_words_and_for_programs(data, said, refused):
    found = data("errata")
    assert {"id", "where", "printed", "right", "severity", "evidence"} <= set(found[0])
    assert len(found) == sum(len(entry.errata) for entry in index.listing())
    private = data("errata", "--paper", PAPER, "--severity", "privacy")
    assert private
    assert {one["severity"] for one in private} == {"privacy"}
    assert f"{len(private)} errata" in said("errata", "--paper", PAPER, "--severity", "privacy")
    assert "one of typo, harmless" in refused("errata", "--severity", "awful")
    assert "not nobody-1999" in refused("errata", "--paper", "nobody-1999")


def test_a_ratio_of_intervals_is_rounded_outwards():
    left, right = (
        SimpleNamespace(value=Enclosure(Fraction(low), Fraction(high)), applies=True) for low, high in ((1, 2), (3, 5))
    )
    ratio = _ratio(left, right)
    assert (ratio.exact_lower, ratio.exact_upper) == (Fraction(1, 5), Fraction(2, 3))
