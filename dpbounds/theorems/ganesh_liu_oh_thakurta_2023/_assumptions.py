"""What sections 3 and 4 assume, beyond the shared assumptions."""

from operator import methodcaller

from dpbounds.theorems.assumptions import Assumption

BOUNDED_RANGE = Assumption(
    "bounded range",
    "sup F - inf F <= B (print: the risk is bounded by B)",
    holds_for=methodcaller("has_bounded_range"),
)
SADDLES_ARE_HARDER = Assumption(
    "M at least sqrt(ρα)",
    "a point of curvature below -sqrt(ρα) can exist at all",
    holds_for=methodcaller("can_be_chosen"),  # α is
)
GOOD_ORACLES = Assumption(
    "norm-sub-Gaussian oracles",
    "given the past, both oracles are unbiased, with norm-sub-Gaussian errors: ζ₁, and ζ₂ times the distance",
    holds_for=methodcaller("is_smooth"),  # exact gradients are such oracles
)
FRESH_SAMPLES = Assumption(
    "fresh samples",
    "i.i.d. records, each used in one query only, assigned without looking",
    holds_for=methodcaller("can_be_chosen"),
)
