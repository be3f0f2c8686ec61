r"""With DP-SPIDER-SOSP in the place of DP-SPIDER, Theorem 3.4 turns the warm start for quasar-convex losses into a
second-order stationary point at essentially the rate of Corollary 5.3. No formula is printed.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="second-order points of quasar-convex losses",
    where="Section 5, Remark 5.4",
    bounds="sosp, upper, probability",
    status="disputed",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, quasar-convex",
    relies_on="lowy-ullman-wright-2024/theorem-3.4 ganesh-liu-oh-thakurta-2023/lemma-3.4",
    notes="""
    The second-order part rests on an escape lemma that is false as stated. A quasar-convex loss has no saddle points (a
    zero gradient forces F = inf F), so what can fail is the eigenvalue condition at points of small but nonzero
    gradient.
    """,
)
