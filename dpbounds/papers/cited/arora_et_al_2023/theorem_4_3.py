r"""A lower bound: for every $(\varepsilon, \delta)$-private algorithm there are data and a smooth $G$-Lipschitz loss
(even a convex one) such that the empirical gradient at the output has expected norm of at least the order of $G
\min\left(1, \frac{\sqrt d}{n\varepsilon}\right)$.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import Condition, Min, Rate, q, sqrt

THEOREM = PAPER.theorem(
    id="theorem-4.3",
    title="lower bound for private stationary points",
    statement=__doc__,
    where="Theorem 4.3; quoted in Table 1 of Ganesh et al. 2023 and in Section 1 of Lowy, Ullman "
    "& Wright 2024, version 1",
    bounds="gradient-norm, lower, expectation",
    status="claimed",
    assumptions="Lipschitz, smooth, convex",
    conditions=Condition(q.epsilon <= 1, "the range was not quoted; this is the usual one"),
    parts=Rate(
        q.G * Min(1, sqrt(q.d) / (q.n * q.epsilon)),
        meaning="norm of the empirical gradient, at least",
        logs_hidden=True,
    ),
    notes="""
    A gradient is the smallest thing a second-order stationary point bounds, so it holds for those, too. The range of δ
    was not quoted.
    """,
)
