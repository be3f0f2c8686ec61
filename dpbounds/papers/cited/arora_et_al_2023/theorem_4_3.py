r"""A lower bound: for $\varepsilon = O(1)$, $2^{-\Omega(n)} \le \delta \le n^{-(1+\Omega(1))}$ and every
$(\varepsilon, \delta)$-DP algorithm there are data for which, with Huber losses (convex, smooth, $G$-Lipschitz), the
empirical gradient at the output has expected norm of at least the order of $G \min\big(1, \frac{\sqrt{d
\ln(1/\delta)}}{n\varepsilon}\big)$.
"""

from dpbounds.papers.cited.arora_et_al_2023 import PAPER
from dpbounds.theorems.language import Condition, Min, Rate, log, q, sqrt

THEOREM = PAPER.theorem(
    title="lower bound for private stationary points",
    where="Theorem 4.3; quoted in Table 1 of Ganesh et al. 2023 and in Section 1 of Lowy, Ullman "
    "& Wright 2024, version 1, without the range of δ and its logarithm",
    bounds="gradient-norm, lower, expectation",
    status="claimed",
    read="converted text",
    assumptions="Lipschitz, smooth, convex",
    conditions=(
        Condition(q.epsilon <= 1, "ε = O(1)"),
        Condition(q.delta <= 1 / q.n, "and by a power of n smaller, which is not named"),
        Condition(log(1 / q.delta) <= q.n, "δ is 2^(-Ω(n)) at least, up to the constant"),
        Condition(q.d >= log(1 / q.delta), "not in the copy: see the notes"),
    ),
    parts=Rate(
        q.G * Min(1, sqrt(q.d * log(1 / q.delta)) / (q.n * q.epsilon)),
        meaning="norm of the empirical gradient, at least",
    ),
    notes="""
    - A second-order stationary point has a small gradient, so the bound holds for those, too.
    - The copy has no condition on d; whether the paper has one was not compared. Without one the order would be false:
      where d = 1 an exponential mechanism, whatever δ is, finds a gradient of the order of G ln(n)/(nε).
    - The proof in the copy was not redone; dpbounds/lower-bound/gradient-norm has one of its own, with constants.
    """,
)
