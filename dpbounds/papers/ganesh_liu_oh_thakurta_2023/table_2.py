r"""Norms of the gradient that earlier work reaches privately, empirical and population; logarithms, the privacy
parameters and Lipschitz constants are left out.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Expr, Rate, Rational, q, sqrt

quarter = q.d ** Rational(1, 4) / sqrt(q.n)
half = sqrt(q.d) / sqrt(q.n)
two_thirds = (sqrt(q.d) / q.n) ** Rational(2, 3)
momentum = 1 / sqrt(q.n) + two_thirds
tree = q.n ** Rational(-1, 3) + sqrt(sqrt(q.d) / q.n)


def row(name: str, formula: Expr, meaning: str) -> Rate:
    return Rate(formula, name, meaning, hides="G L B epsilon delta", logs_hidden=True)


THEOREM = PAPER.theorem(
    title="earlier work on first-order stationary points",
    where="Appendix F, Table 2",
    bounds="gradient-norm",
    status="claimed",
    parts=(
        row("wang-ye-xu-2017", quarter, "empirical"),
        row("wang-xu-2019", quarter, "empirical"),
        row("wang-xu-2019-population", half, "population"),
        row("wang-et-al-2019", two_thirds, "empirical: Wang, Jayaraman, Evans & Gu"),
        row("zhou-et-al-2020", quarter, "empirical"),
        row("zhou-et-al-2020-population", quarter, "population"),
        row("tran-cutkosky-2022", momentum, "empirical"),
        row("arora-et-al-2023", two_thirds, "empirical"),
        row("arora-et-al-2023-population", tree, "population"),
    ),
    relies_on="cited/wang-ye-xu-2017/main-result cited/zhou-et-al-2020/main-result "
    "cited/tran-cutkosky-2022/main-result cited/arora-et-al-2023/theorem-4.2 "
    "cited/arora-et-al-2023/population-rate",
    notes="""
    - The text announces a comparison with Algorithm 1; the table has no row for it in the text at hand.
    - As quoted here; n stands for nε.
    """,
)
