"""Assumptions of sections 1 to 4."""

from operator import methodcaller

from dpbounds.theorems.assumptions import Assumption

COMPACT_SET = Assumption(
    "compact set",
    "W is compact, of diameter at most D; it need not be convex",
    holds_for=methodcaller("can_be_chosen"),
)
NEAR_MINIMISER = Assumption(
    "near-minimiser in a compact set",
    "a compact set W of diameter at most D is known that holds a point whose empirical risk is at most GDd/(εn) above "
    "its infimum over all of R^d",
    (COMPACT_SET,),
    methodcaller("is_bounded_below"),  # any point near the infimum, and a compact set around it
)
WARM_START_MEAN = Assumption(
    "private warm start, in expectation",
    "a private algorithm returns a point whose empirical risk is above its infimum by at most a public ψ in "
    "expectation",
    holds_for=methodcaller("is_bounded_below"),  # a fixed point is private
)
WARM_START = Assumption(
    "private warm start",
    "a private algorithm returns, with probability at least 1 - ζ, a point whose empirical risk is at most a public ψ "
    "above its infimum; with a range B of the risk the expectation is at most ψ + ζB",
    holds_for=methodcaller("is_bounded_below"),
)
