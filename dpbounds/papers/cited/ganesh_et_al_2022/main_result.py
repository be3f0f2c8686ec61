r"""Sampling a parameter of a set of diameter $D$ with density proportional to $\exp(-\beta F)$, for $\beta$ of order
$n\varepsilon / (GD)$, is purely private and has excess empirical risk of order $GD\, d / (n\varepsilon)$ up to
logarithms, convex or not; no private algorithm does much better for losses that need not be convex, even with
$\delta > 0$.
"""

from dpbounds.papers.cited.ganesh_et_al_2022 import PAPER
from dpbounds.theorems.language import Condition, Min, Rate, q

THEOREM = PAPER.theorem(
    title="excess risk of sampling from the Gibbs distribution",
    where="Main results; quoted in Section 1.1 and Section 5.2 of Ganesh, Liu, Oh & Thakurta 2023",
    bounds="excess-empirical-risk, tight, expectation",
    status="claimed",
    assumptions="Lipschitz, bounded set",
    parts=(
        Rate(
            q.G * q.D * q.d / (q.n * q.epsilon),
            meaning="excess empirical risk",
            side="upper",
            under="ε-DP",
            logs_hidden=True,
        ),
        Rate(
            q.G * q.D * Min(1, q.d / (q.n * q.epsilon)),
            "lower",
            "excess empirical risk, at least",
            side="lower",
            logs_hidden=True,
            conditions=(
                Condition(q.epsilon <= 1, "range of Theorem 5.11 of Ganesh et al. 2023, which quotes it"),
                Condition(q.delta <= q.n**-2, "the same: δ at most a power of n beyond the first"),
            ),
        ),
    ),
    notes="""
    - As quoted, β = εn/(GD) is ε-private: so it is when a record's loss is replaced by 0. When a record is replaced the
      factor is 2: β = εn/(2GD).
    - A lower bound that grows with log(1/δ) cannot be meant for every δ: the pure guarantee does not depend on δ.
    """,
)
