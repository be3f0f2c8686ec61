"""Quantities of this paper that the symbol table does not have.

In Section 4's models features and parameters lie in unit balls and the loss has no unit, so that the constants of link
and robust loss are pure numbers.
"""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

_POSITIVE = Domain(Fraction(0))
_AT_LEAST_ONE = Domain(Fraction(1), lower_open=False)

link_constant = Symbol("link_constant", positive=True)
link_slope = Symbol("link_slope", positive=True)
link_bound = Symbol("link_bound", positive=True)
influence_constant = Symbol("influence_constant", positive=True)
restoring_slope = Symbol("restoring_slope", positive=True)
residual = Symbol("residual", real=True)
tuning_constant = Symbol("tuning_constant", positive=True)
growth_rate = Symbol("growth_rate", positive=True)
time_average_constant = Symbol("time_average_constant", positive=True)
rate_exponent = Symbol("rate_exponent", positive=True)
gap_tolerance = Symbol("gap_tolerance", positive=True)
curvature_tolerance = Symbol("curvature_tolerance", positive=True)

LINK_CONSTANT = Quantity(
    "link_constant", link_constant, _AT_LEAST_ONE, Unit(), "bound on |σ'| and |σ''| of the link", r"C_{\sigma}"
)
LINK_SLOPE = Quantity("link_slope", link_slope, _POSITIVE, Unit(), "smallest slope σ' of the link", r"c_{\sigma}")
LINK_BOUND = Quantity("link_bound", link_bound, _POSITIVE, Unit(), "bound on |σ| of the link", r"B_{\sigma}")
INFLUENCE_CONSTANT = Quantity(
    "influence_constant",
    influence_constant,
    _AT_LEAST_ONE,
    Unit(),
    "bound on |ψ'| and |ψ''| of the robust loss",
    r"C_{\psi}",
)
RESTORING_SLOPE = Quantity(
    "restoring_slope",
    restoring_slope,
    _POSITIVE,
    Unit(),
    "κ with h(s) >= κs for 0 < s <= 2, h(s) = E ψ'(s + ξ)",
    r"\kappa_{h}",
)
RESIDUAL = Quantity("residual", residual, Domain(), Unit(), "<x, w> - y", "s")
TUNING_CONSTANT = Quantity(
    "tuning_constant", tuning_constant, _POSITIVE, Unit(), "where the biweight loss becomes constant", "c"
)
GROWTH_RATE = Quantity(
    "growth_rate", growth_rate, _POSITIVE, Unit(loss=1), "κ in exp(κβ), which print writes exp(O(β))", r"\kappa"
)
TIME_AVERAGE_CONSTANT = Quantity(
    "time_average_constant", time_average_constant, _POSITIVE, Unit(), "C(d, β) of Theorem 3", "C"
)
RATE_EXPONENT = Quantity(
    "rate_exponent", rate_exponent, Domain(Fraction(0), Fraction(1)), Unit(), "exponent of 1/n in (6)", r"\tau"
)
GAP_TOLERANCE = Quantity(
    "gap_tolerance", gap_tolerance, _POSITIVE, Unit(loss=1), "a: <∇F(w), u - w> >= -a within the set", r"a"
)
CURVATURE_TOLERANCE = Quantity(
    "curvature_tolerance",
    curvature_tolerance,
    _POSITIVE,
    Unit(loss=1),
    "b: (u - w)ᵀ∇²F(w)(u - w) >= -b for u in the set with <∇F(w), u - w> = 0",
    r"b",
)
