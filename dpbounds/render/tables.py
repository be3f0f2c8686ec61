"""One table, in four forms: Markdown (formulas between dollar signs), LaTeX (booktabs), HTML (MathML) and CSV.

A cell is text, an id, a number that was rounded when it was made, or a formula. Formulas stay formulas until a form is
asked for, so that the forms cannot disagree.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpbounds.errors import InvalidValue
from dpbounds.expressions.symbols import Quantity
from dpbounds.theorems.formulas import in_latex, inline

FORMATS = ("md", "latex", "html", "csv")
COMMITTED = ("md", "latex", "csv")  # the forms that are kept in tables/, and checked
ENDINGS = {"md": "md", "latex": "tex", "html": "html", "csv": "csv"}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in a cell.

    Attributes:
        order: An order of growth: shown inside O(.).
        logs_hidden: Inside Õ(.).
    """

    expression: Any
    order: bool = False
    logs_hidden: bool = False
    local: tuple[Quantity, ...] = ()

    def latex(self) -> str:
        """Without dollar signs."""
        text = in_latex(self.expression, self.local)
        if self.order:
            text = (r"\tilde{O}" if self.logs_hidden else "O") + rf"\left({text}\right)"
        return text

    def plain(self) -> str:
        """In one line of Unicode."""
        text = inline(self.expression, self.local)
        return f"{'Õ' if self.logs_hidden else 'O'}({text})" if self.order else text

    def mathml(self) -> str:
        """For a browser."""
        from sympy.printing.mathml import MathMLPresentationPrinter

        from dpbounds.theorems.formulas import renamed

        printer = MathMLPresentationPrinter({"order": "none"})
        inside = _without_names(printer.doprint(renamed(self.expression, self.local)))
        order = "<mover><mi>O</mi><mo>~</mo></mover>" if self.logs_hidden else "<mi>O</mi>"
        body = f"{order}<mo>(</mo>{inside}<mo>)</mo>" if self.order else inside
        return f'<math xmlns="http://www.w3.org/1998/Math/MathML">{body}</math>'


def _without_names(text: str) -> str:
    """Named characters (&InvisibleTimes; ...) as characters: only HTML knows those names, XML does not."""
    return re.sub(r"&(?!(?:lt|gt|amp|quot|apos);)\w+;", lambda match: html.unescape(match[0]), text)


@dataclass(frozen=True, slots=True)
class Id:
    """A statement's id, or a command: shown as code."""

    text: str


TableCell = str | Id | Formula | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        rows: One cell per column; None where there is nothing to say.
        preface: Sentences before it: what is compared, at which values, with which command it was made.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    preface: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidValue("rows", self.name, f"{len(self.columns)} cells in every row")


def rendered(table: Table, form: str) -> str:
    """A table in a form.

    Raises:
        InvalidValue: There is no such form.
    """
    writers = {"md": as_markdown, "latex": as_latex, "html": as_html, "csv": as_csv}
    if form not in writers:
        raise InvalidValue("format", form, "one of " + ", ".join(FORMATS))
    return writers[form](table)


# --- Markdown ---------------------------------------------------------------------------------------------------------


def as_markdown(table: Table) -> str:
    """As a section; hosts that render Markdown render the formulas, too."""
    lines = [f"# {table.title}", "", *_paragraphs(table.preface)]
    lines.append("| " + " | ".join(map(_escaped, table.columns)) + " |")
    lines.append("| " + " | ".join("---" for _ in table.columns) + " |")
    lines += ["| " + " | ".join(_markdown_cell(cell) for cell in row) + " |" for row in table.rows]
    lines += ["", *(f"- {note}" for note in table.footnotes)]
    return "\n".join(lines).rstrip() + "\n"


def _paragraphs(sentences: Iterable[str]) -> list[str]:
    return [line for sentence in sentences for line in (sentence, "")]


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


def _markdown_cell(cell: TableCell) -> str:
    match cell:
        case None:
            return ""
        case Id(text=text):
            return f"`{text}`"
        case Formula():
            bars = cell.latex().replace("|", r"\vert ")
            return f"${bars}$"
        case str():
            return _escaped(cell)


# --- LaTeX ------------------------------------------------------------------------------------------------------------

_SPECIAL = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$", "~": r"\textasciitilde{}",
            "^": r"\textasciicircum{}", "{": r"\{", "}": r"\}", "\\": r"\textbackslash{}"}  # fmt: skip
