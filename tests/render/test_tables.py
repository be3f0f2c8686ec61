"""The forms of a table; that its LaTeX compiles is in ``test_latex.py``."""

from fractions import Fraction

import pytest
from sympy import sqrt

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import dataset_size, dimension, epsilon
from dpbounds.render.tables import Formula, Id, Table, rendered

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
    assert r"\caption{A \& B: 100 \% of $\varepsilon$}" in text
    assert r"\texttt{a\_b/theorem-1} & $\tilde{O}\left(\frac{\sqrt{d}}{\varepsilon n}\right)$ & x < y | z \\" in text
    assert r"\item After \texttt{code\_1}." in text


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
