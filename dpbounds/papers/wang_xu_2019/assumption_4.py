r"""Assumption 4: $F$ is differentiable and $L$-smooth in l2, every loss $f(\cdot, z)$ is $G$-Lipschitz in l1, and the
set is bounded, closed, convex, and the convex hull of a finite set.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="losses that are Lipschitz in l1, on a polytope",
    where="Further Reducing the Utility, Assumption 4",
    status="definition",
    assumptions="smooth risk, Lipschitz in l1, polytope",
    notes="Smoothness in l2 may grow with d where the losses are Lipschitz in l1: see theorem-6.",
)
