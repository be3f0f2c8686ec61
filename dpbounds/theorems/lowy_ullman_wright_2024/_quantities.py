"""Quantities of sections 1 to 4 and appendix B that the symbol table does not have."""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

_POSITIVE = Domain(Fraction(0))
_PROBABILITY = Domain(Fraction(0), Fraction(1))

tail_exponent = Symbol("tail_exponent", positive=True)
slack = Symbol("slack", positive=True)
first_epsilon = Symbol("first_epsilon", positive=True)
first_delta = Symbol("first_delta", positive=True)
second_epsilon = Symbol("second_epsilon", positive=True)
second_delta = Symbol("second_delta", positive=True)
noise_cap = Symbol("noise_cap", positive=True)

TAIL_EXPONENT = Quantity(
    "tail_exponent",
    tail_exponent,
    _POSITIVE,
    Unit(),
    "t, where the bound is missed with probability at most exp(-t)",
    "t",
)
SLACK = Quantity("slack", slack, _PROBABILITY, Unit(), "δ that advanced composition adds", r"\delta'")
FIRST_EPSILON = Quantity(
    "first_epsilon", first_epsilon, _POSITIVE, Unit(samples=-1), "ε of the first algorithm", r"\varepsilon_{1}"
)
FIRST_DELTA = Quantity("first_delta", first_delta, _PROBABILITY, Unit(), "δ of the first algorithm", r"\delta_{1}")
SECOND_EPSILON = Quantity(
    "second_epsilon", second_epsilon, _POSITIVE, Unit(samples=-1), "ε of the second algorithm", r"\varepsilon_{2}"
)
SECOND_DELTA = Quantity("second_delta", second_delta, _PROBABILITY, Unit(), "δ of the second algorithm", r"\delta_{2}")
NOISE_CAP = Quantity(
    "noise_cap",
    noise_cap,
    _POSITIVE,
    Unit(1, -1),
    "largest standard deviation of the noise of a gradient difference",
    r"\hat\sigma_{2}",
)
