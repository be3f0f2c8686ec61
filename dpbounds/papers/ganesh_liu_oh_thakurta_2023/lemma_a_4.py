r"""Quoted from Bun & Steinke 2016: an $\varepsilon$-DP mechanism is $\frac{\varepsilon^2}2$-zCDP, and a $\varphi$-zCDP
mechanism is $(\varphi + 2\sqrt{\varphi \ln(1/\delta)}, \delta)$-DP for every $\delta > 0$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Unit, log, q, sqrt

THEOREM = PAPER.theorem(
    title="zCDP and (ε, δ)-DP",
    where="Appendix A, Lemma A.4",
    bounds="privacy",
    status="proved",
    relation=None,
    sampling="",
    parts=(
        Bound(q.rho + 2 * sqrt(q.rho * log(1 / q.delta)), "epsilon", "of a ρ-zCDP mechanism at δ", bases="loss length"),
        Bound(q.epsilon**2 / 2, "rho", "of an ε-DP mechanism", unit=Unit(samples=-2)),
    ),
    relies_on="cited/bun-steinke-2016/proposition-1.3 cited/bun-steinke-2016/proposition-1.4",
    notes="An exponential mechanism, whose loss has range ε, is even (ε²/8)-zCDP.",
)
