"""What the pages need beside Sphinx: formulas as MathML, which browsers draw without a script, and the help of verbs.

Formulas occur in two forms. Statements are written in LaTeX. Derivations are written in plain Unicode, in paragraphs
and in indented blocks, with ``x_k`` and ``e^{-λt}`` for what stands below or above the line; here it is put there.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from click.testing import CliRunner
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from markdown_it import MarkdownIt
from sphinx.addnodes import not_smartquotable, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

import dpbounds

_LOG = logging.getLogger(__name__)

# --- LaTeX ------------------------------------------------------------------------------------------------------------

# LaTeX that docutils knows under another name only.
_SYNONYMS = (
    (re.compile(r"\\(big|Big|bigg|Bigg)(?![A-Za-z])"), r"\\\1l"),
    (re.compile(r"\\dots(?![A-Za-z])"), r"\\ldots"),
    (re.compile(r"\\frac\s*(\d)\s*(\d)"), r"\\frac{\1}{\2}"),
)
_PAIRS = (
    (re.compile(r"(?<!\\){"), re.compile(r"(?<!\\)}")),
    (re.compile(r"\\left(?![A-Za-z])"), re.compile(r"\\right(?![A-Za-z])")),
)
_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML knows it without being told


def mathml(latex: str, *, display: bool = False) -> str:
    """A LaTeX formula as MathML.

    Raises:
        MathError: The formula is wrong, or contains something that the converter does not know.
    """
    for written, known in _SYNONYMS:
        latex = written.sub(known, latex)
    for opening, closing in _PAIRS:  # docutils closes by itself what was left open
        if len(opening.findall(latex)) != len(closing.findall(latex)):
            raise MathError(f"{opening.pattern} and {closing.pattern} do not match")
    return tex2mathml(latex, as_block=display).replace(_NAMESPACE, "")


def _visit(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    try:
        translator.body.append(mathml(node.astext(), display=isinstance(node, nodes.math_block)))
    except MathError as error:
        _LOG.warning("formula %r: %s", node.astext(), error, location=node)
    raise nodes.SkipNode


# --- Unicode ----------------------------------------------------------------------------------------------------------

# Where the base of a subscript ends: a symbol or a closing bracket, one or two letters, an operator with limits.
_BASE = re.compile(r"(?:[^\w\s]|\d|(?:^|[^A-Za-z_])(?:[^\W\d_][̀-ͯ]*){1,2}|arg|log|lim|max|min|sup|inf)$")
_LETTER = re.compile(r"[^\W\d_](?!\w)")  # may stand below a whole word
_NAKED = re.compile(r"[+\-−]?\d+(?:\.\d+)?|[+\-−]?[A-Za-z]+\d*[̀-ͯ]*[′']*|[+\-−]?\w[̀-ͯ]*|[+\-−±]?\d+|[+\-*∞⊤⊥†∅]|\|\w\|")
_MORE = re.compile(r",(?:[A-Za-z]|\d)(?!\w)")
_MARK = re.compile(r"[\w./]+\.(?:md|py)\b|(?P<mark>[_^])")  # the name of a file is no formula
_CLOSES = {"{": "}", "(": ")", "[": "]"}


def _bracketed(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` is closed, or -1."""
    opening, closing, depth = text[start], _CLOSES[text[start]], 0
    for position in range(start, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if depth == 0:
            return position
    return -1


def _script(text: str, mark: int) -> tuple[str, int] | None:
    """What stands below or above the line because of the mark at that place, and where the rest goes on."""
    start = mark + 1
    if not mark or text[mark - 1].isspace() or start == len(text):
        return None
    if text[start] in _CLOSES:
        end = _bracketed(text, start)
        if end > 0:
            return (text[start + 1 : end] if text[start] == "{" else text[start : end + 1]), end + 1
        return None
    if text[mark] == "_" and not _BASE.search(text[max(0, mark - 12) : mark]) and not _LETTER.match(text, start):
        return None
    naked = _NAKED.match(text, start)
    if naked is None:
        return None
    more = _MORE.match(text, naked.end())
    end = more.end() if text[mark] == "_" and more else naked.end()
    return text[start:end], end


def scripts(text: str) -> Iterator[nodes.Node]:
    """The same text, with subscripts and superscripts where ``_`` and ``^`` stood for them."""
    done = 0
    for mark in (match.start("mark") for match in _MARK.finditer(text) if match["mark"]):
        if mark >= done and (found := _script(text, mark)):
            if mark > done:
                yield nodes.Text(text[done:mark])
            content, done = found
            kind = nodes.subscript if text[mark] == "_" else nodes.superscript
            yield kind("", "", *scripts(content))
    if done < len(text):
        yield nodes.Text(text[done:])


_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)


_INLINE = re.compile(r"(?<![$\\])\$(?![$\s])[^$]+\$(?!\$)")  # a dollar before a space is a prompt


def _is_derivation(name: str) -> bool:
    return name.startswith(("dpbounds/", "algorithms/"))


def _protected(text: str) -> str:
    """Markdown in which an underscore, and a star within a formula, stand for themselves."""
    return re.sub(r"_|(?<=\w)\*(?=\w)", r"\\\g<0>", text)


