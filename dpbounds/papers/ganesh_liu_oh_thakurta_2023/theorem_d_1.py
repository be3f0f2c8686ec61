r"""Quoted from Chen, Chewi, Salim & Wibisono 2022: if the target of the alternating sampler has the log-Sobolev
inequality with constant $C$, the Rényi divergence of order $q \ge 1$ of $x_t$ from it is at most $R_q(\pi_0,
\pi)/(1 + \eta/C)^{2t/q}$, for every step $\eta > 0$, if the inner step is exact.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, proximal_step, renyi_order, start_divergence
from dpbounds.theorems.language import Bound, q

divergence = start_divergence / (1 + proximal_step / q.C_LS) ** (2 * q.T / renyi_order)

THEOREM = PAPER.theorem(
    title="convergence of the alternating sampler",
    where="Appendix D.3, Theorem D.1",
    bounds="distance, always",
    status="claimed",
    assumptions="bounded set, log-Sobolev",
    parts=Bound(divergence, "divergence", "R_q of the distribution of x_T from the target"),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-3",
    notes="""
    - Order 1 is the Kullback-Leibler divergence; there the bound is attained by Gaussians (tested).
    - The proof was not read here; it is stated for densities on all of R^d, of which a bounded set is a limit.
    """,
)
