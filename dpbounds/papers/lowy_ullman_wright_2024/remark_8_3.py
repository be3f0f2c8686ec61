r"""With DP-SPIDER-SOSP in the place of DP-SPIDER, second-order stationary points of generalised linear models are
said to be found at essentially the rate of Corollary 8.2. No formula is printed.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="second-order points of generalised linear models",
    where="Section 8, Remark 8.3",
    bounds="population-sosp, upper, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, generalised linear, i.i.d. records",
    relies_on="lowy-ullman-wright-2024/theorem-3.4 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    notes="""
    The second-order part rests on an escape lemma that is false as stated. That curvature, too, is kept by the
    projection was not checked.
    """,
)