def _keep_formulas(app: Sphinx, name: str, source: list[str]) -> None:
    """Formulas that Markdown would take for something else.

    In a derivation an underscore never begins emphasis: ``(x)_+ or (y)_+`` is a formula. In the LaTeX of statements a
    line that begins with a plus is no list.
    """
    if not _is_derivation(name):
        source[0] = _INLINE.sub(lambda formula: formula.group().replace("\n", " "), source[0])
        return
    lines = source[0].split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(source[0])
    for first, end in {tuple(token.map) for token in tokens if token.type == "inline" and token.map}:
        block, done, kept = "\n".join(lines[first:end]), 0, ""
        for code in _CODE.finditer(block):
            kept += _protected(block[done : code.start()]) + code.group()
            done = code.end()
        lines[first:end] = (kept + _protected(block[done:])).split("\n")
    source[0] = "\n".join(lines)


def _name_aliases(
    app: Sphinx, what: str, name: str, found: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, ...]:
    """``ExactLike | None`` in a signature, and not what Sphinx makes of it."""
    return tuple(text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returns))


_ATTRIBUTES = ("attribute", "property")
_SECTION = re.compile(r"[A-Z][\w ]*:")  # the head of a section of a docstring: "Args:", "Raises:"


def _docstring(lines: list[str]) -> Iterator[str]:
    """A docstring in which ``|x|`` is a norm, and an indented block outside of sections is kept as it stands."""
    section = block = example = False
    last = ""  # that was not empty
    for before, line in itertools.pairwise(["", *lines]):
        if line and not line[0].isspace():
            section, block = bool(_SECTION.fullmatch(line)), False
        elif line.strip() and not before.strip() and not section and not block:
            block = True
            if not last.endswith("::"):
                yield from ("::", "")
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        parts = [line] if block or example else re.split(r"(``.*?``)", line)
        parts[::2] = [part if block or example else part.replace("|", r"\|") for part in parts[::2]]
        last = line.rstrip() or last
        yield "".join(parts)


def _keep_docstring(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Comes before napoleon."""
    lines[:] = _docstring(lines)
    if what in _ATTRIBUTES:
        app.env.temp_data[name] = list(lines)


def _keep_sentences(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Keep the text before a colon as a sentence: napoleon, which runs before, takes it for a type."""
    if what in _ATTRIBUTES:
        written = app.env.temp_data.pop(name)
        if not any(_SECTION.fullmatch(line) for line in written):
            lines[:] = written
    lines[:] = [re.sub(r"^:returns: \*(.+?)\* -- ", r":returns: \1: ", line) for line in lines]


def _public(app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.TextElement) -> nodes.Node | None:
    """A reference to where a public name lives is one to the name."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in dpbounds.__all__:
        return None
    python, inner = env.domains.python_domain, cast(pending_xref, node)
    found = python.resolve_xref(env, node["refdoc"], app.builder, "obj", f"dpbounds.{name}", inner, content)
    return cast(nodes.Node | None, found)


def _set_scripts(app: Sphinx, document: nodes.document) -> None:
    """In all prose, and in the blocks of derivations and docstrings."""
    name = app.env.current_document.docname
    for block in list(document.findall(nodes.literal_block)) if _is_derivation(name) or name.endswith("/api") else ():
        if block.astext().startswith("$ "):
            continue  # a command
        children = list(scripts(block.astext()))
        block.children = []
        block += children
        block.rawsource = ""  # not the text any more: so Sphinx writes the children, and does not highlight
    for element in list(document.findall(_is_prose)):
        words: list[nodes.Node] = []
        for is_text, found in itertools.groupby(element.children, lambda child: isinstance(child, nodes.Text)):
            run = list(found)
            words += scripts("".join(child.astext() for child in run)) if is_text else run
        element.children = []
        element += words


def _is_prose(node: nodes.Node) -> bool:
    code = (
        nodes.literal,
        nodes.math,
        nodes.FixedTextElement,
        not_smartquotable,
    )  # the last: signatures, and names in fields
    return isinstance(node, nodes.TextElement) and not isinstance(node, (*code, nodes.subscript, nodes.superscript))


# --- Code -------------------------------------------------------------------------------------------------------------


class HelpOfVerbs(Directive):
    """``{help-of-verbs}``: what ``dpbounds VERB --help`` prints, for every verb."""

    def run(self) -> list[nodes.Node]:
        """One section per verb."""
        import click

        from dpbounds.cli import _commands

        found: list[nodes.Node] = []
        for verb in _commands.list_commands(click.Context(_commands)):
            shown = CliRunner().invoke(_commands, [verb, "--help"], prog_name="dpbounds", terminal_width=100).output
            found += [nodes.rubric("", f"dpbounds {verb}"), nodes.literal_block(shown, shown, language="none")]
        return found


def _pair_pictures(app: Sphinx, page: nodes.document) -> None:
    """Where ``name-dark.png`` lies beside ``name.png``, dark pages show that (Furo's classes)."""
    for light in list(page.findall(nodes.image)):
        dark = light["uri"].removesuffix(".png") + "-dark.png"
        if (Path(app.srcdir) / Path(app.env.docname).parent / dark).is_file():
            other = light.deepcopy()
            other["uri"] = dark
            light["classes"].append("only-light")
            other["classes"].append("only-dark")
            light.parent.insert(light.parent.index(light) + 1, other)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_html_math_renderer("mathml", (_visit, None), (_visit, None))
    app.connect("autodoc-process-docstring", _keep_docstring, priority=400)
    app.connect("autodoc-process-docstring", _keep_sentences, priority=600)
    app.connect("autodoc-process-signature", _name_aliases)
    app.connect("missing-reference", _public)
    app.connect("source-read", _keep_formulas)
    app.connect("doctree-read", _set_scripts, priority=400)  # before titles are copied into tables of contents
    app.connect("doctree-read", _pair_pictures, priority=400)  # before pictures are collected
    app.add_directive("help-of-verbs", HelpOfVerbs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
