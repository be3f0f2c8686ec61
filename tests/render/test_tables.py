"""The forms of a table; that its LaTeX compiles is in ``test_latex.py``."""

from dataclasses import replace
from fractions import Fraction

import pytest
from sympy import sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import dataset_size, dimension, epsilon, quantity
from dpbounds.render.forms import rendered
from dpbounds.render.tables import Assumed, Formula, Id, Standing, Table

RATE = Formula(sqrt(dimension) / (dataset_size * epsilon), order=True, logs_hidden=True)
TABLE = Table(
    name="small",
    title="A & B: 100 % of ε",
    columns=("statement", "order", "what"),
    rows=((Id("a_b/theorem-1"), RATE, "x < y | z"), (Id("c"), None, "plain")),
    preface=("Before.",),
    footnotes=("After `code_1`.",),
)


def test_markdown():
    assert rendered(TABLE, "md").splitlines() == [
        "# A & B: 100 % of ε",
        "",
        "Before.",
        "",
        "| statement | order | what |",
        "| --- | --- | --- |",
        r"| `a_b/theorem-1` | $\tilde{O}\left(\frac{\sqrt{d}}{\varepsilon n}\right)$ | x < y \| z |",
        "| `c` |  | plain |",
        "",
        "- After `code_1`.",
    ]


def test_latex():
    text = rendered(TABLE, "latex")
    assert r"\caption{A \& B: 100 \% of \ensuremath{\varepsilon}}\label{tab:small}" in text
    wanted = r"\texttt{a\_b/theorem-1} & $\tilde{O}\bigl(\sqrt{d}/(\varepsilon n)\bigr)$ & x \ensuremath{<} y"
    assert wanted in text
    assert r"After \texttt{code\_1}.\par" in text


def row(paper, item, names, status="", formula=RATE, own=False):
    return (Id(f"{paper}/{item}", paper, item, own), formula, Assumed(names), Standing(status or "proved", status))


COMPARED = Table(
    name="compared",
    title="Compared",
    columns=("statement", "order", "assumes", "standing"),
    rows=(
        row("lowy-ullman-wright-2024", "Theorem 1", ("smooth", "convex"), "Disputed."),
        row("my-paper", "Theorem 2", ("smooth",), own=True),
        row("wang-xu-2019", "Theorem 3", ("smooth", "closed set", "convex set")),
        row("cited/arora-et-al-2023", "Theorem 4.3", ("smooth",), "Disputed."),
    ),
    groups=("upper", "upper", "upper", "lower"),
    in_print=("statement", "order", "assumes"),
)


def lines(text):
    return [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]


def test_rows_are_cited_by_year_in_their_groups_and_ones_own_comes_last():
    text = rendered(COMPARED, "latex")
    first = [line.split(" & $")[0] for line in lines(text)[1:]]
    assert first == [
        r"\dpboundscite{Wang \& Xu 2019}{wang-xu-2019}, Thm.~3",
        r"\dpboundscite{Lowy et al.\ 2024}{lowy-ullman-wright-2024}, Thm.~1\textsuperscript{a}",
        r"\textbf{This paper}, Thm.~2",
        r"\dpboundscite{Arora et al.\ 2023}{arora-et-al-2023}, Thm.~4.3\textsuperscript{a}",
    ]
    assert text.index(r"\emph{upper}") < text.index("Wang") < text.index(r"\emph{lower}") < text.index("Arora")
    assert text.count("Disputed.") == 1
    assert "All rows assume: smooth." in text


def test_marks_differ():
    text = rendered(COMPARED.with_columns(("order", "assumes")), "latex")
    heading = lines(text)[0].removesuffix(r" \\").split(" & ")
    assert heading == ["order", "CS", "CoS", "C"]
    assert "Marks: CS: closed set; CoS: convex set; C: convex." in text
    assert [line.count("checkmark") for line in lines(text)[1:]] == [2, 1, 0, 0]


def test_columns_and_rows_are_chosen():
    found = COMPARED.with_columns(("order", "statement"))
    assert rendered(found, "csv").splitlines()[0] == "order,statement"
    latex = rendered(found, "latex")
    assert lines(latex)[0] == r"order & result \\"
    assert "Disputed." in latex  # nobody hides that
    kept = COMPARED.with_rows(("wang-*",))
    assert [cell.text for cell, *_ in kept.rows] == ["my-paper/Theorem 2", "wang-xu-2019/Theorem 3"]
    assert kept.groups == ("upper", "upper")
    with pytest.raises(InvalidValue, match="--columns must be one of statement, order"):
        COMPARED.with_columns(("bound",))
    with pytest.raises(InvalidValue, match="--rows must be"):
        COMPARED.with_rows(("wang-*", "nobody*"))


@pytest.mark.parametrize("column", COMPARED.columns)
def test_any_column_may_stand_alone(column):
    alike = replace(
        COMPARED, rows=(row("wang-xu-2019", "Lemma 1", ("smooth",), formula=None),) * 2, groups=()
    ).with_columns((column,))
    assert all(rendered(alike, form) for form in ("md", "latex", "html", "csv"))


def test_letters_change_in_every_form_and_stay_apart():
    beta = replace(quantity("dimension"), latex=r"\beta")
    found = COMPARED.with_letters((beta,))
    assert r"\sqrt{\beta}/(\varepsilon n)" in rendered(found, "latex")
    assert "sqrt(β)" in rendered(found, "csv")
    assert "&#946;" in rendered(found, "html") or "β" in rendered(found, "html")
    for taken in (r"\varepsilon", "n"):
        with pytest.raises(InvalidValue, match="a letter that is free"):
            COMPARED.with_letters((replace(quantity("dimension"), latex=taken),))
    COMPARED.with_letters((replace(quantity("smoothness"), latex="n"),))  # it does not occur


def test_a_long_table_goes_on_on_the_next_page():
    many = replace(COMPARED, rows=COMPARED.rows * 9, groups=COMPARED.groups * 9)
    assert [rf"\begin{{{kind}}}" in rendered(many, "latex") for kind in ("longtable", "table")] == [True, False]


def test_html():
    text = rendered(TABLE, "html")
    assert "<td><code>a_b/theorem-1</code></td>" in text
    assert "x &lt; y | z" in text
    assert "<msqrt>" in text


def test_csv():
    assert rendered(TABLE, "csv") == "statement,order,what\na_b/theorem-1,Õ(√d/(n ε)),x < y | z\nc,,plain\n".replace(
        "√d/(n ε)", RATE.plain()[2:-1]
    )
    assert "Õ(" in rendered(TABLE, "csv")


def test_refusals():
    with pytest.raises(InvalidValue, match="3 cells in every row"):
        Table("bad", "bad", ("a", "b", "c"), ((None, None),))
    with pytest.raises(InvalidValue, match="one of md, latex, html, csv"):
        rendered(TABLE, "pdf")


def test_rounding_is_away_from_what_is_promised():
    from dpbounds.render.catalogue.spent import _up

    assert [_up(Fraction(text)) for text in ("1/3", "240", "0.00001", "2")] == ["0.3334", "240", "1.000e-5", "2"]
