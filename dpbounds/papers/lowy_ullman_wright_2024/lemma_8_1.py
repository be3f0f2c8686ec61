r"""Quoted from Arora et al. 2023: let $M$ be $(\varepsilon, \delta)$-DP, with expected norm of the empirical gradient
at most $g(d, n, L, G, D, \varepsilon, \delta)$ whenever a minimiser has norm at most $D$, and with outputs of
polynomial norm with probability $1 - 1/\sqrt n$. For generalised linear losses with features of norm $O(1)$ and rank
$r$, project the features to dimension $k = \arg\min_j [g(j, \dots, \delta/2) + G/\sqrt j] \wedge r$ by a
Johnson-Lindenstrauss matrix, run $M$, and map back: this is $(\varepsilon, \delta)$-DP, and the expected norm of the
population gradient is of order $G/\sqrt n + g(k, \dots, \delta/2)$, up to logarithms.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER, projected_rate
from dpbounds.theorems.language import Rate, q, sqrt

THEOREM = PAPER.theorem(
    title="projecting generalised linear models",
    where="Section 8, Lemma 8.1",
    bounds="population-gradient-norm, expectation",
    status="claimed",
    read="as quoted by another paper",
    relation="replace-one",
    assumptions="Lipschitz, smooth, generalised linear, i.i.d. records",
    parts=Rate(
        q.G / sqrt(q.n) + projected_rate,
        meaning="with the value g of M's rate in dimension k at δ/2",
        logs_hidden=True,
        bases="loss length",
    ),
    relies_on="cited/arora-et-al-2023/theorem-6.1",
    notes="""
    - The matrix does not depend on the data. The event that a projected feature has norm above 2 is covered by δ/2;
      clipping projected features to norm 2 needs no δ.
    - G is the link's Lipschitz constant times the largest norm of a feature, which the paper takes as O(1).
    - The link is printed as a function on R^d, and is one on R; the cited k has r ln(2n/δ) in the place of r.
    - In the text of the cited proof that was read, the branch k < r bounds E|I - JΦ| by O(1/√k), with J the inclusion
      of R^k: JΦ has rank k < d, so that norm is at least 1. The step that is needed, |v| <= 2|Φv| + O(G/√k) for every
      empirical gradient v, is proved in corollary_8_2.md.
    """,
)
