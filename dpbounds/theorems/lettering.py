"""Letters and short formulas as a terminal shows them: Unicode instead of LaTeX."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "Phi": "Φ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Gamma": "Γ", "nu": "ν", "chi": "χ",
}  # fmt: skip


@cache
def letter(latex: str) -> str:
    r"""Return a letter as a terminal shows it.

    >>> letter(r"\Delta_{F}"), letter(r"\varepsilon"), letter(r"\tilde{L}")
    ('Δ_F', 'ε', 'L~')
    """
    text = latex
    for word in sorted(GREEK, key=len, reverse=True):
        text = text.replace("\\" + word, GREEK[word])
    if text.startswith(r"\tilde{"):
        text = text.removeprefix(r"\tilde{").replace("}", "", 1) + "~"
    if text.startswith(r"\hat{"):
        text = text.removeprefix(r"\hat{").replace("}", "", 1) + "^"
    return text.replace("{", "").replace("}", "").replace("\\", "")


def without_latex(text: str) -> str:
    r"""Text whose formulas between dollar signs are in Unicode letters.

    >>> without_latex(r"at most $O\big((d \ln(1/\delta))^{1/4} / \sqrt{n\varepsilon}\big)$ for $\|w\|_2 \le 1$")
    'at most O((d ln(1/δ))^(1/4) / √(nε)) for ‖w‖_2 ≤ 1'
    >>> without_latex(r"$\frac{16}{3}\frac{G}{n}\sqrt{\rho\ln x} + \frac{d + 1}{\gamma a T}$")
    '(16/3)(G/n)√(ρ ln x) + ((d + 1)/(γ a T))'
    """
    return re.sub(r"\$\$?([^$]+)\$\$?", lambda match: _in_unicode(match[1]), text)


_EXPONENT = re.compile(r"([_^])\{((?:[^{}]|\{[^{}]*\})*)\}")


def _in_unicode(formula: str) -> str:
    def grouped(match: re.Match[str]) -> str:
        mark, inner = match.groups()
        single = re.fullmatch(r"\\?\w+'?|\w(,\w)+", inner)
        return f"{mark}{{{inner}}} " if single else f"{mark}({_EXPONENT.sub(grouped, inner)})"

    norms = re.sub(r"\\[td]frac", r"\\frac", formula).replace(r"\|", r"{\Vert}")
    plain: str = _converter().latex_to_text(f"${_EXPONENT.sub(grouped, norms)}$")
    closed = re.sub(r"\s+([,;:.)\]}])", r"\1", " ".join(plain.split()))
    spaced = re.sub(r"(?<=[\w)])(?<!\\)(ln|log|exp|max|min)(?=[ (])", r" \1", closed)
    return re.sub(r"\s*([≤≥∈≈≪≫])\s*", r" \1 ", spaced)


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    words = get_default_latex_context_db()
    fractions = [MacroTextSpec("frac", simplify_repl=_fraction)]
    words.add_context_category("fractions that keep their bars", prepend=True, macros=fractions)
    return LatexNodes2Text(latex_context=words, math_mode="text")


def _fraction(node: Any, l2tobj: LatexNodes2Text) -> str:
    """Return a fraction in one line: numerator, denominator, and the factors beside it stay apart."""
    over, under = (l2tobj.nodelist_to_text([one]).strip() for one in node.nodeargd.argnlist)
    parts = (part if re.fullmatch(r"\w+", part) else f"({part})" for part in (over, under))
    return "(" + "/".join(parts) + ")"
