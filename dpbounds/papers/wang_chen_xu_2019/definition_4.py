r"""A twice differentiable loss has a $\rho_H$-Lipschitz Hessian if $\|\nabla^2 f(w, z) - \nabla^2 f(w', z)\|_2 \le
\rho_H \|w - w'\|_2$ in operator norm for every record.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="Hessian-Lipschitz losses",
    where="Preliminaries, Definition 4",
    status="definition",
)
