r"""A first-order stationary point of $g$ has $\nabla g(x) = 0$; an $\alpha$-FOSP has $\|\nabla g(x)\|_2 \le \alpha$."""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    id="definition-1.1",
    title="first-order stationary points",
    statement=__doc__,
    where="Section 1.1, Definition 1.1",
    status="definition",
)
