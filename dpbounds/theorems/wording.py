"""Statements in words: for a terminal, a notebook or a page; formulas in letters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dpbounds.theorems.formulas import drawn, in_latex, inline, letters
from dpbounds.theorems.index import listing
from dpbounds.theorems.latex_text import prose
from dpbounds.theorems.lettering import letter, without_latex
from dpbounds.theorems.parts import Bound, Condition, Erratum, Part, Rate
from dpbounds.theorems.vocabulary import Mode, Side

if TYPE_CHECKING:
    from dpbounds.theorems.record import Theorem

WIDTH = 100
_SIDES = {Side.UPPER: "upper bound", Side.LOWER: "lower bound", Side.TIGHT: "exact"}
_MODES = {Mode.EXPECTATION: "in expectation", Mode.PROBABILITY: "with high probability", Mode.ALWAYS: "always"}


def letters_of(theorem: Theorem) -> list[tuple[str, str, str]]:
    """The letters of the formulas, the name under which each is given a value, and its letter in the text, if another.

    Sorted by name, so that a reader finds what to type.
    """
    formulas = [part.expression.free_symbols for part in theorem.parts]
    symbols = set().union(*formulas, *(condition.symbols for condition in theorem.every_condition))
    names, other = letters(theorem.local), dict(theorem.in_text)
    found = [
        (letter(names[symbol]), symbol.name, letter(other.get(symbol, ""))) for symbol in symbols if symbol in names
    ]
    return sorted(found, key=lambda one: one[1])


def claim(theorem: Theorem) -> str:
    """Return the bounded quantity, the sense of the bound and its scope, in one line."""
    words = (
        "" if theorem.metric.value == "none" else str(theorem.metric).replace("-", " "),
        "" if theorem.side is None else _SIDES[theorem.side],
        "" if theorem.mode is None else _MODES[theorem.mode],
        "" if theorem.relation is None else f"under {theorem.relation}",
        theorem.sampling,
    )
    return ", ".join(filter(None, words))


def sense(part: Part) -> str:
    """Return the kind of number of a part, in words."""
    if isinstance(part, Bound):
        return "bound with explicit constants"
    if isinstance(part, Rate):
        logarithms = ", logarithms left out" if part.logs_hidden else ""
        return f"order of growth{logarithms}; the constant is not stated"
    return "prescribed" + (", up to a constant that is not stated" if part.is_order else "")


def _of_its_own(theorem: Theorem, part: Part) -> list[str]:
    """Return the properties of a part that the statement as a whole does not have."""
    words = (
        "" if part.status in (None, theorem.status) else str(part.status),
        "" if part.side is None or part.side is theorem.side else _SIDES[part.side],
        "" if part.under is None else f"under {part.under}",
        f"assumes {', '.join(one.name for one in part.assumptions)}" if part.assumptions else "",
    )
    return list(filter(None, words))


def _tags(theorem: Theorem, part: Part) -> str:
    return "; ".join((sense(part), *_of_its_own(theorem, part)))


def _paragraphs(text: str) -> list[str]:
    """Text wrapped for a terminal, an empty line after each paragraph."""
    blocks = (" ".join(block.split()) for block in textwrap.dedent(text).strip().split("\n\n"))
    return [
        line for block in blocks for line in (textwrap.fill(without_latex(block), WIDTH, break_on_hyphens=False), "")
    ]


def _item(text: str) -> str:
    """Return an entry of a list, wrapped for a terminal."""
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _section(title: str, items: Iterable[str]) -> list[str]:
    """Items under a title, and an empty line; nothing where there are none."""
    lines = list(items)
    return [title, *lines, ""] if lines else []


def _condition(condition: Condition, theorem: Theorem) -> str:
    return inline(condition.holds, theorem.local) + (f"   ({condition.why})" if condition.why else "")


def statement_of(theorem: Theorem) -> str:
    """Return the claim in words: the file's docstring without its first line's repetition of the title."""
    return textwrap.dedent(theorem.statement or "").strip()


def as_text(theorem: Theorem) -> str:
    """Return the statement as text for the terminal."""
    lines = [f"{theorem.number} ({theorem.paper}): {theorem.title}", f"{theorem.id}  [{theorem.status}]", ""]
    lines += [f"Bounds: {claim(theorem)}", ""] if claim(theorem) else []
    lines += _paragraphs(statement_of(theorem))
    lines += _section("Assumes", (_item(f"{one.name}: {one.text}") for one in theorem.assumptions))
    lines += _section("Applies when", (f"  {_condition(one, theorem)}" for one in theorem.conditions))
    for part in theorem.parts:
        tags = [*([sense(part)] if part.meaning else []), *_of_its_own(theorem, part)]
        lines.append(f"{part.name}: {part.meaning or sense(part)}" + (f"  [{'; '.join(tags)}]" if tags else ""))
        lines.append(drawn(part.expression, theorem.local))
        restored = part.restored_expression
        if restored is not None:
            lines += ["  with the constants that the paper takes as 1:", drawn(restored, theorem.local)]
        lines += [*(f"  needs {_condition(one, theorem)}" for one in part.conditions), ""]
    legend = letters_of(theorem)
    if legend:
        told = [f"{one} is {name}" + (f" ({other} in the text)" if other else "") for one, name, other in legend]
        lines += _paragraphs(f"Letters: {'; '.join(told)}.")
    if theorem.privacy is not None:
        lines += [f"Privacy: claims {theorem.privacy.claim} under {theorem.privacy.relation}; "
                  f"`dpbounds evaluate {theorem.id} --part spent ...` computes what it spends.", ""]  # fmt: skip
    lines += _section("Errata", map(_erratum_text, theorem.errata))
    lines += _section("Notes", (_item(without_latex(one.text)) for one in theorem.notes))
    lines += [f"Links: {link}" for link in links(theorem)]
    lines.append(f"Source: {theorem.where}; read here: {theorem.read}.")
    return "\n".join(lines)


def links(theorem: Theorem) -> list[str]:
    """Return the statements that it relies on, replaces, or is replaced by."""
    known = {entry.id: entry.status for entry in listing()}

    def told(names: tuple[str, ...]) -> str:
        """Return names with their status, so that a proof that relies on a broken one is marked."""
        return ", ".join(f"{name} ({known.get(name, 'not in the library')})" for name in names)

    words = (
        f"makes {theorem.makes_explicit} explicit" if theorem.makes_explicit else "",
        f"algorithm {theorem.algorithm}" if theorem.algorithm else "",
        f"relies on {told(theorem.relies_on)}" if theorem.relies_on else "",
        f"superseded by {told(theorem.superseded_by)}" if theorem.superseded_by else "",
    )
    return list(filter(None, words))


def _erratum_text(one: Erratum) -> str:
    scope = f" [{one.severity}" + (f", under {one.relation}" if one.relation else "") + "]"
    place = f" ({one.where})" if one.where else ""
    text = f"printed: {one.printed}; right: {one.right}" + (f"; survives: {one.survives}" if one.survives else "")
    text += f"; also in {', '.join(one.also)}" if one.also else ""
    return _item(without_latex(text + place) + scope)


def _erratum_markdown(one: Erratum) -> str:
    scope = f" (under {one.relation})" if one.relation else ""
    tail = f" Survives: {one.survives}." if one.survives else ""
    tail += f" Also in {', '.join(one.also)}." if one.also else ""
    return f"- *{one.severity}*{scope}: printed: {one.printed}; right: {one.right}.{tail}"


def _conditions_markdown(conditions: Iterable[Condition], theorem: Theorem) -> str:
    return "; ".join(
        f"${in_latex(one.holds, theorem.local)}$" + (f" ({one.why})" if one.why else "") for one in conditions
    )


def as_markdown(theorem: Theorem, level: int = 2) -> str:
    """One statement as a section of a page; formulas in LaTeX between dollar signs."""
    about = filter(None, (f"`{theorem.id}`", f"**{theorem.status}**", claim(theorem)))
    lines = [f"{'#' * level} {theorem.number}: {theorem.title}", "", " · ".join(about), "", statement_of(theorem), ""]
    if theorem.assumptions:
        lines += ["Assumes: " + "; ".join(one.name for one in theorem.assumptions) + ".", ""]
    if theorem.conditions:
        lines += [f"Applies when {_conditions_markdown(theorem.conditions, theorem)}.", ""]
    for part in theorem.parts:
        lines += [f"**{part.name}** ({_tags(theorem, part)})" + (f": {part.meaning}" if part.meaning else ""), ""]
        lines += ["$$", displayed(part, theorem), "$$", ""]
        restored = part.restored_expression
        if restored is not None:
            lines += [f"With the constants that the paper takes as 1: ${in_latex(restored, theorem.local)}$.", ""]
        if part.conditions:
            lines += [f"Needs {_conditions_markdown(part.conditions, theorem)}.", ""]
    lines += _section("Errata:\n", map(_erratum_markdown, theorem.errata))
    lines += [f"> {one.text}\n" for one in theorem.notes]
    tail = "; ".join([*links(theorem), f"source: {theorem.where}", f"read here: {theorem.read}"])
    return "\n".join([*lines, f"<sub>{tail}</sub>", ""])


def displayed(part: Part, theorem: Theorem) -> str:
    """Return a part's formula in LaTeX, inside an O(.) where the constant is not stated."""
    text = in_latex(part.expression, theorem.local)
    if part.is_order:
        order = r"\tilde{O}" if isinstance(part, Rate) and part.logs_hidden else "O"
        text = rf"{order}\left({text}\right)"
    return text


