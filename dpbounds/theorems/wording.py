"""A statement in words: for a terminal, for a notebook, for a page; formulas in letters, as a colleague would write."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from dpbounds.theorems.formulas import drawn, in_latex, inline, letters
from dpbounds.theorems.latex_text import prose
from dpbounds.theorems.lettering import letter, without_latex
from dpbounds.theorems.parts import Bound, Erratum, Parameter, Part, Rate
from dpbounds.theorems.vocabulary import Kind, Side

if TYPE_CHECKING:
    from dpbounds.theorems.record import Theorem
from dpbounds.theorems.index import listing

WIDTH = 100


def letters_of(theorem: Theorem) -> list[tuple[str, str, str]]:
    """The letters of the formulas, the name under which each is given a value, and its letter in the text, if another.

    Sorted by name, so that a reader finds what to type.
    """
    conditions = (*theorem.conditions, *(one for part in theorem.parts for one in part.conditions))
    symbols = {symbol for part in theorem.parts for symbol in part.expression.free_symbols}
    symbols |= {symbol for one in conditions for symbol in getattr(one.holds, "free_symbols", ())}
    names, other = letters(theorem.local), dict(theorem.in_text)
    found = [
        (letter(names[symbol]), symbol.name, letter(other.get(symbol, ""))) for symbol in symbols if symbol in names
    ]
    return sorted(found, key=lambda one: one[1])


def heading(theorem: Theorem) -> str:
    """What stands first: number, paper, title."""
    return f"{theorem.number} ({theorem.paper}): {theorem.title}"


def claim(theorem: Theorem) -> str:
    """What is bounded, in which sense, for whom, in one line."""
    words = [str(theorem.metric).replace("-", " ")] if theorem.metric.value != "none" else []
    if theorem.side is not None:
        words.append(_SIDES[theorem.side])
    if theorem.mode is not None:
        words.append(
            {"expectation": "in expectation", "probability": "with high probability", "always": "always"}[theorem.mode]
        )
    if theorem.relation is not None:
        words.append(f"under {theorem.relation}")
    if theorem.sampling:
        words.append(theorem.sampling)
    return ", ".join(words)


_SIDES = {Side.UPPER: "upper bound", Side.LOWER: "lower bound", Side.TIGHT: "exact"}


def sense(part: Part) -> str:
    """Which of the three kinds of numbers a part is, in words."""
    if isinstance(part, Bound):
        return "bound with explicit constants"
    if isinstance(part, Rate):
        return (
            "order of growth" + (", logarithms left out" if part.logs_hidden else "") + "; the constant is not stated"
        )
    assert isinstance(part, Parameter)
    return "prescribed" + (", up to a constant that is not stated" if part.up_to_constant else "")


def _of_its_own(theorem: Theorem, part: Part) -> list[str]:
    """What is true of a part and not of the statement as a whole."""
    found = [str(part.status)] if part.status not in (None, theorem.status) else []
    if part.side not in (None, theorem.side):
        found.append(_SIDES[part.side])
    if part.under is not None:
        found.append(f"under {part.under}")
    return found + ([f"assumes {', '.join(one.name for one in part.assumptions)}"] if part.assumptions else [])


def _paragraphs(text: str, indent: str = "") -> list[str]:
    """Text wrapped for a terminal; displayed formulas and lists keep their lines."""
    lines: list[str] = []
    for block in textwrap.dedent(text).strip().split("\n\n"):
        wrapped = textwrap.fill(
            without_latex(" ".join(block.split())),
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        lines += [wrapped, ""]
    return lines


def statement_of(theorem: Theorem) -> str:
    """The claim in words: the file's docstring without its first line's repetition of the title."""
    return textwrap.dedent(theorem.statement or "").strip()


def as_text(theorem: Theorem) -> str:
    """What a careful colleague would say at a whiteboard."""
    lines = [heading(theorem), f"{theorem.id}  [{theorem.status}]", ""]
    if claim(theorem):
        lines += [f"Bounds: {claim(theorem)}", ""]
    lines += _paragraphs(statement_of(theorem))
    if theorem.assumptions:
        lines.append("Assumes")
        lines += [
            textwrap.fill(f"{one.name}: {one.text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
            for one in theorem.assumptions
        ]
        lines.append("")
    conditions = theorem.conditions
    if conditions:
        lines.append("Applies when")
        lines += [
            f"  {inline(one.holds, theorem.local)}" + (f"   ({one.why})" if one.why else "") for one in conditions
        ]
        lines.append("")
    for part in theorem.parts:
        tags = [*([sense(part)] if part.meaning else []), *_of_its_own(theorem, part)]
        lines.append(f"{part.name}: {part.meaning or sense(part)}" + (f"  [{'; '.join(tags)}]" if tags else ""))
        lines.append(drawn(part.expression, theorem.local))
        restored = part.restored_expression if isinstance(part, Rate) else None
        if restored is not None:
            lines += ["  with the constants that print takes as 1:", drawn(restored, theorem.local)]
        lines += [
            f"  needs {inline(one.holds, theorem.local)}" + (f"   ({one.why})" if one.why else "")
            for one in part.conditions
        ]
        lines.append("")
    legend = letters_of(theorem)
    if legend:
        told = [f"{one} is {name}" + (f" ({other} in the text)" if other else "") for one, name, other in legend]
        lines += [*_paragraphs(f"Letters: {'; '.join(told)}.")]
    if theorem.privacy is not None:
        lines += [f"Privacy: promises {theorem.privacy.claim} under {theorem.privacy.relation}; "
                  f"`dpbounds evaluate {theorem.id} --part spent ...` computes what it spends.", ""]  # fmt: skip
    if theorem.errata:
        lines.append("Wrong in print")
        lines += [_erratum_text(one) for one in theorem.errata]
        lines.append("")
    if theorem.notes:
        lines.append("Notes")
        lines += [
            textwrap.fill(without_latex(one.text), WIDTH, initial_indent="  ", subsequent_indent="    ")
            for one in theorem.notes
        ]
        lines.append("")
    lines += [f"Links: {link}" for link in links(theorem)]
    lines.append(f"Source: {theorem.where}; read here: {theorem.read}.")
    return "\n".join(lines)


def links(theorem: Theorem) -> list[str]:
    """What the statement rests on, replaces, is replaced by."""
    found = []
    if theorem.makes_explicit:
        found.append(f"makes {theorem.makes_explicit} explicit")
    if theorem.algorithm:
        found.append(f"algorithm {theorem.algorithm}")
    if theorem.relies_on:
        found.append("relies on " + ", ".join(_with_status(name) for name in theorem.relies_on))
    if theorem.superseded_by:
        found.append("superseded by " + ", ".join(_with_status(name) for name in theorem.superseded_by))
    return found


def _with_status(name: str) -> str:
    """An id with what is known of that statement: a reader must not be sold a proof that rests on a broken one."""
    known = {entry.id: entry.status for entry in listing()}
    return f"{name} ({known.get(name, 'not in the library')})"


def _erratum_text(one: Erratum) -> str:
    scope = f" [{one.severity}" + (f", under {one.relation}" if one.relation else "") + "]"
    place = f" ({one.where})" if one.where else ""
    text = f"printed: {one.printed}; right: {one.right}" + (f"; survives: {one.survives}" if one.survives else "")
    text += f"; also in {', '.join(one.also)}" if one.also else ""
    return textwrap.fill(without_latex(text + place) + scope, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _erratum_markdown(one: Erratum) -> str:
    scope = f" (under {one.relation})" if one.relation else ""
    tail = f" Survives: {one.survives}." if one.survives else ""
    tail += f" Also in {', '.join(one.also)}." if one.also else ""
    return f"- *{one.severity}*{scope}: printed: {one.printed}; right: {one.right}.{tail}"


def as_markdown(theorem: Theorem, level: int = 2) -> str:
    """One statement as a section of a page; formulas in LaTeX between dollar signs."""
    lines = [f"{'#' * level} {theorem.number}: {theorem.title}", "", f"`{theorem.id}` · **{theorem.status}**"]
    if claim(theorem):
        lines[-1] += f" · {claim(theorem)}"
    lines += ["", statement_of(theorem), ""]
    if theorem.assumptions:
        lines += ["Assumes: " + "; ".join(one.name for one in theorem.assumptions) + ".", ""]
    conditions = theorem.conditions
    if conditions:
        shown = (f"${in_latex(one.holds, theorem.local)}$" + (f" ({one.why})" if one.why else "") for one in conditions)
        lines += ["Applies when " + "; ".join(shown) + ".", ""]
    for part in theorem.parts:
        tags = "; ".join((sense(part), *_of_its_own(theorem, part)))
        lines += [f"**{part.name}** ({tags})" + (f": {part.meaning}" if part.meaning else ""), ""]
        lines += ["$$", displayed(part, theorem), "$$", ""]
        restored = part.restored_expression if isinstance(part, Rate) else None
        if restored is not None:
            lines += [f"With what print takes as 1: ${in_latex(restored, theorem.local)}$.", ""]
    if theorem.errata:
        lines.append("Wrong in print:\n")
        lines += [_erratum_markdown(one) for one in theorem.errata]
        lines.append("")
    lines += [f"> {one.text}\n" for one in theorem.notes]
    tail = "; ".join([*links(theorem), f"source: {theorem.where}", f"read here: {theorem.read}"])
    return "\n".join([*lines, f"<sub>{tail}</sub>", ""])


def displayed(part: Part, theorem: Theorem) -> str:
    """A part's formula in LaTeX, inside an O(.) where the constant is not stated."""
    text = in_latex(part.expression, theorem.local)
    if part.kind is Kind.RATE or (isinstance(part, Parameter) and part.up_to_constant):
        order = r"\tilde{O}" if isinstance(part, Rate) and part.logs_hidden else "O"
        text = rf"{order}\left({text}\right)"
    return text


