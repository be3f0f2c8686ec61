"""What sections 5 and D of this paper assume beyond the shared list."""

from operator import methodcaller

from dpbounds.theorems.assumptions import Assumption

LOG_SOBOLEV = Assumption(
    "log-Sobolev",
    "each density that is sampled has Ent(f²) <= 2C E|∇f|² with one public C",
    # exp(-βF - λ|w|²/2): a bounded change of a strongly log-concave density (Holley and Stroock)
    holds_for=methodcaller("has_bounded_range"),
)
ORIGIN_IN_SET = Assumption(
    "origin in the set",
    "0 lies in C, so that no point of C is longer than the diameter D",
    holds_for=methodcaller("can_be_chosen"),  # it lies in all domains of witnesses
)
NORMALISED_LOSS = Assumption(
    "unit problem", "1-Lipschitz losses on the unit ball: G = 1, D = 2", holds_for=methodcaller("is_normalised")
)
