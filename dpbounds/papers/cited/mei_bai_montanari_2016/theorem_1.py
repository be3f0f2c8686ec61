r"""Gradients converge uniformly: if one record's gradient is $\tau$-sub-Gaussian at every parameter of a ball, and the
Hessian is suitably bounded, then for $n \ge C d \ln d$ the empirical and the population gradient differ nowhere in the
ball by more than $\tau \sqrt{C d \ln(n) / n}$ with high probability, where $C$ grows with the logarithms of the radius
and of the failure probability.
"""

from dpbounds.papers.cited.mei_bai_montanari_2016 import PAPER
from dpbounds.theorems.language import GRADIENT, Rate, log, q, sqrt

THEOREM = PAPER.theorem(
    title="uniform convergence of gradients",
    where="Theorem 1; behind Theorem 3 of Wang & Xu 2019, who quote the result without its number",
    bounds="estimation-error, probability",
    status="claimed",
    assumptions="sub-Gaussian gradients, i.i.d. records, Hessian-Lipschitz",
    parts=Rate(
        q.tau * sqrt(q.d * log(q.n) / q.n),
        meaning="largest distance of empirical and population gradient over the ball",
        unit=GRADIENT,
        logs_hidden=True,
        bases="loss length",
    ),
    notes="""
    Wang & Xu write the factor log(τ/β), which is negative for τ < β: a logarithm of this kind is meant as max(1,
    log(rτ/β)) with the radius r of the ball, and the ball has to be bounded.
    """,
)
