r"""Quoted from Bun & Steinke 2016: a vector that moves by at most $\Delta_2$ between neighbouring datasets, plus
$N(0, \sigma^2 I_d)$, is $\frac{\Delta_2^2}{2\sigma^2}$-zCDP.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, q

THEOREM = PAPER.theorem(
    title="zCDP of Gaussian noise",
    where="Appendix A, Theorem A.5",
    bounds="privacy, tight",
    status="proved",
    parts=Bound(q.Delta**2 / (2 * q.sigma**2), "rho", "of one release"),
    relies_on="cited/bun-steinke-2016/proposition-1.6",
    notes="""
    - The paper writes N(0, σ²) for the noise of a vector; σ²I_d is meant.
    - Attained: the Rényi divergence of order q of two such Gaussians at distance Δ is exactly qΔ²/(2σ²).
    """,
)
