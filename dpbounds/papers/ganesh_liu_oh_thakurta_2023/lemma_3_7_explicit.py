r"""A run of $T$ steps, without kicks, with a drift that includes the last step, takes at most $1 + (6B/M +
\frac92\sum_t\|e_t\|^2/M^2)/\kappa$ fresh estimates; if all errors are at most $e$, at most $1 + (6B/M + \frac92
Te^2/M^2)/\kappa$. $B$ may be the risk of the first iterate minus the infimum.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, estimation_error, squared_errors
from dpbounds.theorems.language import Bound, Expr, Rational, q


def count(errors: Expr) -> Expr:
    travel = 6 * q.B / q.L + Rational(9, 2) * errors / q.L**2
    return 1 + travel / q.kappa


THEOREM = PAPER.theorem(
    title="number of fresh estimates, with constants",
    bounds="count, always",
    assumptions="smooth risk, bounded range, unconstrained",
    parts=(
        Bound(count(q.T * estimation_error**2), meaning="fresh estimates if every error is at most e"),
        Bound(count(squared_errors), "by-sum", "fresh estimates, in terms of the sum of squared errors"),
    ),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    derivation="spider.md",
)
