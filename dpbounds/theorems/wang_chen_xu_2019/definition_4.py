r"""A twice differentiable loss has a $\rho_H$-Lipschitz Hessian if $\|\nabla^2 f(w, z) - \nabla^2 f(w', z)\|_2 \le
\rho_H \|w - w'\|_2$ in operator norm for every record.
"""

from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-4",
    title="Hessian-Lipschitz losses",
    statement=__doc__,
    where="Preliminaries, Definition 4",
    metric=Metric.NONE,
    status=Status.DEFINITION,
)