_LETTERS = {"ε": r"$\varepsilon$", "δ": r"$\delta$", "ρ": r"$\rho$", "σ": r"$\sigma$", "κ": r"$\kappa$",
            "β": r"$\beta$", "γ": r"$\gamma$", "λ": r"$\lambda$", "μ": r"$\mu$", "ψ": r"$\psi$", "ζ": r"$\zeta$",
            "α": r"$\alpha$", "η": r"$\eta$", "τ": r"$\tau$", "Δ": r"$\Delta$", "∇": r"$\nabla$", "√": r"$\surd$",
            "≥": r"$\ge$", "≤": r"$\le$", "∞": r"$\infty$", "²": r"$^2$", "³": r"$^3$", "₁": r"$_1$", "₂": r"$_2$",
            "·": r"$\cdot$", "×": r"$\times$", "Õ": r"$\tilde{O}$", "≫": r"$\gg$", "≪": r"$\ll$",
            "π": r"$\pi$", "Φ": r"$\Phi$", "∈": r"$\in$", "Ł": r"\L{}", "→": r"$\to$"}  # fmt: skip


def as_latex(table: Table) -> str:
    """As a document fragment: a ``table`` with booktabs rules; needs the packages booktabs, amsmath and amssymb."""
    heading = " & ".join(_latex_text(column) for column in table.columns)
    body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in table.rows]
    notes = [rf"\item {_latex_text(note)}" for note in table.footnotes]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs,amsmath,amssymb,graphicx}",
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{_latex_text(table.title)}}}",
            rf"\label{{tab:{table.name}}}",
            r"\resizebox{\linewidth}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
            r"\toprule",
            heading + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            *([r"\begin{itemize}", *notes, r"\end{itemize}"] if notes else []),
            r"\end{table}",
            "",
        ]
    )


def _latex_cell(cell: TableCell) -> str:
    match cell:
        case None:
            return ""
        case Id(text=text):
            return rf"\texttt{{{_latex_text(text)}}}"
        case Formula():
            return f"${cell.latex()}$"
        case str():
            return _latex_text(cell)


def _latex_text(text: str) -> str:
    """Text with its special characters protected; formulas between dollar signs stay."""
    pieces = re.split(r"(\$[^$]+\$|`[^`]+`)", text)
    return "".join(_latex_piece(piece) for piece in pieces)


def _latex_piece(piece: str) -> str:
    if piece.startswith("$") and len(piece) > 1:
        return piece
    if piece.startswith("`") and len(piece) > 1:
        return rf"\texttt{{{_latex_piece(piece[1:-1])}}}"
    return "".join(_LETTERS.get(letter) or _SPECIAL.get(letter, letter) for letter in piece)


# --- HTML -------------------------------------------------------------------------------------------------------------


def as_html(table: Table) -> str:
    """As a page that stands alone; formulas are MathML, which browsers show without any script."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    rows = "\n".join("<tr>" + "".join(f"<td>{_html_cell(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    preface = "".join(f"<p>{_html_text(sentence)}</p>\n" for sentence in table.preface)
    notes = "".join(f"<li>{_html_text(note)}</li>" for note in table.footnotes)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/>'
        f"<title>{html.escape(table.title)}</title>\n"
        "<style>body{font-family:serif;margin:2em}table{border-collapse:collapse}"
        "th,td{padding:.3em .8em;border-bottom:1px solid #999;text-align:left}</style></head>\n"
        f"<body>\n<h1>{html.escape(table.title)}</h1>\n{preface}<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n" + (f"<ul>{notes}</ul>\n" if notes else "") + "</body>\n</html>\n"
    )


def _html_cell(cell: TableCell) -> str:
    match cell:
        case None:
            return ""
        case Id(text=text):
            return f"<code>{html.escape(text)}</code>"
        case Formula():
            return cell.mathml()
        case str():
            return _html_text(cell)


def _html_text(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


# --- CSV --------------------------------------------------------------------------------------------------------------


def as_csv(table: Table) -> str:
    """For programs: a header and the rows, formulas in one line of text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in table.rows)
    return text.getvalue()


def _csv_cell(cell: TableCell) -> str:
    match cell:
        case None:
            return ""
        case Id(text=text) | str(text):
            return text
        case Formula():
            return cell.plain()
