r"""Private steps along (expected) descent directions, with line search and mini-batches, find an approximate
second-order solution of empirical risk minimisation; quoted with $\alpha$ of order $(\sqrt d / n)^{1/2}$, the privacy
parameters taken as constants.
"""

from dpbounds.papers.cited.gao_wright_2023 import PAPER
from dpbounds.theorems.language import Rate, q, sqrt

THEOREM = PAPER.theorem(
    title="practical private second-order stationary points",
    where="Main result; quoted in Table 3 of Ganesh, Liu, Oh & Thakurta 2023",
    bounds="sosp",
    status="claimed",
    relation="replace-one",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz",
    parts=Rate(
        sqrt(sqrt(q.d) / q.n), meaning="the α of the point", logs_hidden=True, hides="epsilon delta G L rho_H Delta_F"
    ),
    notes="The abstract, which was read too, states no rate.",
)
