r"""A Gaussian $N(0, \sigma^2 I_d)$ is $\mathrm{SG}(\sigma)$ and $\mathrm{nSG}(\sigma\sqrt d)$, with these constants
exactly.

Proof of the second: let $u = t/(\sigma\sqrt d)$. For $d = 1$, $P(|g| \ge u) = 2Q(u) \le 2e^{-u^2/2}$, because $Q(u)
\le e^{-u^2/2}$. For $d \ge 2$ the bound exceeds 1 unless $v = u^2 > 2\ln 2 > 1$, and then Chernoff's bound for
$\chi^2_d$ gives $P(\chi^2_d \ge d v) \le e^{-\frac d2(v - 1 - \ln v)} \le e^{-(v - 1 - \ln v)} \le 2e^{-v/2}$,
because $\frac v2 - 1 - \ln v \ge -\ln 2$ (convex, with its minimum at $v = 2$).
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import GRADIENT, Bound, q, sqrt

THEOREM = PAPER.theorem(
    title="Gaussians are norm-sub-Gaussian",
    where="Section 2, Fact 2.3",
    bounds="estimation-error, probability",
    status="proved",
    parts=Bound(q.sigma * sqrt(q.d), meaning="norm-sub-Gaussian parameter", unit=GRADIENT),
    notes="No proof is printed; the one above is ours.",
)
