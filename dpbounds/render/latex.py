r"""A table in LaTeX, as it goes into a paper: rows by author and year with ``\cite``, at the size of the text.

What all rows assume is said once, the rest are marks; what is known of a statement is a footnote. Columns that do not
fit beside each other share the width of a line, and a table that does not fit on a page goes on on the next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dpbounds.expressions.symbols import QUANTITIES
from dpbounds.render.tables import Assumed, Conditions, Formula, Id, Ids, Missing, Standing, Table, TableCell
from dpbounds.theorems.latex_text import prose
from dpbounds.theorems.references import authors_and_year, bibtex, references

BIBLIOGRAPHY = "dpbounds.bib"
PACKAGES = ("amsmath", "amssymb", "array", "booktabs", "longtable")
_LINE = 34.0  # width of a line of ``article`` at 10 pt, in em
_GAP = 1.2  # between two columns
_PAGE = 38  # lines of a page that a table may fill
_NARROW = 4.0  # columns of this width are never broken
_STEPS = 8  # in which the width that is left is divided, or half as many between more than four columns
_LONG = 12.0  # formulas with longer unbroken pieces are broken between factors
_LONGEST = 20.0  # then within brackets, too
_TICKS = 6  # more kinds of assumptions are named in one column
_SHORT = {"Theorem": "Thm.", "Corollary": "Cor.", "Lemma": "Lem.", "Proposition": "Prop.", "Equation": "Eq.",
          "Section": "Sec.", "Appendix": "App.", "Figure": "Fig.", "Algorithm": "Alg."}  # fmt: skip


def as_latex(table: Table) -> str:
    """Return a fragment of a document, whose first line lists the packages that it needs."""
    chosen = _chosen(table)
    return "\n".join(_in_full(min((_sheet(chosen, ticks) for ticks in (True, False)), key=_size))) + "\n"


def bibliography_of(tables: Iterable[Table]) -> str:
    """Return the BibTeX entries of all citations of some tables, in the order of their keys."""
    cells = (cell for table in tables for row in table.rows for cell in row)
    papers = {cell.paper for cell in cells if isinstance(cell, Id)} & set(references())
    return "\n".join(bibtex(paper) for paper in sorted(papers, key=_key))


# --- What is shown ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table on its way to paper.

    Attributes:
        cells: LaTeX, row by row.
        flexible: The columns that may be broken into lines.
    """

    table: Table
    heading: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    groups: tuple[str, ...]
    flexible: tuple[bool, ...]
    notes: tuple[str, ...]


def _chosen(table: Table) -> Table:
    """Return the columns that LaTeX shows, without empty ones; groups together, within them by year, one's own last."""
    names = table.in_print or table.columns
    places = [table.columns.index(name) for name in names]
    if not table.chosen:
        places = [place for place in places if any(row[place] not in (None, "") for row in table.rows)]
    remarks = [place for place in range(len(table.columns)) if _remarks(table, place) and place not in places]
    places += remarks
    groups = table.groups or ("",) * len(table.rows)
    first = {group: place for place, group in reversed(list(enumerate(groups)))}
    order = sorted(
        range(len(table.rows)),
        key=lambda place: (first[groups[place]], *((0,) if table.sorted else _age(table.rows[place][0]))),
    )
    return replace(
        table,
        columns=tuple("" if place in remarks else table.columns[place] for place in places),
        rows=tuple(tuple(table.rows[row][place] for place in places) for row in order),
        groups=tuple(groups[row] for row in order),
    )


def _remarks(table: Table, place: int) -> bool:
    return any(isinstance(row[place], Standing) for row in table.rows)


def _age(cell: TableCell) -> tuple[object, ...]:
    if not isinstance(cell, Id) or not cell.paper:
        return (0,)
    known = references().get(cell.paper)
    year = int(known.fields["year"]) if known else math.inf
    return (cell.own, cell.paper == "dpbounds", year, cell.paper)


