"""Quantities of sections 2 to 4 that the symbol table does not have."""

from fractions import Fraction

from sympy import Symbol

from dpbounds.expressions.symbols import Domain, Quantity, Unit

_POSITIVE = Domain(Fraction(0))
_NONNEGATIVE = Domain(Fraction(0), lower_open=False)
_COUNT = Domain(Fraction(1), lower_open=False, whole=True)
_GRADIENT, _CURVATURE = Unit(1, -1), Unit(1, -2)

first_oracle_noise = Symbol("first_oracle_noise", positive=True)
second_oracle_noise = Symbol("second_oracle_noise", positive=True)
gradient_accuracy = Symbol("gradient_accuracy", positive=True)
escape_steps = Symbol("escape_steps", integer=True, positive=True)
fresh_estimates = Symbol("fresh_estimates", integer=True, positive=True)
first_batch = Symbol("first_batch", integer=True, positive=True)
second_batch = Symbol("second_batch", integer=True, positive=True)
universal_constant = Symbol("universal_constant", positive=True)
gradient_norm = Symbol("gradient_norm", nonnegative=True, real=True)
estimate_norm = Symbol("estimate_norm", nonnegative=True, real=True)
estimation_error = Symbol("estimation_error", nonnegative=True, real=True)
squared_errors = Symbol("squared_errors", nonnegative=True, real=True)
decrease = Symbol("decrease", nonnegative=True, real=True)
travelled = Symbol("travelled", nonnegative=True, real=True)
standardised = Symbol("standardised", nonnegative=True, real=True)
accuracy = Symbol("accuracy", positive=True)

FIRST_NOISE = Quantity(
    "first_oracle_noise",
    first_oracle_noise,
    _POSITIVE,
    _GRADIENT,
    "norm-sub-Gaussian parameter of a gradient estimate's error",
    r"\zeta_{1}",
)
SECOND_NOISE = Quantity(
    "second_oracle_noise",
    second_oracle_noise,
    _POSITIVE,
    _CURVATURE,
    "norm-sub-Gaussian parameter of a gradient difference's error, per distance",
    r"\zeta_{2}",
)
ACCURACY = Quantity(
    "gradient_accuracy",
    gradient_accuracy,
    _POSITIVE,
    _GRADIENT,
    "γ: four times what the gradient estimates are wrong by",
    r"\gamma",
)
ESCAPE_STEPS = Quantity(
    "escape_steps", escape_steps, _COUNT, Unit(), "steps that leaving a saddle point may take", r"\Gamma"
)
FRESH = Quantity(
    "fresh_estimates",
    fresh_estimates,
    _COUNT,
    Unit(),
    "how often the gradient may be estimated anew before the run stops",
    "T_{1}",
)
FIRST_BATCH = Quantity(
    "first_batch", first_batch, _COUNT, Unit(samples=1), "records of one fresh gradient estimate", "b_{1}"
)
SECOND_BATCH = Quantity(
    "second_batch", second_batch, _COUNT, Unit(samples=1), "records of one gradient difference", "b_{2}"
)
CONSTANT = Quantity(
    "universal_constant", universal_constant, _POSITIVE, Unit(), "a constant whose existence alone is stated", "C"
)
GRADIENT_NORM = Quantity(
    "gradient_norm", gradient_norm, _NONNEGATIVE, _GRADIENT, "norm of the true gradient at this step", r"g_{t}"
)
ESTIMATE_NORM = Quantity(
    "estimate_norm", estimate_norm, _NONNEGATIVE, _GRADIENT, "norm of the estimate that is followed", r"v_{t}"
)
ERROR = Quantity(
    "estimation_error",
    estimation_error,
    _NONNEGATIVE,
    _GRADIENT,
    "distance of the estimate from the true gradient, at most",
    "e",
)
SQUARED_ERRORS = Quantity(
    "squared_errors",
    squared_errors,
    _NONNEGATIVE,
    Unit(2, -2),
    "sum over the steps of the squared estimation errors",
    "S_{e}",
)
DECREASE = Quantity(
    "decrease", decrease, _NONNEGATIVE, Unit(loss=1), "by how much the risk has fallen since the start", r"\Delta_{0}"
)
TRAVELLED = Quantity(
    "travelled",
    travelled,
    _NONNEGATIVE,
    Unit(length=2),
    "sum of the squared step lengths since the gradient was last estimated anew",
    "S_{x}",
)
STANDARDISED = Quantity(
    "standardised", standardised, _NONNEGATIVE, Unit(), "a distance in units of the sub-Gaussian parameter", "u"
)
LEVEL = Quantity(
    "accuracy", accuracy, _POSITIVE, _GRADIENT, "the estimation error that the parameters are chosen for", "E"
)
