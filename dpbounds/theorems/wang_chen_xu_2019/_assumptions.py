"""Assumptions of this paper as named objects."""

from operator import methodcaller

from dpbounds.theorems.assumptions import (
    ALL_OF_SPACE,
    BOUNDED_RISK,
    DISSIPATIVE,
    GENERALISED_LINEAR,
    HESSIAN_LIPSCHITZ,
    LIPSCHITZ,
    REALISABLE,
    SMOOTH,
    Assumption,
)

REGULARISED = Assumption(
    "regularised Lipschitz loss",
    "C = R^d, r(w) = λ|w|²/2, every f(·,z) G-Lipschitz, L-smooth, twice differentiable, f(0,z) <= A: then "
    "<w, ∇F> >= λ|w|² - G|w| >= λ|w|²/2 - G²/2λ (Assumption 1)",
    (LIPSCHITZ, SMOOTH, DISSIPATIVE, ALL_OF_SPACE),
    methodcaller("has_ridge"),
)
GLM_LINK = Assumption(
    "monotone link",
    "f = (σ(<w,x>) - y)², y in {0, 1}, |x|, |w| <= 1, |σ'|, |σ''| <= C_σ, σ' >= c_σ, |σ| <= B_σ on [-1, 1], "
    "E[y|x] = σ(<w*,x>) (Assumption 2)",
    (GENERALISED_LINEAR, REALISABLE, LIPSCHITZ, SMOOTH),
    methodcaller("has_monotone_link"),
)
ROBUST_LOSS = Assumption(
    "robust regression",
    "f = ψ(<w,x> - y), ψ' odd and positive on s > 0, |ψ'|, |ψ''| <= C_ψ, y = <w*,x> + ξ with symmetric ξ, h'(0) > 0 "
    "for h(s) = E ψ'(s + ξ) (Assumption 3)",
    (GENERALISED_LINEAR, REALISABLE, LIPSCHITZ, SMOOTH),
    methodcaller("is_robust_regression"),
)
RESTORING = Assumption(
    "restoring score",
    "robust regression with h(s) >= κs for 0 < s <= 2 and some κ > 0, not only h'(0) > 0",
    (ROBUST_LOSS,),
    methodcaller("restores"),
)
SECOND_ORDER = Assumption(
    "smooth with Lipschitz Hessian",
    "f(·,z) is G-Lipschitz, L-smooth, with ρ_H-Lipschitz Hessian; the empirical risk has range B (Assumption 4)",
    (LIPSCHITZ, SMOOTH, HESSIAN_LIPSCHITZ, BOUNDED_RISK),
    methodcaller("has_bounded_range"),
)