def as_latex(theorem: Theorem) -> str:
    """Return one statement in LaTeX, to paste into a paper; the required preamble is a comment at the top."""
    lines = [r"% needs \usepackage{amsmath,amssymb} and \newtheorem{theorem}{Theorem}"]
    lines += [rf"\begin{{theorem}}[{{{prose(f'{theorem.number}, {theorem.title}')}}}]", prose(statement_of(theorem))]
    if theorem.assumptions:
        lines.append(_comment("assumes: " + "; ".join(f"{one.name} ({one.text})" for one in theorem.assumptions)))
    lines += [_comment(f"applies when ${in_latex(one.holds, theorem.local)}$") for one in theorem.conditions]
    for part in theorem.parts:
        lines += [_comment(f"{part.name}: {_tags(theorem, part)}"), r"\[", displayed(part, theorem), r"\]"]
        lines += [_comment(f"needs ${in_latex(one.holds, theorem.local)}$") for one in part.conditions]
    return "\n".join([*lines, r"\end{theorem}", ""])


def _comment(text: str) -> str:
    return "% " + " ".join(text.split())


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _conditions_data(conditions: Iterable[Condition], theorem: Theorem) -> list[dict[str, str]]:
    return [{"text": inline(one.holds, theorem.local), "why": one.why} for one in conditions]


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
        "conditions": _conditions_data(theorem.conditions, theorem),
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
                "conditions": _conditions_data(part.conditions, theorem),
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
