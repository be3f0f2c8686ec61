r"""The Gaussian mechanism in zCDP: an answer of sensitivity $\Delta$ with noise of standard deviation $\sigma$ in
each coordinate is released with $\frac{\Delta^2}{2\sigma^2}$-zCDP. Attained: the Rényi divergence of order $\lambda$
of two Gaussians at distance $\Delta$ is $\lambda \Delta^2 / 2\sigma^2$.
"""

from dpbounds.papers.cited.bun_steinke_2016 import PAPER
from dpbounds.theorems.language import Bound, Condition, q

THEOREM = PAPER.theorem(
    title="zCDP of the Gaussian mechanism",
    where="Section 1, Proposition 1.6",
    bounds="privacy, tight, always",
    status="proved",
    conditions=Condition(q.sigma > 0, "without noise nothing is private"),
    parts=Bound(q.Delta**2 / (2 * q.sigma**2), "rho", "ρ of one release; those of several add up"),
)
