r"""Every record's loss is $G$-Lipschitz, $M$-smooth and $\rho$-Hessian-Lipschitz, and the risk is bounded by $B$. The
paper also takes $M \ge \sqrt{\rho\alpha}$: otherwise every $\alpha$-FOSP would be an $\alpha$-SOSP.
"""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="smooth losses of bounded risk",
    where="Section 3, Assumption 3.1 and the paragraph after Definition 3.2",
    status="definition",
    assumptions="Lipschitz, smooth, Hessian-Lipschitz, bounded risk, bounded range, M at least sqrt(ρα), unconstrained",
    notes="""
    - 'The risk is upper bounded by B' is used (proof of Lemma 3.7) as sup F - inf F <= B; the results with constants
      only need the first iterate's risk minus the infimum to be at most B.
    - F is used on all of R^d: Algorithm 1 does not project.
    """,
)
