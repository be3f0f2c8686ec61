r"""An $\alpha$-second-order stationary point of the population risk with $\alpha$ of order $n^{-1/3} +
\left(\frac{\sqrt d}{n\varepsilon}\right)^{1/2}$, up to logarithms: SpiderBoost with batches whose size adapts, and a
binary tree of noisy gradient differences. This is the order that is known for first-order points. The abstract says
that the saddle escape of Ganesh, Liu, Oh & Thakurta 2023 has an issue, which weakens their guarantee, and that this
method corrects it.
"""

from dpbounds.papers.cited.liu_talwar_2024 import PAPER
from dpbounds.theorems.language import Rate, Rational, q, sqrt

THEOREM = PAPER.theorem(
    title="population second-order stationary points with adaptive batches",
    where="Abstract (second version, 2025)",
    bounds="population-sosp",
    status="claimed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, i.i.d. records",
    parts=Rate(
        q.n ** Rational(-1, 3) + sqrt(sqrt(q.d) / (q.n * q.epsilon)),
        meaning="the α of the point",
        logs_hidden=True,
        hides="G L rho_H Delta_F",
    ),
    notes="""
    How it depends on the initial gap is not in the abstract, so it cannot yet serve as the second stage of a warm
    start.
    """,
)
