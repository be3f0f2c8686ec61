r"""If every $(\varepsilon, \delta)$-DP choice among $2^d$ coins has a risk of at least $R$, every $(\varepsilon,
\delta)$-DP algorithm for $G$-Lipschitz losses on a ball of diameter $D$ in $\mathbb R^d$ has an excess population
risk of at least $\frac{GDR}8$ for some distribution of the records.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, selection_risk
from dpbounds.theorems.language import PURE, Bound, q

THEOREM = PAPER.theorem(
    title="from choosing a coin to minimising a loss, with constants",
    bounds="excess-population-risk, lower, expectation",
    relation="replace-one",
    assumptions="Lipschitz, i.i.d. records",
    parts=(
        Bound(q.G * q.D * selection_risk / 8, meaning="of the largest excess population risk"),
        Bound(
            2**q.d,
            "candidates",
            "number of coins: that many points of the unit ball are more than 1/2 apart",
            unit=PURE,
        ),
    ),
    derivation="lower_bounds.md",
)
