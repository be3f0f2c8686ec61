r"""For a closed convex set $C$, $w^*$ is an $\alpha$-second-order stationary point in $C$ if $\langle \nabla F(w^*),
w - w^* \rangle \ge -\alpha$ for all $w \in C$, and $(w - w^*)^T \nabla^2 F(w^*) (w - w^*) \ge -\sqrt{\rho_H \alpha}$
for all $w \in C$ with $\langle \nabla F(w^*), w - w^* \rangle = 0$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER
from dpbounds.theorems.language import Parameter, q, sqrt

THEOREM = PAPER.theorem(
    title="second-order stationary points in a set",
    where="Section 5.2, Definition 10",
    bounds="sosp",
    status="definition",
    assumptions="closed convex set",
    parts=Parameter(sqrt(q.rho_H * q.alpha), "curvature", "tolerated in the second condition", bases="samples"),
    notes="""
    Both conditions compare changes of the loss across the set, so α is a loss here and not a gradient, and √(ρ_H α) is
    no loss: the definition, like Theorem 9, is tied to a set of diameter about 1. With two tolerances a and b (Mokhtari
    et al. have two) everything scales: see theorem-9/explicit.
    """,
)
