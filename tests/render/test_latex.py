"""All LaTeX that is printed: statements, committed tables, tables with numbers, enclosures. It compiles."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.theorems.latex_text import prose
from dpbounds.theorems.registry import library
from dpbounds.theorems.wording import as_latex

TABLES = sorted((Path(__file__).parents[2] / "tables").glob("*.tex"))
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|^\\\[$.*?^\\\]$", flags=re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^%.*\n", flags=re.MULTILINE)
PREAMBLE = (
    r"\documentclass{article}\usepackage{amsmath,amssymb,booktabs,graphicx}"
    "\n"
    r"\newtheorem{theorem}{Theorem}\begin{document}"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wang, Ye & Xu: 5 % of #1, a_b, ~", r"Wang, Ye \& Xu: 5 \% of \#1, a\_b, {\textasciitilde}"),
        ("δ and ε of Łojasiewicz", r"\ensuremath{\delta} and \ensuremath{\varepsilon} of {\L}ojasiewicz"),
        ("see `theorem_2/explicit`", r"see \texttt{theorem\_2/explicit}"),
        ("*all* of **them**, 2 * 3 * 4", r"\emph{all} of \textbf{them}, 2 * 3 * 4"),
        ("$w^*$ and $a_1 & b$ and $w^* \\le ε$", r"$w^*$ and $a_1 & b$ and $w^* \le \ensuremath{\varepsilon}$"),
        ("$$x_1$$ & so on", r"$$x_1$$ \& so on"),
    ],
)
def test_words_are_escaped_and_formulas_kept(text, expected):
    assert prose(text) == expected


@pytest.mark.rotating(4)
@pytest.mark.parametrize("theorem", library(), ids=lambda theorem: theorem.id)
def test_a_statement_holds_nothing_that_latex_reads_otherwise(theorem):
    """What the compiler would find, without one: outside formulas and comments no bare special character."""
    words = MATHS.sub("", COMMENT.sub("", as_latex(theorem)))
    assert words.isascii()
    assert re.search(r"(?<!\\)[&#%_^~`$]", words.replace("``", "")) is None
    assert words.count("{") == words.count("}")


@pytest.mark.rotating(4)
def test_there_are_comments_and_formulas_to_take_out():
    assert MATHS.sub("", "a $b$ $$c$$\n\\[\nd_1\n\\]\n") == "a  \n\n"
    assert len(TABLES) >= 10
    assert all(COMMENT.match(as_latex(theorem)) for theorem in library())


def errors_of(sources, place):
    """(name, first line of the error) of everything that does not compile, in one run for all, which goes on."""
    bodies = [f"\\message{{^^J@@ {name}^^J}}\n{text}\n\\clearpage" for name, text in sources.items()]
    (place / "all.tex").write_text("\n".join([PREAMBLE, *bodies, "\\end{document}\n"]), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "all.tex"],
        cwd=place,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found, name = [], "before the first"
    for line in done.stdout.splitlines():
        if line.startswith("@@ "):
            name = line[3:]
        elif line.startswith("! ") and "Fatal error" not in line:
            found.append((name, line))
    return found if found or done.returncode == 0 else [(name, done.stdout[-500:])]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_everything_compiles(tmp_path, capsys):
    sources = {theorem.id: as_latex(theorem) for theorem in library()}
    sources |= {file.name: file.read_text(encoding="utf-8") for file in TABLES}
    for metric in ("gradient-norm", "excess-empirical-risk"):
        numbers = "n=1e6,d=100,epsilon=1,delta=1e-6,G=1,L=1"
        assert main(["table", metric, "--format", "latex", "--at", numbers]) == 0
        sources[f"table {metric}"] = capsys.readouterr().out
    sources["enclosure"] = f"${dp.epsilon(dp.Gaussian(1), '1e-5')._repr_latex_().strip('$')}$"
    assert errors_of(sources, tmp_path) == []
    wrong = {"first": "a & b", "good": "x", "last": r"\unheard"}
    assert [name for name, _ in errors_of(wrong, tmp_path)] == ["first", "last"]
