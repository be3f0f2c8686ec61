r"""A second-order stationary point of a twice differentiable $F$ has $\nabla F(w) = 0$ and $\lambda_{\min}(\nabla^2
F(w)) \ge 0$.
"""

from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="wang-chen-xu-2019/definition-8",
    title="second-order stationary points",
    statement=__doc__,
    where="Section 5.1, Definition 8",
    metric=Metric.SOSP,
    status=Status.DEFINITION,
)
