r"""Minimax problems that are non-convex in one argument and strongly concave in the other: a private, purely
first-order method (nested descent and ascent, with SPIDER estimates) finds, with high probability, an
$\alpha$-second-order stationary point of the empirical function after the inner maximisation, with $\alpha$ of order
$\left(\frac{\sqrt d}{n\varepsilon}\right)^{2/3}$.
"""

from dpbounds.papers.cited.xu_et_al_2026 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="second-order stationary points of minimax problems",
    where="Abstract",
    bounds="sosp, probability",
    status="claimed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, minimax",
    parts=Rate(
        (sqrt(q.d) / (q.n * q.epsilon)) ** Rational(2, 3),
        meaning="the α of the point",
        logs_hidden=True,
        hides="delta G L rho_H Delta_F",
    ),
    notes="""
    A minimisation problem is the case in which the objective does not depend on the second argument (up to the strong
    concavity, which may be added); the abstract does not say so, and draws no conclusion from it.
    """,
)
