r"""A first-order stationary point of $g$ has $\nabla g(x) = 0$; an $\alpha$-FOSP has $\|\nabla g(x)\|_2 \le \alpha$."""

from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import PAPER

THEOREM = PAPER.theorem(
    title="first-order stationary points",
    where="Section 1.1, Definition 1.1",
    status="definition",
)
