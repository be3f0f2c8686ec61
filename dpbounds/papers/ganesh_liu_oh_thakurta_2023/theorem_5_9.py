r"""Quoted as folklore: every rule, private or not, that chooses one of $k$ coins from $n$ flips of each has, for some
probabilities $p$ of the coins, an expected risk $p_i - \min p$ of $\tilde\Omega\big(\sqrt{\ln(k)/n}\big)$.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import PURE, Condition, Rate, log, q, sqrt

THEOREM = PAPER.theorem(
    title="the risk of choosing a coin",
    where="Section 5.2, Theorem 5.9",
    bounds="excess-population-risk, lower, expectation",
    status="proved",
    assumptions="i.i.d. records",
    conditions=Condition(log(q.N) <= q.n, "a risk is at most 1"),
    parts=Rate(sqrt(log(q.N) / q.n), unit=PURE, logs_hidden=True, bases="loss length"),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.9/explicit",
    notes="""
    - Proven in theorem-5.9/explicit for k >= 16, without hidden logarithms; fewer coins are as hard as two.
    - The paper does not say ln(k) <= n, without which the bound would exceed 1.
    """,
)