def _sheet(table: Table, ticks: bool) -> _Sheet:
    """Assumptions in a column of ticks each, if there are few, or by their marks in one column."""
    footnotes: dict[str, str] = {}
    shared, marks = _marks([cell.names for row in table.rows for cell in row if isinstance(cell, Assumed)])
    ticks = ticks and 0 < len(marks) <= _TICKS
    heading: list[str] = []
    flexible: list[bool] = []
    for place, name in enumerate(table.columns):
        kinds = {type(row[place]) for row in table.rows} - {type(None)}
        if not name:
            continue
        if Assumed in kinds:
            shown = list(marks.values()) if ticks else ["assumes"] if marks or table.chosen else []
            heading += shown
            flexible += [not ticks] * len(shown)
        else:
            heading.append(prose(_in_words(name)))
            words = [cell for cell in (name, *(row[place] for row in table.rows)) if isinstance(cell, str)]
            flexible.append(bool(kinds & {Formula, Conditions, Id}) or any(" " in one for one in words))
    rows = []
    for row in table.rows:
        cells: list[str] = []
        raised = ""
        for name, cell in zip(table.columns, row, strict=True):
            match cell:
                case Standing(footnote=footnote) if not name:
                    raised += _mark(footnotes, footnote) if footnote else ""
                case Assumed(names=names) if ticks:
                    cells += [r"$\checkmark$" if name in names else "" for name in marks]
                case Assumed(names=names):
                    cells += (
                        [", ".join(marks[name] for name in names if name in marks)] if marks or table.chosen else []
                    )
                case _ if name:
                    cells.append(_cell(cell))
        rows.append((cells[0] + raised, *cells[1:]))
    notes = [prose(sentence) for sentence in table.preface if table.notes_in_print is None]
    if shared:
        notes.append(f"All rows assume: {prose(', '.join(shared))}.")
    if marks:
        named = (f"{mark}: {prose(name)}" for name, mark in marks.items())
        notes.append(("Marks: " if ticks else "Assumptions: ") + "; ".join(named) + ".")
    notes += [rf"\textsuperscript{{{mark}}}{prose(text)}" for text, mark in footnotes.items()]
    more = table.footnotes if table.notes_in_print is None else table.notes_in_print
    notes += [prose(note) for note in more]
    letters = _letters(table)
    if letters:
        notes.append(f"Letters: {letters}.")
    return _Sheet(table, tuple(heading), tuple(rows), table.groups, tuple(flexible), tuple(notes))


def _in_words(column: str) -> str:
    return {"statement": "result"}.get(column, column).strip()


def _marks(every: Sequence[tuple[str, ...]]) -> tuple[list[str], dict[str, str]]:
    """Return the assumptions of all rows, and short marks for the others, in the order in which they come up."""
    names = list(dict.fromkeys(name for one in every for name in one))
    shared = [name for name in names if all(name in one for one in every)] if len(every) > 1 else []
    marks: dict[str, str] = {}
    for name in names:
        if name in shared:
            continue
        first, *rest = re.findall(r"\w+", name.replace(".", ""))
        for length in range(1, len(name) + 1):
            mark = prose(first[:length].capitalize() + (rest[0][0].upper() if rest else ""))
            if mark not in marks.values():
                marks[name] = mark
                break
    return shared, marks


def _mark(footnotes: dict[str, str], text: str) -> str:
    return rf"\textsuperscript{{{footnotes.setdefault(text, _letter_of(len(footnotes)))}}}"


