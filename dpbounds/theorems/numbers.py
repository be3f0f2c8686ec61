"""The values at which a mechanism is composed, rounded to the safe side.

Noise that a statement prescribes is rarely a rational number. It is rounded down (and a rate or a sensitivity up) in
its 30th digit before it becomes a mechanism, so that what is computed is never less than what is spent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import exact

if TYPE_CHECKING:
    from sympy import Expr, Symbol

    from dpbounds.privacy.relations import Relation

DIGITS = 30


@dataclass(frozen=True, slots=True)
class Numbers:
    """The values at which a mechanism is composed.

    Attributes:
        values: Exact numbers under their quantities' names.
        relation: The relation for which it is accounted.
    """

    values: Mapping[str, Any]
    relation: Relation

    def __getitem__(self, symbol: Symbol) -> Fraction:
        """The exact value of a quantity."""
        if symbol.name not in self.values:
            raise InvalidValue(symbol.name, "(missing)", "a value: the mechanism needs it")
        return exact(self.values[symbol.name], symbol.name)

    def down(self, expression: Expr) -> Fraction:
        """A formula's value, rounded down in its 30th digit: for noise."""
        from dpbounds.expressions.evaluation import evaluate

        return Fraction(evaluate(expression, self.values, digits=DIGITS).exact_lower)

    def up(self, expression: Expr) -> Fraction:
        """A formula's value, rounded up in its 30th digit: for what costs privacy."""
        from dpbounds.expressions.evaluation import evaluate

        return Fraction(evaluate(expression, self.values, digits=DIGITS).exact_upper)

    def count(self, expression: Expr) -> int:
        """A formula's value as a number of steps, rounded up, at least 1."""
        value = self.up(expression)
        return max(1, -(-value.numerator // value.denominator))
