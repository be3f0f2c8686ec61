r"""A distance generating function of modulus $\alpha > 0$ is continuously differentiable with
$\langle x - z, \nabla w(x) - \nabla w(z) \rangle \ge \alpha \|x - z\|^2$ on $C$; its Bregman divergence is
$V(x, z) = w(x) - w(z) - \langle \nabla w(z), x - z \rangle$. The generalised projected gradient is
$(x - x^+)/\gamma$ with $x^+ = \arg\min_{u \in C} \langle g, u \rangle + V(u, x)/\gamma + r(u)$.
"""

from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-xu-2019/definition-9",
    title="distance generating functions",
    statement=__doc__,
    where="High Dimension Case, Definition 9",
    metric=Metric.PROJECTED_GRADIENT_NORM,
    status=Status.DEFINITION,
)
