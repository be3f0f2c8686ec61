r"""If every $(\varepsilon, \delta)$-DP choice among $k$ coins has a risk of at least $R(k)$, every $(\varepsilon,
\delta)$-DP algorithm for 1-Lipschitz losses on the unit ball of $\mathbb R^d$ has one of at least $R(2^{\Theta(d)})$
(restated from Ganesh, Thakurta & Upadhyay 2022).
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="from choosing a coin to minimising a loss",
    where="Section 5.2, Theorem 5.10",
    bounds="excess-population-risk, lower, expectation",
    status="proved",
    relation="replace-one",
    assumptions="Lipschitz, i.i.d. records, unit problem",
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.10/explicit",
    notes="""
    - A reduction for any function R: its formula, R(2^d)/4 on the unit ball, is in theorem-5.10/explicit.
    - The paper has no factor before R; R(2^{Θ(d)}) absorbs one only where R grows with k.
    """,
)
