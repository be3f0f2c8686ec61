"""Quantities of sections 5, A and D that the symbol table does not have."""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

_ZERO, _ONE = Fraction(0), Fraction(1)
_POSITIVE, _NONNEGATIVE = Domain(_ZERO), Domain(_ZERO, lower_open=False)

renyi_order = Symbol("renyi_order", positive=True)
start_divergence = Symbol("start_divergence", nonnegative=True)
proximal_step = Symbol("proximal_step", positive=True)
inner_failure = Symbol("inner_failure", positive=True)
temperature_constant = Symbol("temperature_constant", positive=True)
ratio_lower = Symbol("ratio_lower", positive=True)
ratio_upper = Symbol("ratio_upper", positive=True)
selection_risk = Symbol("selection_risk", nonnegative=True)
laplace_scale = Symbol("laplace_scale", positive=True)
laplace_point = Symbol("laplace_point", real=True)
matrix_norm = Symbol("matrix_norm", positive=True)
matrix_variance = Symbol("matrix_variance", positive=True)
deviation = Symbol("deviation", nonnegative=True)

RENYI_ORDER = Quantity(
    "renyi_order", renyi_order, Domain(_ONE, lower_open=False), Unit(), "order of a Rényi divergence; 1 for KL", "q"
)
START_DIVERGENCE = Quantity(
    "start_divergence", start_divergence, _NONNEGATIVE, Unit(), "Rényi divergence of the start from the target", "R_q"
)
PROXIMAL_STEP = Quantity(
    "proximal_step", proximal_step, _POSITIVE, Unit(length=2), "variance of the sampler's Gaussian step", r"\eta"
)
INNER_FAILURE = Quantity(
    "inner_failure",
    inner_failure,
    Domain(_ZERO, Fraction(1, 2)),
    Unit(),
    "total variation distance that one rejection step may be off",
    r"\delta_{in}",
)
TEMPERATURE_CONSTANT = Quantity(
    "temperature_constant",
    temperature_constant,
    _POSITIVE,
    Unit(),
    "constant left open in the inverse temperature",
    "c",
)
RATIO_LOWER = Quantity(
    "ratio_lower",
    ratio_lower,
    Domain(_ZERO, _ONE, upper_open=False),
    Unit(),
    "lower bound on a ratio of two densities",
    "c",
)
RATIO_UPPER = Quantity(
    "ratio_upper",
    ratio_upper,
    Domain(_ONE, lower_open=False),
    Unit(),
    "upper bound on a ratio of two densities",
    "C",
)
SELECTION_RISK = Quantity(
    "selection_risk", selection_risk, _NONNEGATIVE, Unit(), "lower bound on the risk of choosing a coin", "R(k)"
)
LAPLACE_SCALE = Quantity("laplace_scale", laplace_scale, _POSITIVE, Unit(), "scale of Laplace noise", "b")
LAPLACE_POINT = Quantity("laplace_point", laplace_point, Domain(), Unit(), "where a density is evaluated", "x")
MATRIX_NORM = Quantity("matrix_norm", matrix_norm, _POSITIVE, Unit(), "bound on each random matrix's norm", "M")
MATRIX_VARIANCE = Quantity(
    "matrix_variance", matrix_variance, _POSITIVE, Unit(), "norm of the sum of the expected squares", r"\sigma^2"
)
DEVIATION = Quantity("deviation", deviation, _NONNEGATIVE, Unit(), "deviation that is exceeded", "t")
