r"""For any estimate with error $e_t = \nabla_t - \nabla F(x_t)$ and $x_{t+1} = x_t - \nabla_t/M$, $F(x_{t+1}) -
F(x_t)$ is at most $-\frac1{2M}(\|\nabla F(x_t)\|^2 - \|e_t\|^2)$, and at most $-\frac1{6M}\|\nabla_t\|^2 +
\frac3{4M}\|e_t\|^2$. The $\frac34$ cannot be made smaller as long as the $\frac16$ stays.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, estimate_norm, estimation_error, gradient_norm
from dpbounds.theorems.language import Bound, q

THEOREM = PAPER.theorem(
    title="one step of descent, for any error",
    bounds="excess-empirical-risk, always",
    assumptions="smooth risk, unconstrained",
    parts=(
        Bound(
            (estimation_error**2 - gradient_norm**2) / (2 * q.L),
            meaning="change of F in one step, in terms of the true gradient",
        ),
        Bound(
            (9 * estimation_error**2 - 2 * estimate_norm**2) / (12 * q.L),
            "by-estimate",
            "change of F in one step, in terms of the estimate",
        ),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    derivation="spider.md",
)
