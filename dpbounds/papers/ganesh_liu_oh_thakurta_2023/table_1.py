r"""Rates of $\alpha$ for an $\alpha$-SOSP, empirical and population, and of the excess population risk in polynomial
and in exponential time: the best known before, this paper's, and lower bounds. All problem constants, such as Lipschitz
constants, are 1, and logarithms are left out except in the polynomial-time column.
"""

from functools import partial

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER
from dpbounds.theorems.language import Erratum, Min, Rate, Rational, log, q, sqrt

share = q.d / (q.n * q.epsilon)
root_share = sqrt(q.d) / (q.n * q.epsilon)
exponential = share + sqrt(q.d / q.n)

of_points = partial(Rate, logs_hidden=True, hides="G L rho_H B")
of_risks = partial(Rate, hides="G D")

THEOREM = PAPER.theorem(
    title="stationary points and excess risks",
    where="Section 1.1, Table 1 and the text after Definition 1.2",
    status="disputed",
    sampling="",
    parts=(
        of_points(
            Min(sqrt(root_share), share ** Rational(4, 7)),
            "empirical-sosp-before",
            "Wang, Chen & Xu 2019, and Wang & Xu 2020, as quoted",
            status="claimed",
            relies_on="cited/wang-xu-2020/main-result",
        ),
        of_points(root_share ** Rational(2, 3), "empirical-sosp", "Theorem 4.2 (disputed)"),
        of_points(
            root_share,
            "empirical-lower",
            "lower bound of Arora et al., for first-order points already",
            side="lower",
            status="claimed",
            relies_on="cited/arora-et-al-2023/theorem-4.3",
        ),
        of_points(q.n ** Rational(-1, 3) + root_share ** Rational(3, 7), "population-sosp", "Theorem 4.6 (disputed)"),
        of_points(
            1 / sqrt(q.n) + root_share,
            "population-lower",
            "lower bound of Arora et al., for first-order points already",
            side="lower",
            status="claimed",
            relies_on="cited/arora-et-al-2023/population-rate",
        ),
        of_risks(
            q.d / (q.epsilon**2 * log(q.n)),
            "polynomial-before",
            "excess risk of Wang, Chen & Xu 2019, for smooth losses, as quoted",
            status="claimed",
            relies_on="wang-chen-xu-2019/theorem-2",
        ),
        of_risks(
            q.d * log(log(q.n)) / (q.epsilon * log(q.n)),
            "polynomial",
            "excess risk, Theorem 5.6",
            status="claimed",
            relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.6",
        ),
        of_risks(
            exponential,
            "exponential",
            "excess risk in exponential time, Theorem 5.8",
            status="proved",
            logs_hidden=True,
            relies_on="ganesh-liu-oh-thakurta-2023/theorem-5.8",
        ),
        of_risks(
            exponential,
            "excess-lower",
            "lower bound for the excess risk, Theorem 5.11, without its factor log(1/δ)",
            side="lower",
            status="claimed",
            logs_hidden=True,
            relies_on="cited/ganesh-et-al-2022/main-result",
        ),
    ),
    relies_on="ganesh-liu-oh-thakurta-2023/theorem-4.2 ganesh-liu-oh-thakurta-2023/theorem-4.6 "
    "ganesh-liu-oh-thakurta-2023/theorem-5.6 ganesh-liu-oh-thakurta-2023/theorem-5.8 "
    "cited/wang-xu-2020/main-result cited/arora-et-al-2023/theorem-6.1",
    errata=Erratum(
        printed="'a factor (√d/n)^{-1/6} gap to a known lower bound of √d/n'",
        right="(√d/n)^{2/3}/(√d/n) = (√d/n)^{-1/3}",
        severity="typo",
        evidence="test_table_1.py::test_the_gap_to_the_lower_bound",
        where="Section 1.1, after Definition 1.2",
        survives="both bounds",
    ),
    notes="""
    - 'Improves in all regimes' holds for d <= n²ε² and nε >= 1: the ratio is d^{-5/21}(nε)^{-2/21}, or less.
    - Section 1.1 has d√log(1/δ)/(ε log(nd)) for the polynomial time, Theorem 5.6 a factor log log n more.
    """,
)
