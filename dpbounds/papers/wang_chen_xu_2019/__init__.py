"""Wang, Chen & Xu 2019: excess risk and second-order stationary points of private non-convex empirical risk.

The text read here is an extraction of the ICML 2019 version, without its supplement (where the proofs are): accents,
bars, roots and Greek letters are damaged in places. There the record has a note, and no erratum rests on it. Letters of
the paper: L is the Lipschitz constant (G, ``lipschitz`` here), M the smoothness (L, ``smoothness`` here), ρ the
Lipschitz constant of the Hessian (ρ_H here; ρ is a zCDP budget), λ the regulariser, β in Section 4 the inverse
temperature, d the dimension, D the diameter. Neighbours differ in one entry (replace-one); n is public.
"""

from dpbounds.papers import wang_xu_2019
from dpbounds.theorems.language import AT_LEAST_ONE, LOSS, PROBABILITY, REAL, Paper, given

PAPER = Paper("wang-chen-xu-2019", sampling="full batch")

# Quantities of this paper that the symbol table does not have. In Section 4's models features and parameters lie in
# unit balls and the loss has no unit, so that the constants of link and robust loss are pure numbers.
link_constant = PAPER.quantity(
    "link_constant", r"C_{\sigma}", "bound on |σ'| and |σ''| of the link", domain=AT_LEAST_ONE
)
link_slope = PAPER.quantity("link_slope", r"c_{\sigma}", "smallest slope σ' of the link")
link_bound = PAPER.quantity("link_bound", r"B_{\sigma}", "bound on |σ| of the link")
influence_constant = PAPER.quantity(
    "influence_constant", r"C_{\psi}", "bound on |ψ'| and |ψ''| of the robust loss", domain=AT_LEAST_ONE
)
restoring_slope = PAPER.quantity(
    "restoring_slope", r"\kappa_{h}", "κ with h(s) >= κs for 0 < s <= 2, h(s) = E ψ'(s + ξ)"
)
residual = PAPER.quantity("residual", "s", "<x, w> - y", domain=REAL)
tuning_constant = PAPER.quantity("tuning_constant", "c", "where the biweight loss becomes constant")
growth_rate = PAPER.quantity("growth_rate", r"\kappa", "κ in exp(κβ), which the paper writes exp(O(β))", unit=LOSS)
time_average_constant = PAPER.quantity("time_average_constant", "C", "C(d, β) of Theorem 3")
rate_exponent = PAPER.quantity("rate_exponent", r"\tau", "exponent of 1/n in (6)", domain=PROBABILITY)
gap_tolerance = PAPER.quantity("gap_tolerance", "a", "a: <∇F(w), u - w> >= -a within the set", unit=LOSS)
curvature_tolerance = PAPER.quantity(
    "curvature_tolerance", "b", "b: (u - w)ᵀ∇²F(w)(u - w) >= -b for u in the set with <∇F(w), u - w> = 0", unit=LOSS
)
step_fraction = PAPER.borrowed(wang_xu_2019.PAPER, "step_fraction")

# Assumptions of this paper as named objects.
REGULARISED = PAPER.assumption(
    "regularised Lipschitz loss",
    "C = R^d, r(w) = λ|w|²/2, every f(·,z) G-Lipschitz, L-smooth, twice differentiable, f(0,z) <= A: then <w, ∇F> "
    ">= λ|w|² - G|w| >= λ|w|²/2 - G²/2λ (Assumption 1)",
    given.LIPSCHITZ,
    given.SMOOTH,
    given.DISSIPATIVE,
    given.ALL_OF_SPACE,
    holds_for="has_ridge",
)
GLM_LINK = PAPER.assumption(
    "monotone link",
    "f = (σ(<w,x>) - y)², y in {0, 1}, |x|, |w| <= 1, |σ'|, |σ''| <= C_σ, σ' >= c_σ, |σ| <= B_σ on [-1, 1], E[y|x] "
    "= σ(<w*,x>) (Assumption 2)",
    given.GENERALISED_LINEAR,
    given.REALISABLE,
    given.LIPSCHITZ,
    given.SMOOTH,
    holds_for="has_monotone_link",
)
ROBUST_LOSS = PAPER.assumption(
    "robust regression",
    "f = ψ(<w,x> - y), ψ' odd and positive on s > 0, |ψ'|, |ψ''| <= C_ψ, y = <w*,x> + ξ with symmetric ξ, h'(0) > "
    "0 for h(s) = E ψ'(s + ξ) (Assumption 3)",
    given.GENERALISED_LINEAR,
    given.REALISABLE,
    given.LIPSCHITZ,
    given.SMOOTH,
    holds_for="is_robust_regression",
)
RESTORING = PAPER.assumption(
    "restoring score",
    "robust regression with h(s) >= κs for 0 < s <= 2 and some κ > 0, not only h'(0) > 0",
    ROBUST_LOSS,
    holds_for="restores",
)
SECOND_ORDER = PAPER.assumption(
    "smooth with Lipschitz Hessian",
    "f(·,z) is G-Lipschitz, L-smooth, with ρ_H-Lipschitz Hessian; the empirical risk has range B (Assumption 4)",
    given.LIPSCHITZ,
    given.SMOOTH,
    given.HESSIAN_LIPSCHITZ,
    given.BOUNDED_RISK,
    holds_for="has_bounded_range",
)
