r"""A distribution has the log-Sobolev inequality with constant $C$ if $E[f^2 \ln f^2] - E[f^2] \ln E[f^2] \le 2C\,
E\|\nabla f\|^2$ for all smooth $f$. A density proportional to $e^{-\beta R}$ with a $\lambda$-strongly convex $R$ has
it with $C = 1/(\beta\lambda)$, also after restriction to a convex set. Quoted before Theorem 5.1.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="log-Sobolev inequality of a strongly convex potential",
    where="Section 5.1, the paragraph before Theorem 5.1 (not numbered)",
    bounds="functional-inequality",
    status="proved",
    assumptions="strongly convex, closed convex set",
    parts=Bound(1 / (q.beta * q.regularisation), "log_sobolev", "constant C of exp(-βR)", unit=Unit(length=2)),
    notes="""
    - Bakry & Émery's criterion, cited there from Otto & Villani; attained by Gaussians.
    - The paper states it for exp(-f) with f μ-strongly convex: here f = βR and μ = βλ.
    """,
)
