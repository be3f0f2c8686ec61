"""The names that a statement's file uses: one import.

``q`` holds the quantities of the symbol table (``q.n``, ``q.epsilon``), ``given`` the named assumptions; functions are
SymPy's.
"""

from sympy import (
    Abs,
    And,
    Expr,
    LambertW,
    Max,
    Min,
    Or,
    Piecewise,
    Rational,
    asin,
    beta,
    betainc_regularized,
    ceiling,
    erf,
    erfc,
    exp,
    floor,
    gamma,
    log,
    pi,
    root,
    sqrt,
)

from dpbounds.expressions.symbols import Domain, Unit
from dpbounds.theorems import assumptions as given
from dpbounds.theorems.parts import Numbers
from dpbounds.theorems.quantities import q
from dpbounds.theorems.record import (
    AT_LEAST_ONE,
    COUNT,
    CURVATURE,
    FRACTION,
    GRADIENT,
    LENGTH,
    LOSS,
    NONNEGATIVE,
    PER_SAMPLE,
    POSITIVE,
    PROBABILITY,
    PURE,
    REAL,
    SAMPLES,
    Bound,
    Condition,
    Erratum,
    Paper,
    Parameter,
    Privacy,
    Rate,
    Theorem,
)

__all__ = [
    "AT_LEAST_ONE", "Abs", "And", "Bound", "COUNT", "CURVATURE", "Condition", "Domain", "Erratum", "Expr", "FRACTION",
    "GRADIENT", "LENGTH", "LOSS", "LambertW", "Max", "Min", "NONNEGATIVE", "Numbers", "Or", "PER_SAMPLE", "POSITIVE",
    "PROBABILITY", "PURE", "Paper", "Parameter", "Piecewise", "Privacy", "REAL", "Rate", "Rational", "SAMPLES",
    "Theorem", "Unit", "asin", "beta", "betainc_regularized", "ceiling", "erf", "erfc", "exp", "floor", "gamma",
    "given", "log", "pi", "q", "root", "sqrt",
]  # fmt: skip
