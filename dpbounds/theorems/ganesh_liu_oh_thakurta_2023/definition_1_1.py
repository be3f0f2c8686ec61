r"""A first-order stationary point of $g$ has $\nabla g(x) = 0$; an $\alpha$-FOSP has $\|\nabla g(x)\|_2 \le \alpha$."""

from dpbounds.theorems.record import Metric, Status, Theorem

THEOREM = Theorem(
    id="ganesh-liu-oh-thakurta-2023/definition-1.1",
    title="first-order stationary points",
    statement=__doc__,
    where="Section 1.1, Definition 1.1",
    metric=Metric.NONE,
    status=Status.DEFINITION,
)
