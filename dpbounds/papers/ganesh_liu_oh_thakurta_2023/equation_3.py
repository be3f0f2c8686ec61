r"""Oracles on fresh batches: $O_1$ averages the gradients of $b_1$ records that were not used before and adds $N(0,
\sigma_1^2 I_d)$, $O_2$ averages $\nabla f(x, z) - \nabla f(y, z)$ over $b_2$ such records and adds $N(0,
\sigma_2^2\|x - y\|^2 I_d)$. Each record takes part in one query, so that a run costs as much as its most expensive
query: at most $2G^2/( b_1^2\sigma_1^2)$ or $2M^2/(b_2^2\sigma_2^2)$ in zCDP if a record is replaced.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, first_batch, second_batch
from dpbounds.theorems.language import Bound, Unit, q

THEOREM = PAPER.theorem(
    title="oracles on fresh batches",
    where="Section 4.2, equation (3)",
    bounds="privacy, always",
    status="proved",
    relation="replace-one",
    sampling="fresh batches",
    assumptions="Lipschitz, smooth, fresh samples",
    parts=(
        Bound(
            2 * (q.G / (first_batch * q.sigma)) ** 2,
            "fresh-cost",
            "zCDP cost of a fresh estimate",
            unit=Unit(samples=-2),
        ),
        Bound(
            2 * (q.L / (second_batch * q.sigma_2)) ** 2,
            "difference-cost",
            "zCDP cost of a difference",
            unit=Unit(samples=-2),
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-a.5",
    notes="""
    'Without replacement' must mean: by position, or by a public order, and no record twice in a run. Drawing each batch
    anew from all records would be something else.
    """,
)
