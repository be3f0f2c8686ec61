"""Ganesh, Liu, Oh & Thakurta 2023: private stationary points of first and second order, and excess risk by sampling.

The text read here is an extraction (LaTeX-like) of the version with appendices A-F. Subscripts D and P, root signs and
exponents may have been lost in it. Where that is possible the record has a note, and no erratum rests on it. Letters of
the paper, and the quantities that they stand for here: M ``smoothness``, ρ ``hessian_lipschitz``, B ``loss_range``, D
``diameter``, φ ``rho`` (a zCDP budget), ω ``failure_probability``, κ ``drift_threshold``, σ₁ ``noise_stddev``, σ₂
``difference_noise_stddev``, α ``stationarity``, η ``step_size``, C_LSI ``log_sobolev``; in sections 3 and 4 also ζ₁, ζ₂
``first_oracle_noise`` and ``second_oracle_noise``, γ ``gradient_accuracy``, Γ ``escape_steps``, b₁, b₂ ``first_batch``
and ``second_batch``, and T₁ ``fresh_estimates``.

Neighbours "differ in at most one element", which is replace-one; Section 4 computes with the sensitivity of a record
that is added or removed while n stays in the denominator (add-or-remove-one here). Where that matters, records say so.
"""

from fractions import Fraction

from dpbounds.theorems.language import (
    AT_LEAST_ONE,
    COUNT,
    CURVATURE,
    FRACTION,
    GRADIENT,
    LOSS,
    NONNEGATIVE,
    REAL,
    SAMPLES,
    Domain,
    Paper,
    Unit,
)

PAPER = Paper("ganesh-liu-oh-thakurta-2023", sampling="full batch")

# Quantities of sections 2 to 4 that the symbol table does not have.
first_oracle_noise = PAPER.quantity(
    "first_oracle_noise", r"\zeta_{1}", "norm-sub-Gaussian parameter of a gradient estimate's error", unit=GRADIENT
)
second_oracle_noise = PAPER.quantity(
    "second_oracle_noise",
    r"\zeta_{2}",
    "norm-sub-Gaussian parameter of a gradient difference's error, per distance",
    unit=CURVATURE,
)
gradient_accuracy = PAPER.quantity(
    "gradient_accuracy", r"\gamma", "γ: four times the largest error of the gradient estimates", unit=GRADIENT
)
escape_steps = PAPER.quantity("escape_steps", r"\Gamma", "steps that leaving a saddle point may take", domain=COUNT)
fresh_estimates = PAPER.quantity(
    "fresh_estimates", "T_{1}", "how often the gradient may be estimated anew before the run stops", domain=COUNT
)
first_batch = PAPER.quantity(
    "first_batch", "b_{1}", "records of one fresh gradient estimate", domain=COUNT, unit=SAMPLES
)
second_batch = PAPER.quantity("second_batch", "b_{2}", "records of one gradient difference", domain=COUNT, unit=SAMPLES)
universal_constant = PAPER.quantity("universal_constant", "C", "a constant whose existence alone is stated")
gradient_norm = PAPER.quantity(
    "gradient_norm", "g_{t}", "norm of the true gradient at this step", domain=NONNEGATIVE, unit=GRADIENT
)
estimate_norm = PAPER.quantity(
    "estimate_norm", "v_{t}", "norm of the estimate that is followed", domain=NONNEGATIVE, unit=GRADIENT
)
estimation_error = PAPER.quantity(
    "estimation_error",
    "e",
    "distance of the estimate from the true gradient, at most",
    domain=NONNEGATIVE,
    unit=GRADIENT,
)
squared_errors = PAPER.quantity(
    "squared_errors",
    "S_{e}",
    "sum over the steps of the squared estimation errors",
    domain=NONNEGATIVE,
    unit=Unit(loss=2, length=-2),
)
decrease = PAPER.quantity(
    "decrease", r"\Delta_{0}", "by how much the risk has fallen since the start", domain=NONNEGATIVE, unit=LOSS
)
travelled = PAPER.quantity(
    "travelled",
    "S_{x}",
    "sum of the squared step lengths since the gradient was last estimated anew",
    domain=NONNEGATIVE,
    unit=Unit(length=2),
)
standardised = PAPER.quantity(
    "standardised", "u", "a distance in units of the sub-Gaussian parameter", domain=NONNEGATIVE
)
accuracy = PAPER.quantity("accuracy", "E", "the estimation error that the parameters are chosen for", unit=GRADIENT)

# Quantities of sections 5, A and D that the symbol table does not have.
renyi_order = PAPER.quantity("renyi_order", "q", "order of a Rényi divergence; 1 for KL", domain=AT_LEAST_ONE)
start_divergence = PAPER.quantity(
    "start_divergence", "R_q", "Rényi divergence of the start from the target", domain=NONNEGATIVE
)
proximal_step = PAPER.quantity("proximal_step", r"\eta", "variance of the sampler's Gaussian step", unit=Unit(length=2))
inner_failure = PAPER.quantity(
    "inner_failure",
    r"\delta_{in}",
    "total variation distance that one rejection step may be off",
    domain=Domain(Fraction(0), Fraction(1, 2)),
)
temperature_constant = PAPER.quantity("temperature_constant", "c", "constant left open in the inverse temperature")
ratio_lower = PAPER.quantity("ratio_lower", "c", "lower bound on a ratio of two densities", domain=FRACTION)
ratio_upper = PAPER.quantity("ratio_upper", "C", "upper bound on a ratio of two densities", domain=AT_LEAST_ONE)
selection_risk = PAPER.quantity(
    "selection_risk", "R(k)", "lower bound on the risk of choosing a coin", domain=NONNEGATIVE
)
laplace_scale = PAPER.quantity("laplace_scale", "b", "scale of Laplace noise")
laplace_point = PAPER.quantity("laplace_point", "x", "where a density is evaluated", domain=REAL)
matrix_norm = PAPER.quantity("matrix_norm", "M", "bound on each random matrix's norm")
matrix_variance = PAPER.quantity("matrix_variance", r"\sigma^2", "norm of the sum of the expected squares")
deviation = PAPER.quantity("deviation", "t", "deviation that is exceeded", domain=NONNEGATIVE)

# What sections 3 and 4 assume, beyond the shared assumptions.
GOOD_ORACLES = PAPER.assumption(
    "norm-sub-Gaussian oracles",
    "given the past, both oracles are unbiased, with norm-sub-Gaussian errors: ζ₁, and ζ₂ times the distance",
    holds_for="smoothness",  # exact gradients are such oracles
)
FRESH_SAMPLES = PAPER.assumption(
    "fresh samples", "i.i.d. records, each used in one query only, assigned without looking", holds_for="can_be_chosen"
)

# What sections 5 and D of this paper assume beyond the shared list.
LOG_SOBOLEV = PAPER.assumption(
    "log-Sobolev",
    "each density that is sampled has Ent(f²) <= 2C E|∇f|² with one public C",
    # exp(-βF - λ|w|²/2): a bounded change of a strongly log-concave density (Holley and Stroock)
    holds_for="has_bounded_range",
)
ORIGIN_IN_SET = PAPER.assumption(
    "origin in the set",
    "0 lies in C, so that no point of C is longer than the diameter D",
    holds_for="can_be_chosen",  # it lies in all domains of witnesses
)
NORMALISED_LOSS = PAPER.assumption(
    "unit problem", "1-Lipschitz losses on the unit ball: G = 1, D = 2", holds_for="is_normalised"
)
