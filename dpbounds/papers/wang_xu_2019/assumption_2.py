r"""Assumption 2: the gradient of the loss is $\tau$-sub-Gaussian: $E \exp\langle v, \nabla f(x, z) - E \nabla f(x,
z)\rangle \le \exp(\tau^2 \|v\|^2/2)$ for all $v$ and $x$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="sub-Gaussian gradients",
    where="Extension to Population Risk, Assumption 2",
    status="definition",
    assumptions="sub-Gaussian gradients, i.i.d. records",
    notes="Together with Assumption 1 it holds with τ = G, by Hoeffding's lemma: |<v, ∇f>| <= G|v|.",
)
