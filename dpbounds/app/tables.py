"""Answers in JSON as rows of a table; a cell is text, or a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpbounds.app.formulas import address
from dpbounds.cli.printing.output import plain
from dpbounds.expressions.exact import Direction, formatted_float, to_decimal
from dpbounds.theorems.index import PAPERS, paper_of
from dpbounds.theorems.references import authors_and_year, cited_as, references


@dataclass(frozen=True, slots=True)
class Link:
    """A statement, and its page."""

    text: str
    href: str


Cell = str | Link


@dataclass(frozen=True, slots=True)
class Rows:
    """A table with its caption; an empty one has the caption alone.

    Attributes:
        folded: Whether a page shows the caption alone until it is opened; None where it is not to be folded.
    """

    caption: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    folded: bool | None = None


def linked(name: str, text: str = "") -> Link:
    """Return a statement by its authors, year and number, or by another text, with the address of its page."""
    return Link(text or cited_as(name), address(name.partition(": ")[0]).replace("&amp;", "&"))


_FEW = 40  # statements of a list that is shown unfolded


def _by_paper(
    found: Sequence[dict[str, Any]], head: tuple[str, ...], row: Callable[[Any], tuple[Cell, ...]]
) -> list[Rows]:
    """Return a table for each paper; the tables of a long list are folded."""
    papers: dict[str, list[tuple[Cell, ...]]] = {}
    for one in found:
        papers.setdefault(paper_of(one["id"]), []).append(row(one))
    return [
        Rows(f"{_paper(paper)} ({len(rows)})", head, tuple(rows), len(found) > _FEW) for paper, rows in papers.items()
    ]


def _theorems(found: Sequence[dict[str, Any]]) -> list[Rows]:
    def row(one: dict[str, Any]) -> tuple[Cell, ...]:
        bounds = (one["metric"] or "").replace("-", " ")
        return linked(one["id"], one["number"]), one["title"], bounds, one["status"], ", ".join(one["errata"])

    tables = _by_paper(found, ("statement", "title", "bounds", "status", "errata"), row)
    return [Rows(f"{len(found)} statements of {len(tables)} papers" if found else "No statement fits."), *tables]


def _paper(paper: str) -> str:
    if paper in PAPERS:
        return PAPERS[paper]
    title = re.sub(r"[{}]", "", references()[paper].fields["title"])
    return f"{authors_and_year(paper)}, {title}"


def _check(found: dict[str, Any]) -> list[Rows]:
    """Return the claims of a certificate, the assumptions that people have to confirm, and the steps of the check."""
    claims = [
        Rows(
            f"What it claims{_ROLES.get(one['role'], '')}",
            ("", ""),
            (
                ("claim", _claimed(one)),
                ("relation", f"{one['relation']}: {one['relation_in_words']}"),
                ("releases", "; ".join(one["releases"])),
                ("digest of the releases", one["digest"]),
            ),
        )
        for one in found["claims"]
    ]
    assumed = tuple((str(number), text) for number, text in enumerate(found["assumptions"], 1))
    ledger = found.get("ledger")
    lines = () if ledger is None else (f"the ledger {'has' if ledger['matches'] else 'does NOT have'} this digest",)
    return [
        *claims,
        Rows("What no certificate can prove, and people have to confirm", ("", "assumption"), assumed),
        Rows("How it was checked", ("step",), tuple((line,) for line in (*lines, *found["lines"])), True),
    ]


_ROLES = {"suffices": " of the noise that keeps the budget", "fails": " of the noise that exceeds the budget"}


def _claimed(claim: dict[str, Any]) -> str:
    """Return a claim as ``epsilon at most 1.5, at least 1.49, at delta = 1e-06``."""
    what = "epsilon" if claim["given"] == "delta" else "delta"
    upper, lower = _decimal(claim["upper"], "up"), _decimal(claim["lower"], "down")
    return f"{what} at most {upper}, at least {lower}, at {claim['given']} = {plain(Fraction(claim['target']))}"


def _decimal(text: str, direction: Direction) -> str:
    """Return a fraction as a certificate writes it, rounded to a side; infinity is not a fraction."""
    return text if "inf" in text else to_decimal(Fraction(text), 10, direction)


def _errata(found: Sequence[dict[str, Any]]) -> list[Rows]:
    def row(one: dict[str, Any]) -> tuple[Cell, ...]:
        corrected = one["severity"], one["printed"], one["right"], one["survives"] or ""
        return linked(one["id"], one["where"]), *corrected, one["evidence"]

    tables = _by_paper(found, ("statement", "kind", "printed", "right", "what survives", "evidence"), row)
    return [Rows(f"{len(found)} errata; each has a test that derives it or exhibits the example"), *tables]


def _tightness(found: Sequence[dict[str, Any]]) -> list[Rows]:
    held = tuple(
        (linked(row["id"]), one["part"], one["verdict"], f"{one['loss']}: {one['run']}", one["gap"])
        for row in found
        for one in row["instances"]
    )
    unknown = tuple((linked(row["id"]), row["open"]) for row in found if row["open"])
    head = ("statement", "part", "verdict", "worst problem known", "where it loses")
    return [
        Rows("Bounds beside problems on which they are nearly attained", head, held),
        *([Rows("Open", ("statement", "why"), unknown)] if unknown else []),
    ]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _end(value: Any, direction: Direction) -> str:
    """Return an end of an interval, rounded outwards."""
    return formatted_float(value, ".4g", direction) if isinstance(value, float) else str(value)


def _without_empty_columns(table: Rows) -> Rows:
    kept = [index for index in range(len(table.head)) if any(row[index] for row in table.rows)]
    rows = (tuple(row[index] for index in kept) for row in table.rows)
    return Rows(table.caption, tuple(table.head[index] for index in kept), tuple(rows))


_APART = "orders of growth that hide what decides: not ranked"


def _guarantee(one: dict[str, Any]) -> tuple[Cell, ...]:
    sign, number = ("≤", one["bound"]["upper"]) if one["bound"] else ("~", one["rate"]["value"])
    value = f"{sign}\N{NO-BREAK SPACE}{_end(number, 'up')}"
    return (
        str(one["place"] or "–"),
        linked(one["id"]),
        value + (" (vacuous)" if one["vacuous"] else ""),
        one["sense"] or "",
        "" if one["gradient_evaluations"] is None else _number(float(one["gradient_evaluations"])),
        one["status"],
        str(one["meaningful_from"]["dataset_size"]) if one["meaningful_from"] else "",
        one["why"],
    )


def _plan(found: dict[str, Any]) -> list[Rows]:
    head = ("place", "statement", "guarantee", "sense", "gradients", "status", "meaningful from n =", "why")
    kinds: dict[str, list[tuple[Cell, ...]]] = {}
    for one in (*found["ranking"], *({**one, "like": _APART} for one in found["not_ranked"])):
        kinds.setdefault(one["like"], []).append(_guarantee(one))
    trivial = [
        f"Without any algorithm: at most {_end(one['value'], 'up')}: {one['reason']}" for one in found["trivial"][:1]
    ]
    floors = [
        f"No method is below {'the order of ' * one['up_to_constant']}{_end(one['value'], 'down')} "
        f"({cited_as(one['id'])})"
        for one in found["lower_bounds"][:1]
    ]
    vacuous = ["Every bound is vacuous at these numbers: none is below the bound that holds without any algorithm."]
    said = ". ".join([*trivial, *floors, *(vacuous if found["all_vacuous"] else [])])
    tables = [Rows(f"≤ proven; ~ an order of growth, no bound. {said}")]
    tables += [_without_empty_columns(Rows(kind, head, tuple(rows))) for kind, rows in kinds.items()]
    runs = tuple(
        (
            linked(one["id"]),
            one["command"],
            ", ".join(f"{name} = {_number(each['value'])}" for name, each in one["parameters"].items()),
        )
        for one in found["ranking"]
        if one["command"]
    )
    if runs:
        tables.append(Rows("Commands that run them", ("statement", "command", "parameters"), runs))
    missing = tuple((linked(one["id"]), ", ".join(one["needs"])) for one in found["missing"])
    if missing:
        tables.append(Rows("Not ranked: a value is missing", ("statement", "needs"), missing))
    out = tuple((linked(one["id"]), one["reason"]) for one in found["left_out"])
    if out:
        tables.append(Rows("Left out", ("statement", "why"), out))
    return tables


def _verify(found: dict[str, Any]) -> list[Rows]:
    said = [one["verdict"] for one in found["checks"]]
    counts = ", ".join(f"{said.count(verdict)} {words}" for verdict, words in _VERDICTS.items())
    head = ("statement", "check", "verdict", "claimed", "measured", "interval", "why")
    rows = tuple(
        (
            linked(one["theorem"]),
            one["name"],
            one["verdict"],
            _promised(one["predicted"]),
            _number(one["measured"]["mean"]),
            _between(one["measured"]["low"], one["measured"]["high"]),
            one["reason"],
        )
        for one in sorted(found["checks"], key=lambda one: list(_VERDICTS).index(one["verdict"]))
    )
    experiments = tuple(
        (linked(one["theorem"]), one["name"], " ".join(one["findings"])) for one in found["experiments"]
    )
    told = ("statement", "experiment", "what it shows")
    return [
        Rows(f"Guarantees of theorems, compared with runs: {counts}", head, rows),
        *([Rows("Experiments of papers, again", told, experiments)] if experiments else []),
    ]


_VERDICTS = {"fails": "fail", "undecided": "are undecided", "compatible": "are compatible", "holds": "hold"}


def _promised(found: Any) -> str:
    return _between(found["lower"], found["upper"]) if isinstance(found, dict) else _number(found)


def _between(low: Any, high: Any) -> str:
    """Return two ends, rounded outwards; or the upper one where no digit that is shown distinguishes them."""
    return _end(high, "up") if _number(low) == _number(high) else f"[{_end(low, 'down')}, {_end(high, 'up')}]"


def _audit(found: dict[str, Any]) -> list[Rows]:
    if "copies" in found:
        return [_copies(found)]
    if "design" in found:
        return [_scores(found)]
    findings = found.get("findings", [found])
    head = (
        *("algorithm", "verdict", "ε at least", "unassuming", "certified ε, at most", "claimed ε", "at δ", "runs"),
        *("ended by", "attack"),
    )
    rows = tuple(
        (
            one["algorithm"],
            _verdict(one),
            _end(one["lower"]["epsilon"], "down"),
            _end(one["unassuming"], "down"),
            _at_most(one["certified"]),
            _number(one["claim"]["epsilon"]),
            _number(one["claim"]["delta"]),
            str(one["runs"]),
            one["ended"],
            f"{one['lower']['attack']} ({one['lower']['method']})",
        )
        for one in findings
    )
    confidence = found["confidence"] if "findings" in found else found["lower"]["confidence"]
    return [Rows(f"What attacks prove, with {_number(confidence)} confidence {_TOGETHER}", head, rows)]


_TOGETHER = "for all lines together"


def _scores(found: dict[str, Any]) -> Rows:
    """Lower bounds from scores of canaries, and the claim that they are compared with."""
    sure, claim = f"with {_number(found['confidence'])} confidence", found["claim"]
    gaussian, at = found["gaussian"], f"at δ = {_number(found['delta'])}"
    rows = [
        ("ε at least", f"{_end(found['lower']['epsilon'], 'down')} {at}, {sure} ({found['lower']['found_by']})"),
        ("μ at least, if the run is Gaussian", f"{_end(gaussian['mu'], 'down')}, {sure} ({gaussian['found_by']})"),
        ("scores", f"{found['included']} in, {found['excluded']} out"),
        ("relation", found["relation"]),
    ]
    if claim is not None:
        source = "" if claim["source"].startswith("--") else f" ({claim['source']})"
        rows.append(("claimed ε", _at_most(claim["epsilon"]) + source))
    return Rows("What the scores prove", ("", ""), tuple(rows))


def _copies(found: dict[str, Any]) -> Rows:
    """Broken copies, which have to be caught, and sound ones."""
    head = ("copy", "flaw", "verdict", "as expected", "ε at least", "claimed ε", "at δ")
    rows = tuple(
        (
            one["name"],
            one["flaw"],
            "caught" if one["caught"] else "not caught",
            "yes" if one["caught"] == one["broken"] else "NO",
            _end(one["lower"]["epsilon"], "down"),
            _number(one["claim"]["epsilon"]),
            _number(one["claim"]["delta"]),
        )
        for one in found["copies"]
    )
    said = "all as expected" if found["all_as_expected"] else "NOT all as expected"
    return Rows(f"{said}, with {_number(found['confidence'])} confidence {_TOGETHER}", head, rows)


def _at_most(value: Any) -> str:
    """Return a proven upper bound, rounded up; or the word that stands for infinity."""
    return to_decimal(Fraction(value), 6, "up") if isinstance(value, float) else str(value)


def _verdict(one: dict[str, Any]) -> str:
    if not one["sound"]:
        return "more than is certified: ledger or code is wrong"
    return "claim refuted" if one["claim_refuted"] else "agrees"


TABLES: dict[str, Callable[[Any], list[Rows]]] = {
    "check": _check,
    "theorems": _theorems,
    "errata": _errata,
    "tightness": _tightness,
    "plan": _plan,
    "verify": _verify,
    "audit": _audit,
}
