"""The text of a statement in LaTeX: Markdown and Unicode between formulas are escaped; formulas stay as they are."""

from __future__ import annotations

import re

_KEPT = re.compile(r"(\$\$.*?\$\$|\$[^$]*\$|`[^`]*`)", flags=re.DOTALL)
_SIGNS = ((r"\ensuremath{<}=", r"\ensuremath{\le}"), (r"\ensuremath{>}=", r"\ensuremath{\ge}"),
          ("|", r"\ensuremath{|}"), (r"{\textasciicircum}k", r"\ensuremath{^k}"))  # fmt: skip
_MARKS = ((re.compile(r"\*\*(\S(?:.*?\S)?)\*\*", flags=re.DOTALL), r"\\textbf{\1}"),
          (re.compile(r"(?<![\w*])\*(\S(?:.*?\S)?)\*(?![\w*])", flags=re.DOTALL), r"\\emph{\1}"))  # fmt: skip


def prose(text: str) -> str:
    r"""A Markdown text with formulas between dollar signs, as LaTeX text.

    Code becomes typewriter, emphasis is kept, what LaTeX reads as a command is escaped, and letters outside ASCII are
    spelt, in formulas too.

    >>> prose("*Any* δ, `f_1` & 5 %: $x_1 \\le δ$")
    '\\emph{Any} \\ensuremath{\\delta}, \\texttt{f\\_1} \\& 5 \\%: $x_1 \\le \\ensuremath{\\delta}$'
    """
    from pylatexenc.latexencode import unicode_to_latex

    def piece(part: str) -> str:
        if part.startswith("$"):
            return str(unicode_to_latex(part, non_ascii_only=True))
        if part.startswith("`"):
            return rf"\texttt{{{unicode_to_latex(part.strip('`'))}}}"
        words = str(unicode_to_latex(part.replace("ᵏ", "^k")))
        for mark, command in _MARKS:
            words = mark.sub(command, words)
        for sign, command in _SIGNS:
            words = words.replace(sign, command)
        return words

    return "".join(map(piece, _KEPT.split(text)))
