"""Lowy, Ullman & Wright 2024, "How to Make the Gradients Small Privately": warm starts for private stationary points.

The text read here is arXiv version 1 (2402.11173v1, February 2024), in an abridged transcription of its source:
definitions, statements, formulas and the steps of proofs, but not the running text, and of Figure 1 only the caption.
Later versions were not read: the errata are those of arXiv version 1, and may have been corrected since.

Letters of the paper, and the quantities that they stand for here: L is ``lipschitz`` (G), β ``smoothness`` (L), ρ
``hessian_lipschitz`` (ρ_H), D the ``diameter`` (of the set in Section 4; a bound on the initial distance in Section 5),
ψ ``excess_risk``, Δ̂ at w₀ ``initial_gap`` (Δ_F), ζ ``failure_probability``. The letter q is the ``anchor_period`` of
Algorithm 1 and the ``quasar_convexity`` of Section 5; γ is a rate in Section 4 and ``kl_constant`` in Section 6. In
docstrings the letters are those of the symbol table, and A stands for √(d ln(1/δ))/(εn).
"""

from dpbounds.theorems.language import GRADIENT, LOSS, PER_SAMPLE, PROBABILITY, Paper

PAPER = Paper("lowy-ullman-wright-2024")

# Quantities of sections 1 to 4 and appendix B that the symbol table does not have.
tail_exponent = PAPER.quantity("tail_exponent", "t", "t, where the bound is missed with probability at most exp(-t)")
slack = PAPER.quantity("slack", r"\delta'", "δ that advanced composition adds", domain=PROBABILITY)
first_epsilon = PAPER.quantity("first_epsilon", r"\varepsilon_{1}", "ε of the first algorithm", unit=PER_SAMPLE)
first_delta = PAPER.quantity("first_delta", r"\delta_{1}", "δ of the first algorithm", domain=PROBABILITY)
second_epsilon = PAPER.quantity("second_epsilon", r"\varepsilon_{2}", "ε of the second algorithm", unit=PER_SAMPLE)
second_delta = PAPER.quantity("second_delta", r"\delta_{2}", "δ of the second algorithm", domain=PROBABILITY)
noise_cap = PAPER.quantity(
    "noise_cap", r"\hat\sigma_{2}", "largest standard deviation of the noise of a gradient difference", unit=GRADIENT
)

# Quantities of Sections 7 and 8 that the symbol table does not have.
deviation = PAPER.quantity(
    "deviation", "p", "largest difference of empirical and population risk over a net", unit=LOSS
)
projected_rate = PAPER.quantity(
    "projected_rate",
    "g",
    "mean norm of the empirical gradient that a private algorithm reaches in the projected dimension",
    unit=GRADIENT,
)

# Assumptions of sections 1 to 4.
COMPACT_SET = PAPER.assumption(
    "compact set", "W is compact, of diameter at most D; it need not be convex", holds_for="can_be_chosen"
)
NEAR_MINIMISER = PAPER.assumption(
    "near-minimiser in a compact set",
    "a compact set W of diameter at most D is known that holds a point whose empirical risk is at most GDd/(εn) "
    "above its infimum over all of R^d",
    COMPACT_SET,
    holds_for="infimum",  # any point near the infimum, and a compact set around it
)
WARM_START_MEAN = PAPER.assumption(
    "private warm start, in expectation",
    "a private algorithm returns a point whose empirical risk is above its infimum by at most a public ψ in "
    "expectation",
    holds_for="infimum",  # a fixed point is private
)
WARM_START = PAPER.assumption(
    "private warm start",
    "a private algorithm returns, with probability at least 1 - ζ, a point whose empirical risk is at most a "
    "public ψ above its infimum; with a range B of the risk the expectation is at most ψ + ζB",
    holds_for="infimum",
)
