r"""Formulas in LaTeX as papers write them within a line: ``G\sqrt{d\log(1/\delta)}/(\varepsilon n)``.

Factors of one power share it, fractions have a slash, and what is under a slash is one factor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sympy import Expr, Mul, Rational, S, default_sort_key, log

from dpbounds.expressions.symbols import Quantity
from dpbounds.theorems.formulas import Latex, letters

_HALF = Rational(1, 2)
_LAST = {name: place for place, name in enumerate(("dimension", "rank", "epsilon", "rho", "dataset_size"), 1)}
_Factors = list[tuple[Expr, Expr]]  # bases and exponents


def in_a_line(
    expression: Any, local: Iterable[Quantity] = (), *, logarithm: str = r"\ln", roots_of_sums: bool = True
) -> str:
    r"""Return a formula or a condition in LaTeX, without displayed fractions.

    Args:
        expression: A formula, or a condition.
        local: Quantities whose letters are not, or not to be, those of the symbol table.
        logarithm: The name of the natural logarithm; inside O(.) its base does not matter.
        roots_of_sums: Whether they have a root sign; else they are powers, which may be broken into lines.

    >>> from dpbounds.theorems.language import log, q, sqrt
    >>> in_a_line(q.G * sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon), logarithm=r"\log")
    'G \\sqrt{d \\log(1/\\delta)}/(\\varepsilon n)'
    """
    printer = _InALine({"symbol_names": letters(local), "order": "none"})
    printer.logarithm, printer.roots_of_sums = logarithm, roots_of_sums
    text: str = printer.doprint(expression)
    return text


class _InALine(Latex):
    logarithm = r"\ln"
    roots_of_sums = True

    def _print_Mul(self, expr: Any) -> str:
        return self._product(expr)

    def _print_Pow(self, expr: Any) -> str:
        return self._product(expr)

    def _print_Integer(self, expr: Any) -> str:
        return str(expr.p)

    def _print_Rational(self, expr: Any) -> str:
        return f"{expr.p}/{expr.q}"

    def _print_Add(self, expr: Any) -> str:
        terms = sorted(expr.args, key=lambda term: term.could_extract_minus_sign())  # stable: what is added comes first
        first, *rest = terms
        text = str(self._print(first))
        for term in rest:
            negative = term.could_extract_minus_sign()
            inner = self._print(-term if negative else term)
            text += (" - " if negative else " + ") + (f"({inner})" if negative and (-term).is_Add else inner)
        return text

    def _print_log(self, expr: Any, exp: Any = None) -> str:
        return f"{self.logarithm}({self._print(expr.args[0])})"

    def _print_exp(self, expr: Any, exp: Any = None) -> str:
        return f"e^{{{self._print(expr.args[0])}}}"

    def _print_LambertW(self, expr: Any, exp: Any = None) -> str:
        return f"W({self._print(expr.args[0])})"

    def _print_Min(self, expr: Any, exp: Any = None) -> str:
        return self._choice(r"\min", expr)

    def _print_Max(self, expr: Any, exp: Any = None) -> str:
        return self._choice(r"\max", expr)

    def _print_floor(self, expr: Any, exp: Any = None) -> str:
        return rf"\lfloor {self._print(expr.args[0])}\rfloor"

    def _print_ceiling(self, expr: Any, exp: Any = None) -> str:
        return rf"\lceil {self._print(expr.args[0])}\rceil"

    def _choice(self, name: str, expr: Any) -> str:
        return rf"{name}\{{{', '.join(map(self._print, sorted(expr.args, key=default_sort_key)))}\}}"

    def _product(self, expr: Any) -> str:
        """Return a product or a power: a sign, the numerator, and the denominator."""
        coefficient, rest = expr.as_coeff_Mul()
        if coefficient.is_negative:
            return "- " + str(self._print(-expr)) if not (-expr).is_Add else f"- ({self._print(-expr)})"
        over, under = _split(rest)
        shared, over, under = _shared_power(over, under)
        above, below = self._side(over), self._side(under)
        if shared:
            power, inner_over, inner_under = shared
            inside = _ratio(self._side(inner_over) or "1", self._side(inner_under))
            above = f"{above} ({inside})^{{{self._print(power)}}}".strip()
        if coefficient.is_Rational:
            above = f"{coefficient.p} {above}".strip() if coefficient.p != 1 else above
            below = f"{coefficient.q} {below}".strip() if coefficient.q != 1 else below
        return _ratio(above or "1", below)

    def _side(self, factors: _Factors) -> str:
        """Return a product of powers: factors of one power share it."""
        grouped: dict[tuple[Expr, bool], list[Expr]] = defaultdict(list)
        for base, power in factors:
            alone = power.is_Integer and power != 1 and not base.is_Symbol  # (n(1 - a))^2 is n^2(1 - a)^2
            grouped[power, alone].append(base)
        order = sorted(grouped, key=lambda one: (one[0] != 1, default_sort_key(one[0]), one[1]))
        return " ".join(self._power(sorted(grouped[one], key=_place), one[0]) for one in order)

    def _power(self, bases: list[Expr], power: Expr) -> str:
        inside = " ".join(self._factor(base) if len(bases) > 1 or power == 1 else self._print(base) for base in bases)
        if power == 1:
            return inside
        of_sums = any(one.is_Add for base in bases for one in Mul.make_args(base))
        if power == _HALF and (self.roots_of_sums or not of_sums):
            return rf"\sqrt{{{inside}}}"
        raised = self._print(power)
        only = bases[0]
        if len(bases) == 1 and (only.is_Symbol or (only.is_Integer and only >= 0)):
            return f"{inside}^{{{raised}}}"
        if len(bases) == 1 and isinstance(only, log):
            return f"{self.logarithm}^{{{raised}}}({self._print(only.args[0])})"
        return f"({inside})^{{{raised}}}"

    def _factor(self, base: Expr) -> str:
        text = str(self._print(base))
        return text if _is_one_factor(text) or text.startswith(r"\begin") else f"({text})"


def _ratio(over: str, under: str) -> str:
    if not under:
        return over
    return f"{over}/{under}" if _is_one_factor(under) else f"{over}/({under})"


def _is_one_factor(text: str) -> bool:
    """Return whether a product's text can be a denominator as it is: no space outside braces and brackets."""
    depth = 0
    for letter in text:
        depth += (letter in "{(") - (letter in "})")
        if depth == 0 and letter in " /":
            return False
    return True