def as_latex(theorem: Theorem) -> str:
    """One statement in LaTeX, to paste into a paper; what it needs in the preamble stands first, as a comment."""
    lines = [r"% needs \usepackage{amsmath,amssymb} and \newtheorem{theorem}{Theorem}"]
    lines += [rf"\begin{{theorem}}[{{{prose(f'{theorem.number}, {theorem.title}')}}}]", prose(statement_of(theorem))]
    if theorem.assumptions:
        lines.append(_comment("assumes: " + "; ".join(f"{one.name} ({one.text})" for one in theorem.assumptions)))
    lines += [_comment(f"applies when ${in_latex(one.holds, theorem.local)}$") for one in theorem.conditions]
    for part in theorem.parts:
        tags = "; ".join((sense(part), *_of_its_own(theorem, part)))
        lines += [_comment(f"{part.name}: {tags}"), r"\[", displayed(part, theorem), r"\]"]
    return "\n".join([*lines, r"\end{theorem}", ""])


def _comment(text: str) -> str:
    return "% " + " ".join(text.split())


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def as_data(theorem: Theorem) -> dict[str, object]:
    """One statement as plain data, for programs."""
    return {
        "id": theorem.id,
        "paper": theorem.paper,
        "number": theorem.number,
        "title": theorem.title,
        "metric": str(theorem.metric),
        "side": theorem.side and str(theorem.side),
        "mode": theorem.mode and str(theorem.mode),
        "status": str(theorem.status),
        "relation": theorem.relation and str(theorem.relation),
        "sampling": theorem.sampling or None,
        "algorithm": theorem.algorithm,
        "statement": statement_of(theorem),
        "assumptions": [{"name": one.name, "text": one.text} for one in theorem.assumptions],
        "conditions": [{"text": inline(one.holds, theorem.local), "why": one.why} for one in theorem.conditions],
        "parts": [
            {
                "name": part.name,
                "kind": str(part.kind),
                "meaning": part.meaning,
                "formula": inline(part.expression, theorem.local),
                "latex": displayed(part, theorem),
                "quantities": sorted(str(symbol) for symbol in part.expression.free_symbols),
                "status": str(theorem.status_of(part)),
                "side": _text(theorem.side_of(part)),
                "under": _text(part.under),
                "assumptions": [one.name for one in part.assumptions],
            }
            for part in theorem.parts
        ],
        "errata": [
            {
                "printed": one.printed,
                "right": one.right,
                "severity": str(one.severity),
                "evidence": one.evidence,
                "survives": one.survives or None,
                "relation": one.relation and str(one.relation),
                "also": list(one.also),
            }
            for one in theorem.errata
        ],
        "letters": {name: one for one, name, _ in letters_of(theorem)},
        "notes": [one.text for one in theorem.notes],
        "relies_on": list(theorem.relies_on),
        "superseded_by": list(theorem.superseded_by),
        "makes_explicit": theorem.makes_explicit,
        "where": theorem.where,
        "read": str(theorem.read),
    }
