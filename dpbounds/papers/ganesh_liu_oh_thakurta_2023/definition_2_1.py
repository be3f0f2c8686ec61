r"""On a convex set, $f$ is $G$-Lipschitz if $|f(x) - f(y)| \le G\|x - y\|$, $M$-smooth if its gradient changes by at
most $M\|x - y\|$, and $\rho$-Hessian-Lipschitz if its Hessian changes by at most $\rho\|x - y\|$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="Lipschitz, smooth, Hessian-Lipschitz",
    where="Section 2, Definition 2.1",
    status="definition",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz",
    notes="All norms are l2; that of a Hessian is the operator norm.",
)
