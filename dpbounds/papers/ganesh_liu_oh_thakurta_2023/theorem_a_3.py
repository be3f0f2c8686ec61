r"""Quoted from Bun & Steinke 2016: running mechanisms that are $\varphi_1$-, ..., $\varphi_k$-zCDP one after the other,
each with the earlier outputs in view, is $(\varphi_1 + \dots + \varphi_k)$-zCDP. Recorded for $k = T$ equal budgets.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="composition of zCDP",
    where="Appendix A, Theorem A.3",
    bounds="privacy",
    status="proved",
    relation=None,
    sampling="",
    parts=Bound(q.T * q.rho, "total", "budget of T mechanisms of ρ each", unit=Unit(samples=-2)),
    notes="""
    - Proof: the Rényi divergence of a joint distribution is at most the first one's plus the worst conditional one's.
    - Attained by Gaussian noise: the squared shifts add up.
    - On disjoint parts of the data the budgets do not add up: the total is their maximum.
    """,
)
