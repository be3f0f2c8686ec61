"""One table, in four forms: Markdown (formulas between dollar signs), LaTeX (``latex.py``), HTML (MathML) and CSV.

A cell is text, an id, a number that was rounded when it was made, a formula, what is assumed, or what is known of a
statement. Cells stay what they are until a form is asked for, so that the forms cannot disagree.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from dpbounds.errors import InvalidValue, one_of
from dpbounds.expressions.symbols import Quantity
from dpbounds.theorems.formulas import in_latex, inline, letters
from dpbounds.theorems.references import cited_as

FORMATS = ("md", "latex", "html", "csv")
COMMITTED = ("md", "latex", "csv")  # the forms that are kept in tables/, and checked
ENDINGS = {"md": "md", "latex": "tex", "html": "html", "csv": "csv"}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in a cell.

    Attributes:
        order: An order of growth: shown inside O(.).
        logs_hidden: Inside Õ(.).
        bounding: In the paper O, or Ω and Θ of lower and of tight bounds, in LaTeX.
    """

    expression: Any
    order: bool = False
    logs_hidden: bool = False
    local: tuple[Quantity, ...] = ()
    bounding: str = "O"

    def latex(self) -> str:
        """Without dollar signs."""
        text = in_latex(self.expression, self.local)
        if self.order:
            text = (r"\tilde{O}" if self.logs_hidden else "O") + rf"\left({text}\right)"
        return text

    def in_print(self, *, roots_of_sums: bool = True) -> str:
        """Return the formula as in papers, in a line, without dollar signs; roots of sums maybe as powers."""
        from dpbounds.theorems.paper_style import in_a_line

        if not self.order:
            return in_a_line(self.expression, self.local, roots_of_sums=roots_of_sums)
        text = in_a_line(self.expression, self.local, logarithm=r"\log", roots_of_sums=roots_of_sums)
        size = (r"\bigl(", r"\bigr)") if "(" in text else ("(", ")")
        return (rf"\tilde{{{self.bounding}}}" if self.logs_hidden else self.bounding) + text.join(size)

    def plain(self) -> str:
        """Return the cell as one line of Unicode."""
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
    """A statement, or a command, which is shown as code.

    Attributes:
        text: The id, which CSV shows. Markdown and HTML show authors, year and item of a statement of the library.
        paper: In LaTeX it is cited instead, by author and year, with its item.
        item: The item of the paper, such as "Theorem 2".
        own: Whether it is in your own file.
    """

    text: str
    paper: str = ""
    item: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class Ids:
    """Several statements of the library: ids in CSV; authors, year and item elsewhere."""

    names: tuple[str, ...]

    @property
    def cited(self) -> str:
        """The statements for people."""
        return "; ".join(map(cited_as, self.names))


