r"""Accuracies $\alpha$ to which $\alpha$-SOSPs are found privately, empirical and population; logarithms, the privacy
parameters and Lipschitz constants are left out.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Expr, Rate, Rational, q, sqrt

quarter = q.d ** Rational(1, 4) / sqrt(q.n)
trust_region = (q.d / q.n) ** Rational(4, 7)
half = sqrt(sqrt(q.d) / q.n)
empirical = (sqrt(q.d) / q.n) ** Rational(2, 3)
population = q.n ** Rational(-1, 3) + (sqrt(q.d) / q.n) ** Rational(3, 7)


def row(name: str, formula: Expr, meaning: str, quoted: str = "") -> Rate:
    return Rate(
        formula,
        name,
        meaning,
        hides="G L rho_H B epsilon delta",
        logs_hidden=True,
        status="claimed" if quoted else None,
        relies_on=quoted or None,
    )


THEOREM = PAPER.theorem(
    title="private second-order stationary points",
    where="Appendix F, Table 3",
    bounds="sosp",
    status="disputed",
    parts=(
        row("wang-chen-xu-2019", quarter, "empirical", "wang-chen-xu-2019/theorem-7"),
        row("wang-xu-2020", trust_region, "empirical", "cited/wang-xu-2020/main-result"),
        row("gao-wright-2023", half, "empirical; the same rate as the first row", "cited/gao-wright-2023/main-result"),
        row("empirical", empirical, "Theorem 4.2 (disputed)"),
        row("population", population, "Theorem 4.6 (disputed)"),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-4.2 ganesh-liu-oh-thakurta-2023/theorem-4.6 "
    "cited/wang-xu-2020/main-result cited/gao-wright-2023/main-result",
    notes="n stands for nε.",
)
