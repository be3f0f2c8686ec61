"""Quantities of Sections 7 and 8 that the symbol table does not have."""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

deviation = Symbol("deviation", positive=True)
DEVIATION = Quantity(
    name="deviation",
    symbol=deviation,
    domain=Domain(Fraction(0)),
    unit=Unit(loss=1),
    meaning="largest difference of empirical and population risk over a net",
    latex="p",
)

projected_rate = Symbol("projected_rate", positive=True)
PROJECTED_RATE = Quantity(
    name="projected_rate",
    symbol=projected_rate,
    domain=Domain(Fraction(0)),
    unit=Unit(1, -1),
    meaning="mean norm of the empirical gradient that a private algorithm reaches in the projected dimension",
    latex="g",
)
