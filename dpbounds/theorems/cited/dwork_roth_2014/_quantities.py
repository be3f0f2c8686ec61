"""Quantities of these theorems that the symbol table does not have."""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

step_delta = Symbol("step_delta", nonnegative=True)

STEP_DELTA = Quantity(
    name="step_delta",
    symbol=step_delta,
    domain=Domain(Fraction(0), Fraction(1), lower_open=False),
    unit=Unit(),
    meaning="failure probability of one release",
    latex=r"\delta_{0}",
)
