r"""Assumption 1: the risk $F$ is differentiable and $L$-smooth in l2, and every loss $f(\cdot, z)$ is $G$-Lipschitz in
l2.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="smooth risk, Lipschitz losses",
    where="Low Dimension Case, Assumption 1",
    status="definition",
    assumptions="smooth risk, Lipschitz",
    notes="Smoothness is asked of the mean only: enough for one gradient at a time, not for their differences.",
)