def _split(expression: Expr) -> tuple[_Factors, _Factors]:
    """Bases and exponents over and under the slash; exponential functions stay over it."""
    over: _Factors = []
    under: _Factors = []
    for factor in Mul.make_args(expression):
        if factor is S.One:
            continue
        base, power = (factor.base, factor.exp) if factor.is_Pow else (factor, S.One)
        side, power = (under, -power) if power.could_extract_minus_sign() else (over, power)
        within = Mul.make_args(base)  # one root of a product, not of a product in brackets
        flat = all(one.is_Symbol or isinstance(one, log) or (one.is_Integer and one > 0) for one in within)
        side += [(one, power) for one in (within if flat else (base,))]
    return over, under


def _shared_power(over: _Factors, under: _Factors) -> tuple[tuple[Expr, _Factors, _Factors] | None, _Factors, _Factors]:
    r"""Return a ratio to a power, as in (\sqrt{d}/(\varepsilon n))^{2/3}, and the factors outside of it."""
    powers = {power for _, power in under}
    if len(powers) != 1:
        return None, over, under
    power = powers.pop()
    if not (power.is_Rational and power < 1 and power != _HALF):
        return None, over, under
    inside = [(base, one / power) for base, one in over if one in (power, power / 2)]
    outside = [(base, one) for base, one in over if one not in (power, power / 2)]
    if not inside:
        return None, over, under
    return (power, inside, [(base, S.One) for base, _ in under]), outside, []


def _place(base: Expr) -> tuple[Any, ...]:
    """Numbers, constants of the problem, d, ε, n, then everything that is not a letter."""
    if base.is_number:
        return (-1, 0, default_sort_key(base))
    if base.is_Symbol:
        return (0, _LAST.get(base.name, 0), default_sort_key(base))
    return (1, isinstance(base, log), default_sort_key(base))
