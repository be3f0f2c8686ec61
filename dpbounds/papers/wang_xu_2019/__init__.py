"""Wang & Xu 2019: private empirical risk minimisation with smooth non-convex losses, measured by stationarity.

The text read here is an extraction (LaTeX-like) of the AAAI 2019 version, without its supplement. Where a bar, a root
index or an exponent may have been lost in it, the record has a note, and no erratum rests on it. Here n is the number
of records, d the dimension (p in the paper), G the Lipschitz constant, L the smoothness, γ (printed; ``step_size``
here) the step size, R_C = ‖C‖₂, w_C the Gaussian width (G_C in the paper).
"""

from dpbounds.theorems.language import FRACTION, Paper

PAPER = Paper("wang-xu-2019", sampling="full batch")

# Quantities of this paper that the symbol table does not have.
step_fraction = PAPER.quantity(
    "step_fraction", r"\gamma", "share of the way to the chosen vertex that a Frank-Wolfe step goes", domain=FRACTION
)
