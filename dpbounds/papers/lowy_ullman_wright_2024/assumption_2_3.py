r"""In force throughout the paper: for every record the loss is $G$-Lipschitz and $L$-smooth on all of $R^d$, and the
risk that is studied (empirical, or population) has a finite infimum over $R^d$.
"""

from dpbounds.papers.lowy_ullman_wright_2024 import PAPER

THEOREM = PAPER.theorem(
    title="Lipschitz and smooth per record, bounded below",
    where="Section 2, Assumption 2.3",
    status="definition",
    assumptions="Lipschitz, smooth, bounded risk, unconstrained",
    notes="""
    Lipschitz on all of R^d excludes quadratics; smoothness per record, not only of the mean, is what bounds the
    sensitivity of a gradient difference in Algorithm 1.
    """,
)