def _letter_of(place: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[place % 26] * (1 + place // 26)


def _letters(table: Table) -> str:
    """Return the meaning of the letters that occur, in the order of the symbol table, then of each paper."""
    found: dict[str, str] = {}
    order = {record.symbol: place for place, record in enumerate(QUANTITIES)}
    meant: dict[object, tuple[str, str]] = {record.symbol: (record.latex, record.meaning) for record in QUANTITIES}
    used = set()
    for row in table.rows:
        for cell in row:
            for formula in cell.formulas if isinstance(cell, Conditions) else (cell,):
                if isinstance(formula, Formula):
                    used |= set(formula.expression.free_symbols)
                    meant |= {record.symbol: (record.latex, record.meaning) for record in formula.local}
    for symbol in sorted(used & set(meant), key=lambda symbol: (order.get(symbol, len(order)), str(symbol))):
        letter, meaning = meant[symbol]
        found[f"${letter}$ {prose(meaning)}"] = ""
    return "; ".join(found)


# --- Cells ------------------------------------------------------------------------------------------------------------


def _cell(cell: TableCell) -> str:
    match cell:
        case None:
            return ""
        case Id(paper=""):
            return prose(f"`{cell.text}`")
        case Id():
            return _source(cell)
        case Ids():
            return prose(cell.cited)
        case Formula():
            return _formula(cell)
        case Conditions(formulas=formulas):
            return "; ".join(map(_formula, formulas))
        case Standing(text=text):
            return prose(text)
        case Assumed(names=names):
            return prose(", ".join(names))
        case Missing():
            return "--"
    return prose(cell) if not cell.startswith("~ ") else rf"$\sim${cell.removeprefix('~ ')}"


def _formula(cell: Formula) -> str:
    """A formula; a long one may be broken between its factors, too, and within the roots of sums, then powers."""
    formula = cell.in_print()
    if _longest(f"${formula}$") <= _LONG:
        return f"${formula}$"
    powers = cell.in_print(roots_of_sums=False)
    best = min(_breakable(formula), _breakable(powers), key=_longest)
    return best if _longest(best) <= _LONGEST else _breakable(powers, within_brackets=True)


_CASES = re.compile(r"(\\begin\{cases\}.*?\\end\{cases\})")


def _breakable(formula: str, *, within_brackets: bool = False) -> str:
    """Return the formula with places between factors at which TeX may break a line."""
    pieces = _CASES.split(formula)
    shown, cases = "\N{EM SPACE}".join(pieces[::2]), iter(pieces[1::2])
    brackets = 0
    found = []
    for place, depth in enumerate(_depths(shown)):
        letter, before, after = shown[place], shown[max(place - 1, 0)], shown[place + 1 : place + 2]
        if not shown[:place].endswith((r"\bigl", r"\bigr")):
            brackets += (letter == "(") - (letter == ")")
        factor = letter == " " and before not in "+-=<>" and after not in "+-=<>"
        found.append(r" \penalty900 " if factor and depth == 0 and (within_brackets or brackets == 0) else letter)
    return "$" + "".join(next(cases) if letter == "\N{EM SPACE}" else letter for letter in found) + "$"


def _longest(cell: str) -> float:
    """Return the width of the longest piece that TeX does not break."""
    return max(map(_width, _pieces(cell)))


def _source(cell: Id) -> str:
    item = prose(" ".join(_SHORT.get(word, word) for word in cell.item.split(" "))).replace(". ", ".~")
    if cell.own and cell.paper not in references():
        return rf"\textbf{{This paper}}, {item}"
    named = rf"\dpboundscite{{{who(cell.paper)}}}{{{_key(cell.paper)}}}"
    return named if item == "main result" else f"{named}, {item}"


def _key(paper: str) -> str:
    return paper.removeprefix("cited/")


def who(paper: str) -> str:
    r"""Return the authors and the year, as in a text.

    >>> who("wang-xu-2019"), who("lowy-ullman-wright-2024")
    ('Wang \\& Xu 2019', 'Lowy et al.\\ 2024')
    """
    return authors_and_year(paper).replace("&", r"\&").replace("et al. ", "et al.\\ ")


# --- The page ---------------------------------------------------------------------------------------------------------


def _size(sheet: _Sheet) -> int:
    """About how many lines a table has, with its notes."""
    shares = _shares(sheet)
    lines = sum(_lines(row, shares) for row in sheet.cells) + 2 * len(set(sheet.groups))
    return lines + sum(math.ceil(0.8 * _width(note) / _LINE) for note in sheet.notes)


def _in_full(sheet: _Sheet) -> list[str]:
    table = sheet.table
    columns = _columns(sheet)
    caption = rf"\caption{{{prose(table.title)}}}\label{{tab:{table.name}}}"
    head = [r"\toprule", " & ".join(sheet.heading) + r" \\", r"\midrule"]
    body = _body(sheet)
    begin = ["% needs \\usepackage{" + ",".join(PACKAGES) + "}", *_citing(sheet)]
    if _size(sheet) > _PAGE:
        return [
            *begin,
            rf"\begin{{longtable}}{{{columns}}}",
            caption + r" \\",
            *head,
            r"\endfirsthead",
            *head,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            r"\end{longtable}",
            *_notes(sheet),
        ]
    return [
        *begin,
        r"\begin{table}[htbp]",
        r"\centering",
        caption + r"\par\smallskip",
        rf"\begin{{tabular}}{{{columns}}}",
        *head,
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *_notes(sheet),
        r"\end{table}",
    ]


def _notes(sheet: _Sheet) -> list[str]:
    if not sheet.notes:
        return []
    return [
        r"\par\smallskip\noindent\begin{minipage}{\linewidth}\footnotesize\raggedright",
        *(rf"{one}\par" for one in sheet.notes),
        r"\end{minipage}",
    ]


def _citing(sheet: _Sheet) -> list[str]:
    if not any(r"\dpboundscite{" in cell for row in sheet.cells for cell in row):
        return []
    return [
        f"% its references: \\bibliography{{{BIBLIOGRAPHY.removesuffix('.bib')}}}, "
        "which `dpbounds table NAME --format bib` prints",
        r"\providecommand{\dpboundscite}[2]{#1~\cite{#2}}% with natbib: \newcommand{\dpboundscite}[2]{\citet{#2}}",
    ]


def _body(sheet: _Sheet) -> list[str]:
    lines: list[str] = []
    many = len(set(sheet.groups)) > 1
    last = None
    for row, group in zip(sheet.cells, sheet.groups or ("",) * len(sheet.cells), strict=True):
        if many and group != last:
            lines += [r"\midrule"] if lines else []
            lines.append(rf"\multicolumn{{{len(sheet.heading)}}}{{@{{}}l@{{}}}}{{\emph{{{prose(group)}}}}} \\*")
        elif lines:
            lines.append(r"\addlinespace[2pt]")
        lines.append(" & ".join(row) + r" \\")
        last = group
    return lines


def _columns(sheet: _Sheet) -> str:
    kinds = [
        ("l" if flexible else "c")
        if share is None
        else rf">{{\raggedright\arraybackslash}}p{{{share / _LINE:.3f}\linewidth}}"
        for share, flexible in zip(_shares(sheet), sheet.flexible, strict=True)
    ]
    return "@{}" + "".join(kinds) + "@{}"


def _shares(sheet: _Sheet) -> tuple[float | None, ...]:
    """The width of each column that is broken into lines, such that there are few of them; None for the others."""
    columns = list(zip(sheet.heading, *sheet.cells, strict=True))
    natural = [max(map(_width, column)) for column in columns]
    free = _LINE - _GAP * (len(columns) - 1)
    soft = [place for place, flexible in enumerate(sheet.flexible) if flexible and natural[place] > _NARROW]
    if sum(natural) <= free or not soft:
        return (None,) * len(columns)
    free -= sum(natural[place] for place in range(len(columns)) if place not in soft)
    least = [max(map(_longest, columns[place])) for place in soft]
    least = [width * min(1, free / sum(least)) for width in least]  # what is set small is estimated too wide
    least = [width + min(0.4, (free - sum(least)) / len(least)) for width in least]  # and roots, too narrow
    spare = free - sum(least)

    parts = _STEPS if len(soft) <= 4 else _STEPS // 2

    def tried(split: tuple[int, ...]) -> tuple[float | None, ...]:
        given: list[float | None] = [None] * len(columns)
        for place, width, steps in zip(soft, least, split, strict=True):
            given[place] = width + spare * steps / parts
        return tuple(given)

    widths = [tuple(map(_width, row)) for row in sheet.cells]
    return min(map(tried, _splits(parts, len(soft))), key=lambda shares: sum(_height(row, shares) for row in widths))


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a whole number as a sum of ``parts`` numbers."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in _splits(total - first, parts - 1))


def _lines(row: tuple[str, ...], shares: Sequence[float | None]) -> int:
    return _height(tuple(map(_width, row)), shares)


def _height(widths: tuple[float, ...], shares: Sequence[float | None]) -> int:
    """Into how many lines a row is broken; a little of each stays empty."""
    pairs = zip(widths, shares, strict=True)
    return max(1, *(math.ceil((1.1 if width > share else 1) * width / share) for width, share in pairs if share), 1)


_CITATION = re.compile(r"\\dpboundscite\{((?:[^{}]|\{[^{}]*\})*)\}\{[^{}]*\}")


def _pieces(cell: str) -> list[str]:
    """Return a cell's pieces between which TeX may break a line: at spaces of text, after signs of a formula."""
    shown = _CITATION.sub(r"\1~[00]", cell).replace(r"\ ", " ")
    pieces, maths, start = [], False, 0
    for place, depth in enumerate(_depths(shown)):
        maths ^= shown[place] == "$"
        space = shown[place] == " " and (not maths or shown[:place].endswith((" +", " -", r"\penalty900")))
        hyphen = not maths and place > 0 and shown[place - 1] == "-"
        if depth == 0 and (space or hyphen):
            pieces.append(shown[start:place])
            start = place
    return [*pieces, shown[start:]]


def _depths(text: str) -> Iterator[int]:
    """Yield the number of open braces at each letter; printed ones do not count."""
    depth = 0
    for place, letter in enumerate(text):
        if text[max(place - 1, 0)] != "\\":
            depth += (letter == "{") - (letter == "}")
        yield depth


def _width(text: str) -> float:
    """About how wide a piece of LaTeX is, in em."""
    shown = _CITATION.sub(r"\1 [00]", text)
    shown = _CASES.sub(lambda match: max(match[1].split(r"\\"), key=len), shown)
    shown = re.sub(r"\\penalty900|\\(?:ensuremath|text\w+|emph|operatorname|mathrm|begin|end)\b", "", shown)
    shown = re.sub(r"\\(log|ln|min|max|exp)\b", r"\1", shown)
    shown = shown.replace(r"\checkmark", "xx")
    small = sum(len(re.sub(r"\\[a-zA-Z]+", "x", one)) for one in re.findall(r"[_^]\{([^{}]*)\}", shown))
    signs = len(re.findall(r" [-+=<>] |\\l?g?eq?\b", shown))
    shown = re.sub(r"\\[a-zA-Z]+|\\.", "x", shown)
    letters = sum(0.4 * letter.isupper() + (letter not in "{}_^$ ") for letter in shown)
    spaces = 0 if "$" in text else shown.count(" ")
    return 0.54 * (letters - 0.35 * small) + 0.33 * spaces + 0.5 * signs
