"""A formula or a condition in letters: in one line, drawn in two dimensions, in LaTeX."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from sympy import Expr, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.str import StrPrinter

from dpbounds.expressions.symbols import Quantity, latex_names
from dpbounds.theorems.lettering import letter


def letters(local: Iterable[Quantity]) -> dict[Symbol, str]:
    """Return the LaTeX letter of each quantity."""
    return {**latex_names(), **{record.symbol: record.latex for record in local}}


def renamed(expression: Any, local: Iterable[Quantity]) -> Any:
    """Return the expression in symbols that are named by their letters."""
    names = letters(local)
    swap = {symbol: Symbol(letter(names[symbol])) for symbol in expression.free_symbols if symbol in names}
    return expression.xreplace(swap)


class _Plain(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        text: str = super()._print_Pow(expr, rational)
        return text.replace("**", "^")

    def _print_Piecewise(self, expr: Any) -> str:
        pieces = [f"{self._print(value)} where {self._print(holds)}" for value, holds in expr.args[:-1]]
        return "[" + "; ".join([*pieces, f"else {self._print(expr.args[-1][0])}"]) + "]"

    def _print_betainc_regularized(self, expr: Any) -> str:
        first, second, _, end = (self._print(argument) for argument in expr.args)  # from 0 to the end
        return f"I({end}; {first}, {second})"


def inline(expression: Any, local: Iterable[Quantity] = ()) -> str:
    """Return a formula or a condition in one line.

    >>> from dpbounds.expressions.symbols import dataset_size, dimension, epsilon
    >>> inline(dataset_size * epsilon >= dimension)
    'n ε >= d'
    """
    text: str = _Plain({"order": "none"}).doprint(renamed(expression, tuple(local)))
    return text.replace("*", " ").replace(" & ", " and ").replace(" | ", " or ")


class _Drawn(PrettyPrinter):  # type: ignore[misc]  # SymPy has no types
    """Square roots as roots, higher ones as powers: a small 4 beside a root sign is easily read as a factor."""

    def _print_nth_root(self, base: Expr, root: Expr) -> prettyForm:
        if root == 2:
            return super()._print_nth_root(base, root)
        return self._print(base) ** prettyForm(f"1/{root}")


def drawn(expression: Expr, local: Iterable[Quantity] = (), indent: str = "    ") -> str:
    """Return a formula in two dimensions, for a terminal."""
    settings = {"use_unicode": True, "wrap_line": False, "order": "none"}
    return textwrap.indent(_Drawn(settings).doprint(renamed(expression, tuple(local))), indent)


class Latex(LatexPrinter):  # type: ignore[misc]  # SymPy has no types
    """Square roots as roots, higher ones as powers."""

    def _print_Pow(self, expr: Any) -> str:
        power = expr.exp
        folded = power.is_Rational and power.q > 2
        settings = {"root_notation": not folded, "fold_frac_powers": folded}
        before = {name: self._settings[name] for name in settings}
        self._settings.update(settings)
        text: str = super()._print_Pow(expr)
        self._settings.update(before)
        return text

    def _print_beta(self, expr: Any, exp: Any = None) -> str:
        raised = "" if exp is None else f"^{{{exp}}}"
        return rf"\operatorname{{B}}{raised}\left({', '.join(map(self._print, expr.args))}\right)"  # SymPy forgets to


def in_latex(expression: Any, local: Iterable[Quantity] = ()) -> str:
    """Return a formula in LaTeX, in the papers' letters."""
    settings = {"symbol_names": letters(local), "order": "none", "ln_notation": True}
    text: str = Latex(settings).doprint(expression)
    return text
