r"""A distance generating function of modulus $\alpha > 0$ is continuously differentiable with
$\langle x - z, \nabla w(x) - \nabla w(z) \rangle \ge \alpha \|x - z\|^2$ on $C$; its Bregman divergence is
$V(x, z) = w(x) - w(z) - \langle \nabla w(z), x - z \rangle$. The generalised projected gradient is
$(x - x^+)/\gamma$ with $x^+ = \arg\min_{u \in C} \langle g, u \rangle + V(u, x)/\gamma + r(u)$.
"""

from dpbounds.papers.wang_xu_2019 import PAPER

THEOREM = PAPER.theorem(
    title="distance generating functions",
    where="High Dimension Case, Definition 9",
    bounds="projected-gradient-norm",
    status="definition",
)
