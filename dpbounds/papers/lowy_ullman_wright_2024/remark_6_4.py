r"""With DP-SPIDER-SOSP in the place of DP-SPIDER, Theorem 3.4 gives second-order stationary points of KL losses at the
rate of Corollary 6.3. No formula is printed.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="second-order points of KL losses",
    where="Section 6, Remark 6.4",
    bounds="sosp, upper, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, Kurdyka-Łojasiewicz",
    relies_on="lowy-ullman-wright-2024/theorem-3.4 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    notes="""
    The second-order part rests on an escape lemma that is false as stated; the bound on the gradient alone does not,
    and is that of Corollary 6.3.
    """,
)
