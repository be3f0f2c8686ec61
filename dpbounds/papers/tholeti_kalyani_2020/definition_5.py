r"""A saddle point is a first-order stationary point that is not a local minimum (local maxima are among them); it is
strict if $\lambda_{\min}(\nabla^2 f(x)) < 0$.
"""

from dpbounds.papers.tholeti_kalyani_2020 import PAPER

THEOREM = PAPER.theorem(
    title="strict saddles",
    where="Section II, Definition 5",
    status="definition",
    assumptions="strict saddles",
    notes="""
    The property has no constants here; the theorem that the paper takes over needs some, see
    tholeti-kalyani-2020/theorem-2.
    """,
)
