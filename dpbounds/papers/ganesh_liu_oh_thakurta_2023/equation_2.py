r"""Full-batch oracles: $O_1(x) = \nabla F_D(x) + N(0, \sigma_1^2 I_d)$ and $O_2(x, y) = \nabla F_D(x) - \nabla F_D(y) +
N(0, \sigma_2^2\|x - y\|^2 I_d)$. Replacing a record moves the first by at most $2G/n$, the second by at most $2M\|x -
y\|/n$, so that a query costs $2G^2/(n^2\sigma_1^2)$ or $2M^2/(n^2\sigma_2^2)$ in zCDP.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="full-batch oracles",
    where="Section 4.1, equation (2)",
    bounds="privacy, always",
    status="proved",
    relation="replace-one",
    sampling="full batch",
    assumptions="Lipschitz, smooth",
    parts=(
        Bound(2 * (q.G / (q.n * q.sigma)) ** 2, "fresh-cost", "zCDP cost of a fresh estimate", unit=Unit(samples=-2)),
        Bound(
            2 * (q.L / (q.n * q.sigma_2)) ** 2, "difference-cost", "zCDP cost of a difference", unit=Unit(samples=-2)
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-a.5",
    notes="""
    - The proof of Theorem 4.2 has sensitivities G/n and M‖x - y‖/n, those of a record that is added or removed with n
      public, and charges G²/(n²σ₁²) per query: half of the budget for a replaced record, and twice that for an added
      one.
    - Attained: linear losses ±G<u, x>, and quadratic ones for the differences.
    """,
)
