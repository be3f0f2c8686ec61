r"""With Gaussian oracles, $O_1 = \nabla F(x) + N(0, \sigma_1^2 I_d)$ and $O_2 = \nabla F(x) - \nabla F(y) + N(0,
\sigma_2^2\|x - y\|^2 I_d)$, a drift that includes the last step, and at most $T_1$ fresh estimates, with probability at
least $1 - \omega$ every estimate of the run is within $\sqrt{\sigma_1^2 + \kappa\sigma_2^2}\,(\sqrt d + \sqrt{2\ln(2
T_1/\omega)})$ of the gradient, however many steps there are.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER, fresh_estimates
from dpbounds.theorems.language import GRADIENT, Bound, log, q, sqrt

spread = sqrt(q.sigma**2 + q.kappa * q.sigma_2**2)
error = spread * (sqrt(q.d) + sqrt(2 * log(2 * fresh_estimates / q.zeta)))

THEOREM = PAPER.theorem(
    title="gradient estimates stay accurate, with constants",
    bounds="estimation-error, probability",
    sampling="full batch",
    parts=Bound(error, meaning="largest error of all estimates of a run", unit=GRADIENT),
    algorithm="ganesh-liu-oh-thakurta-2023/algorithm-1",
    derivation="spider.md",
    notes="Nothing is assumed of F: only the noise matters. The number of steps T does not enter.",
)
