r"""Utility of the exponential mechanism: if $m$ of $N$ candidates attain the best score, the chosen one falls short of
it by more than $\frac{2\Delta_u}{\varepsilon}\left(\ln\frac{N}{m} + t\right)$ with probability at most $e^{-t}$.
Proof: the candidates that fall short by $s$ are together at most $N e^{-\varepsilon s / 2\Delta_u}$ times as probable
    as one best candidate, and there are $m$ best candidates.
"""

from dpbounds.papers.cited.dwork_roth_2014 import PAPER
from dpbounds.theorems.language import COUNT, Bound, Condition, Unit, log, q

best_candidates = PAPER.quantity(
    "best_candidates", "m", "how many candidates attain the best score (1 is always safe)", domain=COUNT
)

THEOREM = PAPER.theorem(
    title="utility of the exponential mechanism",
    where="Section 3.4, Theorem 3.11; with m = 1 it is Corollary 3.12",
    bounds="estimation-error, probability",
    status="proved",
    conditions=Condition(best_candidates <= q.N, "the best ones are among the candidates"),
    parts=Bound(
        2 * q.Delta_u / q.epsilon_0 * (log(q.N / best_candidates) + log(1 / q.zeta)),
        meaning="largest shortfall of the score, with probability 1 - ζ (t = ln(1/ζ))",
        unit=Unit(loss=1, samples=1),
        increasing_in="Delta_u",
        decreasing_in="epsilon_0",
    ),
)
