"""A report for people who sign: one HTML page that holds all it needs, runs no script and prints well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape, unescape

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #595959; --line: #c8c8c8; --back: #fff; --sheet: #f5f5f2;
  --good: #14532d; --bad: #8a1c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --soft: #b0b0b0; --line: #4a4a4a; --back: #161616;
  --sheet: #222; --good: #8fd6a8; --bad: #ff9a9a; } }
@media print { :root { --ink: #000; --soft: #333; --line: #888; --back: #fff; --sheet: #fff;
  --good: #000; --bad: #000; }
  section { break-inside: avoid; } body { font-size: 10.5pt; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 1rem/1.55 system-ui, "Liberation Sans", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.55rem; line-height: 1.3; margin: 0.3rem 0 0.8rem; }
h1.good { color: var(--good); } h1.bad { color: var(--bad); }
h2 { font-size: 1.1rem; margin: 2rem 0 0.4rem; border-top: 1px solid var(--line); padding-top: 0.9rem; }
.kind { color: var(--soft); margin: 0; text-transform: uppercase; letter-spacing: 0.06em; font-size: 0.8rem; }
.lead { font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.8rem 0.35rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; } tbody th { width: 34%; } tbody th + td { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
td.blank { min-width: 7rem; height: 2.4rem; }
figure { margin: 1rem 0; background: #fff; padding: 0.5rem; border: 1px solid var(--line); }
figure svg { width: 100%; height: auto; display: block; }
figcaption { color: #333; font-size: 0.9rem; padding: 0.3rem; }
pre { background: var(--sheet); padding: 0.7rem; white-space: pre-wrap; overflow-wrap: anywhere;
  border: 1px solid var(--line); font-size: 0.88rem; }
dt { font-weight: 600; } dd { margin: 0 0 0.6rem; }
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG document, and its description in words."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a head; an empty cell is one to be filled in by hand."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A question and its answer: paragraphs, named values, a list, a table, pictures, commands, in this order."""

    question: str
    paragraphs: tuple[str, ...] = ()
    values: Mapping[str, str] | None = None
    points: tuple[str, ...] = ()
    table: Table | None = None
    pictures: tuple[Picture, ...] = ()
    commands: tuple[str, ...] = ()
    words: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The content of one page.

    Attributes:
        kind: The subject, in two words.
        verdict: One sentence, without a full stop.
        holds: Whether that is good news; None where there is nothing to be judged.
    """

    kind: str
    verdict: str
    holds: bool | None
    lead: str
    sections: tuple[Section, ...]


def page(report: Report) -> str:
    """Return the report as HTML; all text is escaped, and pictures are part of the page."""
    tone = {True: ' class="good"', False: ' class="bad"', None: ""}[report.holds]
    body = "\n".join(_section(one) for one in report.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(report.verdict)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<p class="kind">{escape(report.kind)}</p>\n<h1{tone}>{escape(report.verdict)}</h1>\n'
        f'<p class="lead">{escape(report.lead)}</p>\n{body}\n</main>\n</body>\n</html>\n'
    )


def sections(html: str) -> dict[str, str]:
    """Return the sections of a page of this module by their questions, without pictures."""
    without = re.sub(r"<figure.*?</figure>", "", html, flags=re.DOTALL)
    found = re.findall(r"<section>\n<h2>(.*?)</h2>\n(.*?)</section>", without, flags=re.DOTALL)
    return {unescape(question): body for question, body in found}


def _section(one: Section) -> str:
    parts = [f"<h2>{escape(one.question)}</h2>", *(f"<p>{escape(text)}</p>" for text in one.paragraphs)]
    if one.values:
        rows = (
            f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in one.values.items()
        )
        parts.append(f"<table><tbody>{''.join(rows)}</tbody></table>")
    if one.points:
        parts.append(f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in one.points)}</ul>")
    if one.table is not None:
        parts.append(_table(one.table))
    for picture in one.pictures:
        svg = picture.svg[picture.svg.index("<svg") :]  # without what belongs before a document of its own
        label = escape(picture.caption, quote=True)
        parts.append(
            f'<figure role="img" aria-label="{label}">{svg}<figcaption>{escape(picture.caption)}</figcaption></figure>'
        )
    parts += [f"<pre><code>{escape(text)}</code></pre>" for text in one.commands]
    if one.words:
        pairs = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in one.words.items())
        parts.append(f"<dl>{''.join(pairs)}</dl>")
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.head)
    body = "".join(map(_row, table.rows))
    return f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _row(cells: Iterable[str]) -> str:
    told = (f"<td>{escape(text)}</td>" if text else '<td class="blank"></td>' for text in cells)
    return f"<tr>{''.join(told)}</tr>"
