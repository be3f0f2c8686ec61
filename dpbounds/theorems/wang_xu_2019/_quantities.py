"""Quantities of this paper that the symbol table does not have."""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

step_fraction = Symbol("step_fraction", positive=True)

FRACTION = Quantity(
    name="step_fraction",
    symbol=step_fraction,
    domain=Domain(Fraction(0), Fraction(1), upper_open=False),
    unit=Unit(),
    meaning="share of the way to the chosen vertex that a Frank-Wolfe step goes",
    latex=r"\gamma",
)