@dataclass(frozen=True, slots=True)
class Conditions:
    """Return the conditions."""

    formulas: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Assumed:
    """Names of assumptions: marks in LaTeX."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The status of a statement: a footnote in LaTeX with more detail (none if proven)."""

    text: str
    footnote: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no number: a dash in LaTeX."""

    why: str


TableCell = str | Id | Ids | Formula | Conditions | Assumed | Standing | Missing | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        rows: One cell per column; None where there is nothing to say.
        preface: Sentences before it: what is compared, at which values, with which command it was made.
        groups: In LaTeX the rows of one group are together under its name; none, or one for each row.
        in_print: The columns that LaTeX shows by default; all, if none are named.
        notes_in_print: Footnotes in LaTeX, for readers of a paper.
        sorted: By their values, which LaTeX keeps; otherwise by year there.
        chosen: Whether ``in_print`` was chosen by the user, for all forms.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    preface: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    in_print: tuple[str, ...] = ()
    notes_in_print: tuple[str, ...] | None = None
    sorted: bool = False
    chosen: bool = False

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidValue("rows", self.name, f"{len(self.columns)} cells in every row")
        if self.groups and len(self.groups) != len(self.rows):
            raise InvalidValue("groups", self.name, "one for every row")

    def _repr_html_(self) -> str:
        return as_html(self)

    def with_columns(self, names: Iterable[str]) -> Table:
        """Return the table with those columns alone, in that order; LaTeX still has footnotes on the status.

        Raises:
            InvalidValue: There is none of that name.
        """
        wanted = tuple(names)
        known = [name.strip() for name in self.columns]
        for name in wanted:
            if name not in known:
                raise InvalidValue("--columns", name, one_of(name, known))
        return replace(self, columns=tuple(known), in_print=wanted, chosen=True)

    @property
    def columns_shown(self) -> Table:
        """The table as Markdown, HTML and CSV show it: the chosen columns, else all."""
        if not self.chosen:
            return self
        places = [self.columns.index(name) for name in self.in_print]
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return replace(self, columns=self.in_print, rows=rows, chosen=False)

    def with_rows(self, patterns: Iterable[str]) -> Table:
        """Return the rows whose first cell fits one of some patterns such as ``lowy-*``; and the user's own rows.

        Raises:
            InvalidValue: A pattern fits no row.
        """
        names = [cell.text if isinstance(cell, Id) else str(cell) for cell in (row[0] for row in self.rows)]
        kept = {place for place, row in enumerate(self.rows) if isinstance(row[0], Id) and row[0].own}
        for pattern in patterns:
            found = {place for place, name in enumerate(names) if fnmatchcase(name, pattern)}
            if not found:
                raise InvalidValue("--rows", pattern, one_of(pattern, names), "* stands for any letters")
            kept |= found
        order = sorted(kept)
        return replace(
            self,
            rows=tuple(self.rows[place] for place in order),
            groups=tuple(self.groups[place] for place in order) if self.groups else (),
        )

    def with_letters(self, quantities: Iterable[Quantity]) -> Table:
        """Return the table with other letters for some quantities.

        Raises:
            InvalidValue: Two quantities that occur would have one letter.
        """
        chosen = tuple(quantities)
        names = {one.symbol for one in chosen}
        if len({one.latex for one in chosen}) < len(chosen):
            raise InvalidValue("--letters", ", ".join(one.latex for one in chosen), "a letter of its own for each")
        every = [formula for row in self.rows for cell in row for formula in _formulas(cell)]
        occurring = {symbol for formula in every for symbol in formula.expression.free_symbols}
        seen = {one.latex: one.name for one in chosen if one.symbol in occurring}
        for formula in every:
            own = letters(formula.local)
            for symbol in sorted(formula.expression.free_symbols - names, key=str):
                other = seen.get(own.get(symbol, ""))
                if other is not None:
                    also = f"{symbol.name} is {own[symbol]}, too: add {symbol.name}=..."
                    raise InvalidValue("--letters", f"{other}={own[symbol]}", "a letter that is free", also)
        rows = tuple(tuple(_lettered(cell, chosen) for cell in row) for row in self.rows)
        return replace(self, rows=rows)


def _formulas(cell: TableCell) -> tuple[Formula, ...]:
    if isinstance(cell, Conditions):
        return cell.formulas
    return (cell,) if isinstance(cell, Formula) else ()


def _lettered(cell: TableCell, chosen: tuple[Quantity, ...]) -> TableCell:
    if isinstance(cell, Conditions):
        return Conditions(tuple(replace(one, local=(*one.local, *chosen)) for one in cell.formulas))
    return replace(cell, local=(*cell.local, *chosen)) if isinstance(cell, Formula) else cell


# --- Markdown ---------------------------------------------------------------------------------------------------------


def as_markdown(table: Table) -> str:
    """Return the table as a section; hosts that render Markdown render the formulas, too."""
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
            name = cited_as(text)
            return f"`{text}`" if name == text else _escaped(name)
        case Formula():
            bars = cell.latex().replace("|", r"\vert ")
            return f"${bars}$"
        case _:
            return _escaped(_words(cell))


def _words(cell: str | Ids | Conditions | Assumed | Standing | Missing) -> str:
    """Return a cell without formulas in two dimensions, as text."""
    match cell:
        case Ids():
            return cell.cited
        case Conditions(formulas=formulas):
            return "; ".join(one.plain() for one in formulas)
        case Assumed(names=names):
            return ", ".join(names)
        case Standing(text=text) | Missing(why=text):
            return text
    return cell


# --- HTML -------------------------------------------------------------------------------------------------------------


def as_html(table: Table) -> str:
    """Return the table as a separate page; formulas are MathML, which browsers show without scripts."""
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
            name = cited_as(text)
            return f"<code>{html.escape(text)}</code>" if name == text else html.escape(name)
        case Formula():
            return cell.mathml()
        case _:
            return _html_text(_words(cell))


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
        case Id(text=text):
            return text
        case Ids(names=names):
            return ", ".join(names)
        case Formula():
            return cell.plain()
        case _:
            return _words(cell)
