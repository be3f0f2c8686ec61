"""What this paper assumes and the common list does not have."""

from dpbounds.theorems.assumptions import Assumption

GRADIENT_DISTANCE = Assumption(
    "bounded gradient differences",
    "at every w the gradients of any two records lie at most Δ apart; a Lipschitz loss has Δ = 2G",
)
