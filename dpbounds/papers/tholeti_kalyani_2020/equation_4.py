r"""The problem: minimise the empirical loss $L(w) = \frac1N \sum_i \ell(f_w(x_i), y_i)$, which may be non-convex. It is
assumed to be bounded, with Lipschitz gradients and Hessians, and to have strict saddles only. None of this matters for
privacy, which needs bounded differences of gradients alone.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER

THEOREM = PAPER.theorem(
    title="empirical risk minimisation",
    where="Section III, equation (4) and assumptions 1) and 2)",
    status="definition",
    assumptions="unconstrained, bounded loss, smooth, Hessian-Lipschitz, strict saddles",
    notes="""
    A bounded loss with Lipschitz gradients is Lipschitz on R^d, but the paper gives no constant for it: how large Δ may
    become is left to the user (clipping the gradients to norm G gives 2G).
    """,
)
