r"""A second-order stationary point of a twice differentiable $F$ has $\nabla F(w) = 0$ and $\lambda_{\min}(\nabla^2
F(w)) \ge 0$.
"""

from dpbounds.papers.wang_chen_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="second-order stationary points",
    where="Section 5.1, Definition 8",
    bounds="sosp",
    status="definition",
)
