"""Wang & Xu 2019: private empirical risk minimisation with smooth non-convex losses, measured by stationarity.

The text read here is an extraction (LaTeX-like) of the AAAI 2019 version, without its supplement: where a bar, a root
index or an exponent may have been lost in it, a record says so in a note, and nothing is called an error because of it.
Here n is the number of records, d the dimension (p in print), G the Lipschitz constant, L the smoothness, γ (printed;
``step_size`` here) the step size, R_C = ‖C‖₂, w_C the Gaussian width (G_C in print).
"""

from dpbounds.theorems.language import FRACTION, Paper

PAPER = Paper("wang-xu-2019", sampling="full batch")

# Quantities of this paper that the symbol table does not have.
step_fraction = PAPER.quantity(
    "step_fraction", r"\gamma", "share of the way to the chosen vertex that a Frank-Wolfe step goes", domain=FRACTION
)
