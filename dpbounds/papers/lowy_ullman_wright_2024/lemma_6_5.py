r"""Lower bound: for $1 < k \le 2$, $k = 1 + \Omega(1)$, every $(\varepsilon, \delta)$-DP algorithm has, on some dataset
and some $(\gamma, k)$-KL loss over a ball, Lipschitz and smooth, an expected norm of the empirical gradient of order at
least $G \min\{1, \sqrt d/(\varepsilon n)\}$, up to logarithms. The paper derives it from a lower bound on the excess
risk of such losses (Menart et al. 2023, Corollary 1).
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER
from dpbounds.theorems.language import Condition, Erratum, Min, Rate, q, sqrt

THEOREM = PAPER.theorem(
    title="no better gradients of KL losses",
    where="Section 6, Lemma 6.5",
    bounds="gradient-norm, lower, expectation",
    status="repaired",
    assumptions="Lipschitz, smooth, Kurdyka-Łojasiewicz",
    conditions=Condition(q.k > 1, "k is bounded away from 1"),
    parts=(
        Rate(q.G * Min(1, sqrt(q.d) / (q.epsilon * q.n)), meaning="as printed", logs_hidden=True),
        Rate(
            q.G * Min(1, sqrt(q.d) / (q.epsilon * q.n)) ** q.k,
            "survives",
            "bound by the argument for outputs within the ball: the k-th power",
            status="claimed",
            logs_hidden=True,
            relies_on="cited/menart-et-al-2023/theorem-1",
        ),
    ),
    relies_on="dpbounds/lower-bound/gradient-norm",
    errata=Erratum(
        printed="the bound follows from the excess risk's lower bound and Definition 6.1 (in arXiv version 1)",
        right="E[F - inf F] >= (γc)ᵏ and F - inf F <= γᵏ|∇F|ᵏ give E|∇F|ᵏ >= cᵏ, which does not give E|∇F| >= c: "
        "Jensen's inequality points the other way for k > 1",
        severity="gap",
        evidence="test_lemma_6_5.py::test_a_large_mean_power_does_not_make_the_mean_large",
        survives="the statement, directly: within the ball of radius G/(2L) the hard losses of "
        "dpbounds/lower-bound/gradient-norm are quadratic, so |∇F|² = 2L(F - inf F); as |∇F| <= G, they are KL for "
        "every 1 <= k <= 2, with γᵏ = G^(2-k)/(2L)",
    ),
    notes="""
    - The argument gives E|∇F| >= cᵏ/G^(k-1), and the printed bound wherever the excess risk is large with constant
      probability. Outputs outside the ball, where the KL inequality is not assumed, it does not cover.
    - Menart et al. 2023 was not read here.
    """,
)
