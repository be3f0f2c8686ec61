"""Markdown with formulas as HTML with MathML, which browsers render without scripts or downloads."""

from __future__ import annotations

import re
from functools import cache
from html import escape, unescape
from urllib.parse import urlencode

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from dpbounds.theorems.index import listing
from dpbounds.theorems.references import id_of

_OPERATORS = re.compile(r"\\arg\s*\\(min|max)")
_SIZES = re.compile(r"\\[bB]igg?[lr]?(?![a-zA-Z])")  # brackets stretch by themselves


def mathml(latex: str, *, display: bool = False) -> str:
    """Return a formula.

    >>> mathml("x").startswith("<math")
    True
    """
    plain = _SIZES.sub("", _OPERATORS.sub(r"\\operatorname{arg \1}", latex))
    return convert(plain, display="block" if display else "inline")


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    return made.use(
        dollarmath_plugin,
        double_inline=True,
        renderer=lambda latex, options: mathml(latex, display=options["display_mode"]),
    )


def page(markdown: str) -> Markup:
    """Return a statement, or a table, as HTML; ids of statements, and names of them in cells, lead to their pages."""
    text = re.sub(r"</?sub>", "", markdown)
    below = re.sub(r"(</?)h1>", r"\1h2>", _markdown().render(text))  # a page has a heading of its own
    return Markup(_linked(below))  # noqa: S704 (all text was escaped by the renderer)


def _linked(html: str) -> str:
    ids = {entry.id for entry in listing()}

    def link(match: re.Match[str]) -> str:
        name = match[1].partition(":")[0]
        return f'<a href="{address(name)}">{match[0]}</a>' if name in ids else match[0]

    def cell(match: re.Match[str]) -> str:
        name = id_of(unescape(match[1]).partition(": ")[0])
        return f'<td><a href="{address(name)}">{match[1]}</a></td>' if name in ids else match[0]

    return re.sub(r"<td>([^<]+)</td>", cell, re.sub(r"<code>([^<]+)</code>", link, html))


def address(name: str) -> str:
    """Return the page of a statement."""
    return escape("/library/statement?" + urlencode({"name": name}, safe="/"))


def powers(text: str) -> Markup:
    """Return an order of growth such as d^(2/3)/n with raised powers.

    >>> powers("d^(2/3)/(n ε) < n^2")
    Markup('d<sup>2/3</sup>/(n ε) &lt; n<sup>2</sup>')
    """
    return Markup(re.sub(r"\^(?:\(([^()]+)\)|(\d+))", r"<sup>\1\2</sup>", escape(text)))  # noqa: S704 (escaped)
