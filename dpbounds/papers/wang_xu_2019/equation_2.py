r"""The generalised projected gradient at $x$ for a direction $g$ and a step size $\gamma$ is
$P_C(x, g, \gamma) = (x - x^+)/\gamma$ with
$x^+ = \arg\min_{u \in C} \langle g, u \rangle + \|x - u\|_2^2/2\gamma + r(u)$. Without constraint and
regulariser it is $g$ itself; at $g = \nabla F(x)$ it is zero exactly at stationary points.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="generalised projected gradient",
    where="Low Dimension Case, equation (2)",
    bounds="projected-gradient-norm",
    status="definition",
)
