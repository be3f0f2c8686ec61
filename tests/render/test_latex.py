"""All LaTeX that is printed: statements, tables, enclosures. It compiles, and tables fit on their pages."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dpbounds as dp
from dpbounds.cli import main
from dpbounds.render.latex import PACKAGES
from dpbounds.theorems.latex_text import prose
from dpbounds.theorems.registry import library
from dpbounds.theorems.wording import as_latex

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "tables").glob("*.tex"))
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|^\\\[$.*?^\\\]$", flags=re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^%.*\n", flags=re.MULTILINE)
PREAMBLE = (
    r"\documentclass{article}\usepackage{"
    + ",".join(PACKAGES)
    + "}\n"
    + r"\newtheorem{theorem}{Theorem}\begin{document}"
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
        ("k <= 2 < 3", r"k \ensuremath{\le} 2 \ensuremath{<} 3"),
        ("γᵏ|w|ᵏ", r"\ensuremath{\gamma}\ensuremath{^k}\ensuremath{|}w\ensuremath{|}\ensuremath{^k}"),
    ],
)
def test_words_are_escaped_and_formulas_kept(text, expected):
    assert prose(text) == expected


def latex_faults(text):
    """What the compiler would find in a statement, without one: outside of formulas and comments no bare character."""
    words = MATHS.sub("", COMMENT.sub("", text))
    found = re.findall(r"(?<!\\)[&#%_^~`$]|[^\x00-\x7f]", words.replace("``", ""))
    return found + ["braces"] * (words.count("{") != words.count("}"))


def test_faults_of_latex_are_found():
    assert MATHS.sub("", "a $b$ $$c$$\n\\[\nd_1\n\\]\n") == "a  \n\n"
    assert latex_faults("a & b_1 {ε") == ["&", "_", "ε", "braces"]
    assert latex_faults("a \\& $b_1$ {}\n") == []


def faults_of(statements):
    texts = {one.id: as_latex(one) for one in statements}
    assert all(COMMENT.match(text) for text in texts.values())
    return {name: faults for name, text in texts.items() if (faults := latex_faults(text))}


def test_statements_have_no_faults_of_latex():
    assert faults_of(library()[::8]) == {}


@pytest.mark.seconds
def test_all_statements_have_no_faults_of_latex():
    assert len(TABLES) >= 10
    assert faults_of(library()) == {}


def log_of(sources, place, end=""):
    """(name, line of the log) for what TeX says of everything, in one run for all, which goes on after errors."""
    bodies = [f"\\message{{^^J@@ {name}^^J}}\n{text}\n\\clearpage" for name, text in sources.items()]
    (place / "all.tex").write_text("\n".join([PREAMBLE, *bodies, end, "\\end{document}\n"]), encoding="utf-8")
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
        found.append((name, line))
    assert done.returncode == 0 or any(line.startswith("! ") for _, line in found), done.stdout[-500:]
    return found


def errors(log):
    return [(name, line) for name, line in log if line.startswith("! ") and "Fatal error" not in line]


def misfits(log):
    """What sticks out of a line by more than a point, or does not fit on a page."""
    wide = re.compile(r"Overfull \\hbox \((\d+\.\d+)pt")
    found = [(name, line, wide.match(line)) for name, line in log]
    return [(name, line) for name, line, match in found if "Float too large" in line or (match and float(match[1]) > 1)]


@pytest.mark.minutes
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_everything_compiles(tmp_path, capsys):
    sources = {theorem.id: as_latex(theorem) for theorem in library()}
    sources["enclosure"] = f"${dp.epsilon(dp.Gaussian(1), '1e-5')._repr_latex_().strip('$')}$"
    assert errors(log_of(sources, tmp_path)) == []
    wrong = {"first": "a & b", "good": "x", "last": r"\unheard"}
    assert [name for name, _ in errors(log_of(wrong, tmp_path))] == ["first", "last"]


@pytest.mark.minutes
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_tables_fit_at_the_size_of_the_text_and_cite_what_there_is(tmp_path, capsys):
    sources = {file.name: file.read_text(encoding="utf-8") for file in TABLES}
    assert not [
        name for name, text in sources.items() if re.search(r"\\(resizebox|scalebox|tiny|scriptsize|small)\b", text)
    ]
    numbers = "n=1e6,d=100,epsilon=1,delta=1e-6,lipschitz=1,smoothness=1"
    own = ("--with", str(ROOT / "docs" / "my_theorem.py"))
    few = ("--rows", "cited/arora*,lowy-*/corollary-4.3", "--letters", "n,d,L,beta")
    for more in (("--at", numbers), own, (*own, *few), (*few, "--columns", "statement,with constants,order,standing")):
        assert main(["table", "gradient-norm", "--format", "latex", *more]) == 0
        sources[f"table gradient-norm {' '.join(more)}"] = capsys.readouterr().out
    assert main(["table", "excess-empirical-risk", "--format", "latex", "--at", numbers]) == 0
    sources["excess-empirical-risk with numbers"] = capsys.readouterr().out
    shutil.copy(ROOT / "tables" / "dpbounds.bib", tmp_path)
    end = r"\bibliographystyle{plain}\bibliography{dpbounds}"
    log_of(sources, tmp_path, end)
    subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, check=True)
    log_of(sources, tmp_path, end)
    log = log_of(sources, tmp_path, end)
    assert errors(log) == misfits(log) == []
    assert not [line for line in log if "undefined" in line[1]]
    wide = r"\begin{tabular}{l}" + "x" * 200 + r"\end{tabular}"
    assert [name for name, _ in misfits(log_of({"wide": wide, "good": "x"}, tmp_path))] == ["wide"]
