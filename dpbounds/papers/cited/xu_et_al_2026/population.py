r"""Minimax problems that are non-convex in one argument and strongly concave in the other: a private, purely
first-order method (nested descent and ascent, with SPIDER estimates) finds, with high probability, an
$\alpha$-second-order stationary point of the population function after the inner maximisation, with $\alpha$ of order
$n^{-1/3} + \left(\frac{\sqrt d}{n\varepsilon}\right)^{1/2}$.
"""

from dpbounds.papers.cited.xu_et_al_2026 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="population second-order stationary points of minimax problems",
    where="Abstract",
    bounds="population-sosp, probability",
    status="claimed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, minimax, i.i.d. records",
    parts=Rate(
        q.n ** Rational(-1, 3) + sqrt(sqrt(q.d) / (q.n * q.epsilon)),
        meaning="the α of the point",
        logs_hidden=True,
        hides="delta G L rho_H Delta_F",
    ),
    notes="""
    A minimisation problem is the case in which the objective does not depend on the second argument (up to the strong
    concavity, which may be added); the abstract does not say so, and draws no conclusion from it.
    """,
)
